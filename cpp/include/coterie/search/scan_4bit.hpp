// Scanning codes of 4 bits: tables of 16 bytes are looked up in registers.
//
// Andre, Kermarrec, Le Scouarnec (2015), "Cache locality is not enough". Bytes are summed in 16
// bits, which costs two additions more for a pair of parts than sums that saturate in 8, and lets
// through far fewer rows: a step is then a part of the range of one entry, not of the whole sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "coterie/search/codes.hpp"
#include "coterie/simd/bytes.hpp"
#include "coterie/simd/constant.hpp"

namespace coterie::search {

// Byte tables of a few queries, side by side, for one limit each: entries less the least of all,
// rounded down to whole steps. A row whose sum of bytes is above limit(q) is above the limit.
class NibbleTables {
public:
    static constexpr int most_queries = 4;

    explicit NibbleTables(std::int64_t n_parts)
        : n_parts_(n_parts),
          top_(static_cast<int>(std::min<std::int64_t>(127, 65535 / n_parts))),
          bytes_(n_pairs() * most_queries * 32) {}

    // `range` is that of all entries.
    void make(int q, const Tables& tables, Range range, double limit) {
        const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
        const auto n_parts = static_cast<double>(n_parts_);
        // The float32 sum may be this much below the true one.
        const double slack = n_parts * (n_parts + 2) * std::max(std::fabs(low), std::fabs(high)) *
                             std::numeric_limits<float>::epsilon();
        const double reach = std::max(limit - n_parts * low + slack, 0.0) * (1 + 1e-5);
        // An entry beyond the reach need not be told from one at its end.
        const double span = std::min(high - low, reach);
        constexpr float largest = std::numeric_limits<float>::max();
        const float inverse =
            span > 127 / static_cast<double>(largest) ? static_cast<float>(top_ / span) : largest;
        limits_[q] =
            static_cast<std::uint16_t>(std::min(reach * static_cast<double>(inverse), 65535.0));
        for (std::int64_t m = 0; m < n_parts_; ++m)
            round_down(tables.part(m), range.low, inverse,
                       bytes_.data() + ((m / 2) * most_queries + q) * 32 + m % 2 * 16);
    }

    // Two tables of 16, of the lower and of the upper halves.
    const std::uint8_t* pair(std::int64_t i, int q) const {
        return bytes_.data() + (i * most_queries + q) * 32;
    }
    std::int64_t n_pairs() const { return (n_parts_ + 1) / 2; }
    std::uint16_t limit(int q) const { return limits_[q]; }

private:
    void round_down(const float* entries, float low, float inverse, std::uint8_t* to) const {
        constexpr int lanes = Simd<float>::lanes;
        typedef std::uint8_t Few __attribute__((vector_size(lanes)));
        const Vec<float> top = broadcast(static_cast<float>(top_));
        for (int c = 0; c < 16; c += lanes) {
            const Vec<float> steps = (load(entries + c) - broadcast(low)) * broadcast(inverse);
            const auto whole = __builtin_convertvector(vec_min(steps, top), IntVec<float>);
            const Few bytes = __builtin_convertvector(whole, Few);
            std::memcpy(to + c, &bytes, sizeof bytes);
        }
    }

    std::int64_t n_parts_;
    int top_;  // so that sums fit in 16 bits, and those of two bytes in 8
    AlignedVector<std::uint8_t> bytes_;
    std::uint16_t limits_[most_queries] = {};
};

namespace detail {

// done(q, row, even, odd): the sums of bytes of a vector of rows that begins at this place, those
// with an even place and the others.
template <int n_queries, int n_vecs, class Tables, class Done>
[[gnu::always_inline]] inline void sum_nibbles(const Codes& codes, const Tables& tables,
                                               std::int64_t block, std::int64_t offset,
                                               const Done& done) {
    // Vectors of a block lie side by side; with one vector a block, they are of several blocks.
    constexpr std::int64_t per_block = block_rows / vector_bytes;
    const std::uint8_t* at[n_vecs];
#pragma GCC unroll 4
    for (int v = 0; v < n_vecs; ++v)
        at[v] = codes.block(block + v / per_block) + v % per_block * vector_bytes + offset;
    // Of rows with an even place, plus 256 times those of their odd neighbours; and of the latter.
    Shorts even[n_queries][n_vecs] = {}, odd[n_queries][n_vecs] = {};
    for (std::int64_t i = 0; i < codes.n_bytes(); ++i) {
        Bytes low[n_vecs], high[n_vecs];
#pragma GCC unroll 4
        for (int v = 0; v < n_vecs; ++v) {
            const Bytes both = load_bytes(at[v] + i * block_rows);
            low[v] = low_halves(both);
            high[v] = high_halves(both);
        }
#pragma GCC unroll 4
        for (int q = 0; q < n_queries; ++q) {
            const Bytes first = repeat_16(tables.pair(i, q));
            const Bytes second = repeat_16(tables.pair(i, q) + 16);
#pragma GCC unroll 4
            for (int v = 0; v < n_vecs; ++v) {
                const Shorts found =
                    (Shorts)(look_up_16(first, low[v]) + look_up_16(second, high[v]));
                even[q][v] += found;
                odd[q][v] += found >> 8;
            }
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < n_vecs; ++v)
#pragma GCC unroll 4
        for (int q = 0; q < n_queries; ++q)
            done(q, block * block_rows + v * vector_bytes + offset, even[q][v] - (odd[q][v] << 8),
                 odd[q][v]);
}

}  // namespace detail

// done(q, row, even, odd) for the first `count` queries, four at most, and blocks [begin, end): the
// sums of bytes of a vector of rows, those with an even place and the others. tables.pair(i, q) is
// the two tables of 16 bytes of a query, of the lower and of the upper halves of byte i.
template <class Tables, class Done>
void sum_4bit(const Codes& codes, const Tables& tables, int count, std::int64_t begin,
              std::int64_t end, const Done& done) {
    with_up_to<4>(count, [&](auto n_queries) {
        // As many rows at once as leaves registers for the sums of all queries.
        constexpr int n_vecs = (vector_bytes == 64 ? 4 : 2) / (n_queries > 2 ? 2 : 1);
        if constexpr (vector_bytes == block_rows) {
            for (std::int64_t block = begin; block < end; block += n_vecs)
                with_up_to<n_vecs>(end - block, [&](auto vecs) {
                    detail::sum_nibbles<n_queries, vecs>(codes, tables, block, 0, done);
                });
        } else {
            for (std::int64_t block = begin; block < end; ++block)
                for (std::int64_t offset = 0; offset < block_rows; offset += n_vecs * vector_bytes)
                    detail::sum_nibbles<n_queries, n_vecs>(codes, tables, block, offset, done);
        }
    });
}

// pass(q, row, bits) for the first `count` queries and blocks [begin, end): bit i is set where
// row + i may be within the limit.
template <class Pass>
void scan_4bit(const Codes& codes, const NibbleTables& tables, int count, std::int64_t begin,
               std::int64_t end, const Pass& pass) {
    sum_4bit(codes, tables, count, begin, end,
             [&](int q, std::int64_t row, Shorts even, Shorts odd) {
                 if (const std::uint64_t bits = bits_at_most(even, odd, repeat(tables.limit(q))))
                     pass(q, row, bits);
             });
}

}  // namespace coterie::search
