// The fused nearest-centre kernel: label, squared distance and second squared distance of a tile
// of rows, with no n x k array and no horizontal reduction.
//
// Rows sit in lanes; centres are packed as -2c in panels of at most `max_panel`, and accumulators
// start at |c|^2, so that a panel's accumulators end as |c|^2 - 2 x.c.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/rows/frame.hpp"
#include "coterie/simd/constant.hpp"

namespace coterie {

// Centres of a frame, packed for scanning.
template <class Real>
class Panels {
public:
    Panels() = default;

    // Pack centres[ids[0..n_ids)] (row-major doubles, original units); ids may be null for "all".
    template <class In>
    Panels(const double* centers, std::int64_t n_cols, const Frame<In>& frame,
           const std::int32_t* ids, std::int64_t n_ids)
        : Panels(n_cols, ids, n_ids) {
        double max_sq = 0;
        each_slot([&](std::int64_t id, Real* to, int size) {
            double sq_norm = 0;
            for (std::int64_t t = 0; t < n_cols; ++t) {
                const double c = in_frame(centers[id * n_cols + t], frame, t);
                sq_norm += c * c;
                to[(2 + t) * size] = static_cast<Real>(-2 * c);
            }
            max_sq = std::max(max_sq, sq_norm);
            to[0] = static_cast<Real>(sq_norm);
        });
        max_norm_ = static_cast<Real>(std::sqrt(max_sq) * (1 + 1e-6));
    }

    // Room for these centres; each_slot is to be used to fill in their numbers.
    Panels(std::int64_t n_cols, const std::int32_t* ids, std::int64_t n_ids)
        : data_(n_ids * (n_cols + 2)), n_cols_(n_cols), n_centers_(n_ids) {
        const std::int64_t n_panels = (n_ids + max_panel - 1) / max_panel;
        for (std::int64_t panel = 0; panel < n_panels; ++panel) {
            const std::int64_t first = n_ids * panel / n_panels;
            const std::int64_t last = n_ids * (panel + 1) / n_panels;
            const int size = static_cast<int>(last - first);
            sizes_.push_back(size);
            starts_.push_back(first * (n_cols + 2));
            Real* to = data_.data() + starts_.back() + size;
            for (int p = 0; p < size; ++p)
                to[p] = std::bit_cast<Real>(static_cast<typename Simd<Real>::Int>(
                    ids ? ids[first + p] : static_cast<std::int32_t>(first + p)));
        }
    }

    // write(id, to, size) for every centre: |c|^2 goes to to[0], -2c to to[(2 + t) * size].
    template <class Write>
    void each_slot(const Write& write) {
        for (std::int64_t i = 0; i < n_panels(); ++i)
            for (int p = 0; p < sizes_[i]; ++p)
                write(id(i, p), data_.data() + starts_[i] + p, sizes_[i]);
    }

    std::int64_t n_cols() const { return n_cols_; }
    std::int64_t n_centers() const { return n_centers_; }
    Real max_norm() const { return max_norm_; }
    int size(std::int64_t i) const { return sizes_[i]; }

    std::int64_t n_panels() const { return static_cast<std::int64_t>(sizes_.size()); }
    const Real* panel(std::int64_t i) const { return data_.data() + starts_[i]; }

    // visit(panel, id) for every centre.
    template <class Visit>
    void each_id(const Visit& visit) const {
        for (std::int64_t i = 0; i < n_panels(); ++i)
            for (int p = 0; p < sizes_[i]; ++p) visit(i, id(i, p));
    }

private:
    std::int64_t id(std::int64_t i, int p) const {
        return std::bit_cast<typename Simd<Real>::Int>(panel(i)[sizes_[i] + p]);
    }

