// Newcomers among the seeds: which rows are nearer to one than to any seed before.
//
// Distances are the direct form in float64. A row is looked at only where neither the triangle
// inequality nor a rough distance (in the rows' own precision, or of a sketch) proves that the
// newcomer is no nearer; the proofs allow for rounding, so skipping never changes a bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/centroid/sketch.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Seeds as row-major doubles in original units.
struct Seeds {
    const double* values;
    std::int64_t count;
};

namespace detail {

// From each half of a pair: the even (odd = 0) or odd (odd = 1) units of `a`, then those of `b`,
// where a unit is `unit` lanes and the halves lie within `piece` lanes.
template <class Real, int piece, int unit, int odd>
inline Vec<Real> pick(Vec<Real> a, Vec<Real> b) {
    return shuffled(a, b, [](int i) {
        constexpr int lanes = Simd<Real>::lanes, half = piece / unit / 2;
        const int in_piece = i % piece, to = in_piece / unit;
        return (to < half ? 0 : lanes) + i / piece * piece + (to % half * 2 + odd) * unit +
               in_piece % unit;
    });
}

// Lane i of the result is the sum of all lanes of v[i]: neighbours within 16 bytes are added
// first, then the 16-byte pieces.
template <class Real, int n = Simd<Real>::lanes, int width = 1>
inline Vec<Real> lane_sums(Vec<Real>* v) {
    constexpr int lanes = Simd<Real>::lanes, in_16_bytes = 16 / sizeof(Real);
    constexpr int piece = width < in_16_bytes ? in_16_bytes : lanes;
    constexpr int unit = width < in_16_bytes ? 1 : in_16_bytes;
    if constexpr (n > 1) {
#pragma GCC unroll 8
        for (int i = 0; i < n / 2; ++i)
            v[i] = pick<Real, piece, unit, 0>(v[2 * i], v[2 * i + 1]) +
                   pick<Real, piece, unit, 1>(v[2 * i], v[2 * i + 1]);
        return lane_sums<Real, n / 2, 2 * width>(v);
    } else {
        return v[0];
    }
}

// Squared distances of `lanes` rows to one seed, in the rows' own precision; the seed is scaled,
// the rows get scaled here. Each is off by a factor of at most 1 +- (d + 4) units of roundoff,
// since the difference of two rows is rounded once.
template <class Real>
inline Vec<Real> quick_sq_dists(const Real* const* row, std::int64_t col_stride, const Real* seed,
                                std::int64_t n_cols, Real scale) {
    constexpr int lanes = Simd<Real>::lanes;
    const Vec<Real> scales = broadcast(scale);
    Vec<Real> sums[lanes] = {};
    std::int64_t t = 0;
    if (col_stride == 1)
        for (; t + lanes <= n_cols; t += lanes) {
            const Vec<Real> c = load(seed + t);
#pragma GCC unroll 16
            for (int r = 0; r < lanes; ++r) {
                const Vec<Real> diff = load(row[r] + t) * scales - c;
                sums[r] += diff * diff;
            }
        }
    Vec<Real> rest = {};
    for (; t < n_cols; ++t) {
        Vec<Real> x = {};
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) x[r] = row[r][t * col_stride];
        const Vec<Real> diff = x * scales - broadcast(seed[t]);
        rest += diff * diff;
    }
    return lane_sums<Real>(sums) + rest;
}

// A row within this squared distance of seed j is no nearer to any newcomer: with D the distance
// from seed j to the newcomers, a row within D / 2 of j is at least D / 2 from each of them. What
// is taken off pays for the rounding of the three squared distances involved.
inline std::vector<double> safe_sq_radii(Seeds seeds, Seeds newcomers, std::int64_t n_cols,
                                         double scale, const Crew& crew) {
    std::vector<double> radii(seeds.count);
    const DirectCenters direct(newcomers.values, newcomers.count, n_cols, scale);
    const double quarter = 0.25 * (1 - 1e-15 * static_cast<double>(n_cols + 4));
    const Chunks chunks(seeds.count, newcomers.count * n_cols * 16);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t j = chunks.begin(chunk); j < chunks.end(chunk); ++j)
            radii[j] = quarter * direct.nearest(seeds.values + j * n_cols).best - 1e-300;
    });
    return radii;
}

}  // namespace detail

