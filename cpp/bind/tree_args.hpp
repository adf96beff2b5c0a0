// Edges of a spanning tree that come from Python.
#pragma once

#include <cstdint>
#include <span>

#include "convert.hpp"

namespace coterie::bind {

inline std::span<const std::int32_t> as_span(const Column<const std::int32_t>& column) {
    return {column.data(), column.shape(0)};
}

inline void require_tree(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails) {
    require(heads.size() < std::size_t{1} << 30, "there must be fewer than 2^30 edges");
    require(heads.size() == tails.size(), "edges have two ends");
    const auto n_edges = static_cast<std::int32_t>(heads.size());
    for (const auto& ends : {heads, tails})
        for (const std::int32_t row : ends)
            require(0 <= row && row <= n_edges, "edges must join rows of the tree");
}

}  // namespace coterie::bind
