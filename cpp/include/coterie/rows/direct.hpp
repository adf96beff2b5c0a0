// The direct form sum (x - c)^2 in float64: what every label is held to.
//
// Products are rounded before they are added and columns are summed in order, so each ISA gives
// the same bits, and exact ties (integer data) stay ties, which go to the lower index.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/rows/frame.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// The row's values side by side, copied to `buffer` only when they are not already.
template <class In>
inline const In* contiguous_row(Matrix<const In> rows, std::int64_t i, In* buffer) {
    if (rows.col_stride == 1) return rows.row(i);
    for (std::int64_t t = 0; t < rows.n_cols; ++t) buffer[t] = rows.at(i, t);
    return buffer;
}

// Rows one at a time, with a buffer of its own where they must be copied.
template <class In>
class RowReader {
public:
    explicit RowReader(Matrix<const In> rows)
        : rows_(rows), buffer_(rows.col_stride == 1 ? 0 : rows.n_cols) {}
    const In* read(std::int64_t i) { return contiguous_row(rows_, i, buffer_.data()); }

private:
    Matrix<const In> rows_;
    std::vector<In> buffer_;
};

// In-order load of `lanes` values as doubles.
template <class In>
inline Vec<double> load_as_double(const In* from) {
    if constexpr (std::is_same_v<In, double>) {
        return load(from);
    } else {
        constexpr int lanes = Simd<double>::lanes;
        typedef In Narrow __attribute__((vector_size(lanes * sizeof(In))));
        Narrow v;
        std::memcpy(&v, from, sizeof v);
        return widened<Vec<double>>(v);
    }
}

// Squared distance of a row to one centre times scale^2; both are scaled first, which is exact.
// Eight strands whatever the vector width: columns t, t + 8, ... are summed apart, then together.
template <class In, class Center>
inline double direct_sq_dist(const In* x, const Center* center, std::int64_t n_cols, double scale) {
    constexpr int lanes = Simd<double>::lanes;
    constexpr int n_parts = 8 / lanes;
    const Vec<double> scales = broadcast(scale);
    Vec<double> part[n_parts] = {};
    std::int64_t t = 0;
    for (; t + 8 <= n_cols; t += 8)
        for (int i = 0; i < n_parts; ++i) {
            const Vec<double> diff = load_as_double(x + t + i * lanes) * scales -
                                     load_as_double(center + t + i * lanes) * scales;
            part[i] += rounded(diff * diff);
        }
    double strand[8];
    for (int i = 0; i < n_parts; ++i) store(strand + i * lanes, part[i]);
    for (int i = 0; t < n_cols; ++t, ++i) {
        const double diff =
            static_cast<double>(x[t]) * scale - static_cast<double>(center[t]) * scale;
        strand[i] += rounded(diff * diff);
    }
    return ((strand[0] + strand[4]) + (strand[2] + strand[6])) +
           ((strand[1] + strand[5]) + (strand[3] + strand[7]));
}

// The same bits for rows of a fixed number of columns, at most four: no strand has two.
template <int n_cols, class In>
inline double direct_sq_dist(const In* x, const double* center, double scale) {
    static_assert(n_cols <= 4);
    double strand[4] = {};
    for (int t = 0; t < n_cols; ++t) {
        const double diff = static_cast<double>(x[t]) * scale - center[t] * scale;
        strand[t] = rounded(diff * diff);
    }
    return (strand[0] + strand[2]) + (strand[1] + strand[3]);
}

// All centres, transposed so that centres sit in lanes.
class DirectCenters {
public:
    DirectCenters() = default;
    DirectCenters(const double* centers, std::int64_t n_centers, std::int64_t n_cols, double scale)
        : data_((n_centers + lanes - 1) / lanes * lanes * n_cols),
          n_centers_(n_centers),
          n_cols_(n_cols),
          scale_(scale) {
        for (std::int64_t j = 0; j < n_centers; ++j)
            for (std::int64_t t = 0; t < n_cols; ++t)
                data_[(j / lanes * n_cols + t) * lanes + j % lanes] =
                    centers[j * n_cols + t] * scale;
    }

