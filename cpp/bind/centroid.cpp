// The centroid family on dense rows, plainly and by bounds. CSR rows are a file of their own: with
// them in one, GCC made the sums of dense rows of 2 columns 9% slower.
#include <nanobind/stl/pair.h>

#include "centroid_rows.hpp"

#include "coterie/centroid/bounds.hpp"
#include "coterie/centroid/from_sums.hpp"

namespace coterie::bind {
namespace {

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
        require_length(upper, n_rows, "upper must have one entry per row");
        require(lower.shape(0) >= 1 && static_cast<std::int64_t>(lower.shape(1)) == n_rows,
                "lower must have a row for each group and an entry for each row");
        require_length(radius, n_centers, "radius must have one entry per centre");
        if (drifts) {
            require_length(*drifts, n_centers, "drifts must have one entry per centre");
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
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
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

void count_labels_into(LabelsIn labels, Column<std::int64_t> counts) {
    without_gil([&] {
        count_labels(labels.data(), static_cast<std::int64_t>(labels.shape(0)), counts.data(),
                     static_cast<std::int64_t>(counts.shape(0)));
    });
}

std::int64_t means_of_clusters(TallyArgs tally, GridArgs space, CentersIn centers,
                               Column<const std::int64_t> n_rows, std::int64_t most,
                               Column<bool> few, Table<double> means) {
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    const auto d = static_cast<std::int64_t>(centers.shape(1));
    require_length(means, k, "means must have the shape of the centers");
    require(means.shape(1) == centers.shape(1), "means must have the shape of the centers");
    require_length(n_rows, k, "n_rows must have one entry per cluster");
    require_length(few, k, "few must have one entry per cluster");
    return means_from_sums(tally.out(space, k, d), centers.data(), k, d, n_rows.data(), most,
                           few.data(), means.data());
}

double sum_sq_moves_of(CentersIn centers, CentersIn moved) {
    require(centers.shape(0) == moved.shape(0) && centers.shape(1) == moved.shape(1),
            "moved must have the shape of the centers");
    return sum_sq_moves(centers.data(), moved.data(),
                        static_cast<std::int64_t>(centers.shape(0) * centers.shape(1)));
}

double sse_of_clusters(TallyArgs tally, GridArgs space, CentersIn centers, double weight_unit,
                       double scatter) {
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    const auto d = static_cast<std::int64_t>(centers.shape(1));
    return sse_from_sums(tally.out(space, k, d), centers.data(), k, d, weight_unit, scatter);
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
    add_centroid_for<Rows<float>>(m);
    add_centroid_for<Rows<double>>(m);
    add_bounded_for<float>(m);
    add_bounded_for<double>(m);
    m.def("means_from_sums", &means_of_clusters, "tally"_a, "space"_a, "centers"_a.noconvert(),
          "n_rows"_a.noconvert(), "most"_a, "few"_a.noconvert(), "means"_a.noconvert());
    m.def("sum_sq_moves", &sum_sq_moves_of, "centers"_a.noconvert(), "moved"_a.noconvert());
    m.def("sse_from_sums", &sse_of_clusters, "tally"_a, "space"_a, "centers"_a.noconvert(),
          "weight_unit"_a, "scatter"_a);
    m.def("count_labels", &count_labels_into, "labels"_a.noconvert(), "counts"_a.noconvert());
}

}  // namespace coterie::bind
