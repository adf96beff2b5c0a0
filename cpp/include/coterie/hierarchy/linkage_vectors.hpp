// Ward, centroid and median linkage straight from rows: a cluster is its centre, and memory O(n d).
//
// Ward's rule is reducible, so all pairs nearest to each other are joined in rounds, as on the
// triangle. A cluster keeps its nearest for as long as that lives; when it is joined to another,
// the old distance is still a lower bound, which the union often meets. Centroid and median linkage
// join one closest pair at a time and offer each union to all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "coterie/hierarchy/center_scan.hpp"
#include "coterie/hierarchy/linkage_merges.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// What the two ways share: clusters in slots, each with a centre.
class VectorClusters {
public:
    using Slot = std::int32_t;
    static constexpr Slot none = -1;

    struct Cluster {
        Slot row = 0;  // one of its rows
        double size = 1;
        double height = 0;
        NearCenter nearest;
        bool alive = true;
    };

    VectorClusters(ClusterCenters centers, const double* sizes, double scale, const Crew& crew)
        : centers(std::move(centers)), scale_(scale), crew(crew), clusters(this->centers.count()) {
        n_alive = this->centers.count();
        for (std::int64_t i = 0; i < n_alive; ++i) {
            clusters[i].row = static_cast<Slot>(i);
            if (sizes) clusters[i].size = sizes[i];
        }
        merges.reserve(n_alive);
    }

    void record(Slot a, Slot b, double sq_height, bool monotone) {
        double height = std::sqrt(sq_height) / scale_;
        if (!(height == height)) height = std::numeric_limits<double>::infinity();
        // Rounding must not put a union below its parts.
        if (monotone) height = std::max({height, clusters[a].height, clusters[b].height});
        merges.push_back({height, clusters[a].row, clusters[b].row});
        clusters[a].height = height;
    }

    // Slot a becomes the union, `share` of the way from its centre to that of b, which dies.
    void unite(Slot a, Slot b, double share, double inverse) {
        double* to = centers.center(a);
        const double* from = centers.center(b);
        for (std::int64_t t = 0; t < centers.n_cols(); ++t)
            to[t] += rounded((from[t] - to[t]) * share);
        centers.inverse(a) = inverse;
        clusters[a].size += clusters[b].size;
        clusters[b].alive = false;
        centers.repack(a);
        centers.hide(b);
        --n_alive;
    }

    // Close the gaps the dead leave, once there are many; true where that moved clusters.
    bool drop_dead() {
        const auto n_slots = static_cast<std::int64_t>(clusters.size());
        if (n_alive < 2 || n_alive * 8 > n_slots * 7) return false;
        std::vector<Slot> kept, moved(n_slots, none);
        for (Slot i = 0; i < n_slots; ++i)
            if (clusters[i].alive) {
                moved[i] = static_cast<Slot>(kept.size());
                kept.push_back(i);
            }
        for (std::size_t k = 0; k < kept.size(); ++k) {
            clusters[k] = clusters[kept[k]];
            Slot& nearest = clusters[k].nearest.slot;
            if (nearest != none) nearest = moved[nearest];
        }
        clusters.resize(kept.size());
        centers.keep(kept);
        return true;
    }

    void find_nearest_of(std::span<const Slot> queries) {
        std::vector<NearCenter> near(queries.size());
        for (std::size_t q = 0; q < queries.size(); ++q) {
            near[q] = clusters[queries[q]].nearest;
            if (near[q].slot == none) near[q] = any_other(queries[q]);
        }
        find_nearest(centers, queries, near.data(), crew);
        for (std::size_t q = 0; q < queries.size(); ++q) clusters[queries[q]].nearest = near[q];
    }

    void find_missing_nearest() {
        std::vector<Slot> missing;
        for (Slot i = 0; i < static_cast<Slot>(clusters.size()); ++i)
            if (clusters[i].alive && clusters[i].nearest.slot == none) missing.push_back(i);
        find_nearest_of(missing);
    }

    NearCenter any_other(Slot i) const {
        const auto n_slots = static_cast<Slot>(clusters.size());
        Slot other = i + 1 < n_slots ? i + 1 : 0;
        while (!clusters[other].alive || other == i) other = other + 1 < n_slots ? other + 1 : 0;
        return {centers.dist(i, other), other};
    }

