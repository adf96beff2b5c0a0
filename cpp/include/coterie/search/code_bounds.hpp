// Bounds of what a query would find exactly, from what a code says and how far it is from its row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "coterie/rows/matrix.hpp"
#include "coterie/search/codes.hpp"
#include "coterie/search/exact.hpp"

namespace coterie::search {

// Rows behind the codes, and how far each is from its code.
template <class In>
struct CodedRows {
    Matrix<const In> rows;
    const std::int64_t* ids;
    const float* errors;  // |x - decoded x|, rounded up
    double longest;       // no row, nor centre of a list, is longer
    double stretch;       // by how much of itself a length may change on the way to the codes
    Measure measure;

    // How much of a length, or of a product, float64 may lose in the exact sums or on the way.
    double rounding() const { return static_cast<double>(rows.n_cols + 8) * 0x1p-52; }
    // What is lost of squares and products that are too small for float32.
    double too_small() const {
        const auto n_cols = static_cast<double>(rows.n_cols);
        return measure == Measure::squares ? std::sqrt(n_cols) * 0x1p-74 : n_cols * 0x1p-148;
    }
};

// How far a value may be from the true one: of itself, and besides. For squares, of its root.
struct Slack {
    double relative, absolute;
};

// Of values in float64.
template <class In>
Slack exact_slack(const CodedRows<In>& coded, double query_norm) {
    const double lost = coded.rounding() + coded.stretch;
    const double far =
        coded.measure == Measure::squares ? query_norm + coded.longest : query_norm * coded.longest;
    double absolute = far * (coded.measure == Measure::squares ? coded.rounding() : lost);
    // A query of zeros is as near as can be to rows of zeros, and far from all others.
    if (coded.measure == Measure::angle && query_norm == 0) absolute = 1;
    return {lost, absolute + coded.too_small()};
}

// For squares they are bounds of the distance: | |q - x| - |q - c| | <= e, where c is what the code
// stands for. For products, |q.x - q.c| <= |q| e.
class CodeBounds {
public:
    // What a code stands for has the value base + that of the code; no error is above `worst`.
    CodeBounds(Measure measure, double query_norm, double worst, Slack slack, double base = 0)
        : squares_(measure == Measure::squares),
          offset_(measure == Measure::angle ? 1 + base : base),
          weight_(squares_ ? 1 : query_norm * (1 + 1e-9)),
          worst_(weight_ * worst),
          slack_(slack) {}

    double lower(double value, double error) const {
        const double length = length_of(value), gap = weight_ * error + slack_.absolute;
        return squares_ ? length * (1 - slack_.relative) - gap * (1 + slack_.relative)
                        : length - gap;
    }
    double upper(double value, double error) const {
        const double length = length_of(value), gap = weight_ * error + slack_.absolute;
        return squares_ ? (length + gap) * (1 + 2 * slack_.relative) : length + gap;
    }
    // No code whose value is above this has a lower bound up to `length`.
    double value_at_most(double length) const {
        if (!squares_) {
            const double limit = length - offset_ + worst_ + slack_.absolute * 2;
            return limit + (std::fabs(length) + std::fabs(offset_) + worst_) * 1e-15;
        }
        const double gap = (worst_ + slack_.absolute) * (1 + slack_.relative);
        const double reach = (length + gap) * (1 + 2 * slack_.relative);
        return reach * reach * (1 + 1e-9);
    }

private:
    double length_of(double value) const {
        return squares_ ? std::sqrt(std::max(value, 0.0)) : value + offset_;
    }

    bool squares_;
    double offset_, weight_, worst_;
    Slack slack_;
};

}  // namespace coterie::search
