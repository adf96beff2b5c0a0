// Bindings of the centroid family, each one template over the kind of rows: column statistics,
// nearest centres, cluster sums.
#pragma once

#include <algorithm>
#include <optional>

#include "rows_args.hpp"
#include "space_args.hpp"

#include "coterie/centroid/few_means.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sparse.hpp"
#include "coterie/rows/columns.hpp"

namespace coterie::bind {

template <class Given>
std::int64_t column_stats_into(Given given, Table<double> out, int n_threads) {
    const auto rows = as_rows(given);
    require(out.shape(0) == 4, "out must have four rows");
    require(static_cast<std::int64_t>(out.shape(1)) == rows.n_cols,
            "out must have a column for each column");
    const ColumnStats stats = without_gil([&] { return column_stats(rows, crew_of(n_threads)); });
    double* to = out.data();
    for (const auto* from : {&stats.min, &stats.max, &stats.mean, &stats.sq_dev})
        to = std::copy(from->begin(), from->end(), to);
    return stats.n_rows;
}

using CentersIn = Table<const double>;

inline void check_centers(const CentersIn& centers, std::int64_t n_cols) {
    require(centers.shape(0) > 0 && static_cast<std::int64_t>(centers.shape(1)) == n_cols,
            "centers must have the columns of the rows");
}

// The centres as rows of either kind are compared with them.
template <class T>
Centers<T> packed_for(const Matrix<const T>& rows, const CentersIn& centers,
                      const FrameArgs<T>& frame) {
    return Centers<T>(centers.data(), centers.shape(0), rows.n_cols, frame.frame(rows.n_cols));
}

template <class T, class Index>
SparseCenters packed_for(const Csr<T, Index>& rows, const CentersIn& centers,
                         const FrameArgs<T>& frame) {
    return SparseCenters(centers.data(), centers.shape(0), rows.n_cols, frame.scale);
}

using Labels = Column<std::int32_t>;
using LabelsIn = Column<const std::int32_t>;

template <class Given>
std::int64_t assign_and_sum_rows(Given given, Weights weights, CentersIn centers,
                                 SpaceArgs<Value<Given>> space, Labels labels, TallyArgs tally,
                                 int n_threads) {
    const auto data = as_weighted(given, weights);
    check_centers(centers, data.rows.n_cols);
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
    const SumsOut out = tally.out(space, centers.shape(0), data.rows.n_cols);
    return without_gil([&] {
        auto packed = packed_for(data.rows, centers, space);
        return assign_and_sum(data, packed, labels.data(), out, crew_of(n_threads));
    });
}

template <class Given>
void assign_rows(Given given, CentersIn centers, FrameArgs<Value<Given>> frame, Labels labels,
                 int n_threads) {
    const auto data = as_weighted(given);
    check_centers(centers, data.rows.n_cols);
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
    without_gil([&] {
        auto packed = packed_for(data.rows, centers, frame);
        assign(data, packed, labels.data(), crew_of(n_threads));
    });
}

template <class Given>
double sum_sq_dists_of(Given given, Weights weights, CentersIn centers, double scale,
                       LabelsIn labels, std::optional<Column<double>> sq_dists, int n_threads) {
    const auto data = as_weighted(given, weights);
    check_centers(centers, data.rows.n_cols);
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
    require_indexes(labels.data(), data.rows.n_rows, centers.shape(0),
                    "labels must lie within the centers");
    if (sq_dists)
        require_length(*sq_dists, data.rows.n_rows, "sq_dists must have one entry per row");
    return without_gil([&] {
        return sum_sq_dists(data, centers.data(), labels.data(), scale,
                            sq_dists ? sq_dists->data() : nullptr, crew_of(n_threads));
    });
}

template <class Given>
void all_dists_of(Given given, CentersIn centers, double scale, Table<Value<Given>> dists,
                  int n_threads) {
    const auto data = as_weighted(given);
    check_centers(centers, data.rows.n_cols);
    require(static_cast<std::int64_t>(dists.shape(0)) == data.rows.n_rows &&
                dists.shape(1) == centers.shape(0),
            "dists must have a row for each row and a column for each centre");
    without_gil([&] {
        all_dists(data, centers.data(), centers.shape(0), scale, dists.data(), crew_of(n_threads));
    });
}

template <class Given>
void few_means_of(Given given, Weights weights, LabelsIn labels, Column<const bool> few,
                  double unit, Table<double> means, int n_threads) {
    const auto data = as_weighted(given, weights);
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
    require_length(few, means.shape(0), "few must have one entry per cluster");
    require(static_cast<std::int64_t>(means.shape(1)) == data.rows.n_cols,
            "means must have the columns of the rows");
    without_gil([&] {
        few_means(data, labels.data(), few.data(), means.shape(0), unit, means.data(),
                  crew_of(n_threads));
    });
}

template <class Given>
void add_centroid_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_stats", &column_stats_into<Given>, "rows"_a.noconvert(), "out"_a.noconvert(),
          "n_threads"_a);
    m.def("assign_and_sum", &assign_and_sum_rows<Given>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "space"_a, "labels"_a.noconvert(), "tally"_a, "n_threads"_a);
    m.def("assign", &assign_rows<Given>, "rows"_a.noconvert(), "centers"_a.noconvert(), "space"_a,
          "labels"_a.noconvert(), "n_threads"_a);
    m.def("sum_sq_dists", &sum_sq_dists_of<Given>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "scale"_a, "labels"_a.noconvert(), "sq_dists"_a.none(),
          "n_threads"_a);
    m.def("all_dists", &all_dists_of<Given>, "rows"_a.noconvert(), "centers"_a.noconvert(),
          "scale"_a, "dists"_a.noconvert(), "n_threads"_a);
    m.def("few_means", &few_means_of<Given>, "rows"_a.noconvert(), "weights"_a.none(),
          "labels"_a.noconvert(), "few"_a.noconvert(), "unit"_a, "means"_a.noconvert(),
          "n_threads"_a);
}

}  // namespace coterie::bind
