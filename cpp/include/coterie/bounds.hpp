// Pruned assignment: two bounds a row prove most labels unchanged without looking at the row.
//
// Hamerly (2010) keeps for each row an upper bound on the distance to its own centre and a lower
// bound on the distance to every other; Yinyang (Ding et al. 2015) keeps a lower bound for each of
// several groups of centres, so that one restless centre does not void the rest: with one group it
// is Hamerly's. Two refinements keep the bounds tight at no memory a row:
// - a cluster's lower bounds sink only by the drift of centres near enough to matter, those within
//   twice the cluster's radius; all others are held off by their distance to the cluster's centre;
// - a row that must be looked at again is compared with the panels of those near centres only.
// Bounds are float, in the frame's units, and rounded outwards: a pruned label is proven.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "coterie/lloyd.hpp"

namespace coterie {

namespace detail {

inline float round_up(double v) {
    return static_cast<float>(v * (1 + 1e-6)) + std::numeric_limits<float>::min();
}

// Squares below the smallest normal float lose digits: what that can do to a distance.
inline constexpr float blur = 1.1e-19f;

}  // namespace detail

// How the centres of one pass lie to each other and how they moved since the last.
template <class In>
class CenterMoves {
public:
    CenterMoves(const Centers<In>& centers, const double* before)
        : shifts(centers.n_centers),
          other_drift(centers.n_centers * centers.n_groups),
          group_of(centers.n_centers),
          n_words((centers.fast.n_panels() + 63) / 64),
          near_panels(centers.n_centers * n_words),
          centers_(centers),
          panel_of_(centers.n_centers),
          padded_((centers.n_centers + lanes - 1) / lanes * lanes),
          columns_(padded_ * centers.n_cols) {
        const std::int64_t k = centers.n_centers, d = centers.n_cols;
        for (std::int64_t j = 0; j < k; ++j) {
            double sq_drift = 0;
            for (std::int64_t t = 0; t < d; ++t) {
                const double now = centers.values[j * d + t];
                const double drift =
                    (now - before[j * d + t]) * static_cast<double>(centers.frame.scale);
                sq_drift += drift * drift;
                columns_[(j / lanes * d + t) * lanes + j % lanes] =
                    static_cast<float>(in_frame(now, centers.frame, t));
            }
            shifts[j].own_drift = detail::round_up(std::sqrt(sq_drift));
        }
        centers.fast.each_id([&](std::int64_t panel, std::int64_t id) { panel_of_[id] = panel; });
        for (std::int64_t g = 0; g < centers.n_groups; ++g)
            for (std::int64_t j = 0; j < k; ++j)
                if (panel_of_[j] >= centers.group(g).begin && panel_of_[j] < centers.group(g).end)
                    group_of[j] = g;
    }

    // Relate these clusters' centres to all others, given each cluster's radius (the largest upper
    // bound among its rows, before the move). O(k d) time for each.
    void relate(const std::vector<std::int32_t>& clusters, const float* radius, const Crew& crew) {
        const auto n = static_cast<std::int64_t>(clusters.size());
        const Chunks chunks(n, centers_.n_centers * centers_.n_cols);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            std::vector<float> dists(padded_);
            for (std::int64_t s = chunks.begin(chunk); s < chunks.end(chunk); ++s) {
                measure(clusters[s], dists.data());
                look_around(clusters[s], radius[clusters[s]], dists.data());
            }
        });
    }

    // What moves the bounds of a cluster's rows, side by side so that one load fetches all.
    struct Shift {
        float own_drift;    // how far the centre moved, at most
        float outside;      // no centre that is not near is closer to it than this
        float half_gap;     // half the distance to the nearest other centre, at least
        float other_drift;  // the drift of the centres near it, of the first group
    };
    const float* shift(std::int64_t c) const { return &shifts[c].own_drift; }

    std::vector<Shift> shifts;       // but for own_drift, of clusters that were related
    std::vector<float> other_drift;  // per group and cluster: the drift of the centres near it
    std::vector<std::int64_t> group_of;
    std::int64_t n_words;
    std::vector<std::uint64_t> near_panels;  // per cluster: bit set of panels with a near centre

