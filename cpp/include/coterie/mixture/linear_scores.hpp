// Scores and sums for mixtures whose log densities are linear in the row, a tile of rows at a time.
//
// Scores are sums of many terms of which only differences matter, so they are computed in double
// whatever the rows are; reading the rows is what takes the time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "coterie/mixture/moments.hpp"
#include "coterie/mixture/panel.hpp"
#include "coterie/mixture/posterior.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/rows/row_tile.hpp"

namespace coterie {

// Log weight and log density of component j: offsets[j] + x . slopes[j].
struct LinearMixture {
    std::int64_t n_components, n_cols;
    const double* offsets;
    const double* slopes;
};

// Sums kept by columns, padded, as the caller wants them.
inline void write_by_columns(const LinearMixture& mixture, const MomentSums& sums,
                             std::int64_t stride, double* first) {
    for (std::int64_t j = 0; j < mixture.n_components; ++j)
        for (std::int64_t t = 0; t < mixture.n_cols; ++t)
            first[j * mixture.n_cols + t] = sums.first[t * stride + j];
}

// Dense rows: tiles are read once, rows in lanes for the scores, columns in lanes for the sums.
template <class In>
class DenseLinear {
public:
    using Data = Weighted<In>;

    // What all threads share: slopes in panels of four components.
    struct Model {
        LinearMixture mixture;
        AlignedVector<double> panels;  // of each: offsets [4], slopes [d][4]

        explicit Model(const LinearMixture& mixture) : mixture(mixture) {
            const std::int64_t k = mixture.n_components, d = mixture.n_cols;
            for (std::int64_t j = 0; j < k; j += panel_cols)
                for (std::int64_t t = -1; t < d; ++t)
                    for (std::int64_t p = j; p < j + panel_cols; ++p)
                        panels.push_back(p >= k  ? 0
                                         : t < 0 ? mixture.offsets[p]
                                                 : mixture.slopes[p * d + t]);
        }
        // Rows of a tile: about 256 KB of them, whole panels at every vector width.
        std::int64_t width() const {
            return std::clamp<std::int64_t>(32768 / mixture.n_cols / 24 * 24, 24, 96);
        }
        std::int64_t work_per_row(const Data&) const {
            return mixture.n_components * (mixture.n_cols + 16);
        }
        MomentSums no_sums() const {
            return {mixture.n_components, padded_cols<double>(mixture.n_cols), Products::none};
        }
        void write(const MomentSums& sums, double* first) const {
            for (std::int64_t j = 0; j < mixture.n_components; ++j)
                std::copy_n(sums.first.data() + j * sums.stride, mixture.n_cols,
                            first + j * mixture.n_cols);
        }
    };

    DenseLinear(const Data& data, const Model& model)
        : data_(data),
          model_(model),
          tile_(model.width(), model.mixture.n_cols, padded_cols<double>(model.mixture.n_cols)),
          adder_(model.width(), tile_.stride, Products::none),
          zeros_(tile_.stride),
          ids_(model.width()) {}

    void score(std::int64_t begin, std::int64_t count, double* scores) {
        std::iota(ids_.begin(), ids_.end(), begin);
        tile_.load(data_.rows, ids_.data(), count);
        const std::int64_t k = model_.mixture.n_components, d = model_.mixture.n_cols;
        const double* panel = model_.panels.data();
        for (std::int64_t j = 0; j < k; j += panel_cols, panel += (d + 1) * panel_cols)
            for (std::int64_t r = 0; r < tile_.width; r += panel_rows<double>)
                multiply_panel(
                    std::min<std::int64_t>(panel_cols, k - j), tile_.columns() + r, tile_.width,
                    panel, panel + panel_cols, d, [&](int p, int v, Vec<double> score) {
                        store(scores + (j + p) * tile_.width + r + v * Simd<double>::lanes, score);
                    });
    }

