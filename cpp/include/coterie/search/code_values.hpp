// The values of some rows by their codes: float32 sums of table entries in the order of the parts.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "coterie/search/codes.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie::search {

template <int bits>
inline float value_of(const Tables& tables, const Codes& codes, std::int64_t row) {
    const std::uint8_t* at = codes.block(row / block_rows) + row % block_rows;
    const float* part = tables.values;
    float sum = 0;
    if constexpr (bits == 8) {
        for (std::int64_t m = 0; m < tables.n_parts; ++m, part += 256)
            sum += part[at[m * block_rows]];
    } else {
        for (std::int64_t m = 0; m + 1 < tables.n_parts; m += 2, part += 32, at += block_rows) {
            sum += part[*at & 15];
            sum += part[16 + (*at >> 4)];
        }
        if (tables.n_parts % 2) sum += part[*at & 15];
    }
    return sum;
}

// Rows that passed a filter: bit i is of row first + i, a multiple of 16.
struct PassedRows {
    std::int64_t first;
    std::uint32_t bits;
};

#if defined(__AVX512F__)

namespace detail {

// Of some 16 rows each, 4 bits a part: the table of a part is one register. Sums of several do not
// wait for each other.
template <int count>
inline void values_of_16(const Tables& tables, const Codes& codes, const PassedRows* rows,
                         Vec<float> (&sum)[count]) {
    const std::uint8_t* at[count];
    for (int i = 0; i < count; ++i) {
        at[i] = codes.block(rows[i].first / block_rows) + rows[i].first % block_rows;
        sum[i] = Vec<float>{};
    }
    const auto add = [](Vec<float> entries, __m512i index) {
        return (Vec<float>)_mm512_permutexvar_ps(index, (__m512)entries);  // the last 4 bits count
    };
    for (std::int64_t m = 0; m < tables.n_parts; m += 2) {
        const Vec<float> low = load(tables.part(m));
        const bool pair = m + 1 < tables.n_parts;
        const Vec<float> high = load(tables.part(pair ? m + 1 : m));
#pragma GCC unroll 4
        for (int i = 0; i < count; ++i) {
            const auto* from = (const __m128i*)(at[i] + m / 2 * block_rows);
            const __m512i both = _mm512_cvtepu8_epi32(_mm_loadu_si128(from));
            sum[i] += add(low, both);
            if (pair) sum[i] += add(high, _mm512_srli_epi32(both, 4));
        }
    }
}

}  // namespace detail

#endif

// watcher.take_some(first, lanes, values, count) for rows first + lanes[i] that passed, 4 bits a
// part, in their order: all whose value is at most watcher.limit(), and perhaps others.
template <class Watcher>
void take_nibble_rows(const Tables& tables, const Codes& codes,
                      const std::vector<PassedRows>& passed, Watcher& watcher) {
    alignas(64) float values[16];
    alignas(64) std::int32_t lanes[16];
#if defined(__AVX512F__)
    const __m512i all = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (std::size_t i = 0; i < passed.size(); i += 4)
        with_up_to<4>(static_cast<std::int64_t>(passed.size() - i), [&](auto count) {
            Vec<float> sums[count];
            detail::values_of_16<count>(tables, codes, passed.data() + i, sums);
            for (int j = 0; j < count; ++j) {
                const Vec<float> most = broadcast(static_cast<float>(watcher.limit()));
                const auto bits =
                    static_cast<__mmask16>(passed[i + j].bits & lane_bits(sums[j] <= most));
                _mm512_store_ps(values, _mm512_maskz_compress_ps(bits, (__m512)sums[j]));
                _mm512_store_si512(lanes, _mm512_maskz_compress_epi32(bits, all));
                watcher.take_some(passed[i + j].first, lanes, values, std::popcount(bits));
            }
        });
#else
    for (const PassedRows& each : passed) {
        int count = 0;
        for (std::uint32_t bits = each.bits; bits; bits &= bits - 1, ++count) {
            lanes[count] = std::countr_zero(bits);
            values[count] = value_of<4>(tables, codes, each.first + lanes[count]);
        }
        watcher.take_some(each.first, lanes, values, count);
    }
#endif
}

}  // namespace coterie::search