private:
    static constexpr int lanes = Simd<float>::lanes;

    // Distances of centre c to all others, at least.
    void measure(std::int64_t c, float* dists) const {
        const std::int64_t d = centers_.n_cols;
        constexpr float eps = std::numeric_limits<float>::epsilon();
        const float relative = 1 - static_cast<float>(d + 8) * eps;
        const float slack = 2 * eps * centers_.fast.max_norm() + detail::blur;
        const float* own = columns_.data() + c / lanes * d * lanes + c % lanes;
        for (std::int64_t first = 0; first < padded_; first += lanes) {
            const float* others = columns_.data() + first * d;
            Vec<float> sum = {};
            for (std::int64_t t = 0; t < d; ++t) {
                const Vec<float> diff = load(others + t * lanes) - broadcast(own[t * lanes]);
                sum += diff * diff;
            }
            store(dists + first, sum);
        }
        for (std::int64_t j = 0; j < padded_; ++j) {
            // Not a number where centres lie beyond all floats: then anything is possible.
            const float apart = std::sqrt(dists[j]) * relative - slack;
            dists[j] = apart == apart ? apart : 0;
        }
    }

    // What the centres near cluster c did, and how far the others are.
    void look_around(std::int64_t c, float radius, const float* dists) {
        const std::int64_t k = centers_.n_centers;
        const float near = 2.0001f * (radius + shifts[c].own_drift);
        std::uint64_t* panels = near_panels.data() + c * n_words;
        float far = detail::longest, gap = far;
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) other_drift[g * k + c] = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            if (j == c) continue;
            gap = std::min(gap, dists[j]);
            // Written so that an infinite radius makes every centre near.
            if (!(dists[j] > near)) {
                float& drift = other_drift[group_of[j] * k + c];
                drift = std::min(detail::longest, std::max(drift, shifts[j].own_drift));
                panels[panel_of_[j] / 64] |= std::uint64_t{1} << (panel_of_[j] % 64);
            } else {
                far = std::min(far, dists[j]);
            }
        }
        panels[panel_of_[c] / 64] |= std::uint64_t{1} << (panel_of_[c] % 64);
        shifts[c].outside = far;
        shifts[c].half_gap = gap / 2;
        shifts[c].other_drift = other_drift[c];
    }

    const Centers<In>& centers_;
    std::vector<std::int64_t> panel_of_;
    std::int64_t padded_;
    AlignedVector<float> columns_;  // centres in lanes; their rounding is paid for in `measure`
};

// What a pruned fit remembers between passes.
struct Bounds {
    float* upper;   // a row
    float* lower;   // a group and row
    float* radius;  // a cluster
};

