// What the sums of clusters tell: their means, and how far the rows are from any centres.
#pragma once

#include <cstdint>

#include "coterie/centroid/sums.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

namespace detail {

// The number whose limbs are `stride` apart, highest first.
inline double joined(const std::int64_t* limbs, int n_limbs, std::int64_t stride) {
    double value = static_cast<double>(limbs[(n_limbs - 1) * stride]);
    for (int limb = n_limbs - 2; limb >= 0; --limb)
        value = value / static_cast<double>(std::int64_t{1} << limb_bits) +
                static_cast<double>(limbs[limb * stride]);
    return value;
}

}  // namespace detail

// The mean of every cluster, (k, d); one without weight stays where `centers` has it. Says which
// others are `few`, of `most` rows by `n_rows`, and returns how many.
inline std::int64_t means_from_sums(const SumsOut& sums, const double* centers, std::int64_t k,
                                    std::int64_t d, const std::int64_t* n_rows, std::int64_t most,
                                    bool* few, double* means) {
    const Grid& grid = sums.grid;
    std::int64_t n_few = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        const double weight =
            detail::joined(sums.weights + j, grid.limbs, k) / grid.weight_step_inverse;
        for (std::int64_t i = j * d; i < (j + 1) * d; ++i) {
            const std::int64_t t = i - j * d;
            const double steps = detail::joined(sums.values + i, grid.limbs, k * d) / weight;
            means[i] = weight == 0 ? centers[i] : (steps + grid.origin[t]) / grid.step_inverse[t];
        }
        few[j] = weight != 0 && n_rows[j] <= most;
        n_few += few[j];
    }
    return n_few;
}

// Sum of squared differences of n values. Squares are rounded before they are added, so every ISA
// gives the same bits.
inline double sum_sq_moves(const double* from, const double* to, std::int64_t n) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += rounded((to[i] - from[i]) * (to[i] - from[i]));
    return total;
}

// Sum of squared distances of all rows to the centre of their cluster, of which `scatter` is that
// to the grid's origin: scatter + sum W c.(c - 2 mean), c being counted from there. Products are
// rounded before they are added, so every ISA gives the same bits.
inline double sse_from_sums(const SumsOut& sums, const double* centers, std::int64_t k,
                            std::int64_t d, double weight_unit, double scatter) {
    const Grid& grid = sums.grid;
    double total = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        const double weight =
            detail::joined(sums.weights + j, grid.limbs, k) / grid.weight_step_inverse;
        if (weight == 0) continue;
        double own = 0;
        for (std::int64_t i = j * d; i < (j + 1) * d; ++i) {
            const std::int64_t t = i - j * d;
            const double steps = detail::joined(sums.values + i, grid.limbs, k * d) / weight;
            const double at = centers[i] - grid.origin[t] / grid.step_inverse[t];
            own += rounded(at * (at - 2 * (steps / grid.step_inverse[t])));
        }
        total += rounded(weight * own);
    }
    return scatter + rounded(weight_unit * total);
}

}  // namespace coterie
