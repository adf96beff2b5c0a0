// Rows in some order, packed in blocks, and the lengths from a few rows at a time to a block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Rows that ask together: they share what is loaded of a block.
inline constexpr int asking_rows = 4;

// All rows in the given order, each block by columns; the last is filled up with zeros.
template <class Real>
class PackedBlocks {
public:
    PackedBlocks(Matrix<const Real> rows, const std::int64_t* order, std::int64_t n_rows,
                 const Crew& crew)
        : n_rows(n_rows),
          n_cols(rows.n_cols),
          block_rows(rows_for(rows.n_cols)),
          data_(count() * block_rows * rows.n_cols + packed_slack) {
        crew.run(count(), [&](std::int64_t block, int) {
            Real* to = data_.data() + block * block_rows * n_cols;
            for (std::int64_t i = 0; i < size(block); ++i) {
                const Real* x = rows.row(order[block * block_rows + i]);
                for (std::int64_t t = 0; t < n_cols; ++t)
                    to[t * block_rows + i] = x[t * rows.col_stride];
            }
        });
    }

    std::int64_t count() const { return (n_rows + block_rows - 1) / block_rows; }
    std::int64_t size(std::int64_t block) const {
        return std::min(block_rows, n_rows - block * block_rows);
    }
    const Real* block(std::int64_t block) const {
        return data_.data() + block * block_rows * n_cols;
    }
    Real at(std::int64_t row, std::int64_t col) const {
        return block(row / block_rows)[col * block_rows + row % block_rows];
    }

    const std::int64_t n_rows, n_cols, block_rows;

private:
    // Some 16 KB of floats, in whole panels of every instruction set.
    static std::int64_t rows_for(std::int64_t n_cols) {
        const std::int64_t wanted = 4096 / std::max<std::int64_t>(n_cols, 1);
        return std::clamp<std::int64_t>(wanted / 64 * 64, 64, 256);
    }

    AlignedVector<Real> data_;
};

// Euclid's metric by the direct form, in the precision of the rows: differences lose nothing to
// offsets, and no more than `strip` squares are added before they are put with the others.
template <class Real>
class EuclideanLengths {
public:
    using Length = Real;
    using Query = Real;

    explicit EuclideanLengths(const PackedBlocks<Real>& blocks) : blocks_(blocks) {}

    // Lengths from `asking_rows` queries, side by side, to a block; out has block_rows for each.
    void measure(const Real* queries, std::int64_t block, Real* out) const {
        constexpr std::int64_t panel = n_vecs * Simd<Real>::lanes;
        const Real* data = blocks_.block(block);
        for (std::int64_t i = 0; i < blocks_.size(block); i += panel)
            measure_panel(queries, data + i, out + i);
    }

private:
    static constexpr int n_vecs = vector_bytes == 64 ? 4 : 2;
    static constexpr std::int64_t strip = 64;

    void measure_panel(const Real* queries, const Real* points, Real* out) const {
        constexpr int lanes = Simd<Real>::lanes;
        const std::int64_t d = blocks_.n_cols, stride = blocks_.block_rows;
        Vec<Real> total[asking_rows][n_vecs] = {};
        for (std::int64_t begin = 0; begin < d; begin += strip) {
            Vec<Real> sum[asking_rows][n_vecs] = {};
            const std::int64_t end = std::min(d, begin + strip);
            for (std::int64_t t = begin; t < end; ++t) {
                Vec<Real> point[n_vecs];
#pragma GCC unroll 4
                for (int v = 0; v < n_vecs; ++v) point[v] = load(points + t * stride + v * lanes);
#pragma GCC unroll 4
                for (int q = 0; q < asking_rows; ++q) {
                    const Vec<Real> x = broadcast(queries[q * d + t]);
#pragma GCC unroll 4
                    for (int v = 0; v < n_vecs; ++v) {
                        const Vec<Real> gap = point[v] - x;
                        sum[q][v] += gap * gap;
                    }
                }
            }
            for (int q = 0; q < asking_rows; ++q)
                for (int v = 0; v < n_vecs; ++v) total[q][v] += sum[q][v];
        }
        for (int q = 0; q < asking_rows; ++q)
            for (int v = 0; v < n_vecs; ++v) store(out + q * stride + v * lanes, root(total[q][v]));
    }

    static Vec<float> root(Vec<float> v) { return vec_sqrt(v); }
    static Vec<double> root(Vec<double> v) {
        for (int i = 0; i < Simd<double>::lanes; ++i) v[i] = std::sqrt(v[i]);
        return v;
    }

    const PackedBlocks<Real>& blocks_;
};

// Any metric, by its sum over the columns in float64.
template <class Real>
class MetricLengths {
public:
    using Length = double;
    using Query = double;

    MetricLengths(const PackedBlocks<Real>& blocks, const Metric& metric)
        : blocks_(blocks), metric_(metric) {}

    void measure(const double* queries, std::int64_t block, double* out) const {
        const std::int64_t d = blocks_.n_cols, stride = blocks_.block_rows;
        const Packed<Real> points{blocks_.block(block), blocks_.size(block), stride};
        with_sum(metric_, [&](const auto& sum) {
            for (int q = 0; q < asking_rows; ++q) {
                std::vector<double> reduced(stride + packed_slack);
                reduced_to(sum, queries + q * d, points, d, reduced.data());
                std::transform(reduced.data(), reduced.data() + points.count, out + q * stride,
                               [&](double r) { return metric_.length_of(r); });
            }
        });
    }

private:
    const PackedBlocks<Real>& blocks_;
    Metric metric_;
};

}  // namespace coterie