// An upper bound on the distance of a row to a centre, both in the frame.
template <class In>
class OwnDistance {
public:
    explicit OwnDistance(const Centers<In>& centers)
        : frame_(centers.frame),
          d_(centers.n_cols),
          rows_(centers.n_centers * centers.n_cols),
          norms_(centers.n_centers) {
        for (std::int64_t j = 0; j < centers.n_centers; ++j) {
            double sq = 0;
            for (std::int64_t t = 0; t < d_; ++t) {
                const double v = in_frame(centers.values[j * d_ + t], frame_, t);
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
        return dist + 2 * eps * (2 * norms_[j] + dist) + detail::blur;
    }

private:
    Frame<In> frame_;
    std::int64_t d_;
    std::vector<float> rows_, norms_;
};

struct BoundedCounts {
    std::int64_t n_changed = 0;
    std::int64_t n_scanned = 0;
};

// One thread's part of a bounded pass.
template <class In>
class BoundedWork {
public:
    BoundedWork(Weighted<In> data, Centers<In>& centers, const CenterMoves<In>* moves,
                const OwnDistance<In>& own_distance, std::int32_t* labels, Bounds bounds,
                bool fresh_radius, const SumsOut& out)
        : mover(data, out, centers.n_centers),
          radius(centers.n_centers),
          data_(data),
          centers_(centers),
          moves_(moves),
          own_distance_(own_distance),
          labels_(labels),
          bounds_(bounds),
          fresh_radius_(fresh_radius),
          finder_(centers, data.rows),
          row_(centers.n_cols) {}

    void label_rows(std::int64_t begin, std::int64_t end) {
        reserve(end - begin);
        if (moves_) {
            const std::int64_t n = keep_tight(keep_unproven(begin, end));
            sort_by_label(n);
            return find(n);
        }
        for (; begin < end; begin += part) {
            const std::int64_t n = std::min(part, end - begin);
            std::iota(rows_.get(), rows_.get() + n, begin);
            find(n);
        }
    }

    Mover<In> mover;
    std::vector<float> radius;
    std::int64_t n_scanned = 0;

private:
    static constexpr std::int64_t part = 2048;  // rows at a time where all are looked at

    // Room that takes memory only as far as it is used, which mostly is a small part of it.
    void reserve(std::int64_t size) {
        if (size <= capacity_) return;
        rows_.reset(new std::int64_t[size]);
        capacity_ = size;
    }

    void find(std::int64_t n) {
        n_scanned += n;
        const auto wanted = [&](const std::int64_t* ids, int count) { return near(ids, count); };
        finder_.find(rows_.get(), n, wanted,
                     [&](std::int64_t i, const Sighting& seen) { settle(i, seen); });
    }

    float& lower_of(std::int64_t i, std::int64_t g) const {
        return bounds_.lower[g * data_.rows.n_rows + i];
    }

    // Let the bounds follow the centres; the rows whose label they no longer prove go to rows_.
    std::int64_t keep_unproven(std::int64_t begin, std::int64_t end) {
        constexpr int lanes = Simd<float>::lanes;
        std::int64_t i = begin, n = 0;
        for (; i + lanes <= end; i += lanes) {
            const unsigned proven = sink(i);
            for (unsigned rest = ~proven & ((1u << lanes) - 1); rest; rest &= rest - 1)
                rows_[n++] = i + std::countr_zero(rest);
            for (unsigned rest = fresh_radius_ ? proven : 0; rest; rest &= rest - 1) {
                const std::int64_t row = i + std::countr_zero(rest);
                note(labels_[row], bounds_.upper[row]);
            }
        }
        for (; i < end; ++i) {  // fewer than a vector: all are looked at
            for (std::int64_t g = 0; g < centers_.n_groups; ++g) lower_of(i, g) = -detail::longest;
            rows_[n++] = i;
        }
        return n;
    }

    // Move the bounds of a vector of rows with the centres, rounding outwards; a bit is set for
    // each row whose label they prove.
    unsigned sink(std::int64_t i) {
        constexpr int lanes = Simd<float>::lanes;
        const float* shifts[lanes];
        for (int r = 0; r < lanes; ++r) shifts[r] = moves_->shift(labels_[i + r]);
        Vec<float> own[4];  // the four parts of a Shift
        for (int r = 0; r < 4; ++r) own[r] = detail::load_pieces<float>(shifts + r, 0);
        detail::transpose_lanes(own);
        const Vec<float> up = broadcast(1 + 2e-7f), hair = broadcast(2e-7f);
        const Vec<float> upper = (load(bounds_.upper + i) + own[0]) * up;
        const Vec<float> far = own[1] - upper;
        store(bounds_.upper + i, upper);
        Vec<float> least = far, drift = own[3];
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
            if (g > 0) {
                IntVec<float> c;
                std::memcpy(&c, labels_ + i, sizeof c);
                drift = gather(moves_->other_drift.data() + g * centers_.n_centers, c);
            }
            float* at = bounds_.lower + g * data_.rows.n_rows + i;
            Vec<float> lower = vec_min(load(at) - drift, far);
            lower -= vec_max(lower, -lower) * hair;
            store(at, lower);
            least = vec_min(least, lower);
        }
        return lane_bits(upper < vec_max(least, own[2]));
    }

    // The upper bound may only be loose: look at each row and its own centre.
    std::int64_t keep_tight(std::int64_t n_loose) {
        std::int64_t n = 0;
        for (std::int64_t s = 0; s < n_loose; ++s) {
            const std::int64_t i = rows_[s];
            const std::int32_t c = labels_[i];
            prefetch(data_.rows.row(rows_[std::min(s + 12, n_loose - 1)]));
            const In* x = contiguous_row(data_.rows, i, row_.data());
            const float upper = own_distance_.upper(x, c);
            bounds_.upper[i] = upper;
            float least = lower_of(i, 0);
            for (std::int64_t g = 1; g < centers_.n_groups; ++g)
                least = std::min(least, lower_of(i, g));
            rows_[n] = i;
            const bool proven = upper < std::max(least, moves_->shifts[c].half_gap);
            n += !proven;
            if (proven) note(c, upper);
        }
        return n;
    }

    // Rows of one cluster together, so that a tile shares its near panels.
    void sort_by_label(std::int64_t n) {
        starts_.assign(radius.size() + 1, 0);
        for (std::int64_t s = 0; s < n; ++s) ++starts_[labels_[rows_[s]] + 1];
        for (std::size_t j = 1; j < starts_.size(); ++j) starts_[j] += starts_[j - 1];
        sorted_.resize(n);
        for (std::int64_t s = 0; s < n; ++s) sorted_[starts_[labels_[rows_[s]]]++] = rows_[s];
        std::copy(sorted_.begin(), sorted_.end(), rows_.get());
    }

    // The panels that can hold the nearest centre of some row of a tile; null: all.
    const std::uint64_t* near(const std::int64_t* ids, int count) {
        if (!moves_) return nullptr;
        wanted_.assign(moves_->n_words, 0);
        for (int r = 0; r < count; ++r) {
            const std::int32_t c = labels_[ids[r]];
            const std::uint64_t* panels = moves_->near_panels.data() + c * moves_->n_words;
            for (std::int64_t w = 0; w < moves_->n_words; ++w) wanted_[w] |= panels[w];
        }
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
            if (needs_group(g, ids, count)) continue;
            const PanelRange range = centers_.group(g);
            for (std::int64_t i = range.begin; i < range.end; ++i)
                wanted_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
        }
        return wanted_.data();
    }

