// Swaps of k-medoids: FasterPAM, which takes every swap that helps as soon as it is seen, and PAM,
// which looks at all of them and takes the best.
//
// Schubert & Rousseeuw (2021), "Fast and eager k-medoids clustering". What a candidate would change
// is found for all medoids at once in one pass over its distances. Candidates are looked at by
// several threads, each by one of them and in the order of rows; the first that helps, in the order
// of visits, is swapped in and what was found of those behind it is forgotten. So the swaps are
// those of one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "coterie/medoid/below.hpp"
#include "coterie/medoid/nearest_two.hpp"
#include "coterie/threads/gang.hpp"

namespace coterie {

// The best swap of a candidate: for which medoid, and by how much the total deviation changes.
struct Swap {
    double change = std::numeric_limits<double>::infinity();
    std::int32_t slot = 0;
};

// The best swaps of candidates[0..count), on the calling thread.
template <class Distances>
void find_swaps(const Distances& distances, const NearestTwo<Distances>& held,
                const std::int64_t* candidates, std::int64_t count, Swap* swaps) {
    const auto n_medoids = static_cast<std::int64_t>(held.medoids().size());
    std::vector<double> losses(count * n_medoids), gains(count);
    for (std::int64_t place = 0; place < count; ++place)
        std::copy(held.removal_losses().begin(), held.removal_losses().end(),
                  losses.begin() + place * n_medoids);
    const HeldRow* const rows = held.rows().data();
    distances.scan(
        candidates, count,
        [&](std::int64_t place, std::int64_t first, const auto* keys, std::int64_t n_keys) {
            double* const loss = losses.data() + place * n_medoids;
            double gain = gains[place];
            each_below(keys, held.limits() + first, n_keys, [&](std::int64_t i) {
                const HeldRow& row = rows[first + i];
                const double length = distances.length_of(keys[i]);
                if (!(length < row.second)) return;
                // The candidate takes the row in any case if it is the nearest, else if that goes.
                gain += rounded(row.weight * (std::min(length, row.nearest) - row.nearest));
                loss[row.slot] +=
                    rounded(row.weight * (std::max(length, row.nearest) - row.second));
            });
            gains[place] = gain;
        });
    for (std::int64_t place = 0; place < count; ++place) {
        const double* const loss = losses.data() + place * n_medoids;
        const auto slot =
            static_cast<std::int32_t>(std::min_element(loss, loss + n_medoids) - loss);
        swaps[place] = {loss[slot] + gains[place], slot};
    }
}

template <class Distances>
class SwapSearch {
public:
    // Candidates with allowed[j] == 0 are never taken (null: all may be).
    SwapSearch(const Distances& distances, const double* weights, const std::uint8_t* allowed)
        : distances_(distances), held_(distances, weights), allowed_(distances.n_candidates(), 1) {
        if (allowed) allowed_.assign(allowed, allowed + distances.n_candidates());
    }

    // FasterPAM visits candidate `first`, then always the one `stride` further on, round and round;
    // the stride has no divisor in common with their number.
    void start(std::vector<std::int64_t> medoids, std::int64_t first, std::int64_t stride,
               const Crew& crew) {
        open_ = allowed_;
        for (const std::int64_t medoid : medoids) open_[medoid] = 0;
        next_ = first;
        stride_ = stride;
        n_fruitless_ = n_visited_ = 0;
        Gang::together(crew, [&](Gang& gang) { held_.assign(std::move(medoids), gang); });
    }

    // FasterPAM from where it was left, for at most so many swaps and visits of candidates: the
    // total deviation after each swap.
    std::vector<double> swap_eagerly(std::int64_t max_swaps, std::int64_t max_visits,
                                     const Crew& crew) {
        std::vector<double> totals;
        Gang::together(crew, [&](Gang& gang) {
            const std::int64_t until = n_visited_ + max_visits;
            std::int64_t width = crew.n_threads;  // candidates looked at together
            while (!settled() && n_visited_ < until && held_.lost_row() < 0 &&
                   static_cast<std::int64_t>(totals.size()) < max_swaps) {
                const std::int64_t most =
                    std::min(until - n_visited_, n_candidates() - n_fruitless_);
                if (visit(std::min(width, most), gang, crew.n_threads)) {
                    totals.push_back(held_.total());
                    width = crew.n_threads;
                } else {
                    width = std::min<std::int64_t>(2 * width, 64 * crew.n_threads);
                }
            }
        });
        return totals;
    }