    std::vector<Real> data_;  // per panel: |c|^2 [size], ids [size], -2c [n_cols][size]
    std::vector<int> sizes_;
    std::vector<std::int64_t> starts_;
    std::int64_t n_cols_ = 0;
    std::int64_t n_centers_ = 0;
    Real max_norm_ = 0;
};

struct PanelRange {
    std::int64_t begin, end;
};

// The two smallest |c|^2 - 2 x.c of each row of a tile, and whose the smallest is.
template <class Real>
struct Nearest {
    alignas(64) Real best[tile_rows<Real>];
    alignas(64) Real second[tile_rows<Real>];
    alignas(64) typename Simd<Real>::Int label[tile_rows<Real>];

    void clear() {
        const Vec<Real> far = broadcast(std::numeric_limits<Real>::max());
        for (int r = 0; r < tile_rows<Real>; r += Simd<Real>::lanes) {
            store(best + r, far);
            store(second + r, far);
            store(reinterpret_cast<Real*>(label) + r, Vec<Real>{});
        }
    }

    // The two nearest of both.
    void merge(const Nearest& other) {
        for (int r = 0; r < tile_rows<Real>; ++r) {
            const Real farther = best[r] < other.best[r] ? other.best[r] : best[r];
            const Real seconds = second[r] < other.second[r] ? second[r] : other.second[r];
            label[r] = other.best[r] < best[r] ? other.label[r] : label[r];
            best[r] = other.best[r] < best[r] ? other.best[r] : best[r];
            second[r] = farther < seconds ? farther : seconds;
        }
    }
};

namespace detail {

// The two nearest so far of some vectors of rows, in registers.
template <class Real, int n_vecs>
class RunningNearest {
public:
    RunningNearest(Nearest<Real>& nearest, int first_vec)
        : best_(nearest.best + first_vec * lanes),
          second_(nearest.second + first_vec * lanes),
          label_(reinterpret_cast<Real*>(nearest.label) + first_vec * lanes) {
        for (int v = 0; v < n_vecs; ++v) {
            best[v] = load(best_ + v * lanes);
            second[v] = load(second_ + v * lanes);
            label[v] = load(label_ + v * lanes);
        }
    }

    __attribute__((always_inline)) void see(const Vec<Real> (&value)[n_vecs], Real id) {
#pragma GCC unroll 2
        for (int v = 0; v < n_vecs; ++v) {
            second[v] = vec_min(second[v], vec_max(best[v], value[v]));
            label[v] = value[v] < best[v] ? broadcast(id) : label[v];
            best[v] = vec_min(best[v], value[v]);
        }
    }

