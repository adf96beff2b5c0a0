// Shortest paths, closeness and medoids of graphs against Bellman and Ford's relaxations.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/graph/closeness.hpp"
#include "coterie/graph/shortest_paths.hpp"

using namespace coterie;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Lengths { hops, whole, real };

// A graph of random arcs, with loops, arcs of no length, double arcs and nodes without any. Of
// `both_ways` each arc has its like in the other direction.
struct Problem {
    std::int64_t n;
    bool both_ways;
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> heads;
    std::vector<double> lengths, weights;

    Problem(std::int64_t n, std::int64_t n_drawn, Lengths kind, bool both_ways, unsigned seed)
        : n(n), both_ways(both_ways), starts(n + 1) {
        struct Arc {
            std::int32_t tail, head;
            double length;
        };
        std::mt19937 random(seed);
        std::uniform_int_distribution<std::int32_t> node(0, static_cast<std::int32_t>(n) - 1);
        std::uniform_int_distribution<int> whole(0, 3);
        std::exponential_distribution<double> real;
        std::vector<Arc> arcs;
        for (std::int64_t i = 0; i < n_drawn; ++i) {
            const Arc one{node(random), node(random),
                          kind == Lengths::real ? real(random) : whole(random)};
            arcs.push_back(one);
            if (both_ways) arcs.push_back({one.head, one.tail, one.length});
        }
        std::stable_sort(arcs.begin(), arcs.end(),
                         [](const Arc& a, const Arc& b) { return a.tail < b.tail; });
        for (const Arc& arc : arcs) {
            ++starts[arc.tail + 1];
            heads.push_back(arc.head);
            if (kind != Lengths::hops) lengths.push_back(arc.length);
        }
        for (std::int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
        heads.shrink_to_fit();
        lengths.shrink_to_fit();
        has_lengths = kind != Lengths::hops;
        for (std::int64_t i = 0; i < n; ++i) weights.push_back(whole(random));
    }

    CsrGraph graph() const {
        return {n, starts.data(), heads.data(), has_lengths ? lengths.data() : nullptr};
    }

    // None, and some of which a few are zero.
    std::vector<const double*> both_weights() const { return {nullptr, weights.data()}; }

    // Paths from a node within the nodes that have its label: relax all arcs until nothing changes.
    std::vector<double> from(std::int32_t source, const std::vector<std::int32_t>& labels) const {
        std::vector<double> found(n, infinity);
        found[source] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::int32_t tail = 0; tail < n; ++tail)
                for (std::int64_t arc = starts[tail]; arc < starts[tail + 1]; ++arc) {
                    const std::int32_t head = heads[arc];
                    const double next = found[tail] + (has_lengths ? lengths[arc] : 1.0);
                    if (labels[head] != labels[source] || !(next < found[head])) continue;
                    found[head] = next;
                    changed = true;
                }
        }
        return found;
    }

    bool has_lengths = false;
};

template <class Work>
void for_all_problems(const Work& work) {
    unsigned seed = 0;
    for (const std::int64_t n : {1, 2, 3, 17, 60})
        for (const std::int64_t n_arcs : {std::int64_t{0}, n / 2, 2 * n, 5 * n, 15 * n})
            for (const Lengths kind : {Lengths::hops, Lengths::whole, Lengths::real})
                for (const bool both_ways : {false, true}) {
                    check::say(n, "nodes", n_arcs, "arcs, kind", static_cast<int>(kind),
                               both_ways ? "both ways" : "one way");
                    work(Problem(n, n_arcs, kind, both_ways, seed), seed);
                    ++seed;
                }
}

std::vector<std::int32_t> drawn(std::int64_t n, int least, int most, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int32_t> any(least, most);
    std::vector<std::int32_t> found(n);
    for (std::int32_t& one : found) one = any(random);
    return found;
}

