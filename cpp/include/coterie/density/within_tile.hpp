// Which pairs of rows lie within eps, a tile of pairs at a time: a float32 screen, and the direct
// float64 sum for the few pairs too near to eps.
//
// Both sides are seen from the middle of the query rows, in units of about eps, so the screen keeps
// its digits however far from zero the data lies. Queries sit in lanes, a few candidates go by at
// once; an accumulator ends as |y|^2 - 2 x.y, plus what makes it comparable with -|x|^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/neighbors/row_blocks.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// sum (x - y)^2 in float64, columns in order, products rounded before they are added.
template <class In>
inline double in_order_sq_dist(const In* x, const In* y, std::int64_t n_cols) {
    double sum = 0;
    for (std::int64_t t = 0; t < n_cols; ++t) {
        const double diff = static_cast<double>(x[t]) - static_cast<double>(y[t]);
        sum += rounded(diff * diff);
    }
    return sum;
}

template <class In>
class WithinTile {
public:
    static constexpr int lanes = Simd<float>::lanes;
    static constexpr int strip_rows = 2 * lanes;
    static constexpr int max_queries = 64;
    static constexpr int max_candidates = 64;
    using Mask = IntVec<float>;

    WithinTile(std::int64_t n_cols, double eps)
        : n_cols_(n_cols),
          eps_(eps),
          sq_eps_(eps * eps),
          scale_(std::ldexp(1.0, -std::ilogb(eps))),
          screens_(eps > 1e-140 && eps < 1e140),
          middle_(n_cols),
          centred_(n_cols),
          tile_(max_queries * n_cols),
          candidates_(max_candidates * n_cols) {}

    // Look from these rows from now on, at most max_queries.
    void set_queries(const std::vector<const In*>& queries) {
        queries_ = queries;
        box_ = Box(n_cols_);
        for (const In* x : queries) box_.add(std::span(x, n_cols_));
        for (std::int64_t t = 0; t < n_cols_; ++t) middle_[t] = box_.low[t] / 2 + box_.high[t] / 2;
        double sq_norms[max_queries];
        double max_sq_norm = 0;
        for (std::size_t i = 0; i < queries.size(); ++i) {
            sq_norms[i] = centre(queries[i], 1, centred_.data());
            max_sq_norm = std::max(max_sq_norm, sq_norms[i]);
            for (std::int64_t t = 0; t < n_cols_; ++t)
                tile_[(i / strip_rows * n_cols_ + t) * strip_rows + i % strip_rows] = centred_[t];
        }
        // Candidates farther from the middle than this are out of everyone's reach.
        const double eps = eps_ * scale_, radius = std::sqrt(max_sq_norm);
        const double reach = (radius + eps) * (1 + 1e-5);
        sq_reach_ = reach * reach;
        // With u the unit roundoff and S = |x| + |y| <= radius + reach: rounding x and y moves the
        // squared distance by 2uS^2, the d products added to |y|^2 - eps^2 err by (d + 1)u(S^2 +
        // eps^2), the roundings of both ends by u(S^2 + eps^2). The rest is slack.
        const double s = radius + reach;
        margin_ = 2 * static_cast<double>(n_cols_ + 6) * 0x1p-24 * (s * s + eps * eps);
        can_screen_ = screens_ && margin_ < 1e30;
        if (!can_screen_) std::fill(tile_.begin(), tile_.end(), 0.0f);  // all pairs are unsure
        for (int i = 0; i < max_queries; ++i) {
            const bool used = i < static_cast<int>(queries.size());
            surely_[i] = !used         ? -inf
                         : can_screen_ ? static_cast<float>(-sq_norms[i] - 2 * margin_)
                                       : -1;
            perhaps_[i] = !used ? -inf : can_screen_ ? static_cast<float>(-sq_norms[i]) : 1;
        }
    }

    const Box& box() const { return box_; }
    int n_queries() const { return static_cast<int>(queries_.size()); }
    int n_strips() const { return (n_queries() + strip_rows - 1) / strip_rows; }
    double sq_eps() const { return sq_eps_; }

    // Look at these candidates from now on. add_candidate says whether one is in reach at all.
    void clear_candidates() { n_candidates_ = 0; }
    bool full() const { return n_candidates_ == max_candidates; }
    bool add_candidate(const In* y, std::uint32_t id) {
        float* to = candidates_.data() + n_candidates_ * n_cols_;
        const double sq_norm = centre(y, -2, to);
        if (screens_ && !(sq_norm <= sq_reach_)) return false;
        if (!can_screen_) std::fill_n(to, n_cols_, 0.0f);
        const double eps = eps_ * scale_;
        start_[n_candidates_] = can_screen_ ? static_cast<float>(sq_norm - eps * eps - margin_) : 0;
        candidate_[n_candidates_] = y;
        id_[n_candidates_++] = id;
        return true;
    }
    int n_candidates() const { return n_candidates_; }
    std::uint32_t id(int candidate) const { return id_[candidate]; }

    double sq_dist(int query, const In* y) const {
        return in_order_sq_dist(queries_[query], y, n_cols_);
    }

    bool is_within(int query, const In* y) const {
        if (screens_) {
            // By eight sums at once, each off by a factor of 1 +- (d + 3) 2^-53 at most, as is the
            // one in order.
            const double quick = direct_sq_dist(queries_[query], y, n_cols_, 1.0);
            const double slack = sq_eps_ * static_cast<double>(n_cols_ + 8) * 0x1p-51;
            if (std::abs(quick - sq_eps_) > slack) return quick < sq_eps_;
        }
        return sq_dist(query, y) <= sq_eps_;
    }

