// Fixed-width vectors for whatever instruction set this file is compiled for.
//
// GCC and Clang vector extensions give one source for every width. Only the few
// operations the compilers do not reliably pick by themselves are spelled out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
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
#elif defined(__AVX__)
inline Vec<float> broadcast(float value) { return (Vec<float>)_mm256_set1_ps(value); }
inline Vec<double> broadcast(double value) { return (Vec<double>)_mm256_set1_pd(value); }
#else
inline Vec<float> broadcast(float value) { return Vec<float>{value, value, value, value}; }
inline Vec<double> broadcast(double value) { return Vec<double>{value, value}; }
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

// A bit for every lane of a comparison, the first lane's lowest.
template <class Mask>
inline unsigned lane_bits(Mask mask) {
    constexpr int lanes = sizeof mask / sizeof mask[0];
#if defined(__AVX512DQ__)
    if constexpr (lanes == 16) return _mm512_movepi32_mask((__m512i)mask);
    if constexpr (lanes == 8) return _mm512_movepi64_mask((__m512i)mask);
#elif defined(__AVX__)
    if constexpr (lanes == 8) return _mm256_movemask_ps((__m256)mask);
    if constexpr (lanes == 4) return _mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__)
    if constexpr (lanes == 4) return _mm_movemask_ps((__m128)mask);
    if constexpr (lanes == 2) return _mm_movemask_pd((__m128d)mask);
#else
    unsigned bits = 0;
    for (int l = 0; l < lanes; ++l) bits |= unsigned{mask[l] != 0} << l;
    return bits;
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
