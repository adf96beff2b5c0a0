// Bindings of the centroid family: column statistics, nearest centres, cluster sums. Each function
// is one template over the kind of rows, dense or CSR.
#include <nanobind/stl/pair.h>

#include "rows_args.hpp"
#include "space_args.hpp"

#include "coterie/centroid/bounds.hpp"
#include "coterie/centroid/few_means.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sparse.hpp"
#include "coterie/rows/columns.hpp"

namespace coterie::bind {
namespace {

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

void check_centers(const CentersIn& centers, std::int64_t n_cols) {
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
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    const SumsOut out = tally.out(space, centers.shape(0), data.rows.n_cols);
    return without_gil([&] {
        auto packed = packed_for(data.rows, centers, space);
        return assign_and_sum(data, packed, labels.data(), out, crew_of(n_threads));
    });
}

// Of `Bounds` in centroid/_steps.py. `drifts` is None on the first pass; all but it and `order` are
// written to.
struct BoundsArgs {
    Column<PackedBound> upper;
    Table<PackedBound> lower;
    Column<float> radius;
    bool fresh_radius = false;
    std::optional<Column<const std::int32_t>> order;
    std::optional<Column<const double>> drifts;

    bool read(nb::handle from) {
        return read_attribute(from, "upper", upper) && read_attribute(from, "lower", lower) &&
               read_attribute(from, "radius", radius) &&
               read_attribute(from, "fresh_radius", fresh_radius) &&
               read_attribute(from, "order", order) && read_attribute(from, "drifts", drifts);
    }
    void check(const Labels& labels, std::int64_t n_centers) const {
        const auto n_rows = static_cast<std::int64_t>(labels.shape(0));
        require_length(upper, n_rows, "upper must have one entry a row");
        require(lower.shape(0) >= 1 && static_cast<std::int64_t>(lower.shape(1)) == n_rows,
                "lower must have a row for each group and an entry for each row");
        require_length(radius, n_centers, "radius must have one entry a centre");
        if (drifts) {
            require_length(*drifts, n_centers, "drifts must have one entry a centre");
            require_indexes(labels.data(), n_rows, n_centers, "labels must lie within the centers");
        }
        if (order) {
            require_length(*order, n_centers, "order must name every centre");
            require_indexes(order->data(), n_centers, n_centers, "order must name every centre");
        }
    }
};

// As assign_and_sum, with bounds. Returns (changed, scanned).
template <class T>
std::pair<std::int64_t, std::int64_t> assign_bounded_rows(Rows<T> rows, Weights weights,
                                                          CentersIn centers, SpaceArgs<T> space,
                                                          Labels labels, TallyArgs tally,
                                                          BoundsArgs bounds, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const std::int64_t d = data.rows.n_cols;
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    check_centers(centers, d);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    bounds.check(labels, k);
    const Frame<T> frame = space.frame(d);
    const SumsOut out = tally.out(space, k, d);
    const BoundedCounts counts = without_gil([&] {
        const Crew crew = crew_of(n_threads);
        const auto& [upper, lower, radius, fresh_radius, order, drifts] = bounds;
        Centers<T> packed(centers.data(), k, d, frame, order ? order->data() : nullptr,
                          lower.shape(0));
        return assign_bounded(data, packed, drifts ? drifts->data() : nullptr, labels.data(),
                              Bounds{upper.data(), lower.data(), radius.data()}, fresh_radius, out,
                              crew);
    });
    return {counts.n_changed, counts.n_scanned};
}

template <class Given>
void assign_rows(Given given, CentersIn centers, FrameArgs<Value<Given>> frame, Labels labels,
                 int n_threads) {
    const auto data = as_weighted(given);
    check_centers(centers, data.rows.n_cols);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
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
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_indexes(labels.data(), data.rows.n_rows, centers.shape(0),
                    "labels must lie within the centers");
    if (sq_dists) require_length(*sq_dists, data.rows.n_rows, "sq_dists must have one entry a row");
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

void count_labels_into(LabelsIn labels, Column<std::int64_t> counts) {
    without_gil([&] {
        count_labels(labels.data(), static_cast<std::int64_t>(labels.shape(0)), counts.data(),
                     static_cast<std::int64_t>(counts.shape(0)));
    });
}

template <class Given>
void few_means_of(Given given, Weights weights, LabelsIn labels, Column<const bool> few,
                  double unit, Table<double> means, int n_threads) {
    const auto data = as_weighted(given, weights);
    require_length(labels, data.rows.n_rows, "labels must have one entry a row");
    require_length(few, means.shape(0), "few must have one entry a cluster");
    require(static_cast<std::int64_t>(means.shape(1)) == data.rows.n_cols,
            "means must have the columns of the rows");
    without_gil([&] {
        few_means(data, labels.data(), few.data(), means.shape(0), unit, means.data(),
                  crew_of(n_threads));
    });
}

template <class Given>
void add_for(nb::module_& m) {
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

template <class T>
void add_bounded_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("assign_bounded", &assign_bounded_rows<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "centers"_a.noconvert(), "space"_a, "labels"_a.noconvert(), "tally"_a, "bounds"_a,
          "n_threads"_a);
}

}  // namespace

void add_centroid(nb::module_& m) {
    using namespace nb::literals;
    for_all_rows([&]<class Given>() { add_for<Given>(m); });
    add_bounded_for<float>(m);
    add_bounded_for<double>(m);
    m.def("count_labels", &count_labels_into, "labels"_a.noconvert(), "counts"_a.noconvert());
}

}  // namespace coterie::bind
