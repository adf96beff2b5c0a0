// From merges, each named by two rows of the clusters it joins, to SciPy's merge table.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "coterie/pool.hpp"
#include "coterie/union_find.hpp"

namespace coterie {

struct Merge {
    double height;
    std::int32_t first, second;  // a row of either cluster
};

// Write (cluster, cluster, height, rows) for every merge, in the order given. Rows are clusters
// 0 to n - 1, the cluster made by merge i is n + i, and the lower of two comes first.
inline void write_merge_table(const std::vector<Merge>& merges, double* table) {
    const auto n_rows = static_cast<std::int64_t>(merges.size()) + 1;
    UnionFind sets(n_rows);
    std::vector<std::int32_t> cluster(n_rows), size(n_rows, 1);  // of each set, by its name
    std::iota(cluster.begin(), cluster.end(), 0);
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const std::int32_t a = sets.find(merges[i].first), b = sets.find(merges[i].second);
        const auto [low, high] = std::minmax(cluster[a], cluster[b]);
        const std::int32_t total = size[a] + size[b];
        double* row = table + 4 * i;
        row[0] = low, row[1] = high, row[2] = merges[i].height, row[3] = total;
        sets.unite(a, b);
        const std::int32_t name = std::min(a, b);
        cluster[name] = static_cast<std::int32_t>(n_rows + static_cast<std::int64_t>(i));
        size[name] = total;
    }
}

// Put merges that were found in another order into the order of their heights. Where no cluster is
// lower than its parts, equal heights in the order found keep parts before wholes.
inline void sort_merges(std::vector<Merge>& merges) {
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Merge& a, const Merge& b) { return a.height < b.height; });
}

// Asks for Ctrl-C now and then, in loops whose steps are short.
class Patience {
public:
    explicit Patience(const Crew& crew) : crew_(crew) {}

    void ask() {
        if (!crew_.poll || clock::now() < next_) return;
        if (crew_.poll()) throw Interrupted{};
        next_ = clock::now() + std::chrono::milliseconds(50);
    }

private:
    using clock = std::chrono::steady_clock;
    const Crew& crew_;
    clock::time_point next_ = clock::now() + std::chrono::milliseconds(50);
};

}  // namespace coterie
