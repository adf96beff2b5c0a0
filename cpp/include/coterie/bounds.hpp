// Pruned assignment: two bounds a row prove most labels unchanged without looking at the row.
//
// Hamerly (2010) keeps for each row an upper bound on the distance to its own centre and a lower
// bound on the distance to every other. Two refinements keep the bounds tight at no memory a row:
// - a cluster's lower bounds sink only by the drift of centres near enough to matter, those within
//   twice the cluster's radius; all others are held off by their distance to the cluster's centre;
// - a row that must be looked at again is compared with the panels of those near centres only.
// Bounds are float, in the frame's units, and rounded outwards: a pruned label is proven.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/lloyd.hpp"

namespace coterie {

// How the centres of one pass lie to each other and how they moved since the last.
struct CenterMoves {
    std::vector<float> own_drift;    // how far each centre moved, at most
    std::vector<float> other_drift;  // the same for the centres near it
    std::vector<float> outside;      // no centre that is not near is closer than this
    std::vector<float> half_gap;     // half the distance to the nearest other centre, at least
    std::vector<std::uint64_t> near_panels;  // per cluster: bit set of panels with a near centre
    std::int64_t n_words = 0;
};

namespace detail {

inline float round_up(double v) { return static_cast<float>(v * (1 + 1e-6)); }
inline float round_down(double v) { return static_cast<float>(v * (1 - 1e-6)); }

}  // namespace detail

// Relations of `centers` (now) to each other, given where they were and each cluster's radius
// (the largest upper bound among its rows, before the move). O(k^2 d) time, O(k d) memory.
template <class In>
CenterMoves center_moves(const Centers<In>& centers, const double* before, const float* radius,
                         const Crew& crew) {
    constexpr int lanes = Simd<float>::lanes;
    const std::int64_t k = centers.n_centers, d = centers.n_cols;
    const double scale = static_cast<double>(centers.frame.scale);
    CenterMoves moves;
    moves.own_drift.resize(k);
    moves.other_drift.resize(k);
    moves.outside.resize(k);
    moves.half_gap.resize(k);
    const auto& sizes = centers.fast.sizes();
    moves.n_words = (static_cast<std::int64_t>(sizes.size()) + 63) / 64;
    moves.near_panels.assign(k * moves.n_words, 0);

    // Centres in lanes, float; their rounding is paid for by `slack` below.
    const std::int64_t padded = (k + lanes - 1) / lanes * lanes;
    std::vector<float> columns(padded * d);
    for (std::int64_t j = 0; j < k; ++j) {
        double sq_drift = 0;
        for (std::int64_t t = 0; t < d; ++t) {
            const double now = centers.values[j * d + t];
            const double drift = (now - before[j * d + t]) * scale;
            sq_drift += drift * drift;
            columns[(j / lanes * d + t) * lanes + j % lanes] = static_cast<float>(
                now * scale - static_cast<double>(centers.frame.shift[t]));
        }
        moves.own_drift[j] = detail::round_up(std::sqrt(sq_drift));
    }
    std::vector<std::int32_t> panel_of(k);
    centers.fast.each_id([&](std::int64_t panel, std::int64_t id) {
        panel_of[id] = static_cast<std::int32_t>(panel);
    });

    const float relative = 1 - static_cast<float>(d + 8) * std::numeric_limits<float>::epsilon();
    const float slack = 2 * std::numeric_limits<float>::epsilon() * centers.fast.max_norm();
    const Chunks chunks(k, k * d);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<float> dists(padded);
        for (std::int64_t c = chunks.begin(chunk); c < chunks.end(chunk); ++c) {
            const float* own = columns.data() + c / lanes * d * lanes + c % lanes;
            for (std::int64_t first = 0; first < padded; first += lanes) {
                const float* others = columns.data() + first * d;
                Vec<float> sum = {};
                for (std::int64_t t = 0; t < d; ++t) {
                    const Vec<float> diff = load(others + t * lanes) - broadcast(own[t * lanes]);
                    sum += diff * diff;
                }
                store(dists.data() + first, sum);
            }
            const float near = 2.0001f * (radius[c] + moves.own_drift[c]);
            std::uint64_t* panels = moves.near_panels.data() + c * moves.n_words;
            float other_drift = 0, outside = std::numeric_limits<float>::infinity(), gap = outside;
            for (std::int64_t j = 0; j < k; ++j) {
                if (j == c) continue;
                const float dist = std::sqrt(dists[j]) * relative - slack;
                gap = std::min(gap, dist);
                // Written so that an infinite radius makes every centre near.
                if (!(dist > near)) {
                    other_drift = std::max(other_drift, moves.own_drift[j]);
                    panels[panel_of[j] / 64] |= std::uint64_t{1} << (panel_of[j] % 64);
                } else {
                    outside = std::min(outside, dist);
                }
            }
            panels[panel_of[c] / 64] |= std::uint64_t{1} << (panel_of[c] % 64);
            moves.other_drift[c] = other_drift;
            moves.outside[c] = outside;
            moves.half_gap[c] = gap / 2;
        }
    });
    return moves;
}

