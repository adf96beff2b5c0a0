// Prim (1957): the tree takes in the nearest outside row, again and again.
//
// Rows outside stay packed in tiles; a row that is taken in leaves its slot to the last one. Each
// step compares the row just taken with all outside: n^2 / 2 distances, O(n) memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/edges.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

template <class Sum, class In>
class Prim {
public:
    Prim(const Sum& sum, const Metric& metric, Matrix<const In> rows, const double* cores,
         const Crew& crew)
        : sum_(sum),
          metric_(metric),
          cores_(cores),
          crew_(crew),
          n_rows_(rows.n_rows),
          n_cols_(rows.n_cols),
          tiles_((rows.n_rows + tile - 1) / tile * tile * n_cols_ + packed_slack),
          outside_(rows.n_rows),
          least_(rows.n_rows),
          useful_(rows.n_rows, std::numeric_limits<double>::infinity()) {
        std::iota(outside_.begin(), outside_.end(), 0);
        for (std::int64_t i = 0; i < rows.n_rows; ++i)
            for (std::int64_t t = 0; t < n_cols_; ++t) *cell(i, t) = rows.at(i, t);
    }

    std::vector<Edge> run() {
        std::vector<Edge> edges;
        edges.reserve(outside_.size());
        std::vector<double> point(n_cols_);
        std::int64_t slot = 0;
        Patience patience(crew_);
        while (true) {
            const std::int32_t taken = take(slot, point.data());
            if (outside_.empty()) return edges;
            slot = compare_with(taken, point.data());
            // Where all distances are NaN nothing was offered.
            edges.push_back(least_[slot].tail < n_rows_
                                ? least_[slot]
                                : Edge::between(least_[slot].length, taken, outside_[slot]));
            patience.ask();
        }
    }

private:
    static constexpr std::int64_t tile = 64;

    In* cell(std::int64_t slot, std::int64_t t) {
        return tiles_.data() + (slot / tile * n_cols_ + t) * tile + slot % tile;
    }

    std::int32_t take(std::int64_t slot, double* point) {
        const std::int32_t row = outside_[slot];
        const auto last = static_cast<std::int64_t>(outside_.size()) - 1;
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            point[t] = *cell(slot, t);
            *cell(slot, t) = *cell(last, t);
        }
        outside_[slot] = outside_[last];
        least_[slot] = least_[last];
        useful_[slot] = useful_[last];
        outside_.pop_back();
        return row;
    }

    // Offer every row outside the edge to `taken`; the slot of the least edge of all.
    std::int64_t compare_with(std::int32_t taken, const double* point) {
        const auto n_outside = static_cast<std::int64_t>(outside_.size());
        const std::int64_t size =
            std::max<std::int64_t>(tile, (1 << 16) / n_cols_ / tile * tile);  // rows in a chunk
        std::vector<std::int64_t> best((n_outside + size - 1) / size);
        crew_.run(static_cast<std::int64_t>(best.size()), [&](std::int64_t chunk, int) {
            const std::int64_t end = std::min(n_outside, (chunk + 1) * size);
            best[chunk] = chunk * size;
            Pool::breathe();
            for (std::int64_t first = chunk * size; first < end; first += tile)
                compare_tile(taken, point, first, std::min(end, first + tile), best[chunk]);
        });
        return *std::min_element(best.begin(), best.end(), [&](std::int64_t a, std::int64_t b) {
            return least_[a] < least_[b];
        });
    }

    void compare_tile(std::int32_t taken, const double* point, std::int64_t first, std::int64_t end,
                      std::int64_t& best) {
        double reduced[tile + packed_slack];
        reduced_to(sum_, point, Packed<In>{cell(first, 0), end - first, tile}, n_cols_, reduced);
        for (std::int64_t slot = first; slot < end; ++slot) {
            if (reduced[slot - first] <= useful_[slot])
                offer(slot, taken, metric_.length_of(reduced[slot - first]));
            if (least_[slot] < least_[best]) best = slot;
        }
    }

    void offer(std::int64_t slot, std::int32_t taken, double length) {
        if (cores_) length = std::max({length, cores_[taken], cores_[outside_[slot]]});
        const Edge edge = Edge::between(length, taken, outside_[slot]);
        if (!(edge < least_[slot])) return;
        least_[slot] = edge;
        useful_[slot] = metric_.reduced_at_most(length);
    }

    const Sum& sum_;
    const Metric& metric_;
    const double* cores_;
    const Crew& crew_;
    std::int64_t n_rows_, n_cols_;
    AlignedVector<In> tiles_;            // rows outside, by slot
    std::vector<std::int32_t> outside_;  // row in each slot
    std::vector<Edge> least_;            // from each slot's row to the tree
    std::vector<double> useful_;         // farther rows cannot give the slot a lesser edge
};

}  // namespace coterie
