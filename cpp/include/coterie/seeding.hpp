// Seeding: how far every row is from its nearest seed so far, kept up to date as seeds are added.
//
// Distances are the direct form in float64. A row is looked at only where neither the triangle
// inequality nor a distance in the rows' own precision proves that the new seed is no nearer; both
// proofs allow for rounding, so skipping never changes a bit of the result.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/direct.hpp"
#include "coterie/lloyd.hpp"
#include "coterie/pool.hpp"

namespace coterie {

// Sums over rows are kept per chunk, so that a step need not add up all rows again.
inline Chunks seeding_chunks(std::int64_t n_rows, std::int64_t n_cols) {
    return Chunks(n_rows, std::max<std::int64_t>(2048, 8 * n_cols));
}

// Seeds as row-major doubles in original units.
struct Seeds {
    const double* values;
    std::int64_t count;
};

// What is known of every row; distances are squared and times scale^2.
struct Cover {
    double* closest;        // to the nearest seed
    std::int32_t* nearest;  // which one that is; ties: the earlier seed
    double* totals;         // weighted sum of `closest` over each chunk
};

namespace detail {

// Bit i is set where lane i of a comparison held.
template <class Mask>
inline std::uint32_t lane_bits(Mask mask) {
    constexpr int lanes = sizeof(mask) / sizeof(mask[0]);
#if defined(__AVX512F__)
    if constexpr (lanes == 16) return _mm512_movepi32_mask((__m512i)mask);
    if constexpr (lanes == 8) return _mm512_movepi64_mask((__m512i)mask);
#elif defined(__AVX__)
    if constexpr (lanes == 8) return _mm256_movemask_ps((__m256)mask);
    if constexpr (lanes == 4) return _mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__)
    if constexpr (lanes == 4) return _mm_movemask_ps((__m128)mask);
    if constexpr (lanes == 2) return _mm_movemask_pd((__m128d)mask);
#endif
    std::uint32_t bits = 0;
    for (int i = 0; i < lanes; ++i) bits |= static_cast<std::uint32_t>(mask[i] != 0) << i;
    return bits;
}

// From each half of a pair: the even (odd = 0) or odd (odd = 1) units of `a`, then those of `b`,
// where a unit is `unit` lanes and the halves lie within `piece` lanes.
template <class Real, int piece, int unit>
inline Vec<Real> pick(Vec<Real> a, Vec<Real> b, int odd) {
    constexpr int lanes = Simd<Real>::lanes, half = piece / unit / 2;
    IntVec<Real> from;
    for (int i = 0; i < lanes; ++i) {
        const int in_piece = i % piece, to = in_piece / unit;
        from[i] = (to < half ? 0 : lanes) + i / piece * piece + (to % half * 2 + odd) * unit +
                  in_piece % unit;
    }
    return __builtin_shuffle(a, b, from);
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
            v[i] = pick<Real, piece, unit>(v[2 * i], v[2 * i + 1], 0) +
                   pick<Real, piece, unit>(v[2 * i], v[2 * i + 1], 1);
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

// Weighted sum of `closest` over a chunk, in eight interleaved sums whatever the vector width is.
inline double chunk_total(const double* closest, const double* weights, std::int64_t begin,
                          std::int64_t end) {
    double sums[8] = {};
    std::int64_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (int part = 0; part < 8; part += Simd<double>::lanes) {
            Vec<double> term = load(closest + i + part);
            if (weights) term = rounded(term * load(weights + i + part));
            store(sums + part, load(sums + part) + term);
        }
    for (; i < end; ++i)
        sums[(i - begin) % 8] += weights ? rounded(closest[i] * weights[i]) : closest[i];
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace detail

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
                for (int r = 0; r < lanes; ++r) prefetch(survivors.row[first + ahead + r]);
                each_nearer_of(survivors, first, closest, buffer.data(), visit);
            }
        }
    }

private:
    static constexpr int lanes = Simd<In>::lanes;
    static constexpr int screened = 512;  // rows at a time
    static constexpr int ahead = 32;      // rows between a prefetch and its use

    // Rows that a newcomer may be nearer to; the last one repeats up to where others look.
    struct Survivors {
        const In* row[screened + ahead + lanes];
        In threshold[screened + lanes];  // a quick distance of at least this is certainly no nearer
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
            bits |= std::uint64_t{detail::lane_bits(load(closest + begin + i) > radii)} << i;
        }
        for (; i < size; ++i)
            bits |= std::uint64_t{closest[begin + i] > radii_[nearest[begin + i]]} << i;
        return bits;
    }

    void screen(std::int64_t begin, std::int64_t end, const double* closest,
                const std::int32_t* nearest, Survivors& survivors) const {
        // The factor pays for the rounding of both distances, the smallest normal number for what
        // underflows.
        constexpr double unit = std::numeric_limits<In>::epsilon();
        const double inflate = 1 + 2 * unit * static_cast<double>(rows_.n_cols + 8);
        int count = 0;
        for (; begin < end; begin += 64) {
            const int size = static_cast<int>(std::min<std::int64_t>(64, end - begin));
            for (auto bits = unproven(begin, size, closest, nearest); bits; bits &= bits - 1) {
                const std::int64_t i = begin + std::countr_zero(bits);
                survivors.row[count] = rows_.row(i);
                survivors.threshold[count] =
                    static_cast<In>(closest[i] * inflate) + std::numeric_limits<In>::min();
                survivors.id[count++] = i;
            }
        }
        survivors.count = count;
        if (count > 0) std::fill_n(survivors.row + count, ahead + lanes, survivors.row[count - 1]);
        std::fill_n(survivors.threshold + count, lanes, In{0});
    }

    // Surviving rows lie scattered, where the processor does not foresee the next one; once begun,
    // a long row is read in order.
    void prefetch(const In* row) const {
        const auto n_bytes = std::min<std::int64_t>(256, rows_.n_cols * sizeof(In));
        for (std::int64_t at = 0; at < n_bytes; at += 64)
            __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
    }

    template <class Visit>
    void each_nearer_of(const Survivors& survivors, int first, const double* closest, In* buffer,
                        const Visit& visit) const {
        const std::int64_t d = rows_.n_cols;
        const Vec<In> threshold = load(survivors.threshold + first);
        for (std::int64_t j = 0; j < newcomers_.count; ++j) {
            const Vec<In> quick =
                detail::quick_sq_dists(survivors.row + first, rows_.col_stride, &scaled_[j * d], d,
                                       static_cast<In>(scale_));
            for (auto bits = detail::lane_bits(quick < threshold); bits; bits &= bits - 1) {
                const std::int64_t i = survivors.id[first + std::countr_zero(bits)];
                const double sq_dist = direct_sq_dist(contiguous_row(rows_, i, buffer),
                                                      newcomers_.values + j * d, d, scale_);
                if (sq_dist < closest[i]) visit(i, j, sq_dist);
            }
        }
    }

    Matrix<const In> rows_;
    double scale_;
    Seeds newcomers_;
    std::vector<double> radii_;
    std::vector<In> scaled_;
};