// What a pruned fit remembers between passes; one entry a row, one radius a cluster.
struct Bounds {
    float* upper;
    float* lower;
    float* radius;
};

// An upper bound on the distance of a row to a centre, both in the frame.
template <class In>
class OwnDistance {
public:
    explicit OwnDistance(const Centers<In>& centers)
        : frame_(centers.frame), d_(centers.n_cols), rows_(centers.n_centers * centers.n_cols),
          norms_(centers.n_centers) {
        for (std::int64_t j = 0; j < centers.n_centers; ++j) {
            double sq = 0;
            for (std::int64_t t = 0; t < d_; ++t) {
                const double v = centers.values[j * d_ + t] * static_cast<double>(frame_.scale) -
                                 static_cast<double>(frame_.shift[t]);
                rows_[j * d_ + t] = static_cast<float>(v);
                sq += v * v;
            }
            norms_[j] = static_cast<float>(std::sqrt(sq));
        }
    }

    float upper(const In* x, std::int32_t j) const {
        constexpr int lanes = Simd<float>::lanes;
        constexpr float eps = std::numeric_limits<float>::epsilon();
        const float* c = rows_.data() + j * d_;
        std::int64_t t = 0;
        float sq = 0;
        if constexpr (std::is_same_v<In, float>) {
            const Vec<float> scale = broadcast(frame_.scale);
            Vec<float> sum[2] = {};
            for (; t + 2 * lanes <= d_; t += 2 * lanes)
                for (int half = 0; half < 2; ++half) {
                    const std::int64_t at = t + half * lanes;
                    const Vec<float> diff =
                        load(x + at) * scale - load(frame_.shift + at) - load(c + at);
                    sum[half] += diff * diff;
                }
            for (; t + lanes <= d_; t += lanes) {
                const Vec<float> diff = load(x + t) * scale - load(frame_.shift + t) - load(c + t);
                sum[0] += diff * diff;
            }
            sum[0] += sum[1];
            for (int i = 0; i < lanes; ++i) sq += sum[0][i];
        }
        for (; t < d_; ++t) {
            const float diff = static_cast<float>(x[t] * frame_.scale - frame_.shift[t]) - c[t];
            sq += diff * diff;
        }
        const float dist = std::sqrt(sq) * (1 + static_cast<float>(d_ + 8) * eps);
        return dist + 2 * eps * (2 * norms_[j] + dist) + std::numeric_limits<float>::min();
    }

private:
    Frame<In> frame_;
    std::int64_t d_;
    std::vector<float> rows_, norms_;
};

template <class In>
struct BoundedWork : AssignWork<In> {
    std::vector<std::int64_t> survivors;
    std::vector<std::uint64_t> panels;
    std::vector<float> radius;
    std::vector<In> row;
    std::int64_t n_scanned = 0;
    BoundedWork(Centers<In>& centers, Weighted<In> data, const SumsOut& out)
        : AssignWork<In>(centers, data, out), radius(centers.n_centers), row(centers.n_cols) {}

