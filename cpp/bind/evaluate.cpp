// Bindings of what scores are made of.
#include "convert.hpp"
#include "metric_args.hpp"

#include "coterie/evaluate/dip.hpp"
#include "coterie/evaluate/expected_mi.hpp"
#include "coterie/evaluate/label_sums.hpp"
#include "coterie/evaluate/silhouette.hpp"

namespace coterie::bind {
namespace {

using Labels = Column<const std::int32_t>;
using Ids = Column<const std::int64_t>;

// Labels below 0 are of rows in no cluster.
template <class T>
Labelled<T> as_labelled(const Rows<T>& rows, const Weights& weights, const Labels& labels,
                        std::int64_t n_clusters) {
    const Matrix<const T> view = as_matrix(rows);
    require_length(labels, view.n_rows, "labels must have one entry per row");
    bool inside = true;
    for (std::int64_t i = 0; i < view.n_rows; ++i) inside &= labels.data()[i] < n_clusters;
    require(inside, "labels must be below the number of clusters");
    return {view, as_weights(weights, view.n_rows), labels.data()};
}

template <class Array>
void require_shape(const Array& table, std::int64_t n_rows, std::int64_t n_cols, const char* what) {
    require(static_cast<std::int64_t>(table.shape(0)) == n_rows &&
                static_cast<std::int64_t>(table.shape(1)) == n_cols,
            what);
}

template <class T>
void sum_by_label_of(Rows<T> rows, Weights weights, Labels labels, Column<const double> shift,
                     Table<double> out, int n_threads) {
    const auto given = as_labelled(rows, weights, labels, out.shape(0));
    require_length(shift, given.rows.n_cols, "shift must have an entry per column");
    require_shape(out, out.shape(0), given.rows.n_cols + 1, "out must have a column more than X");
    without_gil(
        [&] { sum_by_label(given, out.shape(0), shift.data(), out.data(), crew_of(n_threads)); });
}

template <class T>
void spread_by_label_of(Rows<T> rows, Weights weights, Labels labels, Table<const double> centers,
                        Table<double> out, int n_threads) {
    const auto given = as_labelled(rows, weights, labels, out.shape(0));
    require_shape(centers, out.shape(0), given.rows.n_cols, "centers must be as wide as the rows");
    require_shape(out, out.shape(0), 2, "out must have two columns");
    without_gil([&] {
        spread_by_label(given, out.shape(0), centers.data(), out.data(), crew_of(n_threads));
    });
}

template <class T>
void scatter_by_label_of(Rows<T> rows, Weights weights, Labels labels, Table<const double> centers,
                         Table<double> out, int n_threads) {
    const auto given = as_labelled(rows, weights, labels, centers.shape(0));
    const std::int64_t d = given.rows.n_cols;
    require_shape(centers, centers.shape(0), d, "centers must be as wide as the rows");
    require_shape(out, d, d, "out must have a row and a column for each column");
    without_gil([&] { scatter_by_label(given, centers.data(), out.data(), crew_of(n_threads)); });
}

template <class T>
void silhouette_parts_of(Rows<T> rows, Ids order, Ids starts, Column<const double> totals,
                         Weights weights, MetricArgs metric_args, Column<double> within,
                         Column<double> nearest, int n_threads) {
    const Matrix<const T> view = as_matrix(rows);
    const auto n = static_cast<std::int64_t>(order.shape(0));
    const std::int64_t n_clusters = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n_clusters > 0, "starts must have an entry per cluster and one more");
    require_starts(starts.data(), n_clusters, n, "starts must rise within the order");
    require(starts.data()[0] == 0 && starts.data()[n_clusters] == n,
            "starts must begin and end with the order");
    require_indexes(order.data(), n, view.n_rows, "order must be of rows");
    require_length(totals, n_clusters, "totals must have an entry per cluster");
    require_length(within, n, "within must be as long as the order");
    require_length(nearest, n, "nearest must be as long as the order");
    const ClusterRuns runs{starts.data(), n_clusters, totals.data(), as_weights(weights, n)};
    const Metric metric = as_metric(metric_args, view.n_cols);
    without_gil([&] {
        silhouette_parts(view, order.data(), metric, runs, {within.data(), nearest.data()},
                         crew_of(n_threads));
    });
}

double expected_mi_of(Ids sizes, Ids counts, Ids other_sizes, Ids other_counts, std::int64_t n_rows,
                      int n_threads) {
    const auto as_sizes = [&](const Ids& size, const Ids& count) {
        const auto n = static_cast<std::int64_t>(size.shape(0));
        require(n > 0, "there must be a cluster");
        require_length(count, n, "counts must have an entry per size");
        for (std::int64_t i = 0; i < n; ++i)
            require(1 <= size.data()[i] && size.data()[i] <= n_rows,
                    "sizes must be from 1 to the number of rows");
        return ClusterSizes{size.data(), count.data(), n};
    };
    const ClusterSizes left = as_sizes(sizes, counts), right = as_sizes(other_sizes, other_counts);
    return without_gil([&] { return expected_mi(left, right, n_rows, crew_of(n_threads)); });
}

void measure_dips_of(Table<const double> samples, Column<double> dips, Table<std::int64_t> ends,
                     int n_threads) {
    const auto n = static_cast<std::int64_t>(samples.shape(0));
    const auto size = static_cast<std::int64_t>(samples.shape(1));
    require(0 < size && size < (std::int64_t{1} << 31), "samples must have 1 to 2^31 - 1 numbers");
    require_length(dips, n, "dips must have an entry per sample");
    require_shape(ends, n, 2, "ends must have two columns and a row per sample");
    without_gil([&] {
        measure_dips({samples.data(), n, size, size, 1}, dips.data(), ends.data(),
                     crew_of(n_threads));
    });
}

void sort_numbers_of(Column<double> values, int n_threads) {
    const auto n = static_cast<std::int64_t>(values.shape(0));
    without_gil([&] { sort_numbers(values.data(), n, crew_of(n_threads)); });
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("sum_by_label", &sum_by_label_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "shift"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
    m.def("spread_by_label", &spread_by_label_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "centers"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
    m.def("scatter_by_label", &scatter_by_label_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "centers"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
    m.def("silhouette_parts", &silhouette_parts_of<T>, "rows"_a.noconvert(), "order"_a.noconvert(),
          "starts"_a.noconvert(), "totals"_a.noconvert(), "weights"_a.none(), "metric"_a,
          "within"_a.noconvert(), "nearest"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_evaluate(nb::module_& m) {
    using namespace nb::literals;
    add_for<float>(m);
    add_for<double>(m);
    m.def("expected_mi", &expected_mi_of, "sizes"_a.noconvert(), "counts"_a.noconvert(),
          "other_sizes"_a.noconvert(), "other_counts"_a.noconvert(), "n_rows"_a, "n_threads"_a);
    m.def("sort_numbers", &sort_numbers_of, "values"_a.noconvert(), "n_threads"_a);
    m.def("measure_dips", &measure_dips_of, "samples"_a.noconvert(), "dips"_a.noconvert(),
          "ends"_a.noconvert(), "n_threads"_a);
}

}  // namespace coterie::bind
