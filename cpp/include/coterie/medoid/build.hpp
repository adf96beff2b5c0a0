// BUILD (Kaufman & Rousseeuw 1990): medoids one after another, each the candidate that lowers the
// total deviation most.
//
// What a candidate would gain never grows as medoids are added, not even in its last bit: every
// term of its sum shrinks, and rounding keeps the order. So what it gained when it was last looked
// at is a bound, and only candidates whose bounds exceed the best gain are looked at again (Minoux
// 1978). The medoids are those of the plain method; usually two passes over all distances suffice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "coterie/medoid/below.hpp"
#include "coterie/medoid/distances.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

template <class Distances>
class Builder {
public:
    // Candidates with allowed[j] == 0 are never taken (null: all may be).
    Builder(const Distances& distances, const double* weights, const std::uint8_t* allowed)
        : distances_(distances), weights_(distances.n_rows(), 1.0), nearest_(distances.n_rows()) {
        if (weights) weights_.assign(weights, weights + distances.n_rows());
        for (std::int64_t j = 0; j < distances.n_candidates(); ++j)
            if (!allowed || allowed[j]) candidates_.push_back(j);
    }

    // So many medoids; ties go to the lower candidate. There must be as many candidates.
    std::vector<std::int64_t> build(std::int64_t n_medoids, const Crew& crew) {
        std::vector<std::int64_t> medoids{best_single(crew)};
        take(medoids[0], true);
        std::priority_queue<Bound> bounds;
        for (const std::int64_t j : candidates_)
            if (j != medoids[0]) bounds.push({std::numeric_limits<double>::infinity(), j});
        while (static_cast<std::int64_t>(medoids.size()) < n_medoids) {
            medoids.push_back(next_best(bounds, crew));
            take(medoids.back(), false);
        }
        return medoids;
    }

private:
    using Real = typename Distances::Length;
    using Key = typename Distances::Key;

    // What a candidate gains at most.
    struct Bound {
        double gain;
        std::int64_t candidate;
        bool operator<(const Bound& other) const {
            return gain < other.gain || (gain == other.gain && candidate > other.candidate);
        }
    };

    // For candidates[begin..end) of some, on all threads.
    template <class Body>
    static void each_group(std::int64_t count, const Crew& crew, const Body& body) {
        const std::int64_t each = std::clamp<std::int64_t>(count / (4 * crew.n_threads), 1, 8);
        crew.run((count + each - 1) / each, [&](std::int64_t group, int) {
            body(group * each, std::min(count, (group + 1) * each));
        });
    }

    // The medoid of all rows: the candidate with the least sum of distances.
    std::int64_t best_single(const Crew& crew) const {
        const auto count = static_cast<std::int64_t>(candidates_.size());
        std::vector<double> sums(count);
        each_group(count, crew, [&](std::int64_t begin, std::int64_t end) {
            std::vector<StrandSums> strands(end - begin);
            std::vector<Real> lengths;
            distances_.scan(
                candidates_.data() + begin, end - begin,
                [&](std::int64_t place, std::int64_t first, const Key* keys, std::int64_t n_keys) {
                    strands[place].add(distances_.lengths_of(keys, n_keys, lengths),
                                       weights_.data() + first, n_keys);
                });
            for (std::int64_t at = begin; at < end; ++at) sums[at] = strands[at - begin].total();
        });
        return candidates_[std::min_element(sums.begin(), sums.end()) - sums.begin()];
    }

    // The candidate with the largest gain, which leaves the queue.
    std::int64_t next_best(std::priority_queue<Bound>& bounds, const Crew& crew) const {
        Bound best{-1, 0};
        bool found = false;
        std::vector<Bound> looked_at;
        for (std::int64_t width = 2 * crew.n_threads; !bounds.empty(); width *= 2) {
            std::vector<std::int64_t> some;
            while (!bounds.empty() && static_cast<std::int64_t>(some.size()) < width &&
                   (!found || best < bounds.top())) {
                some.push_back(bounds.top().candidate);
                bounds.pop();
            }
            if (some.empty()) break;
            std::vector<double> gains(some.size());
            each_group(some.size(), crew, [&](std::int64_t begin, std::int64_t end) {
                find_gains(some.data() + begin, end - begin, gains.data() + begin);
            });
            for (std::size_t at = 0; at < some.size(); ++at) {
                looked_at.push_back({gains[at], some[at]});
                if (!found || best < looked_at.back()) best = looked_at.back();
                found = true;
            }
        }
        for (const Bound& bound : looked_at)
            if (bound.candidate != best.candidate) bounds.push(bound);
        return best.candidate;
    }

    void find_gains(const std::int64_t* candidates, std::int64_t count, double* gains) const {
        std::vector<StrandSums> strands(count);
        std::vector<Real> lengths;
        distances_.scan(
            candidates, count,
            [&](std::int64_t place, std::int64_t first, const Key* keys, std::int64_t n_keys) {
                strands[place].add_below(nearest_.data() + first,
                                         distances_.lengths_of(keys, n_keys, lengths),
                                         weights_.data() + first, n_keys);
            });
        for (std::int64_t place = 0; place < count; ++place) gains[place] = strands[place].total();
    }

    void take(std::int64_t candidate, bool is_first) {
        std::vector<std::int64_t> ids(medoid_piece);
        for (std::int64_t first = 0; first < distances_.n_rows(); first += medoid_piece) {
            const std::int64_t count = std::min(medoid_piece, distances_.n_rows() - first);
            std::iota(ids.begin(), ids.end(), first);
            distances_.to_some(ids.data(), count, &candidate, 1,
                               [&](std::int64_t, const Real* lengths) {
                                   for (std::int64_t i = 0; i < count; ++i)
                                       if (is_first || lengths[i] < nearest_[first + i])
                                           nearest_[first + i] = lengths[i];
                               });
        }
    }

    const Distances& distances_;
    AlignedVector<double> weights_;
    std::vector<std::int64_t> candidates_;
    AlignedVector<double> nearest_;  // distance to the nearest medoid so far
};

}  // namespace coterie
