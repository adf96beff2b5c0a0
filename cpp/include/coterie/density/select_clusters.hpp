// Which clusters of a condensed tree to keep, none inside another.
#pragma once

#include <cstdint>
#include <vector>

namespace coterie {

// Clusters of a condensed tree, parents first; the first one holds all rows.
struct ClusterTree {
    const std::int32_t* parent;
    const std::int32_t* size;
    const double* birth;
    const double* stability;
    std::int32_t n_clusters;
};

struct Selection {
    std::int32_t max_size;  // of a kept cluster
    double epsilon;         // clusters born at a smaller height are taken up into their ancestors
    bool allow_single;      // whether the first cluster may be kept
};

using Flags = std::vector<char>;

// Totals that differ by less are equal, whatever the order in which they were summed.
inline constexpr double total_width = 1e-12;

// Excess of mass: of all ways to keep disjoint clusters, the one of the largest total stability;
// of equal ones that of the fewest clusters.
inline Flags keep_most_stable(const ClusterTree& tree, const Selection& rule) {
    Flags kept(tree.n_clusters, false);
    std::vector<double> below(tree.n_clusters, 0);  // the most that descendants can add up to
    std::int64_t in_children = 0;                   // rows that do not fall from the first cluster
    for (std::int32_t c = tree.n_clusters - 1; c >= 0; --c) {
        if (c == 0 && !rule.allow_single) break;
        const bool too_large = (c == 0 ? in_children : tree.size[c]) > rule.max_size;
        kept[c] = !(below[c] > tree.stability[c] * (1 + total_width)) && !too_large;
        if (c > 0) below[tree.parent[c]] += kept[c] ? tree.stability[c] : below[c];
        if (c > 0 && tree.parent[c] == 0) in_children += tree.size[c];
    }
    Flags covered(tree.n_clusters, false);
    for (std::int32_t c = 1; c < tree.n_clusters; ++c) {
        covered[c] = covered[tree.parent[c]] || kept[tree.parent[c]];
        kept[c] = kept[c] && !covered[c];
    }
    return kept;
}

// Those that split no further; none where there was no split at all.
inline Flags keep_leaves(const ClusterTree& tree) {
    Flags kept(tree.n_clusters, true);
    kept[0] = false;
    for (std::int32_t c = 1; c < tree.n_clusters; ++c) kept[tree.parent[c]] = false;
    return kept;
}

// Malzer & Baum (2020): no cluster is kept apart that was split off at a height below epsilon.
inline Flags merge_below(const ClusterTree& tree, const Selection& rule, const Flags& kept) {
    const auto height = [&](std::int32_t c) { return 1 / tree.birth[c]; };
    std::vector<std::int32_t> above(tree.n_clusters, 0);  // the ancestor that takes it up
    Flags merged(tree.n_clusters, false);
    for (std::int32_t c = 1; c < tree.n_clusters; ++c) {
        const std::int32_t parent = tree.parent[c];
        if (parent == 0)
            above[c] = rule.allow_single ? 0 : c;
        else
            above[c] = height(parent) > rule.epsilon ? parent : above[parent];
        if (kept[c]) merged[height(c) < rule.epsilon ? above[c] : c] = true;
    }
    return merged;
}

// The kept cluster that each cluster lies in, or -1.
inline void select_clusters(const ClusterTree& tree, const Selection& rule, bool leaves,
                            std::int32_t* owner) {
    Flags kept = leaves ? keep_leaves(tree) : keep_most_stable(tree, rule);
    if (rule.epsilon > 0 && !kept[0]) kept = merge_below(tree, rule, kept);
    for (std::int32_t c = 0; c < tree.n_clusters; ++c)
        owner[c] = kept[c] ? c : c == 0 ? -1 : owner[tree.parent[c]];
}

}  // namespace coterie
