// Sums of the lengths of shortest paths inside clusters, and the node of each with the least.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/graph/shortest_paths.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// What a thread needs to search a graph; distances are infinite between searches.
struct PathWork {
    explicit PathWork(std::int64_t n_nodes)
        : distances(n_nodes, std::numeric_limits<double>::infinity()), source_of(n_nodes, 1) {}

    void forget(const std::vector<std::int32_t>& nodes) {
        for (const std::int32_t node : nodes) {
            distances[node] = std::numeric_limits<double>::infinity();
            source_of[node] = 1;
        }
    }

    std::vector<double> distances;
    std::vector<std::int32_t> source_of;
    PathScratch scratch;
};

// Members of each cluster, in order; labels below zero belong to none.
inline std::vector<std::vector<std::int32_t>> members_of(const std::int32_t* labels,
                                                         std::int64_t n_nodes,
                                                         std::int64_t n_clusters) {
    std::vector<std::vector<std::int32_t>> members(n_clusters);
    for (std::int64_t i = 0; i < n_nodes; ++i)
        if (labels[i] >= 0) members[labels[i]].push_back(static_cast<std::int32_t>(i));
    return members;
}

inline double weight_of(const double* weights, std::int32_t node) {
    return weights ? weights[node] : 1.0;
}

// The weighted sum of distances from `from` to the members of its cluster, added in their order:
// infinity where one is not reached, or where the sum is known to exceed `enough`.
inline double sum_inside(const CsrGraph& graph, const std::int32_t* labels, const double* weights,
                         const std::vector<std::int32_t>& members, double total_weight,
                         std::int32_t from, double enough, PathWork& work) {
    const std::int32_t cluster = labels[from];
    double settled_sum = 0.0, weight_left = total_weight;
    bool stopped = false;
    search_from(
        graph, &from, 1, work.distances.data(), work.source_of.data(), work.scratch,
        [&](std::int32_t node) { return labels[node] == cluster; },
        [&](std::int32_t node, double distance) {
            // All nodes left are at least so far.
            stopped = settled_sum + weight_left * distance > enough;
            const double weight = weight_of(weights, node);
            settled_sum += weight * distance;
            weight_left -= weight;
            return !stopped;
        });
    if (stopped) return std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (const std::int32_t node : members) {
        const double weight = weight_of(weights, node);
        if (weight > 0) sum += weight * work.distances[node];
    }
    return sum;
}

// Of every node, the weighted sum of shortest paths to all nodes of its cluster and how many of
// these it reaches, over the latter alone.
inline void sum_all_inside(const CsrGraph& graph, const std::int32_t* labels,
                           std::int64_t n_clusters, double* sums, std::int64_t* n_reached,
                           const Crew& crew) {
    const auto members = members_of(labels, graph.n_nodes, n_clusters);
    PerThread<PathWork> works(crew.n_at_work(graph.n_nodes), graph.n_nodes);
    crew.run(graph.n_nodes, [&](std::int64_t node, int worker) {
        sums[node] = 0.0;
        n_reached[node] = 0;
        if (labels[node] < 0) return;
        PathWork& work = works[worker];
        const auto& own = members[labels[node]];
        sum_inside(graph, labels, nullptr, own, static_cast<double>(own.size()),
                   static_cast<std::int32_t>(node), std::numeric_limits<double>::infinity(), work);
        for (const std::int32_t other : own)
            if (work.distances[other] < std::numeric_limits<double>::infinity()) {
                sums[node] += work.distances[other];
                ++n_reached[node];
            }
        work.forget(own);
    });
}

// Sums differ from their exact values, and so from bounds of them, by less than this part.
constexpr double sum_slack = 1e-9;

// The member of a cluster with the least sum, ties to the lower node; `medoid` is where to begin.
//
// Candidates are tried from the medoid outward, some at once. In a graph whose paths lead both
// ways, the sum S of one that was tried bounds those of others at distance d by the triangle
// inequality, |S - W d| for the weight W of the cluster, and most are never tried (Newling &
// Fleuret 2017). In others a trial ends once its sum must exceed the best. Neither drops a
// candidate that could be the best or tie with it, so threads do not matter.
inline std::int32_t find_medoid(const CsrGraph& graph, const std::int32_t* labels,
                                const double* weights, bool both_ways,
                                const std::vector<std::int32_t>& members, std::int32_t medoid,
                                PerThread<PathWork>& works, const Crew& crew) {
    constexpr std::int64_t at_once = 16;
    const auto count = static_cast<std::int64_t>(members.size());
    double total_weight = 0.0;
    for (const std::int32_t node : members) total_weight += weight_of(weights, node);
    std::vector<double> outward(count), bounds(count, 0.0);
    PathWork& mine = works[0];
    double best = sum_inside(graph, labels, weights, members, total_weight, medoid,
                             std::numeric_limits<double>::infinity(), mine);
    for (std::int64_t i = 0; i < count; ++i) outward[i] = mine.distances[members[i]];
    mine.forget(members);

    const auto may_win = [&](double bound) { return !(bound * (1 - sum_slack) > best); };
    const auto learn = [&](double sum, const double* distances) {
        if (!both_ways || !(sum < std::numeric_limits<double>::infinity())) return;
        for (std::int64_t i = 0; i < count; ++i)
            bounds[i] =
                std::max(bounds[i], std::abs(sum - total_weight * distances[i]) - sum_slack * sum);
    };
    learn(best, outward.data());
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < count; ++i)
        if (members[i] != medoid && weight_of(weights, members[i]) > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return outward[a] < outward[b]; });

    std::vector<std::int64_t> tried;
    std::vector<double> sums(at_once), found(both_ways ? at_once * count : 0);
    for (std::size_t next = 0; next < order.size();) {
        tried.clear();
        for (; next < order.size() && static_cast<std::int64_t>(tried.size()) < at_once; ++next)
            if (may_win(bounds[order[next]])) tried.push_back(order[next]);
        const double enough =
            both_ways ? std::numeric_limits<double>::infinity() : best * (1 + sum_slack);
        crew.run(static_cast<std::int64_t>(tried.size()), [&](std::int64_t place, int worker) {
            PathWork& work = works[worker];
            sums[place] = sum_inside(graph, labels, weights, members, total_weight,
                                     members[tried[place]], enough, work);
            if (both_ways)
                for (std::int64_t i = 0; i < count; ++i)
                    found[place * count + i] = work.distances[members[i]];
            work.forget(members);
        });
        for (std::size_t place = 0; place < tried.size(); ++place) {
            const std::int32_t node = members[tried[place]];
            if (sums[place] < best || (sums[place] == best && node < medoid)) {
                best = sums[place];
                medoid = node;
            }
            if (both_ways) learn(sums[place], found.data() + place * count);
        }
    }
    return medoid;
}

// `find_medoid` of every cluster; one without members keeps the medoid that it has.
inline void find_medoids(const CsrGraph& graph, const std::int32_t* labels, const double* weights,
                         bool both_ways, std::int64_t n_clusters, std::int64_t* medoids,
                         const Crew& crew) {
    const auto members = members_of(labels, graph.n_nodes, n_clusters);
    PerThread<PathWork> works(std::max(1, crew.n_threads), graph.n_nodes);
    for (std::int64_t c = 0; c < n_clusters; ++c)
        if (!members[c].empty() && labels[medoids[c]] == c)
            medoids[c] = find_medoid(graph, labels, weights, both_ways, members[c],
                                     static_cast<std::int32_t>(medoids[c]), works, crew);
}

}  // namespace coterie
