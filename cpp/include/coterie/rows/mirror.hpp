// Whether a square is its own mirror image, to rounding.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// As numpy.isclose has it, where NaN is equal to NaN.
inline bool is_close(double value, double to) {
    if (value == to || (std::isnan(value) && std::isnan(to))) return true;
    return std::isfinite(to) && std::fabs(value - to) <= 1e-8 + 1e-5 * std::fabs(to);
}

// The place i * n + j of the first entry that its mirror image differs from, or -1.
template <class Real>
std::int64_t first_unlike(Matrix<const Real> square, const Crew& crew) {
    constexpr std::int64_t side = 64;
    const std::int64_t n = square.n_rows, n_strips = (n + side - 1) / side;
    std::atomic<std::int64_t> first{n * n};
    const auto found = [&](std::int64_t i, std::int64_t j) {
        const std::int64_t place = i * n + j;
        std::int64_t known = first.load();
        while (place < known && !first.compare_exchange_weak(known, place)) {
        }
    };
    crew.run(n_strips, [&](std::int64_t strip, int) {
        const std::int64_t begin = strip * side, end = std::min(n, begin + side);
        if (begin * n > first.load(std::memory_order_relaxed)) return;
        for (std::int64_t left = begin; left < n; left += side)
            for (std::int64_t i = begin; i < end; ++i)
                for (std::int64_t j = std::max(left, i + 1); j < std::min(n, left + side); ++j) {
                    const Real here = square.at(i, j), there = square.at(j, i);
                    if (here == there) continue;
                    if (!is_close(here, there)) found(i, j);
                    if (!is_close(there, here)) found(j, i);
                }
    });
    return first < n * n ? first.load() : -1;
}

}  // namespace coterie
