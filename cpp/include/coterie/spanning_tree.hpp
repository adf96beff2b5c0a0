// The minimum spanning tree of rows, by distance or by mutual reachability.
#pragma once

#include <vector>

#include "coterie/boruvka.hpp"
#include "coterie/edges.hpp"
#include "coterie/kdtree.hpp"
#include "coterie/matrix.hpp"
#include "coterie/metric.hpp"
#include "coterie/pool.hpp"
#include "coterie/prim.hpp"

namespace coterie {

// The tree's edges in order; lengths are max(distance, core of either end) where cores are given.
template <class In>
std::vector<Edge> spanning_tree(const Metric& metric, Matrix<const In> rows, const double* cores,
                                bool by_tree, const Crew& crew) {
    std::vector<Edge> edges;
    if (by_tree) {
        const KdTree<In> tree(rows, crew);
        edges = with_box_sum(
            metric, [&](const auto& sum) { return Boruvka(sum, metric, tree, cores, crew).run(); });
    } else {
        edges = with_sum(
            metric, [&](const auto& sum) { return Prim(sum, metric, rows, cores, crew).run(); });
    }
    sort_edges(edges, crew);
    return edges;
}

}  // namespace coterie
