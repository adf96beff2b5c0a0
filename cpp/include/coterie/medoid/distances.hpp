// Distances of candidates to rows: read from a matrix, or measured whenever they are asked for.
//
// Both kinds offer the same. `scan` hands out distances as *keys*, which are cheap to compare with
// a `limit_of` a length; only those below it need to become lengths. A key of a matrix is the
// length itself, one of rows is the reduced distance, without its root. Lengths are rounded to
// Real, so both kinds give the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Rows that are looked at together: whole strands of `strand_sums` and, of the limits they are
// compared with, little enough to stay near.
inline constexpr std::int64_t medoid_piece = 1024;

template <class Real>
class GivenDistances {
public:
    using Length = Real;
    using Key = Real;

    GivenDistances(const Real* data, std::int64_t n_candidates, std::int64_t n_rows)
        : data_(data), n_candidates_(n_candidates), n_rows_(n_rows) {}

    std::int64_t n_candidates() const { return n_candidates_; }
    std::int64_t n_rows() const { return n_rows_; }
    Key limit_of(Real length) const { return length; }
    Real length_of(Key key) const { return key; }

    // The lengths of some keys.
    const Real* lengths_of(const Key* keys, std::int64_t, std::vector<Real>&) const { return keys; }

    // visit(place, first_row, keys, count) for candidates[place] and all rows, in the order of
    // rows.
    template <class Visit>
    void scan(const std::int64_t* candidates, std::int64_t count, const Visit& visit) const {
        for (std::int64_t first = 0; first < n_rows_; first += medoid_piece)
            for (std::int64_t place = 0; place < count; ++place)
                visit(place, first, data_ + candidates[place] * n_rows_ + first,
                      std::min(medoid_piece, n_rows_ - first));
    }

    // visit(place, lengths) for candidates[place] and rows[0..n_some).
    template <class Visit>
    void to_some(const std::int64_t* rows, std::int64_t n_some, const std::int64_t* candidates,
                 std::int64_t count, const Visit& visit) const {
        std::vector<Real> lengths(n_some);
        for (std::int64_t place = 0; place < count; ++place) {
            const Real* from = data_ + candidates[place] * n_rows_;
            for (std::int64_t i = 0; i < n_some; ++i) lengths[i] = from[rows[i]];
            visit(place, lengths.data());
        }
    }

private:
    const Real* data_;
    std::int64_t n_candidates_, n_rows_;
};

template <class Real>
class MeasuredDistances {
public:
    using Length = Real;
    using Key = double;

    // The rows are copied, packed for the lanes; the candidates are read where they are.
    MeasuredDistances(const Metric& metric, Matrix<const Real> candidates, Matrix<const Real> rows)
        : metric_(metric),
          candidates_(candidates),
          n_rows_(rows.n_rows),
          n_cols_(rows.n_cols),
          tile_rows_(tile_rows_for(rows.n_cols)),
          packed_(rows.n_rows * rows.n_cols + packed_slack) {
        for (std::int64_t first = 0; first < n_rows_; first += tile_rows_)
            pack(rows, first, std::min(tile_rows_, n_rows_ - first));
    }

    std::int64_t n_candidates() const { return candidates_.n_rows; }
    std::int64_t n_rows() const { return n_rows_; }
    Key limit_of(Real length) const { return metric_.reduced_at_most(length); }
    Real length_of(Key key) const { return static_cast<Real>(metric_.length_of(key)); }

    const Real* lengths_of(const Key* keys, std::int64_t count, std::vector<Real>& buffer) const {
        buffer.resize(count);
        if (metric_.length == Metric::Length::root)  // by far the most asked for: in lanes
            for (std::int64_t i = 0; i < count; ++i)
                buffer[i] = static_cast<Real>(std::sqrt(keys[i]) * metric_.unit);
        else
            for (std::int64_t i = 0; i < count; ++i) buffer[i] = length_of(keys[i]);
        return buffer.data();
    }

    template <class Visit>
    void scan(const std::int64_t* candidates, std::int64_t count, const Visit& visit) const {
        const std::vector<double> points = read(candidates, count);
        const std::int64_t stride = tile_rows_ + packed_slack;
        std::vector<double> reduced(query_panel * stride);
        with_sum(metric_, [&](const auto& sum) {
            for (std::int64_t first = 0; first < n_rows_; first += tile_rows_) {
                const Packed<Real> tile = tile_at(first);
                for (std::int64_t place = 0; place < count;) {
                    const double* const from = points.data() + place * n_cols_;
                    const std::int64_t n_reduced =
                        reduce(sum, from, count - place, tile, reduced.data(), stride);
                    for (std::int64_t at = 0; at < n_reduced; ++at, ++place)
                        visit(place, first, static_cast<const double*>(&reduced[at * stride]),
                              tile.count);
                }
            }
        });
    }