TEST(nodes_go_to_the_nearest_source_and_ties_to_the_first) {
    for_all_problems([](const Problem& problem, unsigned seed) {
        const std::vector<std::int32_t> everywhere(problem.n, 0);
        const auto sources = drawn(4, 0, static_cast<int>(problem.n) - 1, seed);  // some twice
        std::vector<double> nearest(problem.n, infinity);
        std::vector<std::int32_t> expected(problem.n, 4);
        for (std::int32_t s = 0; s < 4; ++s) {
            const auto lengths = problem.from(sources[s], everywhere);
            for (std::int64_t i = 0; i < problem.n; ++i)
                if (lengths[i] < nearest[i]) {
                    nearest[i] = lengths[i];
                    expected[i] = s;
                }
        }
        std::vector<double> distances(problem.n, infinity);
        std::vector<std::int32_t> source_of(problem.n, 4);
        PathScratch scratch;
        double last = 0;
        search_from(
            problem.graph(), sources.data(), 4, distances.data(), source_of.data(), scratch,
            [](std::int32_t) { return true; },
            [&](std::int32_t node, double distance) {
                CHECK(distance >= last);
                CHECK(distance == nearest[node]);
                last = distance;
                return true;
            });
        CHECK(distances == nearest);
        CHECK(source_of == expected);
    });
}

TEST(a_search_stops_when_it_is_told_and_stays_where_it_may_be) {
    for_all_problems([](const Problem& problem, unsigned seed) {
        const auto labels = drawn(problem.n, 0, 1, seed);
        const std::int32_t source = static_cast<std::int32_t>(seed % problem.n);
        std::vector<double> distances(problem.n, infinity);
        std::vector<std::int32_t> source_of(problem.n, 1);
        PathScratch scratch;
        const auto inside = [&](std::int32_t node) { return labels[node] == labels[source]; };
        search_from(problem.graph(), &source, 1, distances.data(), source_of.data(), scratch,
                    inside, [](std::int32_t, double) { return true; });
        CHECK(distances == problem.from(source, labels));
        std::fill(distances.begin(), distances.end(), infinity);
        std::fill(source_of.begin(), source_of.end(), 1);
        int n_settled = 0;
        search_from(problem.graph(), &source, 1, distances.data(), source_of.data(), scratch,
                    inside, [&](std::int32_t, double) { return ++n_settled < 2; });
        CHECK(n_settled <= 2);
    });
}

TEST(sums_are_over_nodes_of_the_cluster_that_are_reached) {
    for_all_problems([](const Problem& problem, unsigned seed) {
        const auto labels = drawn(problem.n, -1, 2, seed);
        std::vector<double> expected(problem.n, 0.0);
        std::vector<std::int64_t> n_expected(problem.n, 0);
        for (std::int32_t i = 0; i < problem.n; ++i) {
            if (labels[i] < 0) continue;
            for (const double length : problem.from(i, labels))
                if (length < infinity) {
                    expected[i] += length;
                    ++n_expected[i];
                }
        }
        for (const int n_threads : {1, 3}) {
            std::vector<double> sums(problem.n, -1.0);
            std::vector<std::int64_t> n_reached(problem.n, -1);
            sum_all_inside(problem.graph(), labels.data(), 3, sums.data(), n_reached.data(),
                           Crew{n_threads, {}});
            CHECK(sums == expected);
            CHECK(n_reached == n_expected);
        }
    });
}

// The first of the nodes that may be medoid with the least sum; the one at present always may.
std::int64_t naive_medoid(const Problem& problem, const std::vector<std::int32_t>& labels,
                          const double* weights, std::int64_t present) {
    double least = infinity;
    std::int64_t best = -1;
    for (std::int32_t i = 0; i < problem.n; ++i) {
        const bool may_be = i == present || !weights || weights[i] > 0;
        if (labels[i] != labels[present] || !may_be) continue;
        const auto lengths = problem.from(i, labels);
        double sum = 0;
        for (std::int64_t j = 0; j < problem.n; ++j) {
            const double weight = weights ? weights[j] : 1.0;
            if (labels[j] == labels[i] && weight > 0) sum += weight * lengths[j];
        }
        if (best < 0 || sum < least) {
            least = sum;
            best = i;
        }
    }
    return best;
}

TEST(medoids_of_graphs_have_the_least_sums) {
    for_all_problems([](const Problem& problem, unsigned seed) {
        const auto labels = drawn(problem.n, -1, 2, seed + 1);
        std::vector<std::int64_t> present(4);
        for (std::int32_t c = 0; c < 4; ++c)  // the last of its cluster; else any node
            for (std::int32_t i = 0; i < problem.n; ++i)
                if (labels[i] == c) present[c] = i;
        if (seed % 3 == 0) present[2] = 0;  // perhaps of another cluster
        for (const double* weights : problem.both_weights())
            for (const int n_threads : {1, 3}) {
                auto medoids = present;
                find_medoids(problem.graph(), labels.data(), weights, problem.both_ways, 4,
                             medoids.data(), Crew{n_threads, {}});
                auto slowly = present;  // without bounds by the triangle inequality
                find_medoids(problem.graph(), labels.data(), weights, false, 4, slowly.data(),
                             Crew{n_threads, {}});
                CHECK(medoids == slowly);
                for (std::int64_t c = 0; c < 4; ++c) {
                    const bool has_one = labels[present[c]] == c;
                    CHECK(medoids[c] == (has_one
                                             ? naive_medoid(problem, labels, weights, present[c])
                                             : present[c]));
                }
            }
    });
}

