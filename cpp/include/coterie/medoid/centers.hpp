// The medoid of every cluster: the member with the least sum of distances to the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/medoid/below.hpp"
#include "coterie/medoid/distances.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// For each cluster the sum over its rows of weighted distances to each of its members, and the
// member with the least; ties go to the lower row. A cluster without allowed members keeps the
// medoid that it has. Rows and candidates are the same.
template <class Distances>
void find_cluster_medoids(const Distances& distances, const double* weights,
                          const std::uint8_t* allowed, const std::int32_t* labels,
                          std::int64_t n_clusters, std::int64_t* medoids, const Crew& crew) {
    using Real = typename Distances::Length;
    constexpr std::int64_t group_size = 64;
    struct Group {
        std::int64_t cluster, begin, end;  // of its members
    };
    std::vector<std::vector<std::int64_t>> rows(n_clusters), members(n_clusters);
    for (std::int64_t i = 0; i < distances.n_rows(); ++i) {
        rows[labels[i]].push_back(i);
        if (!allowed || allowed[i]) members[labels[i]].push_back(i);
    }
    std::vector<Group> groups;
    std::vector<std::vector<double>> sums(n_clusters);
    for (std::int64_t c = 0; c < n_clusters; ++c) {
        const auto count = static_cast<std::int64_t>(members[c].size());
        sums[c].resize(count);
        for (std::int64_t begin = 0; begin < count; begin += group_size)
            groups.push_back({c, begin, std::min(count, begin + group_size)});
    }
    crew.run(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g, int) {
        const auto [c, begin, end] = groups[g];
        const auto n_rows = static_cast<std::int64_t>(rows[c].size());
        std::vector<StrandSums> strands(end - begin);
        AlignedVector<double> weight(medoid_piece, 1.0);
        for (std::int64_t first = 0; first < n_rows; first += medoid_piece) {
            Pool::breathe();
            const std::int64_t count = std::min(medoid_piece, n_rows - first);
            if (weights)
                for (std::int64_t i = 0; i < count; ++i) weight[i] = weights[rows[c][first + i]];
            distances.to_some(rows[c].data() + first, count, members[c].data() + begin, end - begin,
                              [&](std::int64_t place, const Real* lengths) {
                                  strands[place].add(lengths, weight.data(), count);
                              });
        }
        for (std::int64_t at = begin; at < end; ++at) sums[c][at] = strands[at - begin].total();
    });
    for (std::int64_t c = 0; c < n_clusters; ++c)
        if (!members[c].empty())
            medoids[c] =
                members[c][std::min_element(sums[c].begin(), sums[c].end()) - sums[c].begin()];
}

}  // namespace coterie
