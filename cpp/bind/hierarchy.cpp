// Bindings of agglomerative clustering.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "convert.hpp"
#include "metric_args.hpp"
#include "tree_args.hpp"

#include "coterie/hierarchy/cut.hpp"
#include "coterie/hierarchy/genie.hpp"
#include "coterie/hierarchy/linkage_merges.hpp"
#include "coterie/hierarchy/linkage_triangle.hpp"
#include "coterie/hierarchy/linkage_vectors.hpp"
#include "coterie/hierarchy/triangle.hpp"

namespace coterie::bind {
namespace {

template <class T>
Triangle<T> as_triangle(const Column<T>& lengths, std::int64_t n_rows) {
    require_length(lengths, n_rows * (n_rows - 1) / 2, "a triangle has n (n - 1) / 2 entries");
    return {lengths.data(), n_rows};
}

void require_table(const Table<double>& table, std::int64_t n_rows) {
    require(n_rows > 0 && n_rows < (1 << 30), "there must be rows, and fewer than 2^30");
    require(static_cast<std::int64_t>(table.shape(0)) == n_rows - 1 && table.shape(1) == 4,
            "a merge table has one row less than there are rows, and 4 columns");
}

template <class T>
void fill_triangle_of(Rows<T> rows, MetricArgs metric, Column<T> lengths, int n_threads) {
    const Metric found = as_metric(metric, rows.shape(1));
    const Triangle<T> triangle = as_triangle(lengths, rows.shape(0));
    without_gil([&] { fill_triangle(found, as_matrix(rows), triangle, crew_of(n_threads)); });
}

template <class T>
void link_triangle_of(std::string method, Column<T> lengths, double scale, Table<double> table,
                      int n_threads) {
    const auto n_rows = static_cast<std::int64_t>(table.shape(0)) + 1;
    require_table(table, n_rows);
    const Triangle<T> triangle = as_triangle(lengths, n_rows);
    without_gil([&] {
        const Crew crew = crew_of(n_threads);
        write_merge_table(link_triangle(method, triangle, scale, crew), table.data());
    });
}

template <class T>
void link_vectors_of(std::string method, Rows<T> rows, Weights sizes, Column<const double> shift,
                     double scale, std::optional<Column<const std::int64_t>> first,
                     Table<double> table, int n_threads) {
    require_table(table, rows.shape(0));
    if (sizes) require_length(*sizes, rows.shape(0), "sizes must have one entry per row");
    require_length(shift, rows.shape(1), "shift must have one entry per column");
    if (first) {
        require_length(*first, rows.shape(0), "first must have one entry per row");
        require_indexes(first->data(), rows.shape(0), rows.shape(0), "first must be a row");
        for (std::size_t i = 0; i < rows.shape(0); ++i)
            require(first->data()[i] != static_cast<std::int64_t>(i), "first must be another row");
    }
    require(method == "ward" || method == "centroid" || method == "median",
            "method must be ward, centroid or median");
    without_gil([&] {
        const Crew crew = crew_of(n_threads);
        write_merge_table(link_vectors(method, as_matrix(rows), sizes ? sizes->data() : nullptr,
                                       shift.data(), scale, first ? first->data() : nullptr, crew),
                          table.data());
    });
}

void link_genie_of(Column<const std::int32_t> heads, Column<const std::int32_t> tails,
                   Column<const double> lengths, double threshold, Table<double> table) {
    require_tree(as_span(heads), as_span(tails));
    require_length(lengths, heads.shape(0), "lengths must have one entry per edge");
    require_table(table, static_cast<std::int64_t>(heads.shape(0)) + 1);
    without_gil([&] {
        link_genie(as_span(heads), as_span(tails), lengths.data(), threshold, table.data(),
                   crew_of(1));
    });
}

void hand_labels_down_of(Table<const std::int64_t> parts, Column<std::int64_t> labels) {
    const auto n_merges = static_cast<std::int64_t>(parts.shape(0));
    require(parts.shape(1) == 2, "a merge has two parts");
    require_length(labels, 2 * n_merges + 1, "labels must have one entry per node");
    for (std::int64_t i = 0; i < 2 * n_merges; ++i)
        require(0 <= parts.data()[i] && parts.data()[i] <= n_merges + i / 2,
                "parts must be nodes that are there before");
    without_gil([&] { hand_labels_down(parts.data(), n_merges, labels.data()); });
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("fill_triangle", &fill_triangle_of<T>, "rows"_a.noconvert(), "metric"_a,
          "lengths"_a.noconvert(), "n_threads"_a);
    m.def("link_triangle", &link_triangle_of<T>, "method"_a, "lengths"_a.noconvert(), "scale"_a,
          "table"_a.noconvert(), "n_threads"_a);
    m.def("link_vectors", &link_vectors_of<T>, "method"_a, "rows"_a.noconvert(), "sizes"_a.none(),
          "shift"_a.noconvert(), "scale"_a, "first"_a.none(), "table"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_hierarchy(nb::module_& m) {
    add_for<float>(m);
    add_for<double>(m);
    using namespace nb::literals;
    m.def("hand_labels_down", &hand_labels_down_of, "parts"_a.noconvert(), "labels"_a.noconvert());
    m.def("link_genie", &link_genie_of, "heads"_a.noconvert(), "tails"_a.noconvert(),
          "lengths"_a.noconvert(), "threshold"_a, "table"_a.noconvert());
}

}  // namespace coterie::bind
