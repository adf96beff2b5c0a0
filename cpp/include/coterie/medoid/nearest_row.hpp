// The row nearest to each candidate: what a sampled row stands for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/medoid/distances.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Ties go to the lower row.
template <class Distances>
void find_nearest_rows(const Distances& distances, std::int64_t* nearest, const Crew& crew) {
    using Real = typename Distances::Length;
    using Key = typename Distances::Key;
    struct Best {
        Key limit = std::numeric_limits<Key>::infinity();
        Real length = std::numeric_limits<Real>::infinity();
    };
    constexpr std::int64_t each = 16;
    const std::int64_t n_candidates = distances.n_candidates();
    crew.run((n_candidates + each - 1) / each, [&](std::int64_t chunk, int) {
        std::vector<std::int64_t> ids(std::min(each, n_candidates - chunk * each));
        std::iota(ids.begin(), ids.end(), chunk * each);
        std::vector<Best> found(ids.size());
        for (const std::int64_t id : ids) nearest[id] = 0;
        distances.scan(
            ids.data(), ids.size(),
            [&](std::int64_t place, std::int64_t first, const Key* keys, std::int64_t count) {
                Best best = found[place];
                for (std::int64_t i = 0; i < count; ++i) {
                    if (!(keys[i] < best.limit)) continue;
                    const Real length = distances.length_of(keys[i]);
                    if (!(length < best.length)) continue;
                    best = {distances.limit_of(length), length};
                    nearest[ids[place]] = first + i;
                }
                found[place] = best;
            });
    });
}

}  // namespace coterie
