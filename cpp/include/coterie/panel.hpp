// The multiplication under the mixtures' scores: rows in lanes times a panel of columns.
#pragma once

#include <cstdint>

#include "coterie/simd.hpp"

namespace coterie {

// 4 x 3 accumulators, three vectors of rows and a broadcast fill sixteen registers.
inline constexpr int panel_cols = 4;
inline constexpr int panel_vecs = 3;
template <class Real>
inline constexpr int panel_rows = panel_vecs * Simd<Real>::lanes;

template <class Real>
struct PanelSums {
    Vec<Real> at[panel_cols][panel_vecs];
};

// start[p] + sum over t < n of tile[t][row] * coefs[t][p], for the panel's rows and columns.
template <class Real>
__attribute__((always_inline)) inline PanelSums<Real> multiply_panel(const Real* tile,
                                                                     std::int64_t tile_stride,
                                                                     const Real* start,
                                                                     const Real* coefs,
                                                                     std::int64_t n) {
    constexpr int lanes = Simd<Real>::lanes;
    PanelSums<Real> sums;
#pragma GCC unroll 4
    for (int p = 0; p < panel_cols; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < panel_vecs; ++v) sums.at[p][v] = broadcast(start[p]);
    for (std::int64_t t = 0; t < n; ++t) {
        Vec<Real> x[panel_vecs];
#pragma GCC unroll 3
        for (int v = 0; v < panel_vecs; ++v) x[v] = load(tile + v * lanes);
#pragma GCC unroll 4
        for (int p = 0; p < panel_cols; ++p) {
            const Vec<Real> c = broadcast(coefs[p]);
#pragma GCC unroll 3
            for (int v = 0; v < panel_vecs; ++v) sums.at[p][v] += x[v] * c;
        }
        tile += tile_stride;
        coefs += panel_cols;
    }
    return sums;
}

}  // namespace coterie
