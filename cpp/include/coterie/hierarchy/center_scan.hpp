// Nearest of weighted centres: a quick look in float32, the direct form in float64 decides.
//
// The distance of two centres a and b is |a - b|^2 / (s_a + s_b). Ward's is that with s = 1 / size,
// centroid and median linkage have s = 1/2. All centres have been shifted and scaled so that none
// is longer than `reach`.
//
// In float32 each coordinate is off by u times its size at most, so that with R = 2 reach the
// computed length errs by u R and by (d + 3) u / 2 of itself. By (x + y)^2 <= (1 + e) x^2 +
// (1 + 1/e) y^2 a pair whose computed square exceeds (1 + e) best (s_a + s_b) + (1 + 1/e) (u R)^2,
// with e = 1/128 and more in very many columns, is farther than `best`. Only the others are
// looked at again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Ties go to the lower slot.
struct NearCenter {
    double dist = std::numeric_limits<double>::infinity();
    std::int32_t slot = -1;

    bool comes_before(const NearCenter& other) const {
        return dist < other.dist || (dist == other.dist && slot < other.slot);
    }
};

class ClusterCenters {
public:
    static constexpr int width = 2 * Simd<float>::lanes;

    // `values` holds n x d numbers, row by row; `inverse` is s of each.
    ClusterCenters(std::vector<double> values, std::vector<double> inverse, std::int64_t n_cols)
        : n_cols_(n_cols), values_(std::move(values)), inverse_(std::move(inverse)) {
        double sq_reach = 0;
        for (std::int64_t i = 0; i < count(); ++i) {
            double sq_norm = 0;
            for (std::int64_t t = 0; t < n_cols; ++t) sq_norm += center(i)[t] * center(i)[t];
            sq_reach = std::max(sq_reach, sq_norm);
        }
        slack_ = 1 + 1.0 / 128 + static_cast<double>(n_cols + 8) * 0x1p-21;
        // (1 + 128) u^2 (2 reach)^2 with u = 2^-24, and what is lost below the normal numbers.
        least_ = static_cast<float>(sq_reach * 0x1p-38) + 1e-30f;
        pack();
    }

    std::int64_t count() const { return static_cast<std::int64_t>(inverse_.size()); }
    std::int64_t n_cols() const { return n_cols_; }
    double* center(std::int64_t i) { return values_.data() + i * n_cols_; }
    const double* center(std::int64_t i) const { return values_.data() + i * n_cols_; }
    double& inverse(std::int64_t i) { return inverse_[i]; }
    Matrix<const double> rows() const { return {values_.data(), count(), n_cols_, n_cols_, 1}; }

