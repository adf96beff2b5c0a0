// Scanning codes of 4 bits: tables of 16 bytes are looked up in registers.
//
// Andre, Kermarrec, Le Scouarnec (2015), "Cache locality is not enough": with bytes that saturate
// at the limit, a part costs one shuffle and one addition for as many rows as there are lanes.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "coterie/search/codes.hpp"
#include "coterie/simd/bytes.hpp"

namespace coterie::search {

// Byte tables of a few queries, side by side, for one limit each.
class NibbleTables {
public:
    static constexpr int n_queries = 4;

    explicit NibbleTables(const Codes& codes)
        : n_pairs_(codes.n_bytes()), bytes_(n_pairs_ * n_queries * 32) {}

    void make(int q, const Tables& tables, const ByteScale& scale) {
        for (std::int64_t m = 0; m < tables.n_parts; ++m) {
            std::uint8_t* to = bytes_.data() + ((m / 2) * n_queries + q) * 32 + m % 2 * 16;
            const float* part = tables.part(m);
            for (int c = 0; c < 16; ++c)
                to[c] = static_cast<std::uint8_t>(scale.byte_of(m, part[c]));
        }
    }
    // Two tables of 16, of the lower and of the upper halves.
    const std::uint8_t* pair(std::int64_t i, int q) const {
        return bytes_.data() + (i * n_queries + q) * 32;
    }
    std::int64_t n_pairs() const { return n_pairs_; }

private:
    std::int64_t n_pairs_;
    std::vector<std::uint8_t> bytes_;
};

// pass(q, row) for rows of blocks [begin, end) that may be within the limit of a query.
template <class Pass>
void scan_4bit(const Codes& codes, const NibbleTables& tables, std::int64_t begin, std::int64_t end,
               const Pass& pass) {
    constexpr int n_queries = NibbleTables::n_queries;
    // As many rows at once as leaves registers for the sums of all queries.
    constexpr int n_vecs = vector_bytes == 64 ? 4 : 2;
    constexpr std::int64_t at_once = n_vecs * vector_bytes;
    constexpr std::int64_t step = at_once < block_rows ? at_once : block_rows;
    const std::int64_t stride = block_rows * codes.n_bytes();
    const auto scan = [&]<int vecs>(std::int64_t block, std::int64_t offset) {
        // Vectors of a block lie side by side; with one vector a block, they are of several blocks.
        constexpr std::int64_t per_block = block_rows / vector_bytes;
        const std::uint8_t* at[vecs];
        for (int v = 0; v < vecs; ++v)
            at[v] =
                codes.block(block) + v / per_block * stride + v % per_block * vector_bytes + offset;
        Bytes sum[n_queries][vecs] = {};
        for (std::int64_t i = 0; i < tables.n_pairs(); ++i) {
            Bytes low[vecs], high[vecs];
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) {
                const Bytes both = load_bytes(at[v] + i * block_rows);
                low[v] = low_halves(both);
                high[v] = high_halves(both);
            }
#pragma GCC unroll 4
            for (int q = 0; q < n_queries; ++q) {
                const Bytes first = repeat_16(tables.pair(i, q));
                const Bytes second = repeat_16(tables.pair(i, q) + 16);
#pragma GCC unroll 4
                for (int v = 0; v < vecs; ++v) {
                    sum[q][v] = add_up_to_255(sum[q][v], look_up_16(first, low[v]));
                    sum[q][v] = add_up_to_255(sum[q][v], look_up_16(second, high[v]));
                }
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < vecs; ++v) {
            const std::int64_t row = block * block_rows + v * vector_bytes + offset;
#pragma GCC unroll 4
            for (int q = 0; q < n_queries; ++q)
                for (std::uint64_t bits = bits_below_255(sum[q][v]); bits; bits &= bits - 1)
                    pass(q, row + std::countr_zero(bits));
        }
    };
    constexpr std::int64_t blocks_at_once = at_once > block_rows ? at_once / block_rows : 1;
    std::int64_t block = begin;
    for (; block + blocks_at_once <= end; block += blocks_at_once)
        for (std::int64_t offset = 0; offset < block_rows; offset += step)
            scan.template operator()<n_vecs>(block, offset);
    if constexpr (blocks_at_once > 1)
        for (; block < end; ++block) scan.template operator()<1>(block, 0);
}

}  // namespace coterie::search
