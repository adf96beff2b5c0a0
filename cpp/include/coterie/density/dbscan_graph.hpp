// DBSCAN where neighbourhoods are looked up or walked to: a matrix of distances, dense or sparse,
// or a graph whose edges have lengths.
//
// The textbook's expansion: from each core row not yet in a cluster, to its neighbours, to those of
// the core rows among them, and so on. A matrix need not be symmetric: row i holds the neighbours
// of row i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "coterie/density/dbscan.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Neighbours by a matrix of all distances.
template <class In>
struct DenseNeighbours {
    Matrix<const In> dists;
    double eps;

    struct Desk {};
    std::int64_t n_rows() const { return dists.n_rows; }
    Desk desk() const { return {}; }

    // visit(j, distance) for all j within eps of i.
    template <class Visit>
    void each(std::int64_t i, Desk&, const Visit& visit) const {
        for (std::int64_t j = 0; j < dists.n_cols; ++j) {
            const auto dist = static_cast<double>(dists.at(i, j));
            if (dist <= eps) visit(j, dist);
        }
    }
};

// Neighbours by the stored entries of a sparse matrix of distances; each row is its own neighbour.
template <class In, class Index>
struct SparseNeighbours {
    Csr<In, Index> dists;
    double eps;

    struct Desk {};
    std::int64_t n_rows() const { return dists.n_rows; }
    Desk desk() const { return {}; }

    template <class Visit>
    void each(std::int64_t i, Desk&, const Visit& visit) const {
        bool itself = false;
        for (Index e = dists.starts[i]; e < dists.starts[i + 1]; ++e) {
            const auto dist = static_cast<double>(dists.values[e]);
            itself |= dists.columns[e] == i;
            if (dist <= eps) visit(static_cast<std::int64_t>(dists.columns[e]), dist);
        }
        if (!itself) visit(i, 0.0);
    }
};

// Neighbours by shortest paths of at most eps (Dijkstra 1959), over edges of non-negative length.
template <class In, class Index>
struct GraphNeighbours {
    Csr<In, Index> lengths;
    double eps;

    struct Desk {
        std::vector<double> dist;
        std::vector<std::int64_t> reached;
        std::vector<std::pair<double, std::int64_t>> queue;
    };
    static constexpr double unreached = std::numeric_limits<double>::infinity();
    std::int64_t n_rows() const { return lengths.n_rows; }
    Desk desk() const { return {std::vector<double>(n_rows(), unreached), {}, {}}; }

    template <class Visit>
    void each(std::int64_t i, Desk& desk, const Visit& visit) const {
        const auto reach = [&](std::int64_t j, double dist) {
            if (!(dist <= eps && dist < desk.dist[j])) return;
            if (desk.dist[j] == unreached) desk.reached.push_back(j);
            desk.dist[j] = dist;
            desk.queue.emplace_back(dist, j);
            std::push_heap(desk.queue.begin(), desk.queue.end(), std::greater<>{});
        };
        reach(i, 0.0);
        while (!desk.queue.empty()) {
            std::pop_heap(desk.queue.begin(), desk.queue.end(), std::greater<>{});
            const auto [dist, j] = desk.queue.back();
            desk.queue.pop_back();
            if (dist > desk.dist[j]) continue;  // a shorter path came first
            visit(j, dist);
            for (Index e = lengths.starts[j]; e < lengths.starts[j + 1]; ++e)
                if (lengths.values[e] >= 0)  // shorter than nothing would lead round for ever
                    reach(lengths.columns[e], dist + static_cast<double>(lengths.values[e]));
        }
        for (const std::int64_t j : desk.reached) desk.dist[j] = unreached;
        desk.reached.clear();
    }
};

namespace detail {

template <class Neighbours>
void mark_core(const Neighbours& neighbours, const Density& density, std::uint8_t* core,
               const Crew& crew) {
    std::vector<typename Neighbours::Desk> desks(crew.n_threads, neighbours.desk());
    const Chunks chunks(neighbours.n_rows(), 1 << 14);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            WeightSum sum;
            neighbours.each(i, desks[worker], [&](std::int64_t j, double) {
                sum.add(density.weights ? density.weights[j] : 1.0);
            });
            core[i] = sum.value() >= density.min_weight;
        }
    });
}

template <class Neighbours>
std::int64_t expand_clusters(const Neighbours& neighbours, const Clustering& out,
                             const Crew& crew) {
    Patience patience(crew);
    auto desk = neighbours.desk();
    std::int64_t n_clusters = 0;
    std::vector<std::int64_t> open;
    for (std::int64_t seed = 0; seed < neighbours.n_rows(); ++seed) {
        if (out.labels[seed] != noise || !out.core[seed]) continue;
        out.labels[seed] = n_clusters;
        open.push_back(seed);
        while (!open.empty()) {
            const std::int64_t i = open.back();
            open.pop_back();
            patience.ask();
            neighbours.each(i, desk, [&](std::int64_t j, double) {
                if (out.labels[j] != noise) return;
                out.labels[j] = n_clusters;
                if (out.core[j]) open.push_back(j);
            });
        }
        ++n_clusters;
    }
    return n_clusters;
}

// Give border rows to the nearest core row that has them as neighbours.
template <class Neighbours>
void label_by_nearest(const Neighbours& neighbours, const Clustering& out, const Crew& crew) {
    Patience patience(crew);
    auto desk = neighbours.desk();
    std::vector<NearestCore> nearest(neighbours.n_rows());
    for (std::int64_t i = 0; i < neighbours.n_rows(); ++i)
        if (out.core[i]) {
            patience.ask();
            neighbours.each(i, desk, [&](std::int64_t j, double dist) {
                nearest[j].offer(dist, static_cast<std::uint32_t>(i),
                                 static_cast<std::uint32_t>(out.labels[i]));
            });
        }
    for (std::int64_t i = 0; i < neighbours.n_rows(); ++i)
        if (!out.core[i] && out.labels[i] != noise) out.labels[i] = nearest[i].cluster;
}

}  // namespace detail

// Returns the number of clusters. Only marking core rows is parallel.
template <class Neighbours>
std::int64_t dbscan_by_expansion(const Neighbours& neighbours, const Density& density,
                                 Border border, const Clustering& out, const Crew& crew) {
    detail::mark_core(neighbours, density, out.core, crew);
    std::fill_n(out.labels, neighbours.n_rows(), noise);
    const std::int64_t n_clusters = detail::expand_clusters(neighbours, out, crew);
    if (border == Border::nearest) detail::label_by_nearest(neighbours, out, crew);
    if (border == Border::noise)
        for (std::int64_t i = 0; i < neighbours.n_rows(); ++i)
            if (!out.core[i]) out.labels[i] = noise;
    return n_clusters;
}

}  // namespace coterie