    // Symmetric to the bit; columns are summed in order.
    double dist(std::int64_t i, std::int64_t j) const {
        const double *a = center(i), *b = center(j);
        double sum = 0;
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            const double gap = a[t] - b[t];
            sum += rounded(gap * gap);
        }
        return sum / (inverse_[i] + inverse_[j]);
    }

    // To be called when a centre has moved, or is to be found no more.
    void repack(std::int64_t i) { put(i, center(i), static_cast<float>(inverse_[i])); }
    void hide(std::int64_t i) {
        put(i, nullptr, 0);
        *cell(i, 0) = far_away;
    }

    // Keep these centres only, in this order, which is that of their slots.
    void keep(std::span<const std::int32_t> slots) {
        for (std::size_t k = 0; k < slots.size(); ++k) {
            std::copy_n(center(slots[k]), n_cols_, center(static_cast<std::int64_t>(k)));
            inverse_[k] = inverse_[slots[k]];
        }
        inverse_.resize(slots.size());
        values_.resize(slots.size() * n_cols_);
        pack();
    }

    std::int64_t n_tiles() const { return (count() + width - 1) / width; }

    // Lower `near[q]` to the nearest of what it holds and the centres in these tiles, for each
    // query (a slot, which is not near itself).
    void scan(std::span<const std::int32_t> queries, std::int64_t first_tile, std::int64_t end_tile,
              NearCenter* near) const {
        // A strip of tiles stays in the cache while all queries go by.
        const std::int64_t strip = std::max<std::int64_t>(1, (1 << 15) / (n_cols_ * width));
        for (std::int64_t begin = first_tile; begin < end_tile; begin += strip) {
            const std::int64_t end = std::min(end_tile, begin + strip);
            std::size_t q = 0;
            for (; q + 4 <= queries.size(); q += 4)
                scan_strip<4>(&queries[q], begin, end, near + q);
            for (; q < queries.size(); ++q) scan_strip<1>(&queries[q], begin, end, near + q);
        }
    }

    // visit(slot, dist) for all centres but the query whose distance may be at most `limit` of them
    // or at most `own`; limits must have room for whole tiles.
    template <class Visit>
    void scan_limits(std::int32_t query, double own, const float* limits, std::int64_t first_tile,
                     std::int64_t end_tile, const Visit& visit) const {
        constexpr int lanes = Simd<float>::lanes;
        const Query asked(*this, query);
        const Vec<float> own_limit = broadcast(limit_of(own));
        for (std::int64_t tile = first_tile; tile < end_tile; ++tile) {
            const Query* ask = &asked;
            Vec<float> sum[1][2];
            squares<1>(&ask, tile, sum);
            std::uint32_t bits = 0;
            for (int half = 0; half < 2; ++half) {
                const Vec<float> limit =
                    vec_max(own_limit, load(limits + tile * width + half * lanes));
                bits |= lane_bits(sum[0][half] <= limit) << (half * lanes);
            }
            for (; bits != 0; bits &= bits - 1) {
                const std::int64_t slot = tile * width + std::countr_zero(bits);
                if (slot != query) visit(static_cast<std::int32_t>(slot), dist(query, slot));
            }
        }
    }

    // The largest computed square of a pair at most this far apart, for s = 1/2.
    float limit_of(double dist) const {
        const double limit = dist * slack_ + static_cast<double>(least_);
        return static_cast<float>(std::min(limit, 1e37));
    }

