// Pruned assignment: two bounds a row prove most labels unchanged without looking at the row.
//
// Hamerly (2010) keeps for each row an upper bound on the distance to its own centre and a lower
// bound on the distance to every other; Yinyang (Ding et al. 2015) keeps a lower bound for each of
// several groups of centres, so that one restless centre does not void the rest: with one group it
// is Hamerly's. Two refinements keep the bounds tight at no memory a row:
// - a cluster's lower bounds sink only by the drift of centres near enough to matter, those within
//   twice the cluster's radius; all others are held off by their distance to the cluster's centre;
// - a row that must be looked at again is compared with the panels of those near centres only.
// Bounds are in the frame's units and rounded outwards: a pruned label is proven.
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

#include "coterie/centroid/center_moves.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/packed_bounds.hpp"

namespace coterie {

// What a pruned fit remembers between passes.
struct Bounds {
    PackedBound* upper;  // a row
    PackedBound* lower;  // a group and row
    float* radius;       // a cluster
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
    BoundedWork(int worker, Weighted<In> data, Centers<In>& centers, const CenterMoves<In>* moves,
                const OwnDistance<In>* own_distance, std::int32_t* labels, Bounds bounds,
                bool fresh_radius, const SumsOut& out, std::int64_t most_rows)
        : mover(worker, data, out, centers.n_centers),
          radius(centers.n_centers),
          data_(data),
          centers_(centers),
          moves_(moves),
          own_distance_(own_distance),
          labels_(labels),
          bounds_(bounds),
          fresh_radius_(fresh_radius),
          finder_(centers, data.rows),
          reader_(data.rows),
          rows_(new std::int64_t[most_rows]) {}

    // At most `most_rows` of them.
    void label_rows(std::int64_t begin, std::int64_t end) {
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

    Mover<Weighted<In>> mover;
    std::vector<float> radius;
    std::int64_t n_scanned = 0;

private:
    static constexpr std::int64_t n_ahead = 6;  // rows fetched before they are looked at
    static constexpr std::int64_t part = 2048;  // rows at a time where all are looked at

    void find(std::int64_t n) {
        n_scanned += n;
        const auto wanted = [&](const std::int64_t* ids, int count) { return near(ids, count); };
        finder_.find(rows_.get(), n, wanted,
                     [&](std::int64_t i, const Sighting& seen) { settle(i, seen); });
    }

    PackedBound* lower_at(std::int64_t i, std::int64_t g) const {
        return bounds_.lower + g * data_.rows.n_rows + i;
    }
    float lower_of(std::int64_t i, std::int64_t g) const { return unpack_lower(*lower_at(i, g)); }
    float upper_of(std::int64_t i) const { return unpack_upper(bounds_.upper[i]); }

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
                note(labels_[row], upper_of(row));
            }
        }
        for (; i < end; ++i) {  // fewer than a vector: all are looked at
            for (std::int64_t g = 0; g < centers_.n_groups; ++g) *lower_at(i, g) = pack_lower(0);
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
        const Vec<float> upper = (load_upper(bounds_.upper + i) + own[0]) * up;
        const Vec<float> far = own[1] - upper;
        store_upper(bounds_.upper + i, upper);
        Vec<float> least = far, drift = own[3];
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
            if (g > 0) {
                IntVec<float> c;
                std::memcpy(&c, labels_ + i, sizeof c);
                drift = gather(moves_->other_drift.data() + g * centers_.n_centers, c);
            }
            Vec<float> lower = vec_min(load_lower(lower_at(i, g)) - drift, far);
            lower -= vec_max(lower, -lower) * hair;
            store_lower(lower_at(i, g), lower);
            least = vec_min(least, lower);
        }
        return lane_bits(upper < vec_max(least, own[2]));
    }

    // Have a row on its way from memory: its first lines, the processor guesses the rest.
    void fetch_row(std::int64_t i) const {
        const In* x = data_.rows.row(i);
        const std::int64_t n = std::min<std::int64_t>(data_.rows.n_cols, 512 / sizeof(In));
        for (std::int64_t t = 0; t < n; t += 64 / sizeof(In)) prefetch(x + t);
    }

    // The upper bound may only be loose: look at each row and its own centre.
    std::int64_t keep_tight(std::int64_t n_loose) {
        std::int64_t n = 0;
        for (std::int64_t s = 0; s < n_loose; ++s) {
            const std::int64_t i = rows_[s];
            const std::int32_t c = labels_[i];
            fetch_row(rows_[std::min(s + n_ahead, n_loose - 1)]);
            const In* x = reader_.read(i);
            const float upper = own_distance_->upper(x, c);
            bounds_.upper[i] = pack_upper(upper);
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
            if (moves_->group_of[labels_[ids[r]]] == g || !(upper_of(ids[r]) < lower_of(ids[r], g)))
                return true;
        return false;
    }

    void settle(std::int64_t i, const Sighting& seen) {
        const std::int32_t before = labels_[i];
        const float far = moves_ ? moves_->shifts[before].outside - upper_of(i) : longest;
        for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
            if (seen.lane < 0)
                *lower_at(i, g) = pack_lower(seen.lower);
            else if (finder_.looked_at(g))
                *lower_at(i, g) = pack_lower(std::min(finder_.group_lower(g, seen), far));
        }
        bounds_.upper[i] = pack_upper(seen.upper);
        note(seen.label, seen.upper);
        if (seen.label == before) return;
        mover.move(i, before, seen.label);
        labels_[i] = seen.label;
    }

    void note(std::int32_t label, float upper) { radius[label] = std::max(radius[label], upper); }

    Weighted<In> data_;
    Centers<In>& centers_;
    const CenterMoves<In>* moves_;
    const OwnDistance<In>* own_distance_;  // where there are moves
    std::int32_t* labels_;
    Bounds bounds_;
    bool fresh_radius_;
    Finder<In> finder_;
    RowReader<In> reader_;
    std::unique_ptr<std::int64_t[]> rows_;  // mostly used, and so in memory, in small part only
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
        const float upper = unpack_upper(bounds.upper[i]) + moves.shifts[c].own_drift;
        if (upper < moves.shifts[c].half_gap) continue;
        for (std::int64_t g = 0; g < centers.n_groups; ++g) {
            if (upper < unpack_lower(bounds.lower[g * n_rows + i]) - moves.other_drift[g * k + c])
                continue;
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
    const CenterDistances<In> distances(centers);
    moves.relate(judged, distances, bounds.radius, crew);
    if (expected_work(row_ids, n_rows, centers, moves, labels, bounds) > too_much) return false;
    moves.relate(others, distances, bounds.radius, crew);
    return true;
}