    void note(std::int32_t label, float upper) { radius[label] = std::max(radius[label], upper); }
};

struct BoundedCounts {
    std::int64_t n_changed = 0;
    std::int64_t n_scanned = 0;
};

// As assign_and_sum, looking only at rows whose bounds do not prove their label. Without `moves`
// (the first pass) every row is looked at.
template <class In>
BoundedCounts assign_bounded(Weighted<In> data, Centers<In>& centers, const CenterMoves* moves,
                             std::int32_t* labels, Bounds bounds, const SumsOut& out,
                             const Crew& crew) {
    const std::int64_t k = centers.n_centers;
    const Chunks chunks(data.rows.n_rows, k * centers.n_cols / 4);
    PerThread<BoundedWork<In>> works(crew.n_threads);
    const OwnDistance<In> own_distance(centers);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& work = works.get(worker, centers, data, out);
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        auto& survivors = work.survivors;
        survivors.resize(end - begin);
        std::int64_t n = 0;
        if (!moves) {
            for (std::int64_t i = begin; i < end; ++i) survivors[n++] = i;
        } else {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int32_t c = labels[i];
                const float upper = (bounds.upper[i] + moves->own_drift[c]) * (1 + 2e-7f);
                const float lower =
                    std::min(bounds.lower[i] - moves->other_drift[c], moves->outside[c] - upper);
                bounds.upper[i] = upper;
                bounds.lower[i] = lower < 0 ? lower : lower * (1 - 2e-7f);
                survivors[n] = i;
                const bool proven = upper < std::max(bounds.lower[i], moves->half_gap[c]);
                n += !proven;
                if (proven) work.note(c, upper);
            }
            // The bound may only be loose: look at the row and its own centre.
            const std::int64_t n_loose = n;
            n = 0;
            for (std::int64_t s = 0; s < n_loose; ++s) {
                const std::int64_t i = survivors[s];
                const std::int32_t c = labels[i];
                const In* x = contiguous_row(data.rows, i, work.row.data());
                const float upper = own_distance.upper(x, c);
                bounds.upper[i] = upper;
                survivors[n] = i;
                const bool proven = upper < std::max(bounds.lower[i], moves->half_gap[c]);
                n += !proven;
                if (proven) work.note(c, upper);
            }
            std::sort(survivors.begin(), survivors.begin() + n,
                      [&](std::int64_t a, std::int64_t b) {
                          return labels[a] != labels[b] ? labels[a] < labels[b] : a < b;
                      });
        }
        work.n_scanned += n;
        const auto near_panels = [&](const std::int64_t* row_ids, int count) -> const std::uint64_t* {
            if (!moves) return nullptr;
            work.panels.assign(moves->n_words, 0);
            for (int r = 0; r < count; ++r) {
                const std::uint64_t* near =
                    moves->near_panels.data() + labels[row_ids[r]] * moves->n_words;
                for (std::int64_t w = 0; w < moves->n_words; ++w) work.panels[w] |= near[w];
            }
            return work.panels.data();
        };
        work.finder.find(
            survivors.data(), n, near_panels,
            [&](std::int64_t i, std::int32_t label, auto best, auto second, auto error) {
                float lower = detail::sqrt_down(second - error);
                const std::int32_t before = labels[i];
                if (moves) lower = std::min(lower, moves->outside[before] - bounds.upper[i]);
                bounds.lower[i] = lower;
                bounds.upper[i] = detail::sqrt_up(best + error);
                work.note(label, bounds.upper[i]);
                if (label == before) return;
                work.mover.move(i, before, label);
                labels[i] = label;
            });
    });
    BoundedCounts counts;
    std::fill_n(bounds.radius, k, 0.0f);
    works.each([&](BoundedWork<In>& work) {
        work.mover.pour_into(out);
        counts.n_changed += work.mover.n_moved;
        counts.n_scanned += work.n_scanned;
        for (std::int64_t j = 0; j < k; ++j)
            bounds.radius[j] = std::max(bounds.radius[j], work.radius[j]);
    });
    return counts;
}

}  // namespace coterie
