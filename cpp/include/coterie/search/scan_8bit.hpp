// Scanning codes of 8 bits: with AVX-512 tables of 256 entries are looked up in registers, two
// queries at once; elsewhere by plain loads.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "coterie/search/byte_scale.hpp"
#include "coterie/search/codes.hpp"
#include "coterie/simd/bytes.hpp"
#include "coterie/simd/constant.hpp"

namespace coterie::search {

#if defined(__AVX512BW__)

inline constexpr bool looks_up_in_registers = true;

// Byte tables of two queries, a byte of each in every entry of 16 bits.
class TwinTables {
public:
    static constexpr int n_queries = 2;

    explicit TwinTables(std::int64_t n_parts) : entries_(n_parts * 256) {}

    // One query may be given twice.
    void make(const Tables& first, const ByteScale& first_scale, const Tables& second,
              const ByteScale& second_scale) {
        for (std::int64_t m = 0; m < first.n_parts; ++m) {
            const float *a = first.part(m), *b = second.part(m);
            std::uint16_t* to = entries_.data() + m * 256;
            for (int c = 0; c < 256; c += Simd<float>::lanes) {
                const IntVec<float> both =
                    first_scale.steps(m, a + c) | second_scale.steps(m, b + c) << 8;
                _mm256_store_si256((__m256i*)(to + c), _mm512_cvtepi32_epi16((__m512i)both));
            }
        }
    }
    const std::uint16_t* part(std::int64_t m) const { return entries_.data() + m * 256; }

private:
    AlignedVector<std::uint16_t> entries_;
};

namespace detail {

// Sums of bytes of some adjacent blocks; each vector has 32 rows, with a byte a query.
template <int n_blocks>
[[gnu::always_inline]] inline void sum_blocks(const Codes& codes, const TwinTables& tables,
                                              std::int64_t block, __m512i (&sum)[2 * n_blocks]) {
    const std::int64_t stride = block_rows * codes.n_parts;
    const std::uint8_t* at = codes.block(block);
    const __m512i bit_6 = _mm512_set1_epi16(1 << 6), bit_7 = _mm512_set1_epi16(1 << 7);
#pragma GCC unroll 8
    for (int v = 0; v < 2 * n_blocks; ++v) sum[v] = _mm512_setzero_si512();
    for (std::int64_t m = 0; m < codes.n_parts; ++m, at += block_rows) {
        __m512i table[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) table[i] = _mm512_load_si512(tables.part(m) + 32 * i);
#pragma GCC unroll 8
        for (int v = 0; v < 2 * n_blocks; ++v) {
            const auto* from = (const __m256i*)(at + v / 2 * stride + v % 2 * 32);
            const __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256(from));
            const __mmask32 odd = _mm512_test_epi16_mask(code, bit_6);
            const __mmask32 upper = _mm512_test_epi16_mask(code, bit_7);
            // Six bits choose among 64 entries, the other two among the four sets of these.
            const __m512i a = _mm512_permutex2var_epi16(table[0], code, table[1]);
            const __m512i b = _mm512_permutex2var_epi16(table[2], code, table[3]);
            const __m512i c = _mm512_permutex2var_epi16(table[4], code, table[5]);
            const __m512i d = _mm512_permutex2var_epi16(table[6], code, table[7]);
            const __m512i found = _mm512_mask_blend_epi16(upper, _mm512_mask_blend_epi16(odd, a, b),
                                                          _mm512_mask_blend_epi16(odd, c, d));
            sum[v] = _mm512_adds_epu8(sum[v], found);
        }
    }
}

}  // namespace detail

// pass(q, row) for rows of blocks [begin, end) that may be within the limit of a query.
template <class Pass>
void scan_8bit(const Codes& codes, const TwinTables& tables, std::int64_t begin, std::int64_t end,
               const Pass& pass) {
    for (std::int64_t block = begin; block < end; block += 4)
        with_up_to<4>(end - block, [&](auto n_blocks) {
            __m512i sum[2 * n_blocks];
            detail::sum_blocks<n_blocks>(codes, tables, block, sum);
            for (int v = 0; v < 2 * n_blocks; ++v)
                for (std::uint64_t bits = bits_below_255((Bytes)sum[v]); bits; bits &= bits - 1) {
                    const int bit = std::countr_zero(bits);
                    pass(bit % 2, block * block_rows + v * 32 + bit / 2);
                }
        });
}

#else

inline constexpr bool looks_up_in_registers = false;

#endif

// visit(row, value) for rows of blocks [begin, end) whose value is at most limit(). Eight rows at
// once, whose sums do not wait for each other.
template <class Limit, class Visit>
void scan_plainly(const Codes& codes, const Tables& tables, std::int64_t begin, std::int64_t end,
                  const Limit& limit, const Visit& visit) {
    constexpr int at_once = 8;
    for (std::int64_t block = begin; block < end; ++block)
        for (std::int64_t first = 0; first < block_rows; first += at_once) {
            const std::uint8_t* at = codes.block(block) + first;
            float sum[at_once] = {};
            for (std::int64_t m = 0; m < codes.n_parts; ++m, at += block_rows) {
                const float* part = tables.part(m);
#pragma GCC unroll 8
                for (int r = 0; r < at_once; ++r) sum[r] += part[at[r]];
            }
            for (int r = 0; r < at_once; ++r)
                if (sum[r] <= limit()) visit(block * block_rows + first + r, sum[r]);
        }
}

}  // namespace coterie::search
