// A spanning tree hung up by its first row.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace coterie {

// Turn every edge so that its head is on the way from its tail to row 0.
//
// Prim's algorithm, started at row 0, takes in the tail of each such edge from its head.
inline void point_away_from_first(std::span<std::int32_t> heads, std::span<std::int32_t> tails) {
    const auto n_rows = static_cast<std::int32_t>(heads.size()) + 1;
    std::vector<std::int32_t> degree(n_rows, 0);
    std::vector<std::int32_t> parent(n_rows, 0);  // XOR of the neighbours that are left
    for (std::size_t i = 0; i < heads.size(); ++i) {
        ++degree[heads[i]], ++degree[tails[i]];
        parent[heads[i]] ^= tails[i], parent[tails[i]] ^= heads[i];
    }
    degree[0] = 0;  // never a leaf
    for (std::int32_t row = 0; row < n_rows; ++row)
        // Take leaves off: the one neighbour that is left is the parent.
        for (std::int32_t leaf = row; degree[leaf] == 1; leaf = parent[leaf]) {
            degree[leaf] = 0;
            --degree[parent[leaf]];
            parent[parent[leaf]] ^= leaf;
        }
    for (std::size_t i = 0; i < heads.size(); ++i)
        if (tails[i] == 0 || parent[tails[i]] != heads[i]) std::swap(heads[i], tails[i]);
}

}  // namespace coterie
