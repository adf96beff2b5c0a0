// Log densities of Gaussian components for a tile of rows: the E-step's quadratic forms.
//
// Rows are centred by subtraction, never by the expanded form. A component's mean is split into a
// pivot, exact in the rows' own type, and a small rest whose image under the factor starts the
// sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/mixture/panel.hpp"
#include "coterie/rows/row_tile.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// Factors U of the precisions U U^T, upper triangular: (k, d, d), one for all (1, d, d), or
// their diagonals (k, d).
enum class Factors { full, tied, diagonal };

// A mixture of Gaussians as the caller keeps it, row-major; ln N(x) = log_norm - |(x - mean)
// U|^2/2.
struct GaussianMixture {
    std::int64_t n_components, n_cols;
    const double* log_weights;
    const double* means;
    Factors kind;
    const double* factors;
    const double* log_norms;
    double background;  // log density of a uniform component, its log weight included

    const double* mean(std::int64_t j) const { return means + j * n_cols; }
    const double* factor(std::int64_t j) const {
        if (kind == Factors::diagonal) return factors + j * n_cols;
        return factors + (kind == Factors::tied ? 0 : j * n_cols * n_cols);
    }
    double log_height(std::int64_t j) const { return log_weights[j] + log_norms[j]; }
};

// The components that are alive (the background, -1, last) and the largest of their log heights.
struct LiveComponents {
    std::vector<std::int32_t> ids;
    double shift = -std::numeric_limits<double>::infinity();
    std::int64_t n_gaussians = 0;

    explicit LiveComponents(const GaussianMixture& mixture) {
        for (std::int64_t j = 0; j < mixture.n_components; ++j)
            if (mixture.log_weights[j] > -INFINITY) {
                ids.push_back(static_cast<std::int32_t>(j));
                shift = std::max(shift, mixture.log_height(j));
            }
        n_gaussians = static_cast<std::int64_t>(ids.size());
        if (mixture.background > -INFINITY) {
            ids.push_back(-1);
            shift = std::max(shift, mixture.background);
        }
    }
};

// Means rounded to the type of the rows.
template <class In>
std::vector<double> pivots_of(const GaussianMixture& mixture) {
    constexpr double most = std::numeric_limits<In>::max();
    std::vector<double> pivots(mixture.means,
                               mixture.means + mixture.n_components * mixture.n_cols);
    for (double& p : pivots) p = static_cast<In>(std::clamp(p, -most, most));
    return pivots;
}

// Scores (log densities less the shift) of live components, packed for tiles.
template <class Real>
class GaussianScores {
public:
    GaussianScores(const GaussianMixture& mixture, const LiveComponents& live,
                   const std::vector<double>& pivots)
        : kind_(mixture.kind), n_cols_(mixture.n_cols), live_(live) {
        for (const std::int32_t id : live.ids)
            heights_.push_back(static_cast<Real>(
                (id < 0 ? mixture.background : mixture.log_height(id)) - live.shift));
        if (kind_ == Factors::tied)
            pack_tied(mixture);
        else
            for (std::int64_t j = 0; j < live.n_gaussians; ++j)
                pack(mixture, live.ids[j], pivots.data() + live.ids[j] * n_cols_);
    }

    std::int64_t scratch_size(std::int64_t width) const {
        return n_cols_ * panel_rows<Real> + (kind_ == Factors::tied ? n_cols_ * width : 0);
    }

