// Rows times a square matrix, in one order of sums whatever the instruction set.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

namespace detail {

// Columns [col, col + n_vecs vectors) of n_rows rows: the sums stay in registers.
template <int n_rows, int n_vecs>
void rotate_piece(const float* const* x, const float* matrix, std::int64_t n_cols, std::int64_t col,
                  float* const* out) {
    constexpr int lanes = Simd<float>::lanes;
    Vec<float> acc[n_rows][n_vecs] = {};
    for (std::int64_t t = 0; t < n_cols; ++t) {
        const float* r = matrix + t * n_cols + col;
        Vec<float> coef[n_vecs];
#pragma GCC unroll 4
        for (int v = 0; v < n_vecs; ++v) coef[v] = load(r + v * lanes);
#pragma GCC unroll 4
        for (int i = 0; i < n_rows; ++i) {
            const Vec<float> value = broadcast(x[i][t]);
#pragma GCC unroll 4
            for (int v = 0; v < n_vecs; ++v) acc[i][v] += rounded(value * coef[v]);
        }
    }
    for (int i = 0; i < n_rows; ++i)
        for (int v = 0; v < n_vecs; ++v) store(out[i] + col + v * lanes, acc[i][v]);
}

template <int n_rows>
void rotate_some(const float* const* x, const float* matrix, std::int64_t n_cols,
                 float* const* out) {
    constexpr int lanes = Simd<float>::lanes;
    constexpr int wide = vector_bytes == 64 ? 4 : 2;
    std::int64_t col = 0;
    for (; col + wide * lanes <= n_cols; col += wide * lanes)
        rotate_piece<n_rows, wide>(x, matrix, n_cols, col, out);
    for (; col + lanes <= n_cols; col += lanes)
        rotate_piece<n_rows, 1>(x, matrix, n_cols, col, out);
    for (; col < n_cols; ++col)
        for (int i = 0; i < n_rows; ++i) {
            float sum = 0;
            for (std::int64_t t = 0; t < n_cols; ++t)
                sum += rounded(x[i][t] * matrix[t * n_cols + col]);
            out[i][col] = sum;
        }
}

}  // namespace detail

// out = rows * matrix, products rounded and added from the first column to the last, so that a row
// has the same bits in any block, on any number of threads and on any instruction set.
inline void rotate_rows(Matrix<const float> rows, const float* matrix, float* out,
                        const Crew& crew) {
    constexpr int together = 4;
    const std::int64_t d = rows.n_cols;
    const Chunks chunks(rows.n_rows, d * d);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::int64_t i = chunks.begin(chunk);
        const std::int64_t end = chunks.end(chunk);
        for (; i + together <= end; i += together) {
            const float* x[together];
            float* to[together];
            for (int r = 0; r < together; ++r) x[r] = rows.row(i + r), to[r] = out + (i + r) * d;
            detail::rotate_some<together>(x, matrix, d, to);
        }
        for (; i < end; ++i) {
            const float* x = rows.row(i);
            float* to = out + i * d;
            detail::rotate_some<1>(&x, matrix, d, &to);
        }
    });
}

}  // namespace coterie
