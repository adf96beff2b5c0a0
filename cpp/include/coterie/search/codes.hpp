// Codes of a product quantizer as they are kept for scanning, and the tables that give them a
// value.
//
// Blocks of 64 rows; within a block the bytes of one part lie side by side, so that rows sit in
// lanes. With 4 bits a byte holds two parts, the first in its lower half; an odd part at the end
// has an empty neighbour.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/simd/simd.hpp"

namespace coterie::search {

inline constexpr std::int64_t block_rows = 64;

struct Codes {
    const std::uint8_t* blocks;  // (n_blocks, n_bytes, 64) in C order
    std::int64_t n_rows;
    std::int64_t n_parts;
    int bits;  // 8 or 4

    std::int64_t n_words() const { return std::int64_t{1} << bits; }
    std::int64_t n_blocks() const { return (n_rows + block_rows - 1) / block_rows; }
    std::int64_t n_bytes() const { return bits == 8 ? n_parts : (n_parts + 1) / 2; }
    const std::uint8_t* block(std::int64_t i) const { return blocks + i * block_rows * n_bytes(); }
};

// The tables of one query: what part m adds to the value of a row whose code there is c. A value is
// the float32 sum over the parts in their order, and every way to scan gives these bits.
struct Tables {
    const float* values;  // (n_parts, n_words)
    std::int64_t n_parts, n_words;

    const float* part(std::int64_t m) const { return values + m * n_words; }
};

struct Range {
    float low, high;
};

// The least and the largest of some values, a multiple of 16 of them.
inline Range range_of(const float* values, std::int64_t count) {
    constexpr int lanes = Simd<float>::lanes;
    Vec<float> low = load(values), high = low;
    for (std::int64_t i = lanes; i < count; i += lanes) {
        const Vec<float> here = load(values + i);
        low = vec_min(low, here);
        high = vec_max(high, here);
    }
    Range range{low[0], high[0]};
    for (int j = 1; j < lanes; ++j)
        range = {std::min(range.low, low[j]), std::max(range.high, high[j])};
    return range;
}

}  // namespace coterie::search