// Let seeds[n_old..] join: rows nearer to one of them than to any seed before go over to it.
// Before the first seed, closest is infinite and nearest 0.
template <class In>
void add_seeds(Weighted<In> data, double scale, Seeds seeds, std::int64_t n_old, Cover cover,
               const Crew& crew) {
    const Chunks chunks = seeding_chunks(data.rows.n_rows, data.rows.n_cols);
    const Seeds joining{seeds.values + n_old * data.rows.n_cols, seeds.count - n_old};
    const Newcomers<In> newcomers(data.rows, scale, seeds, joining, crew);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        bool changed = false;
        newcomers.each_nearer(begin, end, cover.closest, cover.nearest,
                              [&](std::int64_t i, std::int64_t newcomer, double sq_dist) {
                                  cover.closest[i] = sq_dist;
                                  cover.nearest[i] = static_cast<std::int32_t>(n_old + newcomer);
                                  changed = true;
                              });
        if (changed)
            cover.totals[chunk] = detail::chunk_total(cover.closest, data.weights, begin, end);
    });
}

// A hint is one byte a row: bit j % 8 says that some candidate j with that remainder is nearer.
inline std::uint8_t hint_of(std::int64_t candidate) {
    return static_cast<std::uint8_t>(1u << (candidate % 8));
}

// By how much each candidate would lower the potential, and hints for adding one of them.
template <class In>
void measure_gains(Weighted<In> data, double scale, Seeds seeds, Seeds candidates,
                   const double* closest, const std::int32_t* nearest, std::uint8_t* hints,
                   double* gains, const Crew& crew) {
    const Chunks chunks = seeding_chunks(data.rows.n_rows, data.rows.n_cols);
    const Newcomers<In> newcomers(data.rows, scale, seeds, candidates, crew);
    std::vector<double> parts(chunks.count() * candidates.count);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        double* part = parts.data() + chunk * candidates.count;
        std::fill(hints + begin, hints + end, std::uint8_t{0});
        newcomers.each_nearer(begin, end, closest, nearest,
                              [&](std::int64_t i, std::int64_t candidate, double sq_dist) {
                                  const double gain = closest[i] - sq_dist;
                                  part[candidate] +=
                                      data.weights ? rounded(data.weights[i] * gain) : gain;
                                  hints[i] |= hint_of(candidate);
                              });
    });
    std::fill(gains, gains + candidates.count, 0.0);
    for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk)
        for (std::int64_t j = 0; j < candidates.count; ++j)
            gains[j] += parts[chunk * candidates.count + j];
}

// Let the last seed join, which was number `candidate` when the hints were made.
template <class In>
void add_measured_seed(Weighted<In> data, double scale, Seeds seeds, std::int64_t candidate,
                       const std::uint8_t* hints, Cover cover, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const Chunks chunks = seeding_chunks(data.rows.n_rows, d);
    const double* seed = seeds.values + (seeds.count - 1) * d;
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        std::vector<In> buffer(d);
        bool changed = false;
        for (std::int64_t i = begin; i < end; ++i) {
            if (!(hints[i] & hint_of(candidate))) continue;
            const double sq_dist =
                direct_sq_dist(contiguous_row(data.rows, i, buffer.data()), seed, d, scale);
            if (sq_dist < cover.closest[i]) {
                cover.closest[i] = sq_dist;
                cover.nearest[i] = static_cast<std::int32_t>(seeds.count - 1);
                changed = true;
            }
        }
        if (changed)
            cover.totals[chunk] = detail::chunk_total(cover.closest, data.weights, begin, end);
    });
}

// The row at which the running sum of weight * closest reaches `target`: its chunk by the chunks'
// totals, then the row in it. A row that adds nothing is never drawn, whatever rounding does.
inline std::int64_t draw_row(Chunks chunks, const double* weights, const double* closest,
                             const double* totals, double target) {
    std::int64_t chosen = 0;
    double before = 0, sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
        if (totals[chunk] == 0) continue;
        chosen = chunk;
        before = sum;
        sum += totals[chunk];
        if (sum >= target) break;
    }
    std::int64_t drawn = chunks.begin(chosen);
    sum = before;
    for (std::int64_t i = drawn; i < chunks.end(chosen); ++i) {
        const double share = weights ? rounded(weights[i] * closest[i]) : closest[i];
        if (share == 0) continue;
        drawn = i;
        sum += share;
        if (sum >= target) break;
    }
    return drawn;
}

}  // namespace coterie
