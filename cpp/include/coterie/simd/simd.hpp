// Fixed-width vectors for whatever instruction set this file is compiled for.
//
// GCC and Clang vector extensions give one source for every width. Only the few
// operations the compilers do not reliably pick by themselves are spelled out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#else
// GCC 12 starts the undefined vectors of this header from themselves, and warns of it wherever one
// is inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif
#endif

namespace coterie {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int max_panel = 12;  // 2 x 12 accumulators of 32 registers
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int max_panel = 6;  // 2 x 6 accumulators of 16 registers
#else
inline constexpr int vector_bytes = 16;
inline constexpr int max_panel = 6;
#endif

// Memory for vectors: an unaligned tile costs a sixth of the speed.
template <class T>
struct CacheAligned {
    using value_type = T;
    CacheAligned() = default;
    template <class U>
    CacheAligned(const CacheAligned<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
};
template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

template <class Real>
struct Simd;

template <>
struct Simd<float> {
    using Int = std::int32_t;
    typedef float Vec __attribute__((vector_size(vector_bytes)));
    typedef std::int32_t IntVec __attribute__((vector_size(vector_bytes)));
    static constexpr int lanes = vector_bytes / 4;
};

template <>
struct Simd<double> {
    using Int = std::int64_t;
    typedef double Vec __attribute__((vector_size(vector_bytes)));
    typedef std::int64_t IntVec __attribute__((vector_size(vector_bytes)));
    static constexpr int lanes = vector_bytes / 8;
};

// Two columns of 16 bits each: the numbers of the coarse kernel.
template <>
struct Simd<std::int32_t> {
    using Int = std::int32_t;
    typedef std::int32_t Vec __attribute__((vector_size(vector_bytes)));
    typedef std::int32_t IntVec __attribute__((vector_size(vector_bytes)));
    static constexpr int lanes = vector_bytes / 4;
};

template <class Real>
using Vec = typename Simd<Real>::Vec;
template <class Real>
using IntVec = typename Simd<Real>::IntVec;

template <class Real>
inline Vec<Real> load(const Real* from) {
    Vec<Real> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

template <class Real>
inline void store(Real* to, Vec<Real> v) {
    std::memcpy(to, &v, sizeof v);
}

// Spelled out where the compiler would build the vector lane by lane.
#if defined(__AVX512F__)
inline Vec<float> broadcast(float value) { return (Vec<float>)_mm512_set1_ps(value); }
inline Vec<double> broadcast(double value) { return (Vec<double>)_mm512_set1_pd(value); }
inline Vec<std::int32_t> broadcast(std::int32_t value) {
    return (Vec<std::int32_t>)_mm512_set1_epi32(value);
}
#elif defined(__AVX__)
inline Vec<float> broadcast(float value) { return (Vec<float>)_mm256_set1_ps(value); }
inline Vec<double> broadcast(double value) { return (Vec<double>)_mm256_set1_pd(value); }
inline Vec<std::int32_t> broadcast(std::int32_t value) {
    return (Vec<std::int32_t>)_mm256_set1_epi32(value);
}
#else
inline Vec<float> broadcast(float value) { return Vec<float>{value, value, value, value}; }
inline Vec<double> broadcast(double value) { return Vec<double>{value, value}; }
inline Vec<std::int32_t> broadcast(std::int32_t value) {
    return Vec<std::int32_t>{value, value, value, value};
}
#endif

#if defined(__AVX512F__)
inline Vec<float> vec_min(Vec<float> a, Vec<float> b) {
    return (Vec<float>)_mm512_min_ps((__m512)a, (__m512)b);
}
inline Vec<float> vec_max(Vec<float> a, Vec<float> b) {
    return (Vec<float>)_mm512_max_ps((__m512)a, (__m512)b);
}
inline Vec<double> vec_min(Vec<double> a, Vec<double> b) {
    return (Vec<double>)_mm512_min_pd((__m512d)a, (__m512d)b);
}
inline Vec<double> vec_max(Vec<double> a, Vec<double> b) {
    return (Vec<double>)_mm512_max_pd((__m512d)a, (__m512d)b);
}
#elif defined(__AVX__)
inline Vec<float> vec_min(Vec<float> a, Vec<float> b) {
    return (Vec<float>)_mm256_min_ps((__m256)a, (__m256)b);
}
inline Vec<float> vec_max(Vec<float> a, Vec<float> b) {
    return (Vec<float>)_mm256_max_ps((__m256)a, (__m256)b);
}
inline Vec<double> vec_min(Vec<double> a, Vec<double> b) {
    return (Vec<double>)_mm256_min_pd((__m256d)a, (__m256d)b);
}
inline Vec<double> vec_max(Vec<double> a, Vec<double> b) {
    return (Vec<double>)_mm256_max_pd((__m256d)a, (__m256d)b);
}
#else
inline Vec<float> vec_min(Vec<float> a, Vec<float> b) { return a < b ? a : b; }
inline Vec<float> vec_max(Vec<float> a, Vec<float> b) { return a > b ? a : b; }
inline Vec<double> vec_min(Vec<double> a, Vec<double> b) { return a < b ? a : b; }
inline Vec<double> vec_max(Vec<double> a, Vec<double> b) { return a > b ? a : b; }
#endif

inline Vec<float> vec_sqrt(Vec<float> v) {
#if defined(__AVX512F__)
    return (Vec<float>)_mm512_sqrt_ps((__m512)v);
#elif defined(__AVX__)
    return (Vec<float>)_mm256_sqrt_ps((__m256)v);
#else
    for (int i = 0; i < Simd<float>::lanes; ++i) v[i] = __builtin_sqrtf(v[i]);
    return v;
#endif
}

inline Vec<std::int32_t> vec_min(Vec<std::int32_t> a, Vec<std::int32_t> b) { return a < b ? a : b; }
inline Vec<std::int32_t> vec_max(Vec<std::int32_t> a, Vec<std::int32_t> b) { return a > b ? a : b; }

// sum + a * b; of integers, the products of both halves are added, and what overflows wraps.
inline Vec<float> multiply_add(Vec<float> sum, Vec<float> a, Vec<float> b) { return sum + a * b; }
inline Vec<double> multiply_add(Vec<double> sum, Vec<double> a, Vec<double> b) {
    return sum + a * b;
}
inline Vec<std::int32_t> multiply_add(Vec<std::int32_t> sum, Vec<std::int32_t> a,
                                      Vec<std::int32_t> b) {
    using Wrapping = std::uint32_t __attribute__((vector_size(sizeof(sum))));
#if defined(__AVX512BW__)
    return (Vec<std::int32_t>)((Wrapping)sum + (Wrapping)_mm512_madd_epi16((__m512i)a, (__m512i)b));
#elif defined(__AVX2__)
    return (Vec<std::int32_t>)((Wrapping)sum + (Wrapping)_mm256_madd_epi16((__m256i)a, (__m256i)b));
#elif defined(__SSE4_1__)
    return (Vec<std::int32_t>)((Wrapping)sum + (Wrapping)_mm_madd_epi16((__m128i)a, (__m128i)b));
#else
    const auto low = (Wrapping)(((a << 16) >> 16) * ((b << 16) >> 16));
    return (Vec<std::int32_t>)((Wrapping)sum + low + (Wrapping)((a >> 16) * (b >> 16)));
#endif
}

// Dot products of short integers in one instruction (AVX-512 VNNI, no part of x86-64-v4): written
// out, so that nothing else of a build needs a processor that has it. Clang's assembler refuses it.
#if defined(__AVX512BW__) && !defined(__clang__)
inline constexpr bool knows_dots = true;
inline Vec<std::int32_t> add_dot(Vec<std::int32_t> sum, Vec<std::int32_t> a, Vec<std::int32_t> b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
#else
inline constexpr bool knows_dots = false;
inline Vec<std::int32_t> add_dot(Vec<std::int32_t> sum, Vec<std::int32_t> a, Vec<std::int32_t> b) {
    return multiply_add(sum, a, b);
}
#endif

// Whether this processor has it: set by the module of a build before anything runs.
inline bool has_dots = false;

// Whether pairs take one instruction for twice as many products as floats do. AVX-512 multiplies
// and adds pairs no faster than twice as many floats, unless it has dot products.
inline bool quick_pairs() {
#if defined(__AVX512BW__)
    return has_dots;
#elif defined(__SSE4_1__)
    return true;
#else
    return false;
#endif
}

// base[index] in every lane.
inline Vec<float> gather(const float* base, IntVec<float> index) {
#if defined(__AVX512F__)
    return (Vec<float>)_mm512_i32gather_ps((__m512i)index, base, 4);
#elif defined(__AVX2__)
    return (Vec<float>)_mm256_i32gather_ps(base, (__m256i)index, 4);
#else
    Vec<float> v;
    for (int i = 0; i < Simd<float>::lanes; ++i) v[i] = base[index[i]];
    return v;
#endif
}

// The same numbers in wider lanes. Spelled out where GCC 12 makes four instructions of what is one.
template <class To, class From>
[[gnu::always_inline]] inline To widened(From v) {
#if defined(__AVX2__)
    using Lane = std::remove_cvref_t<decltype(v[0])>;
    using Wide = std::remove_cvref_t<decltype(To{}[0])>;
    constexpr bool floats = std::is_same_v<Lane, float> && std::is_same_v<Wide, double>;
    constexpr bool shorts =
        std::is_same_v<Lane, std::uint16_t> && std::is_same_v<Wide, std::int32_t>;
    constexpr bool ints = std::is_same_v<Lane, std::int32_t> && std::is_same_v<Wide, std::int64_t>;
#if defined(__AVX512F__)
    if constexpr (floats) return (To)_mm512_cvtps_pd((__m256)v);
    if constexpr (shorts) return (To)_mm512_cvtepu16_epi32((__m256i)v);
    if constexpr (ints) return (To)_mm512_cvtepi32_epi64((__m256i)v);
#else
    if constexpr (floats) return (To)_mm256_cvtps_pd((__m128)v);
    if constexpr (shorts) return (To)_mm256_cvtepu16_epi32((__m128i)v);
    if constexpr (ints) return (To)_mm256_cvtepi32_epi64((__m128i)v);
#endif
    if constexpr (!floats && !shorts && !ints)
#endif
        return __builtin_convertvector(v, To);
}

namespace detail {
template <class V, class From, std::size_t... i>
[[gnu::always_inline]] inline V shuffled_at(V a, V b, From from, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, from(static_cast<int>(i))...);
}
}  // namespace detail

// Lane i is lane from(i) of `a` and `b` side by side. `from` is a function of nothing but i, so
// that the mask is a constant: GCC does not fold a loop that fills one of 16 lanes.
template <class V, class From>
[[gnu::always_inline]] inline V shuffled(V a, V b, From from) {
    return detail::shuffled_at(a, b, from, std::make_index_sequence<sizeof(V) / sizeof(a[0])>{});
}

// Two vectors side by side as one.
template <class V>
[[gnu::always_inline]] inline auto concat(V a, V b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, static_cast<int>(i)...);
    }(std::make_index_sequence<2 * sizeof(V) / sizeof(a[0])>{});
}

namespace detail {
template <int step, class V, int lanes>
[[gnu::always_inline]] inline void transpose_by(V (&rows)[lanes]) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
        if (i & step) continue;
        const V a = rows[i], b = rows[i + step];
        rows[i] = shuffled(a, b, [](int j) { return j & step ? lanes + j - step : j; });
        rows[i + step] = shuffled(a, b, [](int j) { return j & step ? lanes + j : j + step; });
    }
    if constexpr (2 * step < lanes) transpose_by<2 * step>(rows);
}
}  // namespace detail