    ClusterCenters centers;
    double scale_;
    const Crew& crew;
    std::vector<Cluster> clusters;  // by slot
    std::int64_t n_alive;
    std::vector<Merge> merges;
};

class WardLinkage {
public:
    using Slot = VectorClusters::Slot;

    // `first` is the nearest other row of each, where that is known.
    WardLinkage(ClusterCenters centers, const double* sizes, double scale,
                const std::int64_t* first, const Crew& crew)
        : all_(std::move(centers), sizes, scale, crew) {
        if (!first) return;
        for (std::int64_t i = 0; i < all_.n_alive; ++i)
            all_.clusters[i].nearest = {all_.centers.dist(i, first[i]),
                                        static_cast<Slot>(first[i])};
    }

    std::vector<Merge> run() {
        Patience patience(all_.crew);
        if (all_.n_alive > 1) all_.find_missing_nearest();
        while (all_.n_alive > 1) {
            patience.ask();
            const std::vector<Slot> unions = join_all_mutual();
            if (all_.n_alive > 1) find_lost_nearest(unions);
            all_.drop_dead();
        }
        sort_merges(all_.merges);
        return std::move(all_.merges);
    }

private:
    static constexpr Slot none = VectorClusters::none;

    // Join all pairs nearest to each other; the slots of the unions.
    std::vector<Slot> join_all_mutual() {
        auto& clusters = all_.clusters;
        std::vector<Slot> unions;
        joined_to_.assign(clusters.size(), none);
        for (Slot i = 0; i < static_cast<Slot>(clusters.size()); ++i) {
            if (!clusters[i].alive || joined_to_[i] != none) continue;
            const NearCenter nearest = clusters[i].nearest;
            if (joined_to_[nearest.slot] != none ||
                nearest.dist > clusters[nearest.slot].nearest.dist)
                continue;
            const auto [a, b] = std::minmax(i, nearest.slot);
            joined_to_[a] = joined_to_[b] = a;
            const double n_a = clusters[a].size, n_b = clusters[b].size;
            all_.record(a, b, 2 * nearest.dist, true);
            all_.unite(a, b, n_b / (n_a + n_b), 1 / (n_a + n_b));
            unions.push_back(a);
        }
        return unions;
    }

    void find_lost_nearest(const std::vector<Slot>& unions) {
        auto& clusters = all_.clusters;
        std::vector<Slot> asking;
        for (const Slot a : unions) clusters[a].nearest = {};
        for (Slot i = 0; i < static_cast<Slot>(clusters.size()); ++i) {
            if (!clusters[i].alive) continue;
            NearCenter& nearest = clusters[i].nearest;
            if (nearest.slot == none) {
                asking.push_back(i);
            } else if (joined_to_[nearest.slot] != none) {
                const Slot joined = joined_to_[nearest.slot];
                const NearCenter found{all_.centers.dist(i, joined), joined};
                if (found.dist > nearest.dist) asking.push_back(i);
                nearest = found;
            }
        }
        all_.find_nearest_of(asking);
    }

    VectorClusters all_;
    std::vector<Slot> joined_to_;  // slot of the union a cluster went into in this round
};

class MidpointLinkage {
public:
    using Slot = VectorClusters::Slot;

    // Unions lie at the mean of their rows (centroid) or halfway between their parts (median).
    MidpointLinkage(ClusterCenters centers, const double* sizes, double scale, bool halfway,
                    const Crew& crew)
        : all_(std::move(centers), sizes, scale, crew), halfway_(halfway) {}

    std::vector<Merge> run() {
        Patience patience(all_.crew);
        if (all_.n_alive > 1) {
            all_.find_missing_nearest();
            set_limits();
        }
        while (all_.n_alive > 1) {
            patience.ask();
            const Slot closest = find_closest();
            Cluster& cluster = all_.clusters[closest];
            if (cluster.nearest.slot == none) {
                all_.find_nearest_of({&closest, 1});
                limits_[closest] = all_.centers.limit_of(cluster.nearest.dist);
                continue;
            }
            join(std::min(closest, cluster.nearest.slot), std::max(closest, cluster.nearest.slot),
                 cluster.nearest.dist);
            if (all_.drop_dead()) set_limits();
        }
        return std::move(all_.merges);
    }

private:
    using Cluster = VectorClusters::Cluster;
    static constexpr Slot none = VectorClusters::none;
    static constexpr float no_limit = -1;

