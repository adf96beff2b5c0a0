// Seeding: how far every row is from its nearest seed so far, kept up to date as seeds are added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "coterie/centroid/newcomers.hpp"
#include "coterie/centroid/sketch.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Sums over rows are kept per chunk, so that a step need not add up all rows again.
inline Chunks seeding_chunks(std::int64_t n_rows, std::int64_t n_cols) {
    return Chunks(n_rows, std::max<std::int64_t>(2048, 8 * n_cols));
}

// What is known of every row; distances are squared and times scale^2.
struct SeedDistances {
    double* closest;        // to the nearest seed
    std::int32_t* nearest;  // which one that is; ties: the earlier seed
    double* totals;         // weighted sum of `closest` over each chunk
};

namespace detail {

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

// visit(i) for each byte that shares a bit with `bit`; most do not, so eight are asked at once.
template <class Visit>
inline void each_with_bit(const std::uint8_t* bytes, std::int64_t begin, std::int64_t end,
                          std::uint8_t bit, const Visit& visit) {
    const std::uint64_t bits = 0x0101010101010101u * bit;
    for (; begin < end; begin += 8) {
        const auto size = std::min<std::int64_t>(8, end - begin);
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes + begin, size);
        if (!(eight & bits)) continue;
        for (std::int64_t i = begin; i < begin + size; ++i)
            if (bytes[i] & bit) visit(i);
    }
}

}  // namespace detail

// Let seeds[n_old..] join: rows nearer to one of them than to any seed before go over to it.
// Before the first seed, closest is infinite and nearest 0.
template <class In>
void add_seeds(Weighted<In> data, double scale, Seeds seeds, std::int64_t n_old,
               SeedDistances known, const Crew& crew) {
    const Chunks chunks = seeding_chunks(data.rows.n_rows, data.rows.n_cols);
    const Seeds joining{seeds.values + n_old * data.rows.n_cols, seeds.count - n_old};
    const Newcomers<In> newcomers(data.rows, scale, seeds, joining, crew);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        bool changed = false;
        newcomers.each_nearer(begin, end, known.closest, known.nearest,
                              [&](std::int64_t i, std::int64_t newcomer, double sq_dist) {
                                  known.closest[i] = sq_dist;
                                  known.nearest[i] = static_cast<std::int32_t>(n_old + newcomer);
                                  changed = true;
                              });
        if (changed)
            known.totals[chunk] = detail::chunk_total(known.closest, data.weights, begin, end);
    });
}

// A hint is one byte a row: bit j % 8 says that some candidate j with that remainder is nearer.
inline std::uint8_t hint_of(std::int64_t candidate) {
    return static_cast<std::uint8_t>(1u << (candidate % 8));
}

// By how much each candidate would lower the potential, and hints for adding one of them. A sketch
// of the rows, if there is one, only makes it faster.
template <class In>
void measure_gains(Weighted<In> data, double scale, std::optional<Sketch> sketch, Seeds seeds,
                   Seeds candidates, const double* closest, const std::int32_t* nearest,
                   std::uint8_t* hints, double* gains, const Crew& crew) {
    const Chunks chunks = seeding_chunks(data.rows.n_rows, data.rows.n_cols);
    const Newcomers<In> newcomers(data.rows, scale, seeds, candidates, crew);
    std::optional<SketchedPoints> sketched;
    if (sketch)
        sketched.emplace(candidates.values, candidates.count, data.rows.n_cols, scale, *sketch);
    std::vector<double> parts(chunks.count() * candidates.count);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        double* part = parts.data() + chunk * candidates.count;
        std::fill(hints + begin, hints + end, std::uint8_t{0});
        const auto count = [&](std::int64_t i, std::int64_t candidate, double sq_dist) {
            const double gain = closest[i] - sq_dist;
            part[candidate] += data.weights ? rounded(data.weights[i] * gain) : gain;
            hints[i] |= hint_of(candidate);
        };
        if (sketched)
            newcomers.each_nearer(*sketched, begin, end, closest, nearest, count);
        else
            newcomers.each_nearer(begin, end, closest, nearest, count);
    });
    std::fill(gains, gains + candidates.count, 0.0);
    for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk)
        for (std::int64_t j = 0; j < candidates.count; ++j)
            gains[j] += parts[chunk * candidates.count + j];
}

// Let the last seed join, which was number `candidate` when the hints were made.
template <class In>
void add_measured_seed(Weighted<In> data, double scale, Seeds seeds, std::int64_t candidate,
                       const std::uint8_t* hints, SeedDistances known, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const Chunks chunks = seeding_chunks(data.rows.n_rows, d);
    const double* seed = seeds.values + (seeds.count - 1) * d;
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        Shortlist<In> shortlist(data.rows, scale, seed);
        bool changed = false;
        const auto go_over = [&](std::int64_t i, std::int64_t, double sq_dist) {
            known.closest[i] = sq_dist;
            known.nearest[i] = static_cast<std::int32_t>(seeds.count - 1);
            changed = true;
        };
        detail::each_with_bit(hints, begin, end, hint_of(candidate),
                              [&](std::int64_t i) { shortlist.add(i, 0, known.closest, go_over); });
        shortlist.work_off(known.closest, go_over);
        if (changed)
            known.totals[chunk] = detail::chunk_total(known.closest, data.weights, begin, end);
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
