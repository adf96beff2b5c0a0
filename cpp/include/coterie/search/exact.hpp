// What a query is held to: sums over the columns in float64, in their order, on the values as
// given.
//
// Products are rounded before they are added, so each instruction set gives the same bits, and
// exact ties (integer data) stay ties.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie::search {

// How near a row is; smaller is nearer in all of them.
enum class Measure {
    squares,  // sum (x - q)^2
    product,  // -q.x
    angle     // 1 - q.x / (|q| |x|); 0 where both are zero, 1 where one is
};

namespace detail {

// A few rows at once: their sums do not wait for each other.
template <Measure measure, int count, class In>
void exact_values(const double* query, double norm, const In* const* rows, std::int64_t n_cols,
                  double* values) {
    double sum[count] = {}, sq_norm[count] = {};
    for (std::int64_t t = 0; t < n_cols; ++t) {
        const double q = query[t];
#pragma GCC unroll 4
        for (int r = 0; r < count; ++r) {
            const double x = static_cast<double>(rows[r][t]);
            if constexpr (measure == Measure::squares)
                sum[r] += rounded((x - q) * (x - q));
            else
                sum[r] += rounded(q * x);
            if constexpr (measure == Measure::angle) sq_norm[r] += rounded(x * x);
        }
    }
    for (int r = 0; r < count; ++r) {
        if constexpr (measure == Measure::squares) values[r] = sum[r];
        if constexpr (measure == Measure::product) values[r] = 0 - sum[r];  // never -0
        if constexpr (measure == Measure::angle) {
            const double lengths = rounded(norm * std::sqrt(sq_norm[r]));
            values[r] = lengths > 0                    ? 1 - rounded(sum[r] / lengths)
                        : norm == 0 && sq_norm[r] == 0 ? 0
                                                       : 1;
        }
    }
}

}  // namespace detail

// One query, as doubles.
class ExactQuery {
public:
    template <class In>
    ExactQuery(Measure measure, const In* query, std::int64_t n_cols)
        : measure_(measure), query_(query, query + n_cols) {
        double sq_norm = 0;
        for (const double q : query_) sq_norm += rounded(q * q);
        norm_ = std::sqrt(sq_norm);
    }

    // values[i] of row idx[i]; rows lie side by side.
    template <class In>
    void values(Matrix<const In> rows, const std::int64_t* idx, std::int64_t count,
                double* values) const {
        switch (measure_) {
            case Measure::squares:
                return values_of<Measure::squares>(rows, idx, count, values);
            case Measure::product:
                return values_of<Measure::product>(rows, idx, count, values);
            case Measure::angle:
                return values_of<Measure::angle>(rows, idx, count, values);
        }
    }

private:
    template <Measure measure, class In>
    void values_of(Matrix<const In> rows, const std::int64_t* idx, std::int64_t count,
                   double* values) const {
        const auto n_cols = static_cast<std::int64_t>(query_.size());
        std::int64_t i = 0;
        for (; i + 4 <= count; i += 4) {
            const In* four[] = {rows.row(idx[i]), rows.row(idx[i + 1]), rows.row(idx[i + 2]),
                                rows.row(idx[i + 3])};
            detail::exact_values<measure, 4>(query_.data(), norm_, four, n_cols, values + i);
        }
        for (; i < count; ++i) {
            const In* one[] = {rows.row(idx[i])};
            detail::exact_values<measure, 1>(query_.data(), norm_, one, n_cols, values + i);
        }
    }

    Measure measure_;
    std::vector<double> query_;
    double norm_;
};

}  // namespace coterie::search
