// Nearest rows by a vocabulary tree: those in the leaves that a query reaches with a beam.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "coterie/neighbors/smallest_k.hpp"
#include "coterie/quantize/tree_descent.hpp"

namespace coterie {

// Rows leaf by leaf: those of leaf l are [starts[l], starts[l + 1]); ids are theirs to the user.
template <class In>
struct LeafLists {
    Matrix<const In> rows;
    const std::int64_t* ids;
    const std::int64_t* starts;
};

namespace detail {

// The nearest rows met so far, at most k; ties to the lower id.
class NearestRows {
public:
    explicit NearestRows(std::int64_t k) : k_(k), best_(k) {}

    void clear() { best_.clear(); }
    void meet(double sq_dist, std::int64_t id) { best_.take({sq_dist, id}); }
    // Nearest first; places without a row are infinitely far and have the id -1.
    void write(double* sq_dists, std::int64_t* ids) {
        const auto& met = best_.sorted();
        for (std::size_t i = 0; i < met.size(); ++i) std::tie(sq_dists[i], ids[i]) = met[i];
        std::fill(sq_dists + met.size(), sq_dists + k_, std::numeric_limits<double>::infinity());
        std::fill(ids + met.size(), ids + k_, -1);
    }

private:
    std::int64_t k_;
    SmallestK<std::pair<double, std::int64_t>> best_;
};

}  // namespace detail

// The k nearest rows of every query among those of the leaves it reaches, as squared distances
// times scale^2, and the number of rows looked at in all.
template <class In>
std::int64_t search_leaves(Matrix<const double> queries, const PackedTree& tree,
                           const LeafLists<In>& lists, std::int64_t width, std::int64_t k,
                           double* sq_dists, std::int64_t* ids, const Crew& crew) {
    const std::int64_t n_queries = queries.n_rows, d = queries.n_cols;
    const int n_workers = crew.n_at_work(n_queries);
    PerThread<Descent> descents(n_workers, tree);
    PerThread<detail::NearestRows> nearest(n_workers, k);
    PerThread<RowReader<In>> readers(n_workers, lists.rows);
    std::vector<std::int64_t> n_met(n_workers);
    crew.run(n_queries, [&](std::int64_t q, int worker) {
        const double* query = queries.row(q);
        nearest[worker].clear();
        for (const Spot& spot : descents[worker].beam(query, width)) {
            const std::int32_t leaf = tree.leaf_number(spot.node);
            Pool::breathe();
            for (std::int64_t i = lists.starts[leaf]; i < lists.starts[leaf + 1]; ++i)
                nearest[worker].meet(direct_sq_dist(readers[worker].read(i), query, d, tree.scale),
                                     lists.ids[i]);
            n_met[worker] += lists.starts[leaf + 1] - lists.starts[leaf];
        }
        nearest[worker].write(sq_dists + q * k, ids + q * k);
    });
    std::int64_t total = 0;
    for (const std::int64_t n : n_met) total += n;
    return total;
}

}  // namespace coterie
