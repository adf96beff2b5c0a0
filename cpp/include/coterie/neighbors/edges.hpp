// Edges between rows, and their order.
//
// Edges are compared by (length, lower row, higher row). No two are equal then, so there is one
// minimum spanning tree, whatever algorithm and threads look for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "coterie/threads/pool.hpp"
#include "coterie/threads/radix_sort.hpp"

namespace coterie {

struct Edge {
    double length = std::numeric_limits<double>::infinity();
    std::int32_t head = std::numeric_limits<std::int32_t>::max();  // the lower row
    std::int32_t tail = std::numeric_limits<std::int32_t>::max();

    // Lengths have an order: no NaN, no zero below zero.
    static Edge between(double length, std::int32_t a, std::int32_t b) {
        if (!(length == length)) length = std::numeric_limits<double>::infinity();
        return {length + 0.0, std::min(a, b), std::max(a, b)};
    }
    friend bool operator<(const Edge& a, const Edge& b) {
        return std::tie(a.length, a.head, a.tail) < std::tie(b.length, b.head, b.tail);
    }
};

// Sort by the leading bits of the lengths, then the few edges that share those. Bits of numbers
// that are not negative have the order of the numbers.
inline void sort_edges(std::vector<Edge>& edges, const Crew& crew) {
    const auto n = static_cast<std::int64_t>(edges.size());
    if (n < 2) return;
    const auto [least, most] =
        std::minmax_element(edges.begin(), edges.end(),
                            [](const Edge& a, const Edge& b) { return a.length < b.length; });
    const std::uint64_t base = std::bit_cast<std::uint64_t>(least->length);
    const int n_bits = std::bit_width(std::bit_cast<std::uint64_t>(most->length) - base);
    const int key_bits = std::min(n_bits, 32);
    const Chunks chunks(n, 1);
    const auto each = [&](const auto& body) {
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) body(i);
        });
    };
    std::unique_ptr<std::uint64_t[]> words(new std::uint64_t[n]);
    each([&](std::int64_t i) {
        const std::uint64_t key = std::bit_cast<std::uint64_t>(edges[i].length) - base;
        words[i] = key >> (n_bits - key_bits) << 32 | static_cast<std::uint64_t>(i);
    });
    words = sort_by_bits(std::move(words), n, 32, 32 + key_bits, crew);
    std::vector<Edge> sorted(n);
    Patience patience(crew);
    std::int64_t n_compared = 0;
    each([&](std::int64_t i) { sorted[i] = edges[static_cast<std::uint32_t>(words[i])]; });
    for (std::int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && words[end] >> 32 == words[begin] >> 32; ++end) {
        }
        std::sort(sorted.begin() + begin, sorted.begin() + end, [&](const Edge& a, const Edge& b) {
            if (++n_compared % (1 << 20) == 0) patience.ask();
            return a < b;
        });
    }
    edges = std::move(sorted);
}

}  // namespace coterie
