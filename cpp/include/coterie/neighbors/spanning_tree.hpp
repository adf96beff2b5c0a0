// The minimum spanning tree of rows, by distance or by mutual reachability.
#pragma once

#include <vector>

#include "coterie/neighbors/boruvka.hpp"
#include "coterie/neighbors/edges.hpp"
#include "coterie/neighbors/neighbors.hpp"
#include "coterie/neighbors/prim.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The tree's edges in order; lengths are max(distance, core of either end) where cores are given.
inline std::vector<Edge> spanning_tree(const RowIndex& index, const double* cores,
                                       const Crew& crew) {
    std::vector<Edge> edges = index.by_either(
        [&](const auto& sum, const auto& tree) {
            return Boruvka(sum, index.metric(), tree, cores, crew).run();
        },
        [&](const auto& sum, const auto& rows) {
            return Prim(sum, index.metric(), rows, cores, crew).run();
        });
    sort_edges(edges, crew);
    return edges;
}

}  // namespace coterie