    // scores[j][row] of every live component, the background's last.
    void score(const RowTile<Real>& tile, Real* scratch, Real* scores) const {
        const Real* columns = tile.columns();
        if (kind_ == Factors::tied) {
            Real* whitened = scratch + n_cols_ * panel_rows<Real>;
            whiten(columns, tile.width, scratch, whitened);
            columns = whitened;
        }
        for (std::int64_t j = 0; j < live_.n_gaussians; ++j) {
            if (kind_ == Factors::full && n_cols_ <= panel_cols) {
                full_narrow_of(columns, tile.width, j, scores + j * tile.width);
                continue;
            }
            for (std::int64_t r = 0; r < tile.width; r += panel_rows<Real>) {
                const RowSums sq_norms = kind_ == Factors::full
                                             ? full(columns + r, tile.width, j, scratch)
                                             : separable(columns + r, tile.width, j);
                for (int v = 0; v < panel_vecs; ++v)
                    store(scores + j * tile.width + r + v * lanes,
                          broadcast(heights_[j]) - broadcast(Real(0.5)) * sq_norms.at[v]);
            }
        }
        for (std::size_t j = live_.n_gaussians; j < heights_.size(); ++j)
            std::fill_n(scores + j * tile.width, tile.width, heights_[j]);
    }

private:
    static constexpr int lanes = Simd<Real>::lanes;
    struct RowSums {
        Vec<Real> at[panel_vecs] = {};
    };

    void pack(const GaussianMixture& mixture, std::int64_t id, const double* pivot) {
        std::vector<double> rest(mixture.mean(id), mixture.mean(id) + n_cols_);
        for (std::int64_t t = 0; t < n_cols_; ++t) rest[t] -= pivot[t];
        centers_.insert(centers_.end(), pivot, pivot + n_cols_);
        if (kind_ == Factors::full)
            pack_triangle(mixture.factor(id), rest.data());
        else
            pack_diagonal(mixture.factor(id), rest.data());
    }

    // Panels of four columns: the start, then the rows down to the diagonal.
    void pack_triangle(const double* factor, const double* rest) {
        for (std::int64_t c = 0; c < n_cols_; c += panel_cols) {
            const auto entry = [&](std::int64_t t, std::int64_t col) {
                return t <= col && col < n_cols_ ? factor[t * n_cols_ + col] : 0.0;
            };
            const std::int64_t n = std::min(c + panel_cols, n_cols_);
            for (std::int64_t p = c; p < c + panel_cols; ++p) {
                double start = 0;
                for (std::int64_t t = 0; t < n; ++t) start -= rest[t] * entry(t, p);
                coefs_.push_back(static_cast<Real>(start));
            }
            for (std::int64_t t = 0; t < n; ++t)
                for (std::int64_t p = c; p < c + panel_cols; ++p)
                    coefs_.push_back(static_cast<Real>(entry(t, p)));
        }
        if (n_coefs_ == 0) n_coefs_ = static_cast<std::int64_t>(coefs_.size());
    }

