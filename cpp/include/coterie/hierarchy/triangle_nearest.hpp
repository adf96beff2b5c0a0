// The nearest of every row of a triangle of distances, in one pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "coterie/simd/simd.hpp"

namespace coterie {

// Ties go to the lower slot.
template <class Real>
struct TriangleNeighbor {
    Real dist = std::numeric_limits<Real>::infinity();
    std::int32_t slot = std::numeric_limits<std::int32_t>::max();

    bool comes_before(const TriangleNeighbor& other) const {
        return dist < other.dist || (dist == other.dist && slot < other.slot);
    }
    void take(const TriangleNeighbor& other) {
        if (other.comes_before(*this)) *this = other;
    }
};

// The nearest of each cluster, from rows of the triangle that each worker visits in order.
template <class Real>
class AllNearest {
public:
    AllNearest(std::int64_t n, int n_workers) : of_worker_(n_workers) {
        for (Found& found : of_worker_) {
            found.dist.assign(n, std::numeric_limits<Real>::infinity());
            found.slot.assign(n, std::numeric_limits<std::int32_t>::max());
        }
    }

    void visit_row(std::int64_t i, const Real* later, int worker) {
        Found& found = of_worker_[worker];
        const auto count = static_cast<std::int64_t>(found.dist.size()) - i - 1;
        const Real least = offer(i, later, count, &found.dist[i] + 1, &found.slot[i] + 1);
        if (!(least < found.dist[i])) return;
        found.dist[i] = least;
        found.slot[i] = i + 1 + (std::find(later, later + count, least) - later);
    }
    TriangleNeighbor<Real> of(std::int64_t i) const {
        TriangleNeighbor<Real> nearest;
        for (const Found& found : of_worker_)
            nearest.take({found.dist[i], static_cast<std::int32_t>(found.slot[i])});
        return nearest;
    }

private:
    using Int = typename Simd<Real>::Int;
    struct Found {
        AlignedVector<Real> dist;
        AlignedVector<Int> slot;
    };

    // Be the nearest of those to whom none was as near; the least distance.
    static Real offer(std::int64_t i, const Real* later, std::int64_t count, Real* dist,
                      Int* slot) {
        constexpr int lanes = Simd<Real>::lanes;
        const IntVec<Real> self = IntVec<Real>{} + static_cast<Int>(i);
        Vec<Real> least = broadcast(std::numeric_limits<Real>::infinity());
        std::int64_t k = 0;
        for (; k + lanes <= count; k += lanes) {
            const Vec<Real> offered = load(later + k), known = load(dist + k);
            IntVec<Real> who;
            std::memcpy(&who, slot + k, sizeof who);
            who = offered < known ? self : who;
            std::memcpy(slot + k, &who, sizeof who);
            store(dist + k, vec_min(offered, known));
            least = vec_min(least, offered);
        }
        Real smallest = least[0];
        for (int lane = 1; lane < lanes; ++lane) smallest = std::min(smallest, Real(least[lane]));
        for (; k < count; ++k) {
            smallest = std::min(smallest, later[k]);
            if (!(later[k] < dist[k])) continue;
            dist[k] = later[k];
            slot[k] = static_cast<Int>(i);
        }
        return smallest;
    }

    std::vector<Found> of_worker_;
};

}  // namespace coterie
