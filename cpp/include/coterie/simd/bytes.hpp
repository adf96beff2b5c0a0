// Vectors of bytes that look tables up in registers: what the compilers do not pick by themselves.
#pragma once

#include <cstdint>
#include <cstring>

#include "coterie/simd/simd.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace coterie {

typedef std::uint8_t Bytes __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t Shorts __attribute__((vector_size(vector_bytes)));

inline Bytes load_bytes(const std::uint8_t* from) {
    Bytes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// The same 16 bytes in every part of the vector.
inline Bytes repeat_16(const std::uint8_t* from) {
#if defined(__AVX512BW__)
    return (Bytes)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)from));
#elif defined(__AVX2__)
    return (Bytes)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)from));
#else
    Bytes v;
    for (int i = 0; i < vector_bytes; i += 16)
        std::memcpy(reinterpret_cast<std::uint8_t*>(&v) + i, from, 16);
    return v;
#endif
}

// table[index] for indexes from 0 to 15, where the table repeats every 16 bytes.
inline Bytes look_up_16(Bytes table, Bytes index) {
#if defined(__AVX512BW__)
    return (Bytes)_mm512_shuffle_epi8((__m512i)table, (__m512i)index);
#elif defined(__AVX2__)
    return (Bytes)_mm256_shuffle_epi8((__m256i)table, (__m256i)index);
#elif defined(__SSSE3__)
    return (Bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#elif defined(__aarch64__)
    return (Bytes)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)index);
#else
    Bytes out;
    for (int i = 0; i < vector_bytes; ++i) out[i] = table[index[i]];
    return out;
#endif
}

inline Shorts load_shorts(const std::uint16_t* from) {
    Shorts v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
inline Shorts repeat(std::uint16_t value) {
#if defined(__AVX512BW__)
    return (Shorts)_mm512_set1_epi16(static_cast<short>(value));
#elif defined(__AVX2__)
    return (Shorts)_mm256_set1_epi16(static_cast<short>(value));
#else
    return Shorts{} + value;
#endif
}

// The upper halves of products of 32 bits.
inline Shorts multiply_high(Shorts a, Shorts b) {
#if defined(__AVX512BW__)
    return (Shorts)_mm512_mulhi_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (Shorts)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (Shorts)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
#else
    typedef std::uint32_t Wide __attribute__((vector_size(2 * vector_bytes)));
    return __builtin_convertvector(
        __builtin_convertvector(a, Wide) * __builtin_convertvector(b, Wide) >> 16, Shorts);
#endif
}

// Sums that stay at 255 once they reach it.
inline Bytes add_up_to_255(Bytes a, Bytes b) {
#if defined(__AVX512BW__)
    return (Bytes)_mm512_adds_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (Bytes)_mm256_adds_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (Bytes)_mm_adds_epu8((__m128i)a, (__m128i)b);
#elif defined(__aarch64__)
    return (Bytes)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
    const Bytes sum = a + b;
    return sum | (Bytes)(sum < a);
#endif
}

inline Bytes low_halves(Bytes v) { return v & 0x0f; }
inline Bytes high_halves(Bytes v) {
#if defined(__AVX512BW__)
    return (Bytes)_mm512_srli_epi16((__m512i)v, 4) & 0x0f;
#elif defined(__AVX2__)
    return (Bytes)_mm256_srli_epi16((__m256i)v, 4) & 0x0f;
#elif defined(__SSE2__)
    return (Bytes)_mm_srli_epi16((__m128i)v, 4) & 0x0f;
#else
    return v >> 4;
#endif
}

// Bit i is set where byte i is 255 and not where it is 0; others there are none.
inline std::uint64_t bits_set(Bytes v) {
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask((__m512i)v);
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_epi8((__m256i)v));
#elif defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)v));
#else
#if defined(__aarch64__)
    if (vmaxvq_u8((uint8x16_t)v) == 0) return 0;
#endif
    std::uint64_t bits = 0;
    for (int i = 0; i < vector_bytes; ++i) bits |= static_cast<std::uint64_t>(v[i] & 1) << i;
    return bits;
#endif
}

// Bit 2 i is set where lane i of `even` is at most the limit, bit 2 i + 1 where that of `odd` is.
inline std::uint64_t bits_at_most(Shorts even, Shorts odd, Shorts limit) {
#if defined(__AVX512BW__)
    const __mmask32 low = _mm512_cmple_epu16_mask((__m512i)even, (__m512i)limit);
    const __mmask32 high = _mm512_cmple_epu16_mask((__m512i)odd, (__m512i)limit);
    if (!(low | high)) return 0;
    return _pdep_u64(low, 0x5555555555555555) | _pdep_u64(high, 0xaaaaaaaaaaaaaaaa);
#else
    const Shorts low = (Shorts)(even <= limit), high = (Shorts)(odd <= limit);
    return bits_set((Bytes)((low & 0x00ff) | (high & 0xff00)));
#endif
}

// Bit i is set where byte i is below 255.
inline std::uint64_t bits_below_255(Bytes v) {
#if defined(__AVX512BW__)
    return _mm512_cmpneq_epu8_mask((__m512i)v, _mm512_set1_epi8(-1));
#elif defined(__AVX2__)
    const __m256i full = _mm256_cmpeq_epi8((__m256i)v, _mm256_set1_epi8(-1));
    return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(full));
#elif defined(__SSE2__)
    const __m128i full = _mm_cmpeq_epi8((__m128i)v, _mm_set1_epi8(-1));
    return ~static_cast<std::uint32_t>(_mm_movemask_epi8(full)) & 0xffffu;
#else
    std::uint64_t bits = 0;
    for (int i = 0; i < vector_bytes; ++i) bits |= static_cast<std::uint64_t>(v[i] != 255) << i;
    return bits;
#endif
}

}  // namespace coterie
