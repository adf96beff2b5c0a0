// Rows and queries as 16-bit integers, each with a step of its own, and how far that may be off.
//
// A row x' of the frame is s a + r with whole numbers a, a query q' is s_q b + g. Then
// q'.x' = s s_q (a.b) up to |q'| |r| + |g| |x'|, and both remainders are measured, not assumed.
// Steps are such that |a| and |b| are below 2^15, so a.b, and by Cauchy and Schwarz every part of
// it, fits in 32 bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/rows/frame.hpp"
#include "coterie/search/exact.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie::search {

// The longest a vector of d whole numbers may be before its parts are rounded.
inline double longest_whole(std::int64_t n_cols) {
    return 32766 - std::sqrt(static_cast<double>(n_cols)) / 2;
}

inline std::int64_t n_pairs(std::int64_t n_cols) { return (n_cols + 1) / 2; }

// Two 16-bit columns in one lane.
inline std::int32_t pair_of(std::int32_t low, std::int32_t high) {
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & 0xffffu) |
                                     static_cast<std::uint32_t>(high) << 16);
}

// A tile of rows in lanes. The value of lane i is base[i] + step[i] * factor * (a.b), where the
// query knows the factor.
template <class In>
class CoarseTile {
public:
    static constexpr int width = tile_rows<float>;

    explicit CoarseTile(std::int64_t n_cols)
        : n_cols_(n_cols), tile_(2 * n_pairs(n_cols) * width), pairs_(n_pairs(n_cols) * width) {}

    void take(Matrix<const In> rows, const Frame<In>& frame, std::int64_t first, int count,
              Measure measure) {
        std::int64_t ids[width];
        std::iota(ids, ids + count, first);
        load_tile(rows, frame, ids, count, tile_.data(), base);
        round_to_pairs();
        longest_rest = longest = 0;
        constexpr float unit = std::numeric_limits<float>::epsilon() / 2;
        const float slack = 1 + static_cast<float>(n_cols_ + 16) * unit;  // of sums of squares
        for (int i = 0; i < width; ++i) {
            const float norm = std::sqrt(base[i]);
            // What the frame is too large or too small for is left to the exact sums.
            const bool sound = is_sound(norm) || (norm == 0 && measure != Measure::angle);
            float rest = sound ? std::sqrt(rest_[i]) + norm * 2 * unit : 0;
            float length = sound ? norm : 0;
            if (measure == Measure::angle && sound) {
                step[i] /= norm;
                rest /= norm;
                length = 1;
            }
            if (measure != Measure::squares) base[i] = 0;
            if (!sound) base[i] = -std::numeric_limits<float>::infinity();
            longest = std::max(longest, length * slack);
            longest_rest = std::max(longest_rest, rest * slack);
        }
    }

    const std::int32_t* pairs() const { return pairs_.data(); }

    alignas(64) float base[width] = {};
    alignas(64) float step[width] = {};
    float longest = 0, longest_rest = 0;  // of x', and of what rounding to whole steps leaves of it

private:
    static bool is_sound(float norm) {
        return norm > 1e-15f && norm <= std::numeric_limits<float>::max();
    }

    void round_to_pairs() {
        constexpr int lanes = Simd<float>::lanes;
        const auto most = static_cast<float>(longest_whole(n_cols_));
        for (int i = 0; i < width; ++i) {
            const float norm = std::sqrt(base[i]);
            const bool sound = is_sound(norm);
            inverse_[i] = sound ? most / norm : 0;
            step[i] = sound ? norm / most : 0;
            rest_[i] = 0;
        }
        if (n_cols_ % 2) std::fill_n(tile_.data() + n_cols_ * width, width, 0.0f);
        for (int half = 0; half < width; half += lanes) {
            const Vec<float> inverse = load(inverse_ + half), unit = load(step + half);
            Vec<float> rest = {};
            // Adding 1.5 * 2^23 leaves the nearest whole number in the last bits.
            const Vec<float> magic = broadcast(12582912.0f);
            const auto whole = [&](const float* from) {
                const Vec<float> x = load(from), shifted = x * inverse + magic;
                const Vec<float> off = x - (shifted - magic) * unit;
                rest += off * off;
                return (IntVec<float>)shifted;
            };
            for (std::int64_t p = 0; p < n_pairs(n_cols_); ++p) {
                const float* at = tile_.data() + 2 * p * width + half;
                const IntVec<float> low = whole(at), high = whole(at + width);
                // The upper bits of the magic number go: 0x4b400000 ends in 16 zeros.
                const IntVec<float> pair = (low & 0xffff) | (high << 16);
                std::memcpy(pairs_.data() + p * width + half, &pair, sizeof pair);
            }
            store(rest_ + half, rest);
        }
    }

    std::int64_t n_cols_;
    AlignedVector<float> tile_;
    AlignedVector<std::int32_t> pairs_;
    alignas(64) float inverse_[width] = {};
    alignas(64) float rest_[width] = {};
};

