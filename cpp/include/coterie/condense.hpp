// The condensed tree of HDBSCAN (Campello, Moulavi & Sander 2013): single linkage read from the
// top, where only a split into two parts of enough rows makes clusters, and smaller parts fall off.
//
// Density is lambda = 1 / height: clusters are born, lose rows and split or die as it rises.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace coterie {

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
    Condenser(const Merges& merges, std::int32_t min_cluster_size, const CondensedTree& tree)
        : merges_(merges), min_cluster_size_(min_cluster_size), tree_(tree) {}

    // The number of clusters: at most twice as many as disjoint ones of enough rows, less one.
    std::int32_t run() {
        add_cluster(-1, merges_.n_rows, 0);
        // Level by level from left to right, which numbers the clusters.
        std::vector<Part> level{{2 * merges_.n_rows - 2, 0}}, next;
        for (; !level.empty(); level.swap(next), next.clear())
            for (const Part& part : level) split(part, next);
        for (std::int32_t c = n_clusters_ - 1; c > 0; --c)
            tree_.peak[tree_.parent[c]] = std::max(tree_.peak[tree_.parent[c]], tree_.peak[c]);
        return n_clusters_;
    }

private:
    // What is left of a cluster: a node of the single linkage.
    struct Part {
        std::int32_t node, cluster;
    };

    void split(const Part& part, std::vector<Part>& next) {
        const std::int32_t merge = part.node - merges_.n_rows;
        const double lambda = merges_.lambda(part.node);
        const std::int32_t sides[] = {merges_.left[merge], merges_.right[merge]};
        const bool enough[] = {merges_.size(sides[0]) >= min_cluster_size_,
                               merges_.size(sides[1]) >= min_cluster_size_};
        for (const int side : {0, 1}) {
            if (!enough[side])
                fall(sides[side], part.cluster, lambda);
            else if (!enough[1 - side])
                next.push_back({sides[side], part.cluster});
            else
                next.push_back({sides[side], add_child(sides[side], part.cluster, lambda)});
        }
    }

    std::int32_t add_cluster(std::int32_t parent, std::int32_t size, double birth) {
        const std::int32_t c = n_clusters_++;
        tree_.parent[c] = parent;
        tree_.size[c] = size;
        tree_.birth[c] = birth;
        tree_.death[c] = tree_.peak[c] = birth;
        tree_.stability[c] = 0;
        return c;
    }

    std::int32_t add_child(std::int32_t node, std::int32_t parent, double lambda) {
        lose(parent, lambda, merges_.size(node));
        return add_cluster(parent, merges_.size(node), lambda);
    }

    void lose(std::int32_t cluster, double lambda, std::int32_t size) {
        tree_.death[cluster] = tree_.peak[cluster] = lambda;  // which never falls
        if (lambda > tree_.birth[cluster])                    // both may be infinite
            tree_.stability[cluster] += (lambda - tree_.birth[cluster]) * size;
    }

    // All rows below a node leave the cluster, one by one.
    void fall(std::int32_t node, std::int32_t cluster, double lambda) {
        below_.assign(1, node);
        while (!below_.empty()) {
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
    std::int32_t n_clusters_ = 0;
    std::vector<std::int32_t> below_;
};

}  // namespace coterie
