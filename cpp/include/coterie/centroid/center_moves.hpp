// How the centres of a pass lie to each other, and how they moved since the last one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/centroid/finder.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

namespace detail {

// Squares below the smallest normal float lose digits: what that can do to a distance.
inline constexpr float blur = 1.1e-19f;

}  // namespace detail

// Lower bounds on the distances between centres. O(k d) time for those of one.
template <class In>
class CenterDistances {
public:
    explicit CenterDistances(const Centers<In>& centers)
        : padded((centers.n_centers + lanes - 1) / lanes * lanes),
          n_cols_(centers.n_cols),
          relative_(1 - static_cast<float>(n_cols_ + 8) * eps),
          slack_(2 * eps * centers.fast.max_norm() + detail::blur),
          columns_(padded * n_cols_) {
        for (std::int64_t j = 0; j < centers.n_centers; ++j)
            for (std::int64_t t = 0; t < n_cols_; ++t)
                columns_[(j / lanes * n_cols_ + t) * lanes + j % lanes] =
                    static_cast<float>(in_frame(centers.values[j * n_cols_ + t], centers.frame, t));
    }

    // Distances of centre c to all others, at least; `dists` has room for `padded` of them.
    void measure(std::int64_t c, float* dists) const {
        const float* own = columns_.data() + c / lanes * n_cols_ * lanes + c % lanes;
        std::int64_t first = 0;
        for (; first + at_once * lanes <= padded; first += at_once * lanes)
            sum_squares<at_once>(own, first, dists);
        for (; first < padded; first += lanes) sum_squares<1>(own, first, dists);
        for (std::int64_t j = 0; j < padded; ++j) {
            // Not a number where centres lie beyond all floats: then anything is possible.
            const float apart = std::sqrt(dists[j]) * relative_ - slack_;
            dists[j] = apart == apart ? apart : 0;
        }
    }

    std::int64_t work() const { return padded * n_cols_; }  // multiply-adds of `measure`

    const std::int64_t padded;  // centres in whole vectors

private:
    static constexpr int lanes = Simd<float>::lanes;
    static constexpr int at_once = 4;  // vectors of centres, so that no sum waits for itself

    template <int n_vecs>
    void sum_squares(const float* own, std::int64_t first, float* sq_dists) const {
        const float* others = columns_.data() + first * n_cols_;
        Vec<float> sum[n_vecs] = {};
        for (std::int64_t t = 0; t < n_cols_ * lanes; t += lanes) {
            const Vec<float> x = broadcast(own[t]);
#pragma GCC unroll 4
            for (int v = 0; v < n_vecs; ++v) {
                const Vec<float> diff = load(others + v * n_cols_ * lanes + t) - x;
                sum[v] += diff * diff;
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < n_vecs; ++v) store(sq_dists + first + v * lanes, sum[v]);
    }

    static constexpr float eps = std::numeric_limits<float>::epsilon();

    std::int64_t n_cols_;
    float relative_, slack_;        // what rounding to float may have done
    AlignedVector<float> columns_;  // centres in lanes
};

// What the rows of each cluster must know of the other centres.
template <class In>
class CenterMoves {
public:
    // `drifts`: how far each centre moved, in the frame's units.
    CenterMoves(const Centers<In>& centers, const double* drifts)
        : shifts(centers.n_centers),
          other_drift(centers.n_centers * centers.n_groups),
          group_of(centers.n_centers),
          n_words((centers.fast.n_panels() + 63) / 64),
          near_panels(centers.n_centers * n_words),
          n_groups_(centers.n_groups),
          panel_of_(centers.n_centers) {
        const std::int64_t k = centers.n_centers;
        for (std::int64_t j = 0; j < k; ++j) shifts[j].own_drift = round_up(drifts[j]);
        centers.fast.each_id([&](std::int64_t panel, std::int64_t id) { panel_of_[id] = panel; });
        for (std::int64_t g = 0; g < centers.n_groups; ++g)
            for (std::int64_t j = 0; j < k; ++j)
                if (panel_of_[j] >= centers.group(g).begin && panel_of_[j] < centers.group(g).end)
                    group_of[j] = g;
    }

    // Relate these clusters' centres to all others, given each cluster's radius (the largest upper
    // bound among its rows, before the move).
    void relate(const std::vector<std::int32_t>& clusters, const CenterDistances<In>& distances,
                const float* radius, const Crew& crew) {
        const auto n = static_cast<std::int64_t>(clusters.size());
        const Chunks chunks(n, distances.work());
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            std::vector<float> dists(distances.padded);
            for (std::int64_t s = chunks.begin(chunk); s < chunks.end(chunk); ++s) {
                distances.measure(clusters[s], dists.data());
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
    static float round_up(double v) {
        return static_cast<float>(v * (1 + 1e-6)) + std::numeric_limits<float>::min();
    }

    // What the centres near cluster c did, and how far the others are.
    void look_around(std::int64_t c, float radius, const float* dists) {
        const auto k = static_cast<std::int64_t>(shifts.size());
        const float near = 2.0001f * (radius + shifts[c].own_drift);
        std::uint64_t* panels = near_panels.data() + c * n_words;
        float far = longest, gap = far;
        for (std::int64_t g = 0; g < n_groups_; ++g) other_drift[g * k + c] = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            if (j == c) continue;
            gap = std::min(gap, dists[j]);
            // Written so that an infinite radius makes every centre near.
            if (!(dists[j] > near)) {
                float& drift = other_drift[group_of[j] * k + c];
                drift = std::min(longest, std::max(drift, shifts[j].own_drift));
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

    std::int64_t n_groups_;
    std::vector<std::int64_t> panel_of_;
};

}  // namespace coterie