    // visit(j, sq_dist * scale^2) for every centre, in order.
    template <class In, class Visit>
    void each(const In* x, const Visit& visit) const {
        each_vector(x, 0, [&](std::int64_t first, Vec<double> sq_dists) {
            double of[lanes];
            store(of, sq_dists);
            for (int i = 0; i < lanes && first + i < n_centers_; ++i) visit(first + i, of[i]);
        });
    }

    // The distances to all centres, in original units.
    template <class In>
    void dists(const In* x, In* to) const {
        each_vector(x, 0, [&](std::int64_t first, Vec<double> sq_dists) {
            In of[lanes];
            for (int i = 0; i < lanes; ++i)
                of[i] = static_cast<In>(std::sqrt(sq_dists[i]) / scale_);
            std::copy(of, of + std::min<std::int64_t>(n_centers_ - first, lanes), to + first);
        });
    }

    // Nearest centre (ties: lower index), with the two smallest squared distances times scale^2.
    struct Found {
        std::int32_t label;
        double best, second;
    };
    template <class In>
    Found nearest(const In* x) const {
        Found found{0, std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()};
        each(x, [&](std::int64_t j, double sq_dist) {
            if (sq_dist < found.best) {
                found.second = found.best;
                found.best = sq_dist;
                found.label = static_cast<std::int32_t>(j);
            } else if (sq_dist < found.second) {
                found.second = sq_dist;
            }
        });
        return found;
    }

    // The least squared distance times scale^2 to the centres from `first` on, and perhaps some
    // before.
    template <class In>
    double least(const In* x, std::int64_t first) const {
        constexpr double none = std::numeric_limits<double>::infinity();
        Vec<double> best = broadcast(none);
        each_vector(x, first / lanes, [&](std::int64_t j, Vec<double> sq_dists) {
            for (int i = static_cast<int>(std::min<std::int64_t>(n_centers_ - j, lanes)); i < lanes;
                 ++i)
                sq_dists[i] = none;
            best = vec_min(best, sq_dists);
        });
        double least = none;
        for (int i = 0; i < lanes; ++i) least = std::min(least, best[i]);
        return least;
    }

    bool empty() const { return data_.empty(); }

private:
    static constexpr int lanes = Simd<double>::lanes;

    // visit(first centre, sq_dists * scale^2) for the vectors from `vector` on, in order.
    template <class In, class Visit>
    void each_vector(const In* x, std::int64_t vector, const Visit& visit) const {
        const std::int64_t n_vectors = (n_centers_ + lanes - 1) / lanes;
        for (; vector + 4 <= n_vectors; vector += 4) some_vectors<4>(x, vector, visit);
        if (vector < n_vectors)
            with_up_to<3>(n_vectors - vector, [&](auto n) __attribute__((always_inline)) {
                some_vectors<n>(x, vector, visit);
            });
    }

    // Several at a time: a sum waits for its last addition, those of others need not.
    template <int n, class In, class Visit>
    void some_vectors(const In* x, std::int64_t vector, const Visit& visit) const {
        const double* centers = data_.data() + vector * n_cols_ * lanes;
        const std::int64_t apart = n_cols_ * lanes, d = n_cols_;
        const double scale = scale_;
        Vec<double> sum[n] = {};
        for (std::int64_t t = 0; t < d; ++t) {
            const Vec<double> value = broadcast(static_cast<double>(x[t]) * scale);
#pragma GCC unroll 4
            for (int v = 0; v < n; ++v) {
                const Vec<double> diff = value - load(centers + v * apart + t * lanes);
                sum[v] += rounded(diff * diff);
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < n; ++v) visit((vector + v) * lanes, sum[v]);
    }

    AlignedVector<double> data_;
    std::int64_t n_centers_ = 0, n_cols_ = 0;
    double scale_ = 1;
};

}  // namespace coterie