// As assign_and_sum, looking only at rows whose bounds do not prove their label. Without `drifts`,
// how far each centre moved since the last pass (in the frame's units), or where bounds would not
// pay, every row is looked at in turn. Clusters' radii are measured anew with `fresh_radius`;
// otherwise they grow with the drift, which is cheaper and lasts for a few passes.
template <class In>
BoundedCounts assign_bounded(Weighted<In> data, Centers<In>& centers, const double* drifts,
                             std::int32_t* labels, Bounds bounds, bool fresh_radius,
                             const SumsOut& out, const Crew& crew) {
    std::optional<CenterMoves<In>> pruning;
    if (drifts) pruning.emplace(centers, drifts);
    if (drifts && !relate_if_it_pays(*pruning, data.rows.n_rows, centers, labels, bounds, crew))
        pruning.reset();
    const CenterMoves<In>* moves = pruning ? &*pruning : nullptr;
    std::optional<OwnDistance<In>> own_distance;
    if (moves) own_distance.emplace(centers);
    consider_coarse(centers, data.rows);
    const Chunks chunks(data.rows.n_rows, centers.n_centers * centers.n_cols / 4);
    PerThread<BoundedWork<In>> works(crew.n_at_work(chunks.count()), data, centers, moves,
                                     own_distance ? &*own_distance : nullptr, labels, bounds,
                                     fresh_radius, out, chunks.size);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        works[worker].label_rows(chunks.begin(chunk), chunks.end(chunk));
    });
    BoundedCounts counts;
    // A proven row's upper bound grew with its centre's drift, so its cluster's radius did.
    for (std::int64_t j = 0; j < centers.n_centers; ++j)
        bounds.radius[j] = moves && !fresh_radius
                               ? bounds.radius[j] * (1 + 2e-7f) + moves->shifts[j].own_drift
                               : 0;
    for (BoundedWork<In>& work : works) {
        work.mover.pour_into(out);
        counts.n_changed += work.mover.n_moved;
        counts.n_scanned += work.n_scanned;
        for (std::int64_t j = 0; j < centers.n_centers; ++j)
            bounds.radius[j] = std::max(bounds.radius[j], work.radius[j]);
    }
    return counts;
}

}  // namespace coterie
