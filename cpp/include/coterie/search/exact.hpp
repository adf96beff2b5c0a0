// What a query is held to: sums over the columns in float64, in their order, on the values as
// given.
//
// Products are rounded before they are added, so each instruction set gives the same bits, and
// exact ties (integer data) stay ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
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

// Rows in lanes.
inline constexpr int exact_lanes = Simd<double>::lanes;

// As many rows as there are lanes, at columns [t, t + lanes): column by column.
template <class In>
[[gnu::always_inline]] inline void load_columns(const In* const* rows, std::int64_t t,
                                                Vec<double> (&columns)[exact_lanes]) {
    typedef In Few __attribute__((vector_size(exact_lanes * sizeof(In))));
#pragma GCC unroll 8
    for (int r = 0; r < exact_lanes; ++r) {
        Few few;
        std::memcpy(&few, rows[r] + t, sizeof few);
        columns[r] = widened<Vec<double>>(few);
    }
    transpose(columns);
}

// Exact values of as many rows as there are lanes: each lane adds the columns of its row in order.
template <Measure measure, class In>
void exact_values(const double* query, double norm, const In* const* rows, std::int64_t n_cols,
                  double* values) {
    Vec<double> sum = {}, sq_norm = {};
    const auto add = [&](double query_here, Vec<double> x) {
        const Vec<double> q = broadcast(query_here);
        if constexpr (measure == Measure::squares)
            sum += rounded((x - q) * (x - q));
        else
            sum += rounded(q * x);
        if constexpr (measure == Measure::angle) sq_norm += rounded(x * x);
    };
    std::int64_t t = 0;
    for (; t + exact_lanes <= n_cols; t += exact_lanes) {
        Vec<double> columns[exact_lanes];
        load_columns(rows, t, columns);
#pragma GCC unroll 8
        for (int i = 0; i < exact_lanes; ++i) add(query[t + i], columns[i]);
    }
    for (; t < n_cols; ++t) {
        Vec<double> column;
        for (int r = 0; r < exact_lanes; ++r) column[r] = static_cast<double>(rows[r][t]);
        add(query[t], column);
    }
    for (int r = 0; r < exact_lanes; ++r) {
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
        if (measure != Measure::angle) return;
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
        constexpr int lanes = detail::exact_lanes;
        const auto n_cols = static_cast<std::int64_t>(query_.size());
        for (std::int64_t i = 0; i < count; i += lanes) {
            // Where there are fewer rows than lanes, the last goes into all that are left.
            const std::int64_t here = std::min<std::int64_t>(lanes, count - i);
            const In* at[lanes];
            for (int r = 0; r < lanes; ++r)
                at[r] = rows.row(idx[i + std::min<std::int64_t>(r, here - 1)]);
            double found[lanes];
            detail::exact_values<measure>(query_.data(), norm_, at, n_cols, found);
            std::copy_n(found, here, values + i);
        }
    }

    Measure measure_;
    std::vector<double> query_;
    double norm_ = 0;  // of angles
};

}  // namespace coterie::search
