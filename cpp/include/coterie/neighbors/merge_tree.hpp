// Single linkage: the merges that the edges of a spanning tree make, shortest first.
//
// Rows are the clusters 0 .. n - 1 and merge i makes cluster n + i, as in SciPy's tables.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "coterie/neighbors/union_find.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Merge i joins clusters left[i], where heads[i] is, and right[i], where tails[i] is, to one of
// sizes[i] rows. Edges come sorted by length.
inline void merge_tree(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails,
                       std::int32_t* left, std::int32_t* right, std::int32_t* sizes,
                       const Crew& crew = {}) {
    const auto n_edges = static_cast<std::int32_t>(heads.size());
    const std::int32_t n_rows = n_edges + 1;
    UnionFind sets(n_rows);
    std::vector<std::int32_t> cluster(n_rows);  // of each set, by its name
    std::iota(cluster.begin(), cluster.end(), 0);
    const auto size_of = [&](std::int32_t c) { return c < n_rows ? 1 : sizes[c - n_rows]; };
    Patience patience(crew);
    for (std::int32_t i = 0; i < n_edges; ++i) {
        patience.tick();
        const std::int32_t head = sets.find(heads[i]), tail = sets.find(tails[i]);
        left[i] = cluster[head];
        right[i] = cluster[tail];
        sizes[i] = size_of(left[i]) + size_of(right[i]);
        sets.unite(head, tail);
        cluster[sets.find(head)] = n_rows + i;
    }
}

}  // namespace coterie
