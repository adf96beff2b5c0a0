// Rows of zeros and ones, a bit a column: a 32nd of what floats take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"

namespace coterie {

struct BitRows {
    const std::uint8_t* bytes;  // (n_rows, n_bytes); column 8 b + i is bit i of byte b
    std::int64_t n_rows, n_cols;

    std::int64_t n_bytes() const { return (n_cols + 7) / 8; }
    const std::uint8_t* row(std::int64_t i) const { return bytes + i * n_bytes(); }
};

struct WeightedBits {
    BitRows rows;
    const double* weights;
};

namespace detail {

// One row as bits; whether all of it is 0 or 1.
template <class In>
inline bool pack_row(const In* x, std::int64_t d, std::uint8_t* to) {
    constexpr int lanes = Simd<In>::lanes, unit = std::max(lanes, 8);
    const Vec<In> one = broadcast(In(1));
    IntVec<In> odd{};
    std::int64_t t = 0;
    for (; t + unit <= d; t += unit) {
        unsigned bits = 0;
#pragma GCC unroll 4
        for (int r = 0; r < unit; r += lanes) {
            const Vec<In> v = load(x + t + r);
            const IntVec<In> set = v != Vec<In>{};
            odd |= set & (v != one);
            bits |= static_cast<unsigned>(lane_bits(set)) << r;
        }
        for (int b = 0; b < unit / 8; ++b) *to++ = static_cast<std::uint8_t>(bits >> (8 * b));
    }
    bool fine = lane_bits(odd) == 0;
    for (; t < d; t += 8) {
        unsigned bits = 0;
        for (std::int64_t r = 0; r < std::min<std::int64_t>(8, d - t); ++r) {
            bits |= static_cast<unsigned>(x[t + r] != 0) << r;
            fine &= x[t + r] == 0 || x[t + r] == 1;
        }
        *to++ = static_cast<std::uint8_t>(bits);
    }
    return fine;
}

}  // namespace detail

// Fill `bytes` from rows of zeros and ones. Returns the first row that holds anything else, or -1.
template <class In>
std::int64_t pack_bits(Matrix<const In> rows, std::uint8_t* bytes, const Crew& crew) {
    const std::int64_t d = rows.n_cols, n_bytes = (d + 7) / 8;
    const Chunks chunks(rows.n_rows, d);
    std::vector<std::int64_t> odd_rows(chunks.count(), rows.n_rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<In> buffer(d);
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const In* x = contiguous_row(rows, i, buffer.data());
            if (!detail::pack_row(x, d, bytes + i * n_bytes))
                odd_rows[chunk] = std::min(odd_rows[chunk], i);
        }
    });
    for (const std::int64_t i : odd_rows)
        if (i < rows.n_rows) return i;
    return -1;
}

}  // namespace coterie