// Queries in panels: of each its whole numbers as pairs, and what turns sums of them into values.
class CoarseQueries {
public:
    template <class In>
    CoarseQueries(Matrix<const In> queries, const Frame<In>& frame, Measure measure)
        : n_queries_(queries.n_rows),
          n_cols_(queries.n_cols),
          pairs_(n_pairs(n_cols_) * n_queries_),
          factor_(n_queries_),
          norm_(n_queries_),
          rest_(n_queries_),
          weight_(measure == Measure::squares ? 2.0f : 1.0f) {
        std::vector<double> query(2 * n_pairs(n_cols_));
        for (std::int64_t q = 0; q < n_queries_; ++q) {
            double sq_norm = 0;
            for (std::int64_t t = 0; t < n_cols_; ++t) {
                query[t] = in_frame(static_cast<double>(queries.at(q, t)), frame, t);
                sq_norm += query[t] * query[t];
            }
            const double norm = std::sqrt(sq_norm), most = longest_whole(n_cols_);
            const double step = norm > 0 ? norm / most : 0;
            pack(q, query, norm > 0 ? most / norm : 0, step);
            factor_[q] = -weight_ * static_cast<float>(step);
            norm_[q] = static_cast<float>(norm) * (1 + 1e-6f);
        }
    }

    std::int64_t n_queries() const { return n_queries_; }
    std::int64_t n_panels() const { return (n_queries_ + max_panel - 1) / max_panel; }
    std::int64_t first(std::int64_t panel) const { return panel * max_panel; }
    int size(std::int64_t panel) const {
        return static_cast<int>(std::min<std::int64_t>(max_panel, n_queries_ - first(panel)));
    }
    // [pair][query of the panel]
    const std::int32_t* panel(std::int64_t panel) const {
        return pairs_.data() + first(panel) * n_pairs(n_cols_);
    }
    float factor(std::int64_t q) const { return factor_[q]; }

    // How far a value of this query and a row of the tile may be from the true one, rounding of
    // the sum of squares, of this arithmetic and of the exact sums included.
    template <class In>
    float error(std::int64_t q, const CoarseTile<In>& tile) const {
        constexpr float unit = std::numeric_limits<float>::epsilon() / 2;
        const float sq_reach = weight_ == 2 ? (norm_[q] + tile.longest) * (norm_[q] + tile.longest)
                                            : 4 * norm_[q] * tile.longest;
        return weight_ * (norm_[q] * tile.longest_rest + rest_[q] * tile.longest) * (1 + 1e-5f) +
               static_cast<float>(n_cols_ + 16) * unit * sq_reach +
               std::numeric_limits<float>::min();
    }

private:
    void pack(std::int64_t q, const std::vector<double>& query, double inverse, double step) {
        const std::int64_t panel = q / max_panel;
        std::int32_t* to = pairs_.data() + first(panel) * n_pairs(n_cols_) + (q - first(panel));
        double rest = 0;
        const auto whole = [&](double value) {
            const double nearest = std::nearbyint(value * inverse);
            rest += (value - nearest * step) * (value - nearest * step);
            return static_cast<std::int32_t>(nearest);
        };
        for (std::int64_t p = 0; p < n_pairs(n_cols_); ++p, to += size(panel)) {
            const std::int32_t low = whole(query[2 * p]), high = whole(query[2 * p + 1]);
            *to = pair_of(low, high);
        }
        rest_[q] = static_cast<float>(std::sqrt(rest)) * (1 + 1e-6f);
    }

    std::int64_t n_queries_, n_cols_;
    AlignedVector<std::int32_t> pairs_;
    std::vector<float> factor_, norm_, rest_;
    float weight_;
};

// Rows to search in, with the id of each; rows lie side by side.
template <class In>
struct FlatRows {
    Matrix<const In> rows;
    const std::int64_t* ids;
    Frame<In> frame;
    Measure measure;
};

namespace detail {

// done(query of the panel, first lane, values): of a tile of rows and a panel of queries, a vector
// of rows at a time.
template <int size, class In, class Done>
[[gnu::always_inline]] inline void meet(const CoarseTile<In>& tile, const std::int32_t* panel,
                                        std::int64_t n_pairs, const float* factors,
                                        const Done& done) {
    constexpr int lanes = Simd<float>::lanes;
    const std::int32_t* rows = tile.pairs();
    Vec<std::int32_t> sum[size][2];
#pragma GCC unroll 12
    for (int p = 0; p < size; ++p) sum[p][0] = sum[p][1] = Vec<std::int32_t>{};
    for (std::int64_t t = 0; t < n_pairs; ++t) {
        const Vec<std::int32_t> x0 = load(rows), x1 = load(rows + lanes);
#pragma GCC unroll 12
        for (int p = 0; p < size; ++p) {
            const Vec<std::int32_t> q = broadcast(panel[p]);
            sum[p][0] = multiply_add(sum[p][0], q, x0);
            sum[p][1] = multiply_add(sum[p][1], q, x1);
        }
        rows += 2 * lanes;
        panel += size;
    }
#pragma GCC unroll 12
    for (int p = 0; p < size; ++p)
        for (int half = 0; half < 2; ++half) {
            const Vec<float> base = load(tile.base + half * lanes);
            const Vec<float> scaled =
                __builtin_convertvector(sum[p][half], Vec<float>) * load(tile.step + half * lanes);
            done(p, half * lanes, base + scaled * broadcast(factors[p]));
        }
}

}  // namespace detail

}  // namespace coterie::search