    template <class Visit>
    void to_some(const std::int64_t* rows, std::int64_t n_some, const std::int64_t* candidates,
                 std::int64_t count, const Visit& visit) const {
        const std::vector<double> points = read(candidates, count);
        AlignedVector<Real> gathered(n_some * n_cols_ + packed_slack);
        for (std::int64_t i = 0; i < n_some; ++i) {
            const std::int64_t first = rows[i] / tile_rows_ * tile_rows_;
            const Packed<Real> tile = tile_at(first);
            const Real* from = tile.data + rows[i] - first;
            for (std::int64_t t = 0; t < n_cols_; ++t)
                gathered[t * n_some + i] = from[t * tile.stride];
        }
        std::vector<double> reduced(n_some + packed_slack);
        std::vector<Real> lengths;
        with_sum(metric_, [&](const auto& sum) {
            for (std::int64_t place = 0; place < count; ++place) {
                reduced_to(sum, points.data() + place * n_cols_,
                           Packed<Real>{gathered.data(), n_some, n_some}, n_cols_, reduced.data());
                visit(place, lengths_of(reduced.data(), n_some, lengths));
            }
        });
    }

private:
    // Several candidates at once where the sum is worth compiling for it; how many these were.
    std::int64_t reduce(const auto& sum, const double* points, std::int64_t n_left,
                        Packed<Real> tile, double* reduced, std::int64_t stride) const {
        if constexpr (std::is_same_v<std::decay_t<decltype(sum)>, SumOfSquares>)
            if (n_left >= query_panel) {
                reduced_to_panel(sum, points, tile, n_cols_, reduced, stride);
                return query_panel;
            }
        reduced_to(sum, points, tile, n_cols_, reduced);
        return 1;
    }

    // About 16384 numbers a tile, in whole strands.
    static std::int64_t tile_rows_for(std::int64_t n_cols) {
        const std::int64_t wanted = 16384 / std::max<std::int64_t>(n_cols, 1);
        return std::clamp<std::int64_t>(wanted, 32, 256) / 32 * 32;
    }

    void pack(Matrix<const Real> rows, std::int64_t first, std::int64_t count) {
        Real* to = packed_.data() + first * n_cols_;
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t t = 0; t < n_cols_; ++t) to[t * count + i] = rows.at(first + i, t);
    }

    Packed<Real> tile_at(std::int64_t first) const {
        const std::int64_t count = std::min(tile_rows_, n_rows_ - first);
        return {packed_.data() + first * n_cols_, count, count};
    }

    std::vector<double> read(const std::int64_t* candidates, std::int64_t count) const {
        std::vector<double> points(count * n_cols_);
        for (std::int64_t place = 0; place < count; ++place)
            for (std::int64_t t = 0; t < n_cols_; ++t)
                points[place * n_cols_ + t] = candidates_.at(candidates[place], t);
        return points;
    }

    Metric metric_;
    Matrix<const Real> candidates_;
    std::int64_t n_rows_, n_cols_, tile_rows_;
    AlignedVector<Real> packed_;
};

// All lengths, (n_candidates, n_rows) in C order.
template <class Distances>
void fill_matrix(const Distances& distances, typename Distances::Length* out, const Crew& crew) {
    constexpr std::int64_t each = 8;
    const std::int64_t n_candidates = distances.n_candidates(), n_rows = distances.n_rows();
    crew.run((n_candidates + each - 1) / each, [&](std::int64_t chunk, int) {
        std::vector<std::int64_t> ids(std::min(each, n_candidates - chunk * each));
        std::iota(ids.begin(), ids.end(), chunk * each);
        std::vector<typename Distances::Length> lengths;
        distances.scan(
            ids.data(), ids.size(),
            [&](std::int64_t place, std::int64_t first, const auto* keys, std::int64_t count) {
                std::copy_n(distances.lengths_of(keys, count, lengths), count,
                            out + ids[place] * n_rows + first);
            });
    });
}

}  // namespace coterie