    void keep() const {
        for (int v = 0; v < n_vecs; ++v) {
            store(best_ + v * lanes, best[v]);
            store(second_ + v * lanes, second[v]);
            store(label_ + v * lanes, label[v]);
        }
    }

private:
    static constexpr int lanes = Simd<Real>::lanes;
    Vec<Real> best[n_vecs], second[n_vecs], label[n_vecs];
    Real *best_, *second_, *label_;
};

// How values are added up: of integers by dot products where the processor has them.
template <class Real, bool by_dots>
__attribute__((always_inline)) inline Vec<Real> add_product(Vec<Real> sum, Vec<Real> a,
                                                            Vec<Real> b) {
    if constexpr (by_dots)
        return add_dot(sum, a, b);
    else
        return multiply_add(sum, a, b);
}

template <class Real, int size, int fixed_cols, bool by_dots>
__attribute__((always_inline)) inline void scan_panel(const Real* tile, const Real* panel,
                                                      std::int64_t n_cols, Nearest<Real>& nearest) {
    constexpr int lanes = Simd<Real>::lanes;
    Vec<Real> acc[size][2];
#pragma GCC unroll 12
    for (int p = 0; p < size; ++p) acc[p][0] = acc[p][1] = broadcast(panel[p]);
    const Real* coefs = panel + 2 * size;
    const std::int64_t d = fixed_cols ? fixed_cols : n_cols;
    for (std::int64_t t = 0; t < d; ++t) {
        const Vec<Real> x0 = load(tile), x1 = load(tile + lanes);
#pragma GCC unroll 12
        for (int p = 0; p < size; ++p) {
            const Vec<Real> c = broadcast(coefs[p]);
            acc[p][0] = add_product<Real, by_dots>(acc[p][0], c, x0);
            acc[p][1] = add_product<Real, by_dots>(acc[p][1], c, x1);
        }
        tile += 2 * lanes;
        coefs += size;
    }
    for (int half = 0; half < 2; ++half) {
        RunningNearest<Real, 1> running(nearest, half);
#pragma GCC unroll 12
        for (int p = 0; p < size; ++p) running.see({acc[p][half]}, panel[size + p]);
        running.keep();
    }
}

// Rows of very few columns: a tile of them stays in registers while all centres go by, and so do
// their two nearest.
template <class Real, int n_cols, bool by_dots = false>
__attribute__((always_inline)) inline void scan_narrow(const Vec<Real> (&x)[2][n_cols],
                                                       const Panels<Real>& panels, PanelRange range,
                                                       const std::uint64_t* wanted,
                                                       Nearest<Real>& nearest) {
    RunningNearest<Real, 2> running(nearest, 0);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        if (wanted && !(wanted[i / 64] >> (i % 64) & 1)) continue;
        const int size = panels.size(i);
        const Real* panel = panels.panel(i);
        for (int p = 0; p < size; ++p) {
            Vec<Real> value[] = {broadcast(panel[p]), broadcast(panel[p])};
#pragma GCC unroll 4
            for (int t = 0; t < n_cols; ++t) {
                const Vec<Real> c = broadcast(panel[(2 + t) * size + p]);
                value[0] = add_product<Real, by_dots>(value[0], c, x[0][t]);
                value[1] = add_product<Real, by_dots>(value[1], c, x[1][t]);
            }
            running.see(value, panel[size + p]);
        }
    }
    running.keep();
}

template <class Real, int n_cols, bool by_dots>
void scan_narrow(const Real* tile, const Panels<Real>& panels, PanelRange range,
                 const std::uint64_t* wanted, Nearest<Real>& nearest) {
    Vec<Real> x[2][n_cols];
    for (int t = 0; t < n_cols; ++t)
        for (int half = 0; half < 2; ++half)
            x[half][t] = load(tile + (2 * t + half) * Simd<Real>::lanes);
    scan_narrow<Real, n_cols, by_dots>(x, panels, range, wanted, nearest);
}

template <class Real, int fixed_cols, bool by_dots>
void scan_panels(const Real* tile, const Panels<Real>& panels, PanelRange range,
                 const std::uint64_t* wanted, Nearest<Real>& nearest) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        if (wanted && !(wanted[i / 64] >> (i % 64) & 1)) continue;
        const Real* panel = panels.panel(i);
        const std::int64_t n_cols = panels.n_cols();
        with_up_to<max_panel>(
            panels.size(i), [=, &nearest](auto size) __attribute__((always_inline)) {
                scan_panel<Real, size, fixed_cols, by_dots>(tile, panel, n_cols, nearest);
            });
    }
}

}  // namespace detail

// Lower `nearest` to the two nearest of what it holds and the centres of the panels in `range`
// that are `wanted` (a bit each; null: all).
template <class Real>
void scan(const Real* tile, const Panels<Real>& panels, PanelRange range,
          const std::uint64_t* wanted, Nearest<Real>& nearest) {
    const auto scan_by = [&](auto by_dots) {
        with_one_of<1, 2, 3, 4, 8, 0>(panels.n_cols(), [&](auto n_cols) {
            // Unrolled integers would be added in another order: registers are too few for it.
            constexpr int fixed_cols = std::is_floating_point_v<Real> ? n_cols() : 0;
            if constexpr (n_cols > 0 && n_cols <= 4)
                detail::scan_narrow<Real, n_cols, by_dots>(tile, panels, range, wanted, nearest);
            else
                detail::scan_panels<Real, fixed_cols, by_dots>(tile, panels, range, wanted,
                                                               nearest);
        });
    };
    if constexpr (knows_dots && !std::is_floating_point_v<Real>)
        if (has_dots) return scan_by(std::true_type{});
    scan_by(std::false_type{});
}

}  // namespace coterie
