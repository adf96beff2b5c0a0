// Cluster sums as integers: exact to add in any order, and exact to take back.
//
// Every value is rounded once to a grid of its own column (a power of two, some 2^-42 of the
// column's range and finer for fewer rows) and summed in 64-bit integers. So the sums do not depend
// on threads, blocks or ISA, and a row that changes cluster is moved by one subtraction and one
// addition, with the same bits as summing afresh.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

struct Grid {
    const double* step_inverse;  // per column: a power of two
    const double* origin;        // per column: where the grid counts from, in steps
    int limbs;                   // > 1 for columns of extreme range; each adds `limb_bits` below
    double weight_step_inverse;  // weights are rounded to a grid as well
};

inline constexpr int limb_bits = 32;  // so that 2^31 rows cannot overflow a lower limb

// Adding 1.5 * 2^52 leaves a double's integer part in its low bits (|v| < 2^51).
inline constexpr double to_int_magic = 6755399441055744.0;
inline constexpr std::int64_t to_int_bits = std::bit_cast<std::int64_t>(to_int_magic);

inline std::int64_t as_int(double value) {
    return std::bit_cast<std::int64_t>(value + to_int_magic) - to_int_bits;
}

// The sums of a pass: values [limbs][n_centers][n_cols], weights [limbs][n_centers].
struct SumsOut {
    Grid grid;
    std::int64_t* values;
    std::int64_t* weights;
};

// One thread's share of them; worker 0 writes to the sums themselves.
class ClusterSums {
public:
    ClusterSums(int worker, const SumsOut& out, std::int64_t n_centers, std::int64_t n_cols)
        : grid_(out.grid),
          n_centers_(n_centers),
          n_cols_(n_cols),
          own_values_(worker > 0 ? grid_.limbs * n_centers * n_cols : 0),
          own_weights_(worker > 0 ? grid_.limbs * n_centers : 0),
          values_(worker > 0 ? own_values_.data() : out.values),
          weights_(worker > 0 ? own_weights_.data() : out.weights) {}
    ClusterSums(const ClusterSums&) = delete;

    // Add the row `sign` times (1 or -1) to cluster `label`.
    template <class In>
    void add(const In* x, std::int32_t label, std::int64_t sign) {
        weights_[label] += sign * as_int(grid_.weight_step_inverse);
        if (grid_.limbs > 1) return add_limbs(x, 1.0, label, sign);
        with_one_of<1, 2, 3, 0>(n_cols_, [&](auto n_cols) __attribute__((always_inline)) {
            add_values<n_cols>(x, label, sign);
        });
    }

    template <class In>
    void add(const In* x, double weight, std::int32_t label, std::int64_t sign) {
        add_weight(weight, label, sign);
        if (grid_.limbs > 1) return add_limbs(x, weight, label, sign);
        const std::int64_t d = n_cols_;
        std::int64_t* __restrict sum = values_ + label * d;
        weigh(x, weight);
        const double* weighed = buffer_.data();
        for (std::int64_t t = 0; t < d; ++t) sum[t] += sign * as_int(weighed[t]);
    }

    // Add a helper's share to the sums.
    void pour_into(const SumsOut& out) const {
        for (std::size_t i = 0; i < own_values_.size(); ++i) out.values[i] += own_values_[i];
        for (std::size_t i = 0; i < own_weights_.size(); ++i) out.weights[i] += own_weights_[i];
    }

    // One sparse row: only its stored values; the grid's origin must be zero.
    template <class In, class Index>
    void add_sparse(const In* x, const Index* columns, Index n, double weight, std::int32_t label,
                    std::int64_t sign) {
        add_weight(weight, label, sign);
        for (Index i = 0; i < n; ++i)
            add_value(rounded(static_cast<double>(x[i]) * grid_.step_inverse[columns[i]]) * weight,
                      label, columns[i], sign);
    }

private:
    template <int fixed_cols, class In>
    void add_values(const In* x, std::int32_t label, std::int64_t sign) {
        // Local: the sums could alias the member.
        const std::int64_t d = fixed_cols ? fixed_cols : n_cols_;
        std::int64_t* __restrict sum = values_ + label * d;
        const double* inverse = grid_.step_inverse;
        const double* origin = grid_.origin;
        // x * inverse is exact, so contracting it changes nothing; subtracting the origin before
        // the magic number is added keeps offsets of any size out of the integer part.
        if (sign > 0) {
            for (std::int64_t t = 0; t < d; ++t) sum[t] += as_int(x[t] * inverse[t] - origin[t]);
        } else {
            for (std::int64_t t = 0; t < d; ++t) sum[t] -= as_int(x[t] * inverse[t] - origin[t]);
        }
    }

    // Rounded products in memory, so that no ISA contracts them with the addition that follows.
    template <class In>
    __attribute__((noinline)) void weigh(const In* x, double weight) {
        buffer_.resize(n_cols_);
        for (std::int64_t t = 0; t < n_cols_; ++t)
            buffer_[t] = (x[t] * grid_.step_inverse[t] - grid_.origin[t]) * weight;
    }

    template <class In>
    void add_limbs(const In* x, double weight, std::int32_t label, std::int64_t sign) {
        weigh(x, weight);
        for (std::int64_t t = 0; t < n_cols_; ++t) add_value(buffer_[t], label, t, sign);
    }

    void add_value(double value, std::int32_t label, std::int64_t col, std::int64_t sign) {
        add_to(values_ + label * n_cols_ + col, n_centers_ * n_cols_, value, sign);
    }
    void add_weight(double weight, std::int32_t label, std::int64_t sign) {
        add_to(weights_ + label, n_centers_, weight * grid_.weight_step_inverse, sign);
    }

    // Cut a value into whole steps and, limb by limb, what is left of it.
    void add_to(std::int64_t* sum, std::int64_t stride, double value, std::int64_t sign) const {
        for (int limb = 0; limb < grid_.limbs; ++limb, sum += stride) {
            const double whole = std::nearbyint(value);
            *sum += sign * static_cast<std::int64_t>(whole);
            value = (value - whole) * static_cast<double>(std::int64_t{1} << limb_bits);
        }
    }

    Grid grid_;
    std::int64_t n_centers_, n_cols_;
    std::vector<std::int64_t> own_values_, own_weights_;
    std::int64_t *values_, *weights_;
    std::vector<double> buffer_;
};

}  // namespace coterie
