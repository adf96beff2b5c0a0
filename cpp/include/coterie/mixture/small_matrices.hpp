// What the M-step asks of a stack of symmetric matrices: factors of their inverses, whether they
// exceed a floor, and the scatter of components about moved means.
//
// Stacks are row-major, (k, d, d). The matrices are small and many steps make them anew, so that
// what counts is to do all of them in one call. Time O(k d^3), one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/simd/simd.hpp"

namespace coterie {

namespace detail {

// Upper R with R^T R = a symmetric matrix, whose upper triangle R takes the place of. The least
// pivot, that is the least square on the diagonal of R; NaN or what is not positive where the
// matrix is not positive definite, and then R is of no use.
inline double cholesky_upper(double* __restrict matrix, std::int64_t d) {
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < d; ++k) {
        double* __restrict row = matrix + k * d;
        const double pivot = row[k];
        if (!(pivot > 0)) return pivot;
        least = std::min(least, pivot);
        const double root = std::sqrt(pivot);
        row[k] = root;
        for (std::int64_t j = k + 1; j < d; ++j) row[j] /= root;
        for (std::int64_t i = k + 1; i < d; ++i) {
            double* __restrict below = matrix + i * d;
            const double factor = row[i];
            for (std::int64_t j = i; j < d; ++j) below[j] -= factor * row[j];
        }
    }
    return least;
}

// The inverse of an upper triangular matrix, zeros below its diagonal.
inline void invert_upper(const double* __restrict upper, double* __restrict inverse,
                         std::int64_t d) {
    for (std::int64_t i = d - 1; i >= 0; --i) {
        double* __restrict row = inverse + i * d;
        std::fill(row, row + d, 0.0);
        for (std::int64_t k = i + 1; k < d; ++k) {
            const double* __restrict below = inverse + k * d;
            const double factor = upper[i * d + k];
            for (std::int64_t j = k; j < d; ++j) row[j] -= factor * below[j];
        }
        const double corner = upper[i * d + i];
        for (std::int64_t j = i + 1; j < d; ++j) row[j] /= corner;
        row[i] = 1 / corner;
    }
}

}  // namespace detail

// For each matrix of a stack upper triangular U with U U^T = its inverse, and whether there is one;
// if not, U is NaN. `least`, one for each, is the smallest pivot to trust, of a matrix scaled to a
// unit diagonal: columns in very different units are no sign of trouble.
inline void factor_inverses(const double* matrices, const double* least, std::int64_t k,
                            std::int64_t d, double* factors, bool* found) {
    std::vector<double> scaled(d * d), scales(d);
    for (std::int64_t j = 0; j < k; ++j) {
        const double* matrix = matrices + j * d * d;
        double* factor = factors + j * d * d;
        bool fine = std::all_of(matrix, matrix + d * d, [](double v) { return std::isfinite(v); });
        for (std::int64_t a = 0; a < d; ++a) {
            scales[a] = std::sqrt(std::max(matrix[a * d + a], 0.0));
            fine = fine && scales[a] > 0;
        }
        if (fine) {
            for (std::int64_t a = 0; a < d; ++a)
                for (std::int64_t b = a; b < d; ++b)
                    scaled[a * d + b] = matrix[b * d + a] / scales[a] / scales[b];
            fine = detail::cholesky_upper(scaled.data(), d) >= least[j];
        }
        if (fine) {
            detail::invert_upper(scaled.data(), factor, d);
            for (std::int64_t a = 0; a < d; ++a) {
                double square = 0;  // on the diagonal of U U^T, which bounds what is beside it
                for (std::int64_t b = a; b < d; ++b) {
                    factor[a * d + b] /= scales[a];
                    square += factor[a * d + b] * factor[a * d + b];
                }
                fine = fine && std::isfinite(square);
            }
        }
        if (!fine) std::fill(factor, factor + d * d, std::numeric_limits<double>::quiet_NaN());
        found[j] = fine;
    }
}

// Whether every matrix of a stack certainly exceeds `floor` in every direction. Certainly: by more
// than rounding could, in units of the matrix' own diagonal.
inline bool all_exceed(const double* matrices, const double* floor, std::int64_t k,
                       std::int64_t d) {
    const double rounding = 64.0 * static_cast<double>(d) * std::numeric_limits<double>::epsilon();
    std::vector<double> excess(d * d), scales(d);
    for (std::int64_t j = 0; j < k; ++j) {
        const double* matrix = matrices + j * d * d;
        for (std::int64_t a = 0; a < d; ++a) {
            scales[a] = std::sqrt(matrix[a * d + a]);
            if (!(scales[a] > 0)) return false;
        }
        for (std::int64_t a = 0; a < d; ++a)
            for (std::int64_t b = a; b < d; ++b)
                excess[a * d + b] = (matrix[b * d + a] - floor[b * d + a]) / scales[a] / scales[b];
        if (!(detail::cholesky_upper(excess.data(), d) > rounding)) return false;
    }
    return true;
}

// Each component's scatter sum mass (x - m)(x - m)^T about its mean m, which has `moved` since the
// moments sum mass (x - o) and sum mass (x - o)(x - o)^T about its old place o were taken. Products
// are rounded before they are added: what cancels, as for a component of one row, does so exactly.
inline void scatter_about(const double* counts, const double* first, const double* second,
                          const double* moved, std::int64_t k, std::int64_t d, double* scatter) {
    for (std::int64_t j = 0; j < k; ++j) {
        const double *s = first + j * d, *v = moved + j * d;
        const double* about_old = second + j * d * d;
        double* about_new = scatter + j * d * d;
        for (std::int64_t a = 0; a < d; ++a)
            for (std::int64_t b = a; b < d; ++b) {
                const double back = about_old[a * d + b] - rounded(v[a] * s[b]);
                const double outer = rounded(v[a] * v[b]);
                const double about = (back - rounded(s[a] * v[b])) + rounded(counts[j] * outer);
                about_new[a * d + b] = about_new[b * d + a] = about;
            }
    }
}

}  // namespace coterie
