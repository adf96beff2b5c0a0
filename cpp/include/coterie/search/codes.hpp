// Codes of a product quantizer as they are kept for scanning, and the tables that give them a
// value.
//
// Blocks of 64 rows; within a block the bytes of one part lie side by side, so that rows sit in
// lanes. With 4 bits a byte holds two parts, the first in its lower half; an odd part at the end
// has an empty neighbour.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/simd/simd.hpp"

namespace coterie::search {

inline constexpr std::int64_t block_rows = 64;

struct Codes {
    const std::uint8_t* blocks;  // (n_blocks, n_bytes, 64) in C order
    std::int64_t n_rows;
    std::int64_t n_parts;
    int bits;  // 8 or 4

    std::int64_t n_words() const { return std::int64_t{1} << bits; }
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

template <int bits>
inline float value_of(const Tables& tables, const Codes& codes, std::int64_t row) {
    const std::uint8_t* at = codes.block(row / block_rows) + row % block_rows;
    float sum = 0;
    for (std::int64_t m = 0; m < tables.n_parts; ++m) {
        if constexpr (bits == 8)
            sum += tables.part(m)[at[m * block_rows]];
        else
            sum += tables.part(m)[at[m / 2 * block_rows] >> (m % 2 * 4) & 15];
    }
    return sum;
}

struct Range {
    float low, high;
};

// The least and the largest of some values, a multiple of 16 of them.
inline Range range_of(const float* values, std::int64_t count) {
    constexpr int lanes = Simd<float>::lanes;
    Vec<float> low = load(values), high = low;
    for (std::int64_t i = lanes; i < count; i += lanes) {
        const Vec<float> here = load(values + i);
        low = here < low ? here : low;
        high = here > high ? here : high;
    }
    Range range{low[0], high[0]};
    for (int j = 1; j < lanes; ++j)
        range = {std::min(range.low, low[j]), std::max(range.high, high[j])};
    return range;
}

// Tables in bytes, made for one limit: entries are rounded down in steps of which 254 reach from
// the least possible value to the limit. So a row whose sum of bytes is 255 or more is above the
// limit, and sums may saturate there.
class ByteScale {
public:
    ByteScale() = default;
    explicit ByteScale(const Tables& tables) : lows_(tables.n_parts) {
        double size = 0;
        for (std::int64_t m = 0; m < tables.n_parts; ++m) {
            const auto [low, high] = range_of(tables.part(m), tables.n_words);
            lows_[m] = low;
            sum_of_lows_ += low;
            size += std::max(std::fabs(low), std::fabs(high));
        }
        // The float32 sum may be this much below the true one.
        slack_ =
            size * static_cast<double>(tables.n_parts + 2) * std::numeric_limits<float>::epsilon();
    }

    void set_limit(double limit) {
        const double reach = (limit - sum_of_lows_ + slack_) * (1 + 1e-5);
        // A step that is a little too long errs on the safe side, as rounding here might not.
        inverse_ = reach > 254 / static_cast<double>(std::numeric_limits<float>::max())
                       ? static_cast<float>(254 / reach)
                       : std::numeric_limits<float>::max();
    }

    // From 0 to 255.
    std::int32_t byte_of(std::int64_t m, float value) const {
        return static_cast<std::int32_t>(std::min((value - lows_[m]) * inverse_, 255.0f));
    }

private:
    std::vector<float> lows_;
    double sum_of_lows_ = 0, slack_ = 0;
    float inverse_ = 0;
};

}  // namespace coterie::search
