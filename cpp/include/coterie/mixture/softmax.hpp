// Exponentials, logarithms and the softmax of scores, for rows in lanes.
//
// Polynomials interpolate at Chebyshev nodes; results are within two units in the last place.
#pragma once

#include <cstdint>
#include <limits>

#include "coterie/simd/simd.hpp"

namespace coterie {

namespace detail {

template <class Real>
struct LogTables;

template <>
struct LogTables<double> {
    // e^r = 1 + r + r^2 p(r) for |r| <= ln(2)/2.
    static constexpr double exp[] = {0.5000000000000001,     0.16666666666666669,
                                     0.04166666666662413,    0.008333333333330062,
                                     0.0013888888917213717,  0.00019841269863053618,
                                     2.4801521295954376e-05, 2.7557268459997064e-06,
                                     2.7620088445409746e-07, 2.510038549551032e-08};
    // ln((1+s)/(1-s)) = 2s + s^3 p(s^2) for |s| <= 3 - sqrt(8).
    static constexpr double log[] = {0.666666666666667,  0.39999999999898694, 0.2857142862634218,
                                     0.2222221107497463, 0.18182893480846,    0.15331576916675838,
                                     0.14618236865830497};
    // ln(2) in two parts: multiples of the first by an exponent are exact.
    static constexpr double ln2_high = 0.6931467056274414, ln2_low = 4.7493250390316726e-07;
    static constexpr double to_integer = 0x1.8p52;  // adding it leaves the integer in the low bits
    static constexpr double least = -708;           // e^x is a normal number above this
    static constexpr int mantissa_bits = 52;
    static constexpr std::int64_t sqrt_half_bits = 0x3fe6a09e667f3bcd;
};

template <>
struct LogTables<float> {
    static constexpr float exp[] = {0.5f, 0.16666576989698775f, 0.04166655461720469f,
                                    0.008363179052722578f, 0.001392618358770565f};
    static constexpr float log[] = {0.6666668511313215f, 0.3998875047905659f, 0.2958131403775174f};
    static constexpr float ln2_high = 0.693115234375f, ln2_low = 3.1946184945309415e-05f;
    static constexpr float to_integer = 0x1.8p23f;
    static constexpr float least = -87;
    static constexpr int mantissa_bits = 23;
    static constexpr std::int32_t sqrt_half_bits = 0x3f3504f3;
};

template <class Real, int degree>
inline Vec<Real> polynomial(const Real (&coefs)[degree], Vec<Real> x) {
    Vec<Real> value = broadcast(coefs[degree - 1]);
#pragma GCC unroll 16
    for (int i = degree - 2; i >= 0; --i) value = value * x + broadcast(coefs[i]);
    return value;
}

}  // namespace detail

// e^x for x <= 0; zero where e^x would not be a normal number.
template <class Real>
inline Vec<Real> vec_exp(Vec<Real> x) {
    using Tables = detail::LogTables<Real>;
    const Vec<Real> least = broadcast(Tables::least);
    const auto kept = x > least;
    x = vec_max(x, least);
    const Vec<Real> magic = broadcast(Tables::to_integer);
    const Vec<Real> exponent = x * broadcast(Real(1.4426950408889634)) + magic;
    const Vec<Real> whole = exponent - magic;
    const Vec<Real> rest =
        x - whole * broadcast(Tables::ln2_high) - whole * broadcast(Tables::ln2_low);
    const Vec<Real> power =
        broadcast(Real(1)) + (rest + rest * rest * detail::polynomial(Tables::exp, rest));
    const auto scaled = (IntVec<Real>)power + ((IntVec<Real>)exponent << Tables::mantissa_bits);
    return (Vec<Real>)(scaled & kept);
}

// ln(x) for finite x >= 1.
template <class Real>
inline Vec<Real> vec_log(Vec<Real> x) {
    using Tables = detail::LogTables<Real>;
    using Int = typename Simd<Real>::Int;
    const IntVec<Real> bits = (IntVec<Real>)x;
    // x = 2^exponent * m with sqrt(1/2) <= m < sqrt(2).
    const IntVec<Real> exponent = (bits - Int{Tables::sqrt_half_bits}) >> Tables::mantissa_bits;
    const Vec<Real> m = (Vec<Real>)(bits - (exponent << Tables::mantissa_bits));
    const Vec<Real> magic = broadcast(Tables::to_integer);
    const Vec<Real> whole = (Vec<Real>)((IntVec<Real>)magic + exponent) - magic;
    const Vec<Real> one = broadcast(Real(1));
    const Vec<Real> s = (m - one) / (m + one), z = s * s;
    return whole * broadcast(Tables::ln2_high) +
           (s + s + s * z * detail::polynomial(Tables::log, z) +
            whole * broadcast(Tables::ln2_low));
}

// What remains of a row's scores once they are normalised: ln(sum e^score) = top + log_sum.
template <class Real>
struct SoftmaxRow {
    Real* top;          // the largest score
    Real* log_sum;      // ln of the sum of e^(score - top)
    Real* neg_entropy;  // sum of r ln r over the responsibilities r
};

// Turn scores[j][row] into responsibilities e^score / sum e^score; width is whole vectors.
template <class Real>
void softmax(Real* scores, std::int64_t n_scores, std::int64_t width, SoftmaxRow<Real> out) {
    for (std::int64_t r = 0; r < width; r += Simd<Real>::lanes) {
        Real* const begin = scores + r;
        Real* const end = begin + n_scores * width;
        Vec<Real> top = load(begin);
        for (const Real* s = begin + width; s < end; s += width) top = vec_max(top, load(s));
        const Vec<Real> least = broadcast(detail::LogTables<Real>::least);
        Vec<Real> sum{}, weighted{};
        for (Real* s = begin; s < end; s += width) {
            const Vec<Real> below = vec_max(load(s) - top, least);
            const Vec<Real> e = vec_exp<Real>(below);
            sum += e;
            weighted += e * below;
            store(s, e);
        }
        const Vec<Real> inverse = broadcast(Real(1)) / sum;
        for (Real* s = begin; s < end; s += width) store(s, load(s) * inverse);
        const Vec<Real> log_sum = vec_log<Real>(sum);
        store(out.top + r, top);
        store(out.log_sum + r, log_sum);
        store(out.neg_entropy + r, weighted * inverse - log_sum);
    }
}

}  // namespace coterie
