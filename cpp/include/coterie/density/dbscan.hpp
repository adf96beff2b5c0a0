// What every way to run DBSCAN shares: the rule for core rows, the rule for border rows, and the
// numbering of clusters.
//
// Ester, Kriegel, Sander and Xu (1996). A row is core when the rows within eps of it, itself
// included, weigh at least `min_weight`. Core rows within eps of each other share a cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "coterie/neighbors/components.hpp"

namespace coterie {

inline constexpr std::int64_t noise = -1;
inline constexpr std::uint32_t no_cluster = std::numeric_limits<std::uint32_t>::max();

// Whose cluster a border row joins: the lowest in number, its nearest core row's, or none.
enum class Border { first, nearest, noise };

struct Density {
    double eps;
    double min_weight;
    const double* weights;  // one a row; null: each weighs one
    bool may_stop;          // no weight is negative, so enough is enough

    double sq_eps() const { return eps * eps; }
};

// What is found: the cluster of every row, or `noise`, and whether it is core.
struct Clustering {
    std::int64_t* labels;
    std::uint8_t* core;
};

// A sum of weights that hardly depends on their order: what rounding takes is added in the end.
class WeightSum {
public:
    void add(double weight) {
        const double sum = sum_ + weight;
        const double part = sum - sum_;
        lost_ += (sum_ - (sum - part)) + (weight - part);
        sum_ = sum;
    }
    double value() const { return sum_ + lost_; }

private:
    double sum_ = 0, lost_ = 0;
};

// A core row as a border row sees it: nearer is better, then the lower row.
struct NearestCore {
    double sq_dist = std::numeric_limits<double>::infinity();
    std::uint32_t row = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t cluster = no_cluster;

    void offer(double other_sq_dist, std::uint32_t other_row, std::uint32_t other_cluster) {
        if (other_sq_dist < sq_dist || (other_sq_dist == sq_dist && other_row < row))
            *this = {other_sq_dist, other_row, other_cluster};
    }
};

// Number the components by the lowest core row of each. `lowest_row[i]` is that of item i, or
// `no_cluster` where i has none; becomes the cluster of i. Returns how many clusters there are.
inline std::int64_t number_clusters(Components& components,
                                    std::vector<std::uint32_t>& lowest_row) {
    const auto n = static_cast<std::uint32_t>(lowest_row.size());
    std::vector<std::uint32_t>& of_root = lowest_row;
    for (std::uint32_t i = 0; i < n; ++i) {
        if (lowest_row[i] == no_cluster) continue;
        const std::uint32_t root = components.root(i);
        of_root[root] = std::min(of_root[root], lowest_row[i]);
    }
    std::vector<std::uint32_t> roots;
    for (std::uint32_t i = 0; i < n; ++i)
        if (lowest_row[i] != no_cluster && components.root(i) == i) roots.push_back(i);
    std::sort(roots.begin(), roots.end(),
              [&](std::uint32_t a, std::uint32_t b) { return of_root[a] < of_root[b]; });
    for (std::uint32_t number = 0; number < roots.size(); ++number) of_root[roots[number]] = number;
    // Roots stand before the rest of their component.
    for (std::uint32_t i = 0; i < n; ++i)
        if (lowest_row[i] != no_cluster) lowest_row[i] = of_root[components.root(i)];
    return static_cast<std::int64_t>(roots.size());
}

}  // namespace coterie