    // Whether group g holds some row's own centre, or one that may be nearer.
    bool needs_group(std::int64_t g, const std::int64_t* ids, int count) const {
        for (int r = 0; r < count; ++r)
            if (moves_->group_of[labels_[ids[r]]] == g ||
                !(bounds_.upper[ids[r]] < lower_of(ids[r], g)))
                return true;
        return false;
    }

    void settle(std::int64_t i, const Sighting& seen) {
        const std::int32_t before = labels_[i];
        const float far =
            moves_ ? moves_->shifts[before].outside - bounds_.upper[i] : detail::longest;
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
            if (seen.lane < 0)
                lower_of(i, g) = seen.lower;
            else if (finder_.looked_at(g))
                lower_of(i, g) = std::min(finder_.group_lower(g, seen), far);
        }
        bounds_.upper[i] = seen.upper;
        note(seen.label, seen.upper);
        if (seen.label == before) return;
        mover.move(i, before, seen.label);
        labels_[i] = seen.label;
    }

    void note(std::int32_t label, float upper) { radius[label] = std::max(radius[label], upper); }

    Weighted<In> data_;
    Centers<In>& centers_;
    const CenterMoves<In>* moves_;
    const OwnDistance<In>& own_distance_;
    std::int32_t* labels_;
    Bounds bounds_;
    bool fresh_radius_;
    Finder<In> finder_;
    std::vector<In> row_;
    std::unique_ptr<std::int64_t[]> rows_;
    std::int64_t capacity_ = 0;
    std::vector<std::int64_t> sorted_, starts_;
    std::vector<std::uint64_t> wanted_;
};