// Lane j of row i becomes lane i of row j, for as many rows as there are lanes.
template <class V, int lanes>
[[gnu::always_inline]] inline void transpose(V (&rows)[lanes]) {
    static_assert(sizeof(V) / sizeof(rows[0][0]) == lanes);
    detail::transpose_by<1>(rows);
}

[[gnu::always_inline]] inline void prefetch(const void* at) { __builtin_prefetch(at); }

// sum plus, in each 32-bit lane, the products of the four bytes of a[0] and b[0] and of a[1] and
// b[1]. Bytes of a are from 0 to 127, those of b from -64 to 63, so that four products fit in 16
// bits.
inline IntVec<float> add_byte_products(IntVec<float> sum, const IntVec<float>* a,
                                       const IntVec<float>* b) {
#if defined(__AVX512BW__)
    const __m512i fours = _mm512_add_epi16(_mm512_maddubs_epi16((__m512i)a[0], (__m512i)b[0]),
                                           _mm512_maddubs_epi16((__m512i)a[1], (__m512i)b[1]));
    return sum + (IntVec<float>)_mm512_madd_epi16(fours, _mm512_set1_epi16(1));
#elif defined(__AVX2__)
    const __m256i fours = _mm256_add_epi16(_mm256_maddubs_epi16((__m256i)a[0], (__m256i)b[0]),
                                           _mm256_maddubs_epi16((__m256i)a[1], (__m256i)b[1]));
    return sum + (IntVec<float>)_mm256_madd_epi16(fours, _mm256_set1_epi16(1));
#elif defined(__SSSE3__)
    const __m128i fours = _mm_add_epi16(_mm_maddubs_epi16((__m128i)a[0], (__m128i)b[0]),
                                        _mm_maddubs_epi16((__m128i)a[1], (__m128i)b[1]));
    return sum + (IntVec<float>)_mm_madd_epi16(fours, _mm_set1_epi16(1));
#else
    for (int i = 0; i < 2; ++i)
        for (int byte = 0; byte < 32; byte += 8)
            sum += (a[i] >> byte & 127) * (b[i] << (24 - byte) >> 24);
    return sum;
#endif
}