    void add(std::int64_t, const Posterior<double>& posterior, const double* weights,
             MomentSums& sums) {
        for (std::int64_t j = 0; j < model_.mixture.n_components; ++j)
            adder_.add(tile_, posterior.resp(j), weights, zeros_.data(), j, sums);
    }

private:
    Data data_;
    const Model& model_;
    RowTile<double> tile_;
    MomentAdder<double> adder_;
    AlignedVector<double> zeros_;
    std::vector<std::int64_t> ids_;
};

// Compressed rows: components in lanes, so that a stored value meets all of them at once.
template <class In, class Index>
class SparseLinear {
public:
    using Data = WeightedCsr<In, Index>;

    struct Model {
        LinearMixture mixture;
        std::int64_t stride;
        AlignedVector<double> offsets, slopes;  // [k] and [d][k], padded

        explicit Model(const LinearMixture& mixture)
            : mixture(mixture),
              stride(padded_cols<double>(mixture.n_components)),
              offsets(stride),
              slopes(mixture.n_cols * stride) {
            const std::int64_t d = mixture.n_cols;
            std::copy_n(mixture.offsets, mixture.n_components, offsets.begin());
            for (std::int64_t j = 0; j < mixture.n_components; ++j)
                for (std::int64_t t = 0; t < d; ++t)
                    slopes[t * stride + j] = mixture.slopes[j * d + t];
        }
        std::int64_t width() const { return 96; }
        std::int64_t work_per_row(const Data& data) const {
            const std::int64_t n = std::max<std::int64_t>(data.rows.n_rows, 1);
            return stride * (n_stored(data.rows) / n + 16);
        }
        // Sums by columns: a column stands where a component stands for dense rows.
        MomentSums no_sums() const {
            return {std::max(mixture.n_cols, mixture.n_components), stride, Products::none};
        }
        void write(const MomentSums& sums, double* first) const {
            write_by_columns(mixture, sums, stride, first);
        }
    };

    SparseLinear(const Data& data, const Model& model)
        : data_(data), model_(model), row_(model.stride) {}

    void score(std::int64_t begin, std::int64_t count, double* scores) {
        begin_ = begin;
        for (std::int64_t r = 0; r < model_.width(); ++r) {
            row_ = model_.offsets;
            each_value(begin + std::min(r, count - 1), [&](double x, std::int64_t col) {
                add_scaled(row_.data(), x, model_.slopes.data() + col * model_.stride);
            });
            for (std::int64_t j = 0; j < model_.mixture.n_components; ++j)
                scores[j * model_.width() + r] = row_[j];
        }
    }

    void add(std::int64_t count, const Posterior<double>& posterior, const double* weights,
             MomentSums& sums) {
        std::fill(row_.begin(), row_.end(), 0.0);
        for (std::int64_t r = 0; r < count; ++r) {
            for (std::int64_t j = 0; j < model_.mixture.n_components; ++j) {
                row_[j] = weights[r] * posterior.resp(j)[r];
                sums.counts[j] += row_[j];
            }
            each_value(begin_ + r, [&](double x, std::int64_t col) {
                add_scaled(sums.first.data() + col * model_.stride, x, row_.data());
            });
        }
    }

private:
    template <class Visit>
    void each_value(std::int64_t row, const Visit& visit) const {
        const Stored<In, Index> x = stored(data_.rows, row);
        for (Index i = 0; i < x.count; ++i)
            visit(static_cast<double>(x.values[i]), static_cast<std::int64_t>(x.columns[i]));
    }
    void add_scaled(double* to, double x, const double* from) const {
        for (std::int64_t j = 0; j < model_.stride; j += Simd<double>::lanes)
            store(to + j, load(to + j) + broadcast(x) * load(from + j));
    }

    Data data_;
    const Model& model_;
    AlignedVector<double> row_;  // scores, then masses, of one row
    std::int64_t begin_ = 0;
};

}  // namespace coterie
