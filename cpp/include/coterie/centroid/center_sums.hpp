// The second half of a mini-batch step: the rows of each cluster, and their sums about its centre.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/simd/simd.hpp"

namespace coterie {

// Sums of one cluster's rows about its centre: w (x - c) and w (x - c)^2, column by column.
// Products are rounded before they are added, so that every ISA gives the same bits.
class CenterSums {
public:
    explicit CenterSums(std::int64_t n_cols) : sum_(n_cols), sq_(n_cols) {}

    void clear() {
        std::fill(sum_.begin(), sum_.end(), 0.0);
        std::fill(sq_.begin(), sq_.end(), 0.0);
    }

    template <class In>
    void add(const In* const* rows, const double* weights, int count, const double* center) {
        const auto d = static_cast<std::int64_t>(sum_.size());
        std::int64_t t = 0;
        for (; t + 4 * lanes <= d; t += 4 * lanes) add_columns<4>(rows, weights, count, center, t);
        for (; t + lanes <= d; t += lanes) add_columns<1>(rows, weights, count, center, t);
        for (; t < d; ++t)
            for (int r = 0; r < count; ++r) {
                const double diff = static_cast<double>(rows[r][t]) - center[t];
                const double weighed = rounded(weights[r] * diff);
                sum_[t] += weighed;
                sq_[t] += rounded(weighed * diff);
            }
    }

    double sq_sum() const {
        double total = 0;
        for (const double sq : sq_) total += sq;
        return total;
    }

    // Move the centre by rate * sum; the squared length of the move.
    double move(double* center, double rate) const {
        double sq_move = 0;
        for (std::size_t t = 0; t < sum_.size(); ++t) {
            const double by = rounded(rate * sum_[t]);
            center[t] += by;
            sq_move += rounded(by * by);
        }
        return sq_move;
    }

private:
    static constexpr int lanes = Simd<double>::lanes;

    // Columns [t, t + n * lanes), with the sums in registers.
    template <int n, class In>
    void add_columns(const In* const* rows, const double* weights, int count, const double* center,
                     std::int64_t t) {
        Vec<double> c[n], sum[n], sq[n];
#pragma GCC unroll 4
        for (int i = 0; i < n; ++i) {
            c[i] = load(center + t + i * lanes);
            sum[i] = load(sum_.data() + t + i * lanes);
            sq[i] = load(sq_.data() + t + i * lanes);
        }
        for (int r = 0; r < count; ++r) {
            const Vec<double> weight = broadcast(weights[r]);
#pragma GCC unroll 4
            for (int i = 0; i < n; ++i) {
                const Vec<double> diff = load_as_double(rows[r] + t + i * lanes) - c[i];
                const Vec<double> weighed = rounded(weight * diff);
                sum[i] += weighed;
                sq[i] += rounded(weighed * diff);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < n; ++i) {
            store(sum_.data() + t + i * lanes, sum[i]);
            store(sq_.data() + t + i * lanes, sq[i]);
        }
    }

    std::vector<double> sum_, sq_;
};

// The positions of a batch in the order of their labels; cluster j has [starts[j], starts[j + 1]).
struct Members {
    std::vector<std::int64_t> starts, positions;

    Members(std::int64_t n_centers, std::int64_t batch_size)
        : starts(n_centers + 1), positions(batch_size), next_(n_centers) {}

    void sort(const std::int32_t* labels) {
        std::fill(starts.begin(), starts.end(), 0);
        const auto n = static_cast<std::int64_t>(positions.size());
        for (std::int64_t i = 0; i < n; ++i) ++starts[labels[i] + 1];
        for (std::size_t j = 0; j < next_.size(); ++j) starts[j + 1] += starts[j];
        std::copy(starts.begin(), starts.end() - 1, next_.begin());
        for (std::int64_t i = 0; i < n; ++i) positions[next_[labels[i]]++] = i;
    }

private:
    std::vector<std::int64_t> next_;
};

}  // namespace coterie
