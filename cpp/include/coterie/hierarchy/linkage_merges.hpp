// From merges, each named by two rows of the clusters it joins, to SciPy's merge table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/neighbors/merge_tree.hpp"

namespace coterie {

struct Merge {
    double height;
    std::int32_t first, second;  // a row of either cluster
};

// Write (cluster, cluster, height, rows) for every merge, in the order given. Rows are clusters
// 0 to n - 1, the cluster made by merge i is n + i, and the lower of two comes first.
inline void write_merge_table(const std::vector<Merge>& merges, double* table) {
    const std::size_t n = merges.size();
    std::vector<std::int32_t> firsts(n), seconds(n), left(n), right(n), sizes(n);
    for (std::size_t i = 0; i < n; ++i) firsts[i] = merges[i].first, seconds[i] = merges[i].second;
    merge_tree(firsts, seconds, left.data(), right.data(), sizes.data());
    for (std::size_t i = 0; i < n; ++i) {
        const auto [low, high] = std::minmax(left[i], right[i]);
        double* row = table + 4 * i;
        row[0] = low, row[1] = high, row[2] = merges[i].height, row[3] = sizes[i];
    }
}

// Put merges that were found in another order into the order of their heights. Where no cluster is
// lower than its parts, equal heights in the order found keep parts before wholes.
inline void sort_merges(std::vector<Merge>& merges) {
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Merge& a, const Merge& b) { return a.height < b.height; });
}

}  // namespace coterie