private:
    static constexpr float far_away = 1e18f;

    // A centre in float32, and how far it looks.
    struct Query {
        std::int32_t slot = 0;
        std::vector<float> at;

        Query() = default;
        Query(const ClusterCenters& centers, std::int32_t slot) : slot(slot), at(centers.n_cols_) {
            std::copy_n(centers.center(slot), centers.n_cols_, at.begin());
        }
    };

    float* cell(std::int64_t i, std::int64_t t) {
        return tiles_.data() + (i / width * n_cols_ + t) * width + i % width;
    }

    void put(std::int64_t i, const double* center, float inverse) {
        for (std::int64_t t = 0; t < n_cols_; ++t)
            *cell(i, t) = center ? static_cast<float>(center[t]) : 0;
        inverses_[i] = inverse;
    }

    void pack() {
        tiles_.assign(n_tiles() * n_cols_ * width, 0);
        inverses_.assign(n_tiles() * width, 0);
        for (std::int64_t i = 0; i < count(); ++i) repack(i);
        for (std::int64_t i = count(); i < n_tiles() * width; ++i) *cell(i, 0) = far_away;
    }

    // Computed squares of the lengths from some queries to the centres of a tile.
    template <int n>
    void squares(const Query* const* queries, std::int64_t tile, Vec<float> (&sum)[n][2]) const {
        constexpr int lanes = Simd<float>::lanes;
        const float* column = tiles_.data() + tile * n_cols_ * width;
        const float* at[n];
        for (int q = 0; q < n; ++q) {
            at[q] = queries[q]->at.data();
            sum[q][0] = sum[q][1] = Vec<float>{};
        }
        for (std::int64_t t = 0; t < n_cols_; ++t, column += width) {
            const Vec<float> x0 = load(column), x1 = load(column + lanes);
#pragma GCC unroll 4
            for (int q = 0; q < n; ++q) {
                const Vec<float> y = broadcast(at[q][t]);
                const Vec<float> gap0 = x0 - y, gap1 = x1 - y;
                sum[q][0] += gap0 * gap0;
                sum[q][1] += gap1 * gap1;
            }
        }
    }

    template <int n>
    void scan_strip(const std::int32_t* slots, std::int64_t begin, std::int64_t end,
                    NearCenter* near) const {
        constexpr int lanes = Simd<float>::lanes;
        Query queries[n];
        const Query* asked[n];
        float slope[n], base[n];
        const auto look = [&](int q) {
            const double best = std::min(near[q].dist * slack_, 1e37);
            slope[q] = static_cast<float>(best);
            base[q] = static_cast<float>(best * inverse_[slots[q]]) + least_;
        };
        for (int q = 0; q < n; ++q) {
            queries[q] = Query(*this, slots[q]);
            asked[q] = &queries[q];
            look(q);
        }
        for (std::int64_t tile = begin; tile < end; ++tile) {
            Vec<float> sum[n][2];
            squares<n>(asked, tile, sum);
            const Vec<float> s0 = load(inverses_.data() + tile * width);
            const Vec<float> s1 = load(inverses_.data() + tile * width + lanes);
            for (int q = 0; q < n; ++q) {
                const Vec<float> k = broadcast(slope[q]), c = broadcast(base[q]);
                const auto close0 = sum[q][0] <= k * s0 + c, close1 = sum[q][1] <= k * s1 + c;
                std::uint32_t bits = lane_bits(close0 | close1);
                if (bits == 0) [[likely]]
                    continue;
                bits = lane_bits(close0) | lane_bits(close1) << lanes;
                for (; bits != 0; bits &= bits - 1) {
                    const auto slot =
                        static_cast<std::int32_t>(tile * width + std::countr_zero(bits));
                    if (slot == slots[q]) continue;
                    const NearCenter found{dist(slots[q], slot), slot};
                    if (found.comes_before(near[q])) near[q] = found;
                }
                look(q);
            }
        }
    }

    std::int64_t n_cols_;
    std::vector<double> values_;   // of each centre
    std::vector<double> inverse_;  // s of each centre
    double slack_;
    float least_;
    AlignedVector<float> tiles_;     // the centres in float32, `width` of them in lanes
    AlignedVector<float> inverses_;  // s in float32
};

// The nearest of every query; near[q] may hold a first guess. Any number of threads finds the same.
inline void find_nearest(const ClusterCenters& centers, std::span<const std::int32_t> queries,
                         NearCenter* near, const Crew& crew) {
    const auto n_queries = static_cast<std::int64_t>(queries.size());
    constexpr std::int64_t n_together = 64;
    const std::int64_t n_groups = (n_queries + n_together - 1) / n_together;
    const std::int64_t work = centers.count() * centers.n_cols();
    // Few queries: cut the centres to pieces instead, where these are worth a thread's waking.
    const std::int64_t n_pieces =
        n_groups > 4 ? 1
                     : std::clamp<std::int64_t>(work * std::min(n_queries, n_together) >> 19, 1,
                                                std::min<std::int64_t>(8, centers.n_tiles()));
    std::vector<NearCenter> found(n_queries * n_pieces);
    const auto scan = [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunk / n_pieces * n_together, piece = chunk % n_pieces;
        const std::int64_t end = std::min(n_queries, begin + n_together);
        NearCenter* to = found.data() + piece * n_queries + begin;
        std::copy(near + begin, near + end, to);
        centers.scan(queries.subspan(begin, end - begin), centers.n_tiles() * piece / n_pieces,
                     centers.n_tiles() * (piece + 1) / n_pieces, to);
    };
    if (n_groups * n_pieces == 1)
        scan(0, 0);
    else
        crew.run(n_groups * n_pieces, scan);
    for (std::int64_t piece = 0; piece < n_pieces; ++piece)
        for (std::int64_t q = 0; q < n_queries; ++q)
            if (found[piece * n_queries + q].comes_before(near[q]))
                near[q] = found[piece * n_queries + q];
}

}  // namespace coterie