// A graph by its edges, which lead both ways.
struct Edge {
    std::int32_t one, other;
    double length;
};

Problem of_edges(std::int64_t n, const std::vector<Edge>& edges) {
    Problem found(n, 0, Lengths::whole, true, 0);
    for (std::int32_t i = 0; i < n; ++i) {
        for (const Edge& edge : edges) {
            if (edge.one != i && edge.other != i) continue;
            found.heads.push_back(edge.one == i ? edge.other : edge.one);
            found.lengths.push_back(edge.length);
        }
        found.starts[i + 1] = static_cast<std::int64_t>(found.heads.size());
    }
    return found;
}

std::int64_t medoid_from(const Problem& problem, const double* weights, bool both_ways,
                         std::int64_t present) {
    const std::vector<std::int32_t> everywhere(problem.n, 0);
    find_medoids(problem.graph(), everywhere.data(), weights, both_ways, 1, &present, Crew{2, {}});
    CHECK(present == naive_medoid(problem, everywhere, weights, present));
    return present;
}

// Node 0 has arcs to all but the last, node 1 to all: it is told from node 0 by one step in twenty.
TEST(a_search_does_not_end_too_early) {
    std::vector<Edge> edges;
    for (std::int32_t i = 2; i < 20; ++i) {
        edges.push_back({1, i, 1});
        if (i < 19) edges.push_back({0, i, 1});
    }
    edges.push_back({0, 1, 1});
    const Problem hubs = of_edges(20, edges);
    for (const bool both_ways : {false, true}) CHECK(medoid_from(hubs, nullptr, both_ways, 0) == 1);
}

// A stub without weight beside the hub of a star: the bound that it tells of the hub is exact.
TEST(a_bound_that_is_exact_does_not_drop_the_best) {
    std::vector<Edge> edges{{0, 1, 0.001}};
    for (std::int32_t i = 2; i < 40; ++i) edges.push_back({1, i, 1});
    const Problem star = of_edges(40, edges);
    std::vector<double> weights(40, 1.0);
    weights[0] = 0;
    for (const bool both_ways : {false, true})
        CHECK(medoid_from(star, weights.data(), both_ways, 0) == 1);
}

// On a ring all sums are equal, and the bound of the opposite node is as high as the best.
TEST(ties_go_to_the_lowest_node) {
    std::vector<Edge> edges;
    for (std::int32_t i = 0; i < 50; ++i) edges.push_back({i, (i + 1) % 50, 1});
    const Problem ring = of_edges(50, edges);
    for (const bool both_ways : {false, true})
        for (const std::int64_t present : {0, 1, 25, 49})
            CHECK(medoid_from(ring, nullptr, both_ways, present) == 0);
}

// Long paths: bounds and searches that end early have something to save, and must not save too
// much.
TEST(medoids_of_a_wide_grid) {
    const std::int32_t side = 24;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> length(0.5, 1.5);
    std::vector<Edge> edges;
    for (std::int32_t i = 0; i < side * side; ++i) {
        if (i % side + 1 < side) edges.push_back({i, i + 1, length(random)});
        if (i + side < side * side) edges.push_back({i, i + side, length(random)});
    }
    const Problem grid = of_edges(side * side, edges);
    std::vector<std::int32_t> labels(grid.n);
    for (std::int32_t i = 0; i < grid.n; ++i) labels[i] = i % side < side / 2 ? 0 : 1;
    for (const double* weights : grid.both_weights()) {
        const std::int64_t expected[] = {naive_medoid(grid, labels, weights, 0),
                                         naive_medoid(grid, labels, weights, side - 1)};
        for (const bool both_ways : {false, true}) {
            std::int64_t medoids[] = {0, side - 1};
            find_medoids(grid.graph(), labels.data(), weights, both_ways, 2, medoids, Crew{2, {}});
            CHECK(medoids[0] == expected[0]);
            CHECK(medoids[1] == expected[1]);
        }
    }
}

}  // namespace