    // counts[lane] += how many candidates lie within eps of each query of a strip.
    void count(int strip, std::int32_t* counts) const {
        Mask count[2];
        std::memcpy(count, counts, sizeof count);
        for_panels(strip, [&](int first, const Mask(*perhaps)[2], const Mask(*unsure)[2]) {
            Mask doubt = {};
            for (int p = 0; p < max_panel; ++p) {
                count[0] -= perhaps[p][0];
                count[1] -= perhaps[p][1];
                doubt |= unsure[p][0] | unsure[p][1];
            }
            if (!any(doubt)) return;
            for (int p = 0; p < max_panel; ++p)
                for (int i = 0; i < strip_rows; ++i)
                    if (unsure[p][i / lanes][i % lanes] &&
                        !is_within(strip * strip_rows + i, candidate_[first + p]))
                        --count[i / lanes][i % lanes];
        });
        std::memcpy(counts, count, sizeof count);
    }

    // visit(query, candidate) for every pair within eps of a strip.
    template <class Visit>
    void each(int strip, const Visit& visit) const {
        for_panels(strip, [&](int first, const Mask(*perhaps)[2], const Mask(*unsure)[2]) {
            for (int p = 0; p < max_panel; ++p) {
                if (!any(perhaps[p][0] | perhaps[p][1])) continue;
                for (int i = 0; i < strip_rows; ++i) {
                    if (!perhaps[p][i / lanes][i % lanes]) continue;
                    const int query = strip * strip_rows + i;
                    if (!unsure[p][i / lanes][i % lanes] || is_within(query, candidate_[first + p]))
                        visit(query, first + p);
                }
            }
        });
    }

private:
    static constexpr float inf = std::numeric_limits<float>::infinity();

    static bool any(Mask mask) {
        std::int64_t words[vector_bytes / 8], bits = 0;
        std::memcpy(words, &mask, sizeof words);
        for (const std::int64_t word : words) bits |= word;
        return bits != 0;
    }

    // to[] = x from the middle, in units of about eps, times `factor`; returns its squared norm.
    double centre(const In* x, float factor, float* to) const {
        constexpr int width = Simd<double>::lanes;
        typedef float Narrow __attribute__((vector_size(width * sizeof(float))));
        const Vec<double> scale = broadcast(scale_);
        Vec<double> sq_norms = {};
        std::int64_t t = 0;
        for (; t + width <= n_cols_; t += width) {
            const Vec<double> value = (load_as_double(x + t) - load(middle_.data() + t)) * scale;
            sq_norms += value * value;
            const Narrow narrow = __builtin_convertvector(value, Narrow) * factor;
            std::memcpy(to + t, &narrow, sizeof narrow);
        }
        double sq_norm = 0;
        for (int i = 0; i < width; ++i) sq_norm += sq_norms[i];
        for (; t < n_cols_; ++t) {
            const double value = (static_cast<double>(x[t]) - middle_[t]) * scale_;
            sq_norm += value * value;
            to[t] = static_cast<float>(value) * factor;
        }
        return sq_norm;
    }

    // visit(first candidate, perhaps, unsure) for every panel: masks of each candidate's lanes.
    template <class Visit>
    __attribute__((always_inline)) void for_panels(int strip, const Visit& visit) const {
        const float* tile = tile_.data() + strip * strip_rows * n_cols_;
        const Vec<float> high[2] = {load(perhaps_ + strip * strip_rows),
                                    load(perhaps_ + strip * strip_rows + lanes)};
        const Vec<float> low[2] = {load(surely_ + strip * strip_rows),
                                   load(surely_ + strip * strip_rows + lanes)};
        for (int first = 0; first < n_candidates_; first += max_panel) {
            // Past the last candidate its neighbours stand in, but start beyond everyone's reach.
            const float* candidate[max_panel];
            Vec<float> acc[max_panel][2];
#pragma GCC unroll 12
            for (int p = 0; p < max_panel; ++p) {
                const bool used = first + p < n_candidates_;
                candidate[p] = candidates_.data() + (used ? first + p : first) * n_cols_;
                acc[p][0] = acc[p][1] = broadcast(used ? start_[first + p] : inf);
            }
            const float* x = tile;
            for (std::int64_t t = 0; t < n_cols_; ++t, x += strip_rows) {
                const Vec<float> x0 = load(x), x1 = load(x + lanes);
#pragma GCC unroll 12
                for (int p = 0; p < max_panel; ++p) {
                    const Vec<float> y = broadcast(candidate[p][t]);
                    acc[p][0] += y * x0;
                    acc[p][1] += y * x1;
                }
            }
            Mask perhaps[max_panel][2], unsure[max_panel][2];
#pragma GCC unroll 12
            for (int p = 0; p < max_panel; ++p)
                for (int half = 0; half < 2; ++half) {
                    perhaps[p][half] = acc[p][half] <= high[half];
                    unsure[p][half] = perhaps[p][half] & (acc[p][half] > low[half]);
                }
            visit(first, perhaps, unsure);
        }
    }

    std::int64_t n_cols_;
    double eps_, sq_eps_, scale_;
    bool screens_, can_screen_ = false;
    double sq_reach_ = 0, margin_ = 0;
    Box box_{0};
    std::vector<const In*> queries_;
    int n_candidates_ = 0;
    const In* candidate_[max_candidates];
    std::uint32_t id_[max_candidates];
    std::vector<double> middle_;
    std::vector<float> centred_;
    AlignedVector<float> tile_;        // per strip: [n_cols][strip_rows]
    AlignedVector<float> candidates_;  // [max_candidates][n_cols], times -2
    float start_[max_candidates];      // |y|^2 - eps^2 - margin
    alignas(64) float perhaps_[max_queries], surely_[max_queries];
};

}  // namespace coterie