    Slot find_closest() const {
        Slot closest = none;
        double least = std::numeric_limits<double>::infinity();
        for (Slot i = 0; i < static_cast<Slot>(all_.clusters.size()); ++i)
            if (all_.clusters[i].alive &&
                (closest == none || all_.clusters[i].nearest.dist < least))
                closest = i, least = all_.clusters[i].nearest.dist;
        return closest;
    }

    void set_limits() {
        limits_.assign(all_.centers.n_tiles() * ClusterCenters::width, no_limit);
        for (std::size_t i = 0; i < all_.clusters.size(); ++i)
            limits_[i] = all_.centers.limit_of(all_.clusters[i].nearest.dist);
    }

    void join(Slot a, Slot b, double sq_dist) {
        auto& clusters = all_.clusters;
        const double n_a = clusters[a].size, n_b = clusters[b].size;
        all_.record(a, b, sq_dist, false);
        all_.unite(a, b, halfway_ ? 0.5 : n_b / (n_a + n_b), 0.5);
        clusters[a].nearest = {};
        limits_[b] = no_limit;
        if (all_.n_alive < 2) return;
        for (Cluster& cluster : clusters)
            if (cluster.nearest.slot == a || cluster.nearest.slot == b) cluster.nearest.slot = none;
        offer(a);
    }

    // Find the nearest of a new union, and be it for those to whom it is nearer than any other.
    void offer(Slot a) {
        NearCenter nearest = all_.any_other(a);
        all_.centers.scan_limits(a, nearest.dist, limits_.data(), 0, all_.centers.n_tiles(),
                                 [&](Slot x, double dist) {
                                     Cluster& other = all_.clusters[x];
                                     const NearCenter found{dist, x};
                                     if (found.comes_before(nearest)) nearest = found;
                                     if (dist > other.nearest.dist) return;
                                     other.nearest = {dist, a};
                                     limits_[x] = all_.centers.limit_of(dist);
                                 });
        all_.clusters[a].nearest = nearest;
        limits_[a] = all_.centers.limit_of(nearest.dist);
    }

    VectorClusters all_;
    bool halfway_;
    AlignedVector<float> limits_;  // computed squares beyond these are no news to a slot
};

// Merges of the clusters of n rows; `sizes` are the weights of the rows, or null for ones. Rows are
// copied as (x - shift) * scale, where no square may overflow. `first` may tell Ward's rule the
// nearest other row of each.
template <class In>
std::vector<Merge> link_vectors(std::string_view method, Matrix<const In> rows, const double* sizes,
                                const double* shift, double scale, const std::int64_t* first,
                                const Crew& crew) {
    // Shifted and scaled rows lie within about one of zero, unless they have changed since: what is
    // far out would be taken for the places of the dead.
    const auto within_reach = [](double value) { return std::fabs(value) <= 0x1p20 ? value : 0; };
    std::vector<double> values(rows.n_rows * rows.n_cols), inverse(rows.n_rows, 0.5);
    for (std::int64_t i = 0; i < rows.n_rows; ++i)
        for (std::int64_t t = 0; t < rows.n_cols; ++t)
            values[i * rows.n_cols + t] = within_reach(
                rounded(static_cast<double>(rows.at(i, t)) * scale) - rounded(shift[t] * scale));
    if (method == "ward")
        for (std::int64_t i = 0; i < rows.n_rows; ++i) inverse[i] = sizes ? 1 / sizes[i] : 1;
    ClusterCenters centers(std::move(values), std::move(inverse), rows.n_cols);
    if (method == "ward") return WardLinkage(std::move(centers), sizes, scale, first, crew).run();
    return MidpointLinkage(std::move(centers), sizes, scale, method == "median", crew).run();
}

}  // namespace coterie
