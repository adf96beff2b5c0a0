// The multiplication under the mixtures' scores: rows in lanes times a panel of columns.
#pragma once

#include <cstdint>

#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// 4 x 3 accumulators, three vectors of rows and a broadcast fill sixteen registers.
inline constexpr int panel_cols = 4;
inline constexpr int panel_vecs = 3;
template <class Real>
inline constexpr int panel_rows = panel_vecs * Simd<Real>::lanes;

// visit(p, v, sum) for the first `cols` columns p and the vectors v of rows, the sum being
// start[p] + sum over t < n of tile[t][row] * coefs[t][p].
template <int cols, class Real, class Visit>
__attribute__((always_inline)) inline void multiply_panel(const Real* tile,
                                                          std::int64_t tile_stride,
                                                          const Real* start, const Real* coefs,
                                                          std::int64_t n, const Visit& visit) {
    constexpr int lanes = Simd<Real>::lanes;
    Vec<Real> sums[cols][panel_vecs];
#pragma GCC unroll 4
    for (int p = 0; p < cols; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < panel_vecs; ++v) sums[p][v] = broadcast(start[p]);
    for (std::int64_t t = 0; t < n; ++t) {
        Vec<Real> x[panel_vecs];
#pragma GCC unroll 3
        for (int v = 0; v < panel_vecs; ++v) x[v] = load(tile + v * lanes);
#pragma GCC unroll 4
        for (int p = 0; p < cols; ++p) {
            const Vec<Real> c = broadcast(coefs[p]);
#pragma GCC unroll 3
            for (int v = 0; v < panel_vecs; ++v) sums[p][v] += x[v] * c;
        }
        tile += tile_stride;
        coefs += panel_cols;
    }
#pragma GCC unroll 4
    for (int p = 0; p < cols; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < panel_vecs; ++v) visit(p, v, sums[p][v]);
}

// The same for a number of columns known only now, at most four.
template <class Real, class Visit>
__attribute__((always_inline)) inline void multiply_panel(std::int64_t cols, const Real* tile,
                                                          std::int64_t tile_stride,
                                                          const Real* start, const Real* coefs,
                                                          std::int64_t n, const Visit& visit) {
    with_one_of<1, 2, 3, 4>(cols, [&](auto constant) {
        multiply_panel<constant>(tile, tile_stride, start, coefs, n, visit);
    });
}

}  // namespace coterie