// Send for the beginning of a row, which need not begin with a line of the cache; once begun, a
// long row is read in order.
template <class In>
inline void prefetch(const In* row, std::int64_t n_cols) {
    const auto n_bytes = std::min<std::int64_t>(256, n_cols * sizeof(In));
    for (std::int64_t at = 0; at < n_bytes; at += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
    __builtin_prefetch(reinterpret_cast<const char*>(row) + n_bytes - 1);
}

// Pairs of a row and a newcomer whose distance is wanted. The rows lie scattered, where the
// processor does not foresee the next one: each is sent for when listed, and read some pairs later.
template <class In>
class Shortlist {
public:
    Shortlist(Matrix<const In> rows, double scale, const double* newcomers)
        : rows_(rows), scale_(scale), newcomers_(newcomers), buffer_(rows.n_cols) {}

    // visit(row, newcomer, sq_dist), in the order listed, wherever sq_dist < closest[row].
    template <class Visit>
    void add(std::int64_t row, std::int64_t newcomer, const double* closest, const Visit& visit) {
        prefetch(rows_.row(row), rows_.n_cols);
        row_[count_] = row;
        newcomer_[count_] = newcomer;
        if (++count_ == capacity) work_off(closest, visit);
    }

    template <class Visit>
    void work_off(const double* closest, const Visit& visit) {
        const std::int64_t d = rows_.n_cols;
        for (int at = 0; at < count_; ++at) {
            const double sq_dist = direct_sq_dist(contiguous_row(rows_, row_[at], buffer_.data()),
                                                  newcomers_ + newcomer_[at] * d, d, scale_);
            if (sq_dist < closest[row_[at]]) visit(row_[at], newcomer_[at], sq_dist);
        }
        count_ = 0;
    }

private:
    static constexpr int capacity = 64;

    Matrix<const In> rows_;
    double scale_;
    const double* newcomers_;
    std::vector<In> buffer_;
    std::int64_t row_[capacity], newcomer_[capacity];
    int count_ = 0;
};

// Newcomers measured against the rows: finds the rows that are nearer to one than to any seed.
// Newcomers are rows themselves, so they lose nothing when they return to the rows' type.
template <class In>
class Newcomers {
public:
    Newcomers(Matrix<const In> rows, double scale, Seeds seeds, Seeds newcomers, const Crew& crew)
        : rows_(rows),
          scale_(scale),
          newcomers_(newcomers),
          radii_(detail::safe_sq_radii(seeds, newcomers, rows.n_cols, scale, crew)) {
        for (std::int64_t t = 0; t < newcomers.count * rows.n_cols; ++t)
            scaled_.push_back(static_cast<In>(newcomers.values[t] * scale));
    }

    // visit(row, newcomer, sq_dist) wherever sq_dist < closest[row]: a newcomer's rows in order,
    // and a row's newcomers in order. The visitor may lower closest[row].
    template <class Visit>
    void each_nearer(std::int64_t begin, std::int64_t end, const double* closest,
                     const std::int32_t* nearest, const Visit& visit) const {
        std::vector<In> buffer(rows_.n_cols);
        Survivors survivors;
        for (; begin < end; begin += screened) {
            screen(begin, std::min(begin + screened, end), closest, nearest, survivors);
            for (int first = 0; first < survivors.count; first += lanes) {
                for (int r = 0; r < lanes; ++r)
                    prefetch(survivors.row[first + ahead + r], rows_.n_cols);
                each_nearer_of(survivors, first, closest, buffer.data(), visit);
            }
        }
    }

    // The same by way of a sketch of the rows, at a fraction of the bytes.
    template <class Visit>
    void each_nearer(const SketchedPoints& sketched, std::int64_t begin, std::int64_t end,
                     const double* closest, const std::int32_t* nearest, const Visit& visit) const {
        Shortlist<In> shortlist(rows_, scale_, newcomers_.values);
        for (; begin < end; begin += word) {
            const int size = static_cast<int>(std::min<std::int64_t>(word, end - begin));
            auto bits = unproven(begin, size, closest, nearest);
            for (std::int64_t i = begin; bits; bits >>= Sketch::tile_rows, i += Sketch::tile_rows) {
                const auto open = static_cast<std::uint32_t>(bits) & tile_mask;
                if (!open) continue;
                double padded[Sketch::tile_rows] = {};
                const bool whole = i + Sketch::tile_rows <= end;
                if (!whole) std::copy(closest + i, closest + end, padded);
                sketched.each_near(i / Sketch::tile_rows, open, whole ? closest + i : padded,
                                   [&](std::int64_t newcomer, int row) {
                                       shortlist.add(i + row, newcomer, closest, visit);
                                   });
            }
        }
        shortlist.work_off(closest, visit);
    }

private:
    static constexpr int word = 64;  // rows whose bits fit in a word
    static constexpr std::uint32_t tile_mask = (1u << Sketch::tile_rows) - 1;
    static constexpr int lanes = Simd<In>::lanes;
    static constexpr int screened = 512;  // rows at a time
    static constexpr int ahead = 32;      // rows between a prefetch and its use

    // Rows that a newcomer may be nearer to; the last one repeats up to where others look.
    struct Survivors {
        const In* row[screened + ahead + lanes];
        In threshold[screened + lanes];
        std::int64_t id[screened + lanes];
        int count;
    };

    // Bit i is set where the triangle inequality does not prove that row begin + i stays.
    std::uint64_t unproven(std::int64_t begin, int size, const double* closest,
                           const std::int32_t* nearest) const {
        constexpr int step = Simd<double>::lanes;
        std::uint64_t bits = 0;
        int i = 0;
        for (; i + step <= size; i += step) {
            Vec<double> radii;
            for (int lane = 0; lane < step; ++lane) radii[lane] = radii_[nearest[begin + i + lane]];
            bits |= std::uint64_t{lane_bits(load(closest + begin + i) > radii)} << i;
        }
        for (; i < size; ++i)
            bits |= std::uint64_t{closest[begin + i] > radii_[nearest[begin + i]]} << i;
        return bits;
    }

    void screen(std::int64_t begin, std::int64_t end, const double* closest,
                const std::int32_t* nearest, Survivors& survivors) const {
        int count = 0;
        for (; begin < end; begin += word) {
            const int size = static_cast<int>(std::min<std::int64_t>(word, end - begin));
            for (auto bits = unproven(begin, size, closest, nearest); bits; bits &= bits - 1) {
                const std::int64_t i = begin + std::countr_zero(bits);
                survivors.row[count] = rows_.row(i);
                survivors.threshold[count] = threshold_of(closest[i]);
                survivors.id[count++] = i;
            }
        }
        survivors.count = count;
        if (count > 0) std::fill_n(survivors.row + count, ahead + lanes, survivors.row[count - 1]);
        std::fill_n(survivors.threshold + count, lanes, In{0});
    }

    // A quick distance of at least this is no nearer. The factor pays for the rounding of both
    // distances, the smallest normal number for what underflows.
    In threshold_of(double sq_dist) const {
        constexpr double unit = std::numeric_limits<In>::epsilon();
        const double inflate = 1 + 2 * unit * static_cast<double>(rows_.n_cols + 8);
        return static_cast<In>(sq_dist * inflate) + std::numeric_limits<In>::min();
    }

    template <class Visit>
    void each_nearer_of(const Survivors& survivors, int first, const double* closest, In* buffer,
                        const Visit& visit) const {
        const std::int64_t d = rows_.n_cols;
        Vec<In> threshold = load(survivors.threshold + first);
        for (std::int64_t j = 0; j < newcomers_.count; ++j) {
            const Vec<In> quick =
                detail::quick_sq_dists(survivors.row + first, rows_.col_stride, &scaled_[j * d], d,
                                       static_cast<In>(scale_));
            for (auto bits = lane_bits(quick < threshold); bits; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                const std::int64_t i = survivors.id[first + lane];
                const double sq_dist = direct_sq_dist(contiguous_row(rows_, i, buffer),
                                                      newcomers_.values + j * d, d, scale_);
                if (!(sq_dist < closest[i])) continue;
                visit(i, j, sq_dist);
                threshold[lane] = threshold_of(closest[i]);
            }
        }
    }

    Matrix<const In> rows_;
    double scale_;
    Seeds newcomers_;
    std::vector<double> radii_;
    std::vector<In> scaled_;
};

}  // namespace coterie
