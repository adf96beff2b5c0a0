// Bindings of the centroid family: column statistics, nearest centres, cluster sums.
#include <nanobind/stl/pair.h>

#include "convert.hpp"
#include "sums_args.hpp"

#include "coterie/centroid/bounds.hpp"
#include "coterie/centroid/few_means.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/rows/columns.hpp"

namespace coterie::bind {
namespace {

template <class T>
std::int64_t column_stats_into(Rows<T> rows, Table<double> out, int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    require(out.shape(0) == 4, "out must have four rows");
    require(static_cast<std::int64_t>(out.shape(1)) == x.n_cols,
            "out must have a column for each column");
    const ColumnStats stats = without_gil([&] { return column_stats(x, crew_of(n_threads)); });
    const auto put = [&](int row, const std::vector<double>& from) {
        std::copy(from.begin(), from.end(), out.data() + row * x.n_cols);
    };
    put(0, stats.min);
    put(1, stats.max);
    put(2, stats.mean);
    put(3, stats.sq_dev);
    return stats.n_rows;
}

template <class T>
void check_centers(const Rows<T>& rows, const Table<const double>& centers) {
    require(centers.shape(0) > 0 && centers.shape(1) == rows.shape(1),
            "centers must have the columns of the rows");
}

template <class T>
Centers<T> as_centers(const Rows<T>& rows, const Table<const double>& centers, double scale,
                      const Column<const T>& shift) {
    check_centers(rows, centers);
    const auto d = static_cast<std::int64_t>(rows.shape(1));
    return Centers<T>(centers.data(), centers.shape(0), d, as_frame(scale, shift, d));
}

template <class T>
std::int64_t assign_and_sum_rows(Rows<T> rows, Weights weights, Table<const double> centers,
                                 double scale, Column<const T> shift,
                                 Column<const double> step_inverse, Column<const double> origin,
                                 double weight_step_inverse, Column<std::int32_t> labels,
                                 Cube<std::int64_t> sums, Table<std::int64_t> weight_sums,
                                 int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    const SumsOut out = as_sums(step_inverse, origin, weight_step_inverse, sums, weight_sums,
                                centers.shape(0), data.rows.n_cols);
    return without_gil([&] {
        Centers<T> packed = as_centers(rows, centers, scale, shift);
        return assign_and_sum(data, packed, labels.data(), out, crew_of(n_threads));
    });
}

// As assign_and_sum_rows, with bounds; `drifts` is None on the first pass. Returns (changed,
// scanned).
template <class T>
std::pair<std::int64_t, std::int64_t> assign_bounded_rows(
    Rows<T> rows, Weights weights, Table<const double> centers,
    std::optional<Column<const double>> drifts, std::optional<Column<const std::int32_t>> order,
    double scale, Column<const T> shift, Column<const double> step_inverse,
    Column<const double> origin, double weight_step_inverse, Column<std::int32_t> labels,
    Column<PackedBound> upper, Table<PackedBound> lower, Column<float> radius, bool fresh_radius,
    Cube<std::int64_t> sums, Table<std::int64_t> weight_sums, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const std::int64_t n = data.rows.n_rows, d = data.rows.n_cols;
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    check_centers(rows, centers);
    require_length(labels, n, "labels must have one entry a row");
    require_length(upper, n, "upper must have one entry a row");
    require(lower.shape(0) >= 1 && static_cast<std::int64_t>(lower.shape(1)) == n,
            "lower must have a row for each group and an entry for each row");
    require_length(radius, k, "radius must have one entry a centre");
    if (drifts) {
        require_length(*drifts, k, "drifts must have one entry a centre");
        require_indexes(labels.data(), n, k, "labels must lie within the centers");
    }
    if (order) {
        require_length(*order, k, "order must name every centre");
        require_indexes(order->data(), k, k, "order must name every centre");
    }
    const SumsOut out = as_sums(step_inverse, origin, weight_step_inverse, sums, weight_sums, k, d);
    const BoundedCounts counts = without_gil([&] {
        const Crew crew = crew_of(n_threads);
        Centers<T> packed(centers.data(), k, d, as_frame(scale, shift, d),
                          order ? order->data() : nullptr, lower.shape(0));
        return assign_bounded(data, packed, drifts ? drifts->data() : nullptr, labels.data(),
                              Bounds{upper.data(), lower.data(), radius.data()}, fresh_radius, out,
                              crew);
    });
    return {counts.n_changed, counts.n_scanned};
}

template <class T>
void assign_rows(Rows<T> rows, Table<const double> centers, double scale, Column<const T> shift,
                 Column<std::int32_t> labels, int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    require_length(labels, x.n_rows, "labels must have one entry a row");
    without_gil([&] {
        Centers<T> packed = as_centers(rows, centers, scale, shift);
        assign(Weighted<T>{x, nullptr}, packed, labels.data(), crew_of(n_threads));
    });
}

template <class T>
double sum_sq_dists_of(Rows<T> rows, Weights weights, Table<const double> centers, double scale,
                       Column<const std::int32_t> labels, std::optional<Column<double>> sq_dists,
                       int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    check_centers(rows, centers);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_indexes(labels.data(), data.rows.n_rows, centers.shape(0),
                    "labels must lie within the centers");
    if (sq_dists) require_length(*sq_dists, data.rows.n_rows, "sq_dists must have one entry a row");
    return without_gil([&] {
        return sum_sq_dists(data, centers.data(), labels.data(), scale,
                            sq_dists ? sq_dists->data() : nullptr, crew_of(n_threads));
    });
}

template <class T>
void all_dists_of(Rows<T> rows, Table<const double> centers, double scale, Table<T> dists,
                  int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    check_centers(rows, centers);
    require(
        static_cast<std::int64_t>(dists.shape(0)) == x.n_rows && dists.shape(1) == centers.shape(0),
        "dists must have a row for each row and a column for each centre");
    without_gil([&] {
        all_dists(Weighted<T>{x, nullptr}, centers.data(), centers.shape(0), scale, dists.data(),
                  crew_of(n_threads));
    });
}

void count_labels_into(Column<const std::int32_t> labels, Column<std::int64_t> counts) {
    without_gil([&] {
        count_labels(labels.data(), static_cast<std::int64_t>(labels.shape(0)), counts.data(),
                     static_cast<std::int64_t>(counts.shape(0)));
    });
}

template <class T>
void few_means_of(Rows<T> rows, Weights weights, Column<const std::int32_t> labels,
                  Column<const bool> few, double unit, Table<double> means, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_length(few, means.shape(0), "few must have one entry a cluster");
    require(static_cast<std::int64_t>(means.shape(1)) == data.rows.n_cols,
            "means must have the columns of the rows");
    without_gil([&] {
        few_means(data, labels.data(), few.data(), means.shape(0), unit, means.data(),
                  crew_of(n_threads));
    });
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_stats", &column_stats_into<T>, "rows"_a.noconvert(), "out"_a.noconvert(),
          "n_threads"_a);
    m.def("assign_and_sum", &assign_and_sum_rows<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "scale"_a, "shift"_a.noconvert(), "step_inverse"_a.noconvert(),
          "origin"_a.noconvert(), "weight_step_inverse"_a, "labels"_a.noconvert(),
          "sums"_a.noconvert(), "weight_sums"_a.noconvert(), "n_threads"_a);
    m.def("assign_bounded", &assign_bounded_rows<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "drifts"_a.none(), "order"_a.none(), "scale"_a,
          "shift"_a.noconvert(), "step_inverse"_a.noconvert(), "origin"_a.noconvert(),
          "weight_step_inverse"_a, "labels"_a.noconvert(), "upper"_a.noconvert(),
          "lower"_a.noconvert(), "radius"_a.noconvert(), "fresh_radius"_a, "sums"_a.noconvert(),
          "weight_sums"_a.noconvert(), "n_threads"_a);
    m.def("assign", &assign_rows<T>, "rows"_a.noconvert(), "centers"_a.noconvert(), "scale"_a,
          "shift"_a.noconvert(), "labels"_a.noconvert(), "n_threads"_a);
    m.def("sum_sq_dists", &sum_sq_dists_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "scale"_a, "labels"_a.noconvert(), "sq_dists"_a.none(),
          "n_threads"_a);
    m.def("all_dists", &all_dists_of<T>, "rows"_a.noconvert(), "centers"_a.noconvert(), "scale"_a,
          "dists"_a.noconvert(), "n_threads"_a);
    m.def("few_means", &few_means_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "few"_a.noconvert(), "unit"_a, "means"_a.noconvert(),
          "n_threads"_a);
}

}  // namespace

void add_centroid(nb::module_& m) {
    add_for<float>(m);
    add_for<double>(m);
    using namespace nb::literals;
    m.def("count_labels", &count_labels_into, "labels"_a.noconvert(), "counts"_a.noconvert());
}

}  // namespace coterie::bind