    // PAM: the best of all swaps, if it lowers the total deviation.
    bool swap_best(const Crew& crew) {
        bool swapped = false;
        Gang::together(crew, [&](Gang& gang) {
            std::vector<std::int64_t> candidates;
            for (std::int64_t j = 0; j < n_candidates(); ++j)
                if (open_[j]) candidates.push_back(j);
            std::vector<Swap> swaps(candidates.size());
            find_in_parallel(candidates, swaps, false, gang, crew.n_threads);
            std::size_t best = 0;
            for (std::size_t at = 1; at < swaps.size(); ++at)
                if (swaps[at].change < swaps[best].change) best = at;
            n_visited_ += n_candidates();
            swapped = !swaps.empty() && helps(swaps[best]) &&
                      exchange(swaps[best].slot, candidates[best], gang);
            n_fruitless_ = swapped ? 0 : n_candidates();
        });
        return swapped;
    }

    // Whether all candidates were looked at since the last swap, and none helps.
    bool settled() const { return n_fruitless_ >= n_candidates(); }
    std::int64_t n_visited() const { return n_visited_; }
    std::int64_t n_fruitless() const { return n_fruitless_; }  // of them, since the last swap
    const NearestTwo<Distances>& held() const { return held_; }

private:
    std::int64_t n_candidates() const { return distances_.n_candidates(); }

    // The candidate so many visits from now.
    std::int64_t ahead(std::int64_t n_visits) const {
        return (next_ + n_visits * stride_) % n_candidates();
    }

    // Whether a change is more than the rounding of the sums that it is the difference of.
    bool helps(const Swap& swap) const {
        const double size = held_.removal_losses()[swap.slot] + held_.total();
        return swap.change < -4 * std::numeric_limits<double>::epsilon() * size;
    }

    bool exchange(std::int32_t slot, std::int64_t candidate, Gang& gang) {
        const std::int64_t leaving = held_.medoids()[slot];
        if (!held_.exchange(slot, candidate, gang)) return false;
        open_[leaving] = allowed_[leaving];
        open_[candidate] = 0;
        return true;
    }

    // Visit the next `width` candidates, or those up to the first that is swapped in.
    bool visit(std::int64_t width, Gang& gang, int n_threads) {
        std::vector<std::int64_t> candidates, places;
        for (std::int64_t place = 0; place < width; ++place) {
            const std::int64_t j = ahead(place);
            if (!open_[j]) continue;
            candidates.push_back(j);
            places.push_back(place);
        }
        std::vector<Swap> swaps(candidates.size());
        find_in_parallel(candidates, swaps, true, gang, n_threads);
        const auto first =
            std::find_if(swaps.begin(), swaps.end(), [&](const Swap& swap) { return helps(swap); });
        const std::int64_t at = first - swaps.begin();
        const bool found = first != swaps.end();
        const std::int64_t seen = found ? places[at] + 1 : width;
        next_ = ahead(seen);
        n_visited_ += seen;
        const bool swapped = found && exchange(first->slot, candidates[at], gang);
        n_fruitless_ = swapped ? 0 : n_fruitless_ + seen;
        return swapped;
    }

    // With `eager`, those behind one that helps may be left out.
    void find_in_parallel(const std::vector<std::int64_t>& candidates, std::vector<Swap>& swaps,
                          bool eager, Gang& gang, int n_threads) const {
        const auto count = static_cast<std::int64_t>(candidates.size());
        // A few together, which share what is read of the rows.
        const std::int64_t each = std::clamp<std::int64_t>(count / (4 * n_threads), 1, 8);
        const std::int64_t n_groups = (count + each - 1) / each;
        std::atomic<std::int64_t> first_group{n_groups};
        gang.round(static_cast<std::uint32_t>(n_groups), [&](std::int64_t chunk, int) {
            const std::int64_t group = n_groups - 1 - chunk;  // a gang begins at the last chunk
            if (group > first_group.load(std::memory_order_relaxed)) return;
            const std::int64_t begin = group * each, end = std::min(count, begin + each);
            find_swaps(distances_, held_, candidates.data() + begin, end - begin,
                       swaps.data() + begin);
            if (!eager || std::none_of(swaps.begin() + begin, swaps.begin() + end,
                                       [&](const Swap& swap) { return helps(swap); }))
                return;
            std::int64_t known = first_group.load();
            while (group < known && !first_group.compare_exchange_weak(known, group)) {
            }
        });
    }

    const Distances& distances_;
    NearestTwo<Distances> held_;
    std::vector<std::uint8_t> allowed_, open_;  // open: allowed, and no medoid
    std::int64_t next_ = 0, stride_ = 1, n_fruitless_ = 0, n_visited_ = 0;
};

}  // namespace coterie
