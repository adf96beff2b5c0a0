// Sums over rows of products of their columns, in one order whatever the instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

namespace detail {

// Add columns [i, i + n_rows) of x times columns [j, j + n_vecs vectors) of y over some rows.
template <int n_rows, int n_vecs>
void cross_piece(const float* x, const float* y, std::int64_t count, std::int64_t n_cols,
                 std::int64_t i, std::int64_t j, double* out) {
    constexpr int lanes = Simd<float>::lanes;
    Vec<float> acc[n_rows][n_vecs] = {};
    for (std::int64_t r = 0; r < count; ++r, x += n_cols, y += n_cols) {
        Vec<float> value[n_vecs];
#pragma GCC unroll 4
        for (int v = 0; v < n_vecs; ++v) value[v] = load(y + j + v * lanes);
#pragma GCC unroll 4
        for (int p = 0; p < n_rows; ++p) {
            const Vec<float> factor = broadcast(x[i + p]);
#pragma GCC unroll 4
            for (int v = 0; v < n_vecs; ++v) acc[p][v] += rounded(factor * value[v]);
        }
    }
    for (int p = 0; p < n_rows; ++p)
        for (int v = 0; v < n_vecs; ++v)
            for (int l = 0; l < lanes; ++l)
                out[(i + p) * n_cols + j + v * lanes + l] += static_cast<double>(acc[p][v][l]);
}

template <int n_rows>
void cross_columns(const float* x, const float* y, std::int64_t count, std::int64_t n_cols,
                   std::int64_t i, double* out) {
    constexpr int lanes = Simd<float>::lanes;
    constexpr int wide = vector_bytes == 64 ? 4 : 2;
    std::int64_t j = 0;
    for (; j + wide * lanes <= n_cols; j += wide * lanes)
        cross_piece<n_rows, wide>(x, y, count, n_cols, i, j, out);
    for (; j + lanes <= n_cols; j += lanes) cross_piece<n_rows, 1>(x, y, count, n_cols, i, j, out);
    for (; j < n_cols; ++j)
        for (int p = 0; p < n_rows; ++p) {
            float sum = 0;
            for (std::int64_t r = 0; r < count; ++r)
                sum += rounded(x[r * n_cols + i + p] * y[r * n_cols + j]);
            out[(i + p) * n_cols + j] += static_cast<double>(sum);
        }
}

}  // namespace detail

// out = x^T y of two tables in C order and of one shape. Some rows at a time are summed in float32,
// these sums in float64 within shares, whose number depends on n_rows alone, and shares in order.
inline void cross_products(Matrix<const float> x, Matrix<const float> y, double* out,
                           const Crew& crew) {
    constexpr std::int64_t together = 128;
    const std::int64_t n = x.n_rows, d = x.n_cols;
    const std::int64_t n_shares = std::clamp<std::int64_t>(n / 2048, 1, 16);
    std::vector<std::vector<double>> shares(n_shares);
    crew.run(n_shares, [&](std::int64_t share, int) {
        shares[share].assign(d * d, 0.0);
        double* sums = shares[share].data();
        const std::int64_t end = n * (share + 1) / n_shares;
        for (std::int64_t r = n * share / n_shares; r < end; r += together) {
            Pool::breathe();
            const std::int64_t count = std::min(together, end - r);
            std::int64_t i = 0;
            for (; i + 4 <= d; i += 4)
                detail::cross_columns<4>(x.row(r), y.row(r), count, d, i, sums);
            for (; i < d; ++i) detail::cross_columns<1>(x.row(r), y.row(r), count, d, i, sums);
        }
    });
    std::fill(out, out + d * d, 0.0);
    for (const auto& share : shares)
        for (std::int64_t i = 0; i < d * d; ++i) out[i] += share[i];
}

}  // namespace coterie