// The share of a full scan that the bounds would leave to do for these rows.
template <class In>
double expected_work(const std::vector<std::int64_t>& row_ids, std::int64_t n_rows,
                     const Centers<In>& centers, const CenterMoves<In>& moves,
                     const std::int32_t* labels, const Bounds& bounds) {
    const std::int64_t k = centers.n_centers;
    std::int64_t n_panels = 0;
    for (const std::int64_t i : row_ids) {
        const std::int32_t c = labels[i];
        const float upper = bounds.upper[i] + moves.shifts[c].own_drift;
        if (upper < moves.shifts[c].half_gap) continue;
        for (std::int64_t g = 0; g < centers.n_groups; ++g) {
            if (upper < bounds.lower[g * n_rows + i] - moves.other_drift[g * k + c]) continue;
            const std::uint64_t* near = moves.near_panels.data() + c * moves.n_words;
            const PanelRange range = centers.group(g);
            for (std::int64_t p = range.begin; p < range.end; ++p)
                n_panels += near[p / 64] >> (p % 64) & 1;
        }
    }
    return static_cast<double>(n_panels) /
           static_cast<double>(row_ids.size() * centers.fast.n_panels());
}

// Whether the bounds spare enough to pay for scattered reads, judged on some evenly spaced rows. If
// so, all centres are related to each other; if not, only those of that few rows have been.
template <class In>
bool relate_if_it_pays(CenterMoves<In>& moves, std::int64_t n_rows, const Centers<In>& centers,
                       const std::int32_t* labels, const Bounds& bounds, const Crew& crew) {
    constexpr double too_much = 0.75;
    const std::int64_t n_judged = std::min<std::int64_t>(n_rows, 128);
    std::vector<std::int64_t> row_ids(n_judged);
    std::vector<char> is_judged(centers.n_centers);
    for (std::int64_t s = 0; s < n_judged; ++s) {
        row_ids[s] = n_rows * s / n_judged;
        is_judged[labels[row_ids[s]]] = true;
    }
    std::vector<std::int32_t> judged, others;
    for (std::int32_t c = 0; c < centers.n_centers; ++c)
        (is_judged[c] ? judged : others).push_back(c);
    moves.relate(judged, bounds.radius, crew);
    if (expected_work(row_ids, n_rows, centers, moves, labels, bounds) > too_much) return false;
    moves.relate(others, bounds.radius, crew);
    return true;
}

// As assign_and_sum, looking only at rows whose bounds do not prove their label. Without `before`,
// where the centres were on the last pass, or where bounds would not pay, every row is looked at in
// turn. Clusters' radii are measured anew with `fresh_radius`; otherwise they grow with the drift,
// which is cheaper and lasts for a few passes.
template <class In>
BoundedCounts assign_bounded(Weighted<In> data, Centers<In>& centers, const double* before,
                             std::int32_t* labels, Bounds bounds, bool fresh_radius,
                             const SumsOut& out, const Crew& crew) {
    std::optional<CenterMoves<In>> pruning;
    if (before) pruning.emplace(centers, before);
    if (before && !relate_if_it_pays(*pruning, data.rows.n_rows, centers, labels, bounds, crew))
        pruning.reset();
    const CenterMoves<In>* moves = pruning ? &*pruning : nullptr;
    consider_coarse(centers, data.rows);
    const Chunks chunks(data.rows.n_rows, centers.n_centers * centers.n_cols / 4);
    PerThread<BoundedWork<In>> works(crew.n_threads);
    const OwnDistance<In> own_distance(centers);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        works.get(worker, data, centers, moves, own_distance, labels, bounds, fresh_radius, out)
            .label_rows(chunks.begin(chunk), chunks.end(chunk));
    });
    BoundedCounts counts;
    // A proven row's upper bound grew with its centre's drift, so its cluster's radius did.
    for (std::int64_t j = 0; j < centers.n_centers; ++j)
        bounds.radius[j] = moves && !fresh_radius
                               ? bounds.radius[j] * (1 + 2e-7f) + moves->shifts[j].own_drift
                               : 0;
    works.each([&](BoundedWork<In>& work) {
        work.mover.pour_into(out);
        counts.n_changed += work.mover.n_moved;
        counts.n_scanned += work.n_scanned;
        for (std::int64_t j = 0; j < centers.n_centers; ++j)
            bounds.radius[j] = std::max(bounds.radius[j], work.radius[j]);
    });
    return counts;
}

}  // namespace coterie
