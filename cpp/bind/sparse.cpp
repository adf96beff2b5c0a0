// Bindings of the centroid family on compressed sparse rows: the functions of centroid.cpp, with
// the rows given as the three arrays of a CSR matrix.
#include "coterie/centroid/sparse.hpp"
#include "coterie/centroid/few_means.hpp"

#include "csr.hpp"
#include "sums_args.hpp"

namespace coterie::bind {
namespace {

void require_centers(const Table<const double>& centers) {
    require(centers.shape(0) > 0, "centers must have at least one row");
}

template <class T, class Index>
std::int64_t column_stats_csr(Column<const T> values, Column<const Index> columns,
                              Column<const Index> starts, std::int64_t n_cols, Table<double> out,
                              int n_threads) {
    const Csr<T, Index> rows = as_csr(values, columns, starts, n_cols);
    require(out.shape(0) == 4 && static_cast<std::int64_t>(out.shape(1)) == n_cols,
            "out must have four rows and n_cols columns");
    const ColumnStats stats = without_gil([&] { return column_stats(rows, crew_of(n_threads)); });
    double* to = out.data();
    for (const auto* from : {&stats.min, &stats.max, &stats.mean, &stats.sq_dev})
        to = std::copy(from->begin(), from->end(), to);
    return stats.n_rows;
}

template <class T, class Index>
std::int64_t assign_and_sum_csr(Column<const T> values, Column<const Index> columns,
                                Column<const Index> starts, Weights weights,
                                Table<const double> centers, double scale,
                                Column<const double> step_inverse, Column<const double> origin,
                                double weight_step_inverse, Column<std::int32_t> labels,
                                Cube<std::int64_t> sums, Table<std::int64_t> weight_sums,
                                int n_threads) {
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    const auto d = static_cast<std::int64_t>(centers.shape(1));
    const auto data = as_weighted(as_csr(values, columns, starts, d), weights);
    require_centers(centers);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    const SumsOut out = as_sums(step_inverse, origin, weight_step_inverse, sums, weight_sums, k, d);
    return without_gil([&] {
        SparseCenters packed(centers.data(), k, d, scale);
        return assign_and_sum(data, packed, labels.data(), out, crew_of(n_threads));
    });
}

template <class T, class Index>
void assign_csr(Column<const T> values, Column<const Index> columns, Column<const Index> starts,
                Table<const double> centers, double scale, Column<std::int32_t> labels,
                int n_threads) {
    const auto rows = as_csr(values, columns, starts, centers.shape(1));
    require_centers(centers);
    require_length(labels, rows.n_rows, "labels must have one entry a row");
    without_gil([&] {
        SparseCenters packed(centers.data(), centers.shape(0), rows.n_cols, scale);
        assign(as_weighted(rows, {}), packed, labels.data(), crew_of(n_threads));
    });
}

template <class T, class Index>
double sum_sq_dists_csr(Column<const T> values, Column<const Index> columns,
                        Column<const Index> starts, Weights weights, Table<const double> centers,
                        double scale, Column<const std::int32_t> labels,
                        std::optional<Column<double>> sq_dists, int n_threads) {
    const auto data = as_weighted(as_csr(values, columns, starts, centers.shape(1)), weights);
    require_centers(centers);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_indexes(labels.data(), data.rows.n_rows, centers.shape(0),
                    "labels must lie within the centers");
    if (sq_dists) require_length(*sq_dists, data.rows.n_rows, "sq_dists must have one entry a row");
    return without_gil([&] {
        return sum_sq_dists(data, centers.data(), labels.data(), scale,
                            sq_dists ? sq_dists->data() : nullptr, crew_of(n_threads));
    });
}

template <class T, class Index>
void all_dists_csr(Column<const T> values, Column<const Index> columns, Column<const Index> starts,
                   Table<const double> centers, double scale, Table<T> dists, int n_threads) {
    const auto rows = as_csr(values, columns, starts, centers.shape(1));
    require_centers(centers);
    require(static_cast<std::int64_t>(dists.shape(0)) == rows.n_rows &&
                dists.shape(1) == centers.shape(0),
            "dists must have a row for each row and a column for each centre");
    without_gil([&] {
        all_dists(as_weighted(rows, {}), centers.data(), centers.shape(0), scale, dists.data(),
                  crew_of(n_threads));
    });
}

template <class T, class Index>
void few_means_csr(Column<const T> values, Column<const Index> columns, Column<const Index> starts,
                   Weights weights, Column<const std::int32_t> labels, Column<const bool> few,
                   double unit, Table<double> means, int n_threads) {
    const auto data = as_weighted(as_csr(values, columns, starts, means.shape(1)), weights);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_length(few, means.shape(0), "few must have one entry a cluster");
    without_gil([&] {
        few_means(data, labels.data(), few.data(), means.shape(0), unit, means.data(),
                  crew_of(n_threads));
    });
}

template <class T, class Index>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_stats_csr", &column_stats_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "n_cols"_a, "out"_a.noconvert(),
          "n_threads"_a);
    m.def("assign_and_sum_csr", &assign_and_sum_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "scale"_a, "step_inverse"_a.noconvert(), "origin"_a.noconvert(),
          "weight_step_inverse"_a, "labels"_a.noconvert(), "sums"_a.noconvert(),
          "weight_sums"_a.noconvert(), "n_threads"_a);
    m.def("assign_csr", &assign_csr<T, Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "starts"_a.noconvert(), "centers"_a.noconvert(), "scale"_a, "labels"_a.noconvert(),
          "n_threads"_a);
    m.def("sum_sq_dists_csr", &sum_sq_dists_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "scale"_a, "labels"_a.noconvert(), "sq_dists"_a.none(),
          "n_threads"_a);
    m.def("all_dists_csr", &all_dists_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "centers"_a.noconvert(), "scale"_a,
          "dists"_a.noconvert(), "n_threads"_a);
    m.def("few_means_csr", &few_means_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "few"_a.noconvert(), "unit"_a, "means"_a.noconvert(),
          "n_threads"_a);
}

}  // namespace

void add_sparse(nb::module_& m) {
    add_for<float, std::int32_t>(m);
    add_for<float, std::int64_t>(m);
    add_for<double, std::int32_t>(m);
    add_for<double, std::int64_t>(m);
}

}  // namespace coterie::bind
