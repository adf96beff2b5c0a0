// Farthest-first traversal: the row farthest from all centres so far.
//
// A row's distance to its nearest centre only falls as centres come, so what was measured to the
// first few of them bounds it from above, and only rows whose bound reaches the farthest row known
// are measured to the others (lazy evaluation, Minoux 1978). The farthest row is that of measuring
// everything, whatever the order of the rows' visits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

inline constexpr std::int64_t far_block = 256;  // rows that share the bound of `tops`

inline std::int64_t n_far_blocks(std::int64_t n_rows) {
    return (n_rows + far_block - 1) / far_block;
}

// What is kept between calls: of each row the squared distance, times scale^2, to the nearest of
// the first `n_seen` centres, and of each block the largest of its rows that have weight.
struct FarBounds {
    double* sq_dists;
    std::int32_t* n_seen;
    double* tops;
};

struct FarRow {
    std::int64_t row;  // -1 where no row with weight is away from the centres
    double sq_dist;
};

template <class In>
class FarthestSearch {
public:
    FarthestSearch(Weighted<In> data, double scale, const double* centers, std::int64_t n_centers,
                   FarBounds bounds)
        : data_(data),
          centers_(centers, n_centers, data.rows.n_cols, scale),
          n_centers_(static_cast<std::int32_t>(n_centers)),
          bounds_(bounds) {}

    FarRow find(const Crew& crew) {
        std::vector<std::int64_t> blocks(n_far_blocks(data_.rows.n_rows));
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b] = b;
        // The most promising blocks first: what they hold spares the others.
        const auto n_first = std::min<std::size_t>(blocks.size(), 16);
        std::partial_sort(
            blocks.begin(), blocks.begin() + n_first, blocks.end(),
            [&](std::int64_t a, std::int64_t b) { return bounds_.tops[a] > bounds_.tops[b]; });
        for (std::size_t at = 0; at < n_first; ++at) visit(blocks[at]);
        const double known = best_;
        const auto end = std::remove_if(blocks.begin() + n_first, blocks.end(),
                                        [&](std::int64_t b) { return bounds_.tops[b] < known; });
        const std::int64_t n_left = end - blocks.begin() - n_first;
        constexpr std::int64_t each = 16;
        crew.run((n_left + each - 1) / each, [&](std::int64_t chunk, int) {
            for (std::int64_t at = chunk * each; at < std::min(n_left, (chunk + 1) * each); ++at)
                visit(blocks[n_first + at]);
        });
        return first_at(best_);
    }

private:
    // Bring the rows of a block up to date whose bound reaches the best row known.
    void visit(std::int64_t block) {
        const double known = best_.load(std::memory_order_relaxed);
        if (bounds_.tops[block] < known) return;
        const std::int64_t begin = block * far_block;
        const std::int64_t end = std::min(data_.rows.n_rows, begin + far_block);
        RowReader<In> reader(data_.rows);
        double top = 0, found = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            if (data_.weights && !(data_.weights[i] > 0)) continue;
            double& bound = bounds_.sq_dists[i];
            if (bound >= known && bounds_.n_seen[i] < n_centers_) {
                bound = std::min(bound, centers_.least(reader.read(i), bounds_.n_seen[i]));
                bounds_.n_seen[i] = n_centers_;
            }
            top = std::max(top, bound);
            if (bounds_.n_seen[i] == n_centers_) found = std::max(found, bound);
        }
        bounds_.tops[block] = top;
        double best = known;
        while (best < found && !best_.compare_exchange_weak(best, found)) {
        }
    }

    // No bound is larger than the best by now, and a row that reaches it is up to date.
    FarRow first_at(double best) const {
        const std::int64_t n_blocks = n_far_blocks(data_.rows.n_rows);
        for (std::int64_t block = 0; best > 0 && block < n_blocks; ++block) {
            if (bounds_.tops[block] < best) continue;
            for (std::int64_t i = block * far_block;; ++i)
                if (bounds_.sq_dists[i] == best && (!data_.weights || data_.weights[i] > 0))
                    return {i, best};
        }
        return {-1, 0};
    }

    Weighted<In> data_;
    DirectCenters centers_;
    std::int32_t n_centers_;
    FarBounds bounds_;
    std::atomic<double> best_{0};
};

}  // namespace coterie
