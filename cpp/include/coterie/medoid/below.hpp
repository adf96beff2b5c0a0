// The rows to which a candidate is near enough to matter, and sums over rows: in the same order,
// and so with the same bits, at every vector width.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// hit(i) for every keys[i] < limits[i], in order. Few are: a branch for each four vectors.
template <class Key, class Hit>
inline void each_below(const Key* keys, const Key* limits, std::int64_t count, const Hit& hit) {
    constexpr int lanes = Simd<Key>::lanes, step = 4 * lanes;
    std::int64_t i = 0;
    for (; i + step <= count; i += step) {
        std::uint64_t bits = 0;
        for (int v = 0; v < 4; ++v) {
            const auto below = load(keys + i + v * lanes) < load(limits + i + v * lanes);
            bits |= static_cast<std::uint64_t>(lane_bits(below)) << (v * lanes);
        }
        for (; bits; bits &= bits - 1) hit(i + std::countr_zero(bits));
    }
    for (; i < count; ++i)
        if (keys[i] < limits[i]) hit(i);
}

// Sums in eight strands whatever the width: rows i, i + 8, ... are added apart, then together. Rows
// come in pieces, all but the last of whole strands.
class StrandSums {
public:
    // Weighted values.
    template <class Real>
    void add(const Real* values, const double* weights, std::int64_t count) {
        each_strand(count, weights, [&](auto load, std::int64_t at) { return load(values + at); });
    }

    // By how much values lie below others, weighted; nothing where they do not.
    template <class Real>
    void add_below(const double* others, const Real* values, const double* weights,
                   std::int64_t count) {
        each_strand(count, weights, [&](auto load, std::int64_t at) {
            const auto gap = load(others + at) - load(values + at);
            const std::decay_t<decltype(gap)> zero{};
            return gap > zero ? gap : zero;
        });
    }

    double total() const {
        double strand[8];
        for (int part = 0; part < n_parts; ++part) store(strand + part * lanes, parts_[part]);
        return ((strand[0] + strand[4]) + (strand[2] + strand[6])) +
               ((strand[1] + strand[5]) + (strand[3] + strand[7]));
    }

private:
    // value(load, i): of the rows from i on, as many as `load` reads as doubles.
    template <class Value>
    void each_strand(std::int64_t count, const double* weights, const Value& value) {
        const auto load_lanes = [](const auto* from) { return load_as_double(from); };
        const auto load_one = [](const auto* from) { return static_cast<double>(*from); };
        std::int64_t i = 0;
        for (; i + 8 <= count; i += 8)
            for (int part = 0; part < n_parts; ++part) {
                const std::int64_t at = i + part * lanes;
                parts_[part] += rounded(value(load_lanes, at) * load(weights + at));
            }
        for (int strand = 0; i < count; ++i, ++strand)
            parts_[strand / lanes][strand % lanes] += rounded(value(load_one, i) * weights[i]);
    }

    static constexpr int lanes = Simd<double>::lanes, n_parts = 8 / lanes;
    Vec<double> parts_[n_parts] = {};
};

}  // namespace coterie