    // For each column: the start and the factor.
    void pack_diagonal(const double* factor, const double* rest) {
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            coefs_.push_back(static_cast<Real>(-rest[t] * factor[t]));
            coefs_.push_back(static_cast<Real>(factor[t]));
        }
        n_coefs_ = 2 * n_cols_;
    }

    // Rows are whitened once, about the heaviest mean; then every component is a unit sphere.
    void pack_tied(const GaussianMixture& mixture) {
        const double* log_weights = mixture.log_weights;
        const auto heaviest =
            std::max_element(log_weights, log_weights + mixture.n_components) - log_weights;
        const std::vector<double> rest(n_cols_);
        for (std::int64_t t = 0; t < n_cols_; ++t)
            middle_.push_back(static_cast<Real>(mixture.mean(heaviest)[t]));
        pack_triangle(mixture.factors, rest.data());
        for (std::int64_t j = 0; j < live_.n_gaussians; ++j)
            for (std::int64_t c = 0; c < n_cols_; ++c) {
                double white = 0;
                for (std::int64_t t = 0; t <= c; ++t)
                    white += (mixture.mean(live_.ids[j])[t] - static_cast<double>(middle_[t])) *
                             mixture.factors[t * n_cols_ + c];
                centers_.push_back(static_cast<Real>(white));
            }
    }

    static void center(const Real* columns, std::int64_t width, const Real* center,
                       std::int64_t n_cols, Real* to) {
        for (std::int64_t t = 0; t < n_cols; ++t) {
            const Vec<Real> c = broadcast(center[t]);
#pragma GCC unroll 3
            for (int v = 0; v < panel_vecs; ++v)
                store(to + t * panel_rows<Real> + v * lanes,
                      load(columns + t * width + v * lanes) - c);
        }
    }

    // visit(column, v, y) for every column and vector v of rows of y = (rows - center) U.
    template <class Visit>
    __attribute__((always_inline)) void multiply_triangle(const Real* centered, const Real* coefs,
                                                          const Visit& visit) const {
        for (std::int64_t c = 0; c < n_cols_; c += panel_cols) {
            const std::int64_t n = std::min(c + panel_cols, n_cols_);
            multiply_panel(n - c, centered, panel_rows<Real>, coefs, coefs + panel_cols, n,
                           [&](int p, int v, Vec<Real> y) { visit(c + p, v, y); });
            coefs += (n + 1) * panel_cols;
        }
    }

    RowSums full(const Real* columns, std::int64_t width, std::int64_t j, Real* scratch) const {
        center(columns, width, centers_.data() + j * n_cols_, n_cols_, scratch);
        RowSums sq_norms;
        multiply_triangle(scratch, coefs_.data() + j * n_coefs_,
                          [&](std::int64_t, int v, Vec<Real> y) { sq_norms.at[v] += y * y; });
        return sq_norms;
    }

    // Few columns: no more than a panel, centred in registers.
    template <int d>
    void full_narrow(const Real* columns, std::int64_t width, std::int64_t j, Real* scores) const {
        const Real* center = centers_.data() + j * d;
        const Real* start = coefs_.data() + j * n_coefs_;
        const Real* coefs = start + panel_cols;
        for (std::int64_t r = 0; r < width; r += lanes) {
            Vec<Real> x[d], sq_norm{};
#pragma GCC unroll 4
            for (int t = 0; t < d; ++t) x[t] = load(columns + t * width + r) - broadcast(center[t]);
#pragma GCC unroll 4
            for (int c = 0; c < d; ++c) {
                Vec<Real> y = broadcast(start[c]);
#pragma GCC unroll 4
                for (int t = 0; t <= c; ++t) y += x[t] * broadcast(coefs[t * panel_cols + c]);
                sq_norm += y * y;
            }
            store(scores + r, broadcast(heights_[j]) - broadcast(Real(0.5)) * sq_norm);
        }
    }
    void full_narrow_of(const Real* columns, std::int64_t width, std::int64_t j,
                        Real* scores) const {
        with_one_of<1, 2, 3, 4>(n_cols_,
                                [&](auto d) { full_narrow<d>(columns, width, j, scores); });
    }

    RowSums separable(const Real* columns, std::int64_t width, std::int64_t j) const {
        const Real* center = centers_.data() + j * n_cols_;
        const Real* coefs = coefs_.data() + j * n_coefs_;
        RowSums sq_norms;
        for (std::int64_t t = 0; t < n_cols_; ++t)
            for (int v = 0; v < panel_vecs; ++v) {
                Vec<Real> y = load(columns + t * width + v * lanes) - broadcast(center[t]);
                if (kind_ == Factors::diagonal)
                    y = y * broadcast(coefs[2 * t + 1]) + broadcast(coefs[2 * t]);
                sq_norms.at[v] += y * y;
            }
        return sq_norms;
    }

    void whiten(const Real* columns, std::int64_t width, Real* scratch, Real* whitened) const {
        for (std::int64_t r = 0; r < width; r += panel_rows<Real>) {
            center(columns + r, width, middle_.data(), n_cols_, scratch);
            multiply_triangle(scratch, coefs_.data(), [&](std::int64_t c, int v, Vec<Real> y) {
                store(whitened + c * width + r + v * lanes, y);
            });
        }
    }

    Factors kind_;
    std::int64_t n_cols_, n_coefs_ = 0;
    const LiveComponents& live_;
    std::vector<Real> heights_, centers_, coefs_, middle_;
};

}  // namespace coterie
