// Bindings of trees that are made of a spanning tree.
#include <nanobind/nanobind.h>

#include "convert.hpp"
#include "tree_args.hpp"

#include "coterie/density/condense.hpp"
#include "coterie/density/select_clusters.hpp"
#include "coterie/neighbors/levels.hpp"
#include "coterie/neighbors/merge_tree.hpp"
#include "coterie/neighbors/rooted_tree.hpp"

namespace coterie::bind {
namespace {

void merge_tree_of(Column<const std::int32_t> heads, Column<const std::int32_t> tails,
                   Column<std::int32_t> left, Column<std::int32_t> right,
                   Column<std::int32_t> sizes) {
    require_tree(as_span(heads), as_span(tails));
    for (const std::size_t length : {left.shape(0), right.shape(0), sizes.shape(0)})
        require(length == heads.shape(0), "there must be an entry per edge");
    without_gil([&] {
        merge_tree(as_span(heads), as_span(tails), left.data(), right.data(), sizes.data(),
                   crew_of(1));
    });
}

void point_away_from_first_of(Column<std::int32_t> heads, Column<std::int32_t> tails) {
    const std::span<std::int32_t> from{heads.data(), heads.shape(0)};
    const std::span<std::int32_t> to{tails.data(), tails.shape(0)};
    require_tree(from, to);
    without_gil([&] { point_away_from_first(from, to); });
}

// Every merge joins two clusters that were there before it and in no other merge, and counts their
// rows.
void require_merges(std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                    std::span<const std::int32_t> sizes) {
    const auto n_rows = static_cast<std::int64_t>(left.size()) + 1;
    const auto size_of = [&](std::int64_t c) { return c < n_rows ? 1 : sizes[c - n_rows]; };
    std::vector<bool> joined(2 * n_rows - 1);
    for (std::int64_t i = 0; i < n_rows - 1; ++i) {
        for (const std::int64_t c : {left[i], right[i]}) {
            require(0 <= c && c < n_rows + i && !joined[c],
                    "left and right must name each cluster once, after it was made");
            joined[c] = true;
        }
        require(std::int64_t{sizes[i]} ==
                    std::int64_t{size_of(left[i])} + std::int64_t{size_of(right[i])},
                "sizes must count the rows of the clusters");
    }
}

void find_levels_of(Column<const double> lengths, Column<double> heights) {
    require(heights.shape(0) == lengths.shape(0), "there must be a height a length");
    find_levels({lengths.data(), lengths.shape(0)}, heights.data());
}

std::int32_t condense_of(Column<const std::int32_t> left, Column<const std::int32_t> right,
                         Column<const double> heights, Column<const std::int32_t> sizes,
                         std::int32_t min_cluster_size, Column<std::int32_t> row_cluster,
                         Column<double> row_lambda, Column<std::int32_t> parent,
                         Column<std::int32_t> size, Column<double> birth, Column<double> death,
                         Column<double> peak, Column<double> stability) {
    const auto n_rows = static_cast<std::int64_t>(left.shape(0)) + 1;
    require(n_rows >= 2 && n_rows <= std::int64_t{1} << 30, "there must be 2 to 2^30 rows");
    require(min_cluster_size >= 2, "a cluster must have two rows");
    for (const std::size_t length : {right.shape(0), heights.shape(0), sizes.shape(0)})
        require(length == left.shape(0), "there must be an entry per merge");
    for (const std::size_t length : {row_cluster.shape(0), row_lambda.shape(0)})
        require(length == left.shape(0) + 1, "there must be an entry per row");
    require_merges(as_span(left), as_span(right), as_span(sizes));
    const std::int64_t most = std::max<std::int64_t>(1, 2 * (n_rows / min_cluster_size) - 1);
    for (const std::size_t length : {parent.shape(0), size.shape(0), birth.shape(0), death.shape(0),
                                     peak.shape(0), stability.shape(0)})
        require(static_cast<std::int64_t>(length) >= most, "there must be room for all clusters");
    const Merges merges{left.data(), right.data(), heights.data(), sizes.data(),
                        static_cast<std::int32_t>(n_rows)};
    const CondensedTree tree{row_cluster.data(), row_lambda.data(), parent.data(),
                             size.data(),        birth.data(),      death.data(),
                             peak.data(),        stability.data()};
    const Crew crew = crew_of(1);
    return without_gil([&] { return Condenser(merges, min_cluster_size, tree, crew).run(); });
}

void select_clusters_of(Column<const std::int32_t> parent, Column<const std::int32_t> size,
                        Column<const double> birth, Column<const double> stability, bool leaves,
                        std::int32_t max_size, double epsilon, bool allow_single,
                        Column<std::int32_t> owner) {
    for (const std::size_t length :
         {size.shape(0), birth.shape(0), stability.shape(0), owner.shape(0)})
        require(length == parent.shape(0) && length > 0, "there must be an entry per cluster");
    for (std::size_t c = 1; c < parent.shape(0); ++c)
        require(0 <= parent.data()[c] && parent.data()[c] < static_cast<std::int64_t>(c),
                "parents must come before their children");
    const ClusterTree tree{parent.data(), size.data(), birth.data(), stability.data(),
                           static_cast<std::int32_t>(parent.shape(0))};
    select_clusters(tree, {max_size, epsilon, allow_single}, leaves, owner.data());
}

}  // namespace

void add_hdbscan(nb::module_& m) {
    using namespace nb::literals;
    m.def("merge_tree", &merge_tree_of, "heads"_a.noconvert(), "tails"_a.noconvert(),
          "left"_a.noconvert(), "right"_a.noconvert(), "sizes"_a.noconvert());
    m.def("point_away_from_first", &point_away_from_first_of, "heads"_a.noconvert(),
          "tails"_a.noconvert());
    m.def("find_levels", &find_levels_of, "lengths"_a.noconvert(), "heights"_a.noconvert());
    m.def("condense", &condense_of, "left"_a.noconvert(), "right"_a.noconvert(),
          "heights"_a.noconvert(), "sizes"_a.noconvert(), "min_cluster_size"_a,
          "row_cluster"_a.noconvert(), "row_lambda"_a.noconvert(), "parent"_a.noconvert(),
          "size"_a.noconvert(), "birth"_a.noconvert(), "death"_a.noconvert(), "peak"_a.noconvert(),
          "stability"_a.noconvert());
    m.def("select_clusters", &select_clusters_of, "parent"_a.noconvert(), "size"_a.noconvert(),
          "birth"_a.noconvert(), "stability"_a.noconvert(), "leaves"_a, "max_size"_a, "epsilon"_a,
          "allow_single"_a, "owner"_a.noconvert());
}

}  // namespace coterie::bind