// The same by dot products of bytes, where the processor has them.
inline IntVec<float> add_byte_dots(IntVec<float> sum, const IntVec<float>* a,
                                   const IntVec<float>* b) {
#if defined(__AVX512BW__) && !defined(__clang__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a[0]), "v"(b[0]));
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a[1]), "v"(b[1]));
    return sum;
#else
    return add_byte_products(sum, a, b);
#endif
}

// Bit i is set where lane i of a comparison held.
template <class Mask>
inline std::uint32_t lane_bits(Mask mask) {
    constexpr int lanes = sizeof(mask) / sizeof(mask[0]);
#if defined(__AVX512F__)
    if constexpr (lanes == 16) return _mm512_movepi32_mask((__m512i)mask);
    if constexpr (lanes == 8) return _mm512_movepi64_mask((__m512i)mask);
#elif defined(__AVX__)
    if constexpr (lanes == 8) return _mm256_movemask_ps((__m256)mask);
    if constexpr (lanes == 4) return _mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__)
    if constexpr (lanes == 4) return _mm_movemask_ps((__m128)mask);
    if constexpr (lanes == 2) return _mm_movemask_pd((__m128d)mask);
#endif
    std::uint32_t bits = 0;
    for (int i = 0; i < lanes; ++i) bits |= static_cast<std::uint32_t>(mask[i] != 0) << i;
    return bits;
}

// Bit i is set where a[i] > b[i]. Of a comparison, AVX-512 makes the bits at once; GCC 12 goes by
// way of a vector.
inline std::uint32_t greater_bits(Vec<std::int32_t> a, Vec<std::int32_t> b) {
#if defined(__AVX512F__)
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
#else
    return lane_bits(a > b);
#endif
}

// The value as rounded to its own type: keeps the compiler from contracting the
// operation that made it with the one that uses it, so every ISA gives the same bits.
template <class V>
inline V rounded(V v) {
#if defined(__AVX512F__)
    asm("" : "+v"(v));
#elif defined(__x86_64__)
    asm("" : "+x"(v));
#elif defined(__aarch64__)
    asm("" : "+w"(v));
#else
    asm volatile("" : "+m"(v));
#endif
    return v;
}

}  // namespace coterie
