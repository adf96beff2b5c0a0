// The condensed tree of HDBSCAN (Campello, Moulavi & Sander 2013): single linkage read from the
// top, where only a split into several parts of enough rows makes clusters, and smaller parts fall.
//
// Merges of equal height are one level: what they join parts into all its pieces at once, so the
// tree does not depend on the order in which equal merges are listed.
//
// Density is lambda = 1 / height: clusters are born, lose rows and split or die as it rises.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Merges come by height, so that a merge stands behind those it joins.
struct Merges {
    const std::int32_t* left;
    const std::int32_t* right;
    const double* heights;
    const std::int32_t* sizes;
    std::int32_t n_rows;

    std::int32_t size(std::int32_t node) const { return node < n_rows ? 1 : sizes[node - n_rows]; }
    double lambda(std::int32_t node) const {
        const double height = heights[node - n_rows];
        return height > 0 ? 1 / height : std::numeric_limits<double>::infinity();
    }
    // Whether a side of the merge was made by one of equal height.
    bool same_level(std::int32_t side, std::int32_t merge) const {
        return side >= n_rows && heights[side - n_rows] == heights[merge];
    }
};

// Cluster 0 holds all rows; a parent comes before its children.
struct CondensedTree {
    std::int32_t* row_cluster;  // that each row falls from
    double* row_lambda;         // at which it does
    std::int32_t* parent;       // of each cluster; -1 for the first
    std::int32_t* size;         // when it was born
    double* birth;
    double* death;      // when its last rows fall or its children are born
    double* peak;       // the last death among it and its descendants
    double* stability;  // how long rows stay: their lambdas less the birth, summed
};

class Condenser {
public:
    Condenser(const Merges& merges, std::int32_t min_cluster_size, const CondensedTree& tree,
              const Crew& crew)
        : merges_(merges),
          min_cluster_size_(min_cluster_size),
          tree_(tree),
          n_large_(merges.n_rows - 1),
          patience_(crew) {}

    // The number of clusters: at most twice as many as disjoint ones of enough rows, less one.
    std::int32_t run() {
        count_large_pieces();
        add_cluster(-1, 0);
        // Merge by merge from the top and from left to right, which numbers the clusters.
        std::vector<Part> depth{part_of(2 * merges_.n_rows - 2, 0)}, next;
        for (; !depth.empty(); depth.swap(next), next.clear())
            for (const Part& part : depth) split(part, next);
        for (std::int32_t c = n_clusters(); c-- > 0;) {
            settle(c);
            tree_.peak[c] = std::max(tree_.peak[c], tree_.death[c]);
            if (c > 0)
                tree_.peak[tree_.parent[c]] = std::max(tree_.peak[tree_.parent[c]], tree_.peak[c]);
        }
        return n_clusters();
    }

private:
    // A node of the single linkage that is yet to be parted: its small pieces fall from a cluster,
    // and its one large piece is an heir, the same cluster or a child. Several have no heir yet.
    struct Part {
        std::int32_t node, cluster, heir;
    };
    static constexpr std::int32_t nobody = -1;

    std::int32_t n_clusters() const { return static_cast<std::int32_t>(lost_.size()); }

    // All of a cluster, at the top of a level.
    Part part_of(std::int32_t node, std::int32_t cluster) const {
        return {node, cluster, n_large_[node - merges_.n_rows] > 1 ? nobody : cluster};
    }

    // Of the pieces that a merge and those of its level below it join: how many have enough rows;
    // more than two count as two.
    void count_large_pieces() {
        for (std::int32_t merge = 0; merge < merges_.n_rows - 1; ++merge) {
            int n_large = 0;
            for (const std::int32_t side : {merges_.left[merge], merges_.right[merge]})
                n_large += n_large_in(side, merge);
            n_large_[merge] = static_cast<std::uint8_t>(std::min(n_large, 2));
        }
    }

    int n_large_in(std::int32_t side, std::int32_t merge) const {
        if (merges_.same_level(side, merge)) return n_large_[side - merges_.n_rows];
        return merges_.size(side) >= min_cluster_size_;
    }

    void split(const Part& part, std::vector<Part>& next) {
        patience_.tick();
        const std::int32_t merge = part.node - merges_.n_rows;
        const double lambda = merges_.lambda(part.node);
        for (const std::int32_t side : {merges_.left[merge], merges_.right[merge]}) {
            const int n_large = n_large_in(side, merge);
            if (n_large == 0) {
                fall(side, part.cluster, lambda);
                continue;
            }
            std::int32_t heir = part.heir;
            if (heir == nobody && n_large == 1) heir = add_cluster(part.cluster, lambda);
            if (merges_.same_level(side, merge)) {
                next.push_back({side, part.cluster, heir});
            } else {
                if (heir != part.cluster) hand_over(side, part.cluster, heir, lambda);
                next.push_back(part_of(side, heir));
            }
        }
    }

    std::int32_t add_cluster(std::int32_t parent, double birth) {
        const std::int32_t c = n_clusters();
        lost_.push_back(0);
        tree_.parent[c] = parent;
        tree_.size[c] = merges_.n_rows;  // until it is handed over
        tree_.birth[c] = birth;
        tree_.death[c] = tree_.peak[c] = birth;
        tree_.stability[c] = 0;
        return c;
    }

    // A piece of a cluster becomes its child.
    void hand_over(std::int32_t piece, std::int32_t cluster, std::int32_t child, double lambda) {
        tree_.size[child] = merges_.size(piece);
        lose(cluster, lambda, tree_.size[child]);
    }

    // Rows leave; lambda never falls.
    void lose(std::int32_t cluster, double lambda, std::int32_t size) {
        if (lambda != tree_.death[cluster]) settle(cluster);
        tree_.death[cluster] = lambda;
        lost_[cluster] += size;
    }

    // Count in what left at the last level: all of it at once, so that sums have one order.
    void settle(std::int32_t cluster) {
        const double birth = tree_.birth[cluster], death = tree_.death[cluster];
        if (lost_[cluster] > 0 && death > birth)  // both may be infinite
            tree_.stability[cluster] += rounded((death - birth) * lost_[cluster]);
        lost_[cluster] = 0;
    }

    // All rows below a node leave the cluster, one by one.
    void fall(std::int32_t node, std::int32_t cluster, double lambda) {
        below_.assign(1, node);
        while (!below_.empty()) {
            patience_.tick();
            node = below_.back();
            below_.pop_back();
            if (node < merges_.n_rows) {
                tree_.row_cluster[node] = cluster;
                tree_.row_lambda[node] = lambda;
                lose(cluster, lambda, 1);
            } else {
                below_.push_back(merges_.right[node - merges_.n_rows]);
                below_.push_back(merges_.left[node - merges_.n_rows]);
            }
        }
    }

    const Merges& merges_;
    std::int32_t min_cluster_size_;
    CondensedTree tree_;
    std::vector<std::uint8_t> n_large_;  // of each merge
    std::vector<std::int32_t> lost_;     // of each cluster: rows that leave at its last level
    std::vector<std::int32_t> below_;
    Patience patience_;
};

}  // namespace coterie
