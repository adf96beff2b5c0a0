// The minimum spanning tree of rows, by distance or by mutual reachability.
//
// Edges are compared by (length, lower row, higher row). No two are equal then, so there is one
// minimum tree, and Boruvka's and Prim's algorithms and any number of threads find the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <tuple>
#include <vector>

#include "coterie/brute_neighbors.hpp"
#include "coterie/kdtree.hpp"
#include "coterie/matrix.hpp"
#include "coterie/metric.hpp"
#include "coterie/pool.hpp"
#include "coterie/union_find.hpp"

namespace coterie {

struct Edge {
    double length = std::numeric_limits<double>::infinity();
    std::int32_t head = std::numeric_limits<std::int32_t>::max();  // the lower row
    std::int32_t tail = std::numeric_limits<std::int32_t>::max();

    static Edge between(double length, std::int32_t a, std::int32_t b) {
        return {length, std::min(a, b), std::max(a, b)};
    }
    friend bool operator<(const Edge& a, const Edge& b) {
        return std::tie(a.length, a.head, a.tail) < std::tie(b.length, b.head, b.tail);
    }
};

// Boruvka (1926) over a kd-tree: in every round each component takes its least edge outwards.
//
// What a point learned of the nearest point outside its component stays a lower bound in all
// later rounds, since components only grow; most points are settled by that alone.
template <class Sum, class In>
class Boruvka {
public:
    Boruvka(const Sum& sum, const Metric& metric, const KdTree<In>& tree, const double* cores,
            const Crew& crew)
        : sum_(sum),
          metric_(metric),
          tree_(tree),
          crew_(crew),
          n_(tree.n_rows()),
          sets_(n_),
          component_(n_),
          uniform_(tree.nodes().size()),
          nearest_(n_, -1),
          bound_(n_),
          least_(n_),
          limit_(n_) {
        std::iota(component_.begin(), component_.end(), 0);
        if (cores) {
            core_.resize(n_);
            for (std::int64_t i = 0; i < n_; ++i) core_[i] = cores[tree.order()[i]];
            bound_ = core_;
        }
    }

    std::vector<Edge> run() {
        std::vector<Edge> edges;
        edges.reserve(n_ - 1);
        std::vector<std::int32_t> roots(n_);
        std::iota(roots.begin(), roots.end(), 0);
        while (static_cast<std::int64_t>(edges.size()) < n_ - 1) {
            for (const std::int32_t root : roots) {
                limit_[root].store(std::numeric_limits<double>::infinity(),
                                   std::memory_order_relaxed);
                least_[root] = {};
            }
            mark_uniform_nodes();
            offer_known();
            for_each_leaf([&](std::int32_t leaf) { search(leaf); });
            choose_least();
            merge(roots, edges);
        }
        return edges;
    }

private:
    static constexpr int n_locks = 64;
    using Node = typename KdTree<In>::Node;

    std::int32_t row(std::int32_t position) const { return tree_.order()[position]; }

    // The component of all of a node's points, or -1 where there are several.
    void mark_uniform_nodes() {
        const auto& nodes = tree_.nodes();
        for_each_leaf([&](std::int32_t id) {
            const Node& leaf = nodes[id];
            uniform_[id] = component_[leaf.begin];
            for (std::int32_t p = leaf.begin + 1; p < leaf.end; ++p)
                if (component_[p] != uniform_[id]) uniform_[id] = -1;
        });
        for (std::size_t i = nodes.size(); i-- > 0;) {  // children stand behind their parents
            const std::int32_t child = nodes[i].child;
            if (child) uniform_[i] = uniform_[child] == uniform_[child + 1] ? uniform_[child] : -1;
        }
    }

    bool knows_nearest(std::int32_t position) const {
        return nearest_[position] >= 0 && component_[nearest_[position]] != component_[position];
    }

    void lower_limit(std::int32_t component, double length) {
        double now = limit_[component].load(std::memory_order_relaxed);
        while (length < now &&
               !limit_[component].compare_exchange_weak(now, length, std::memory_order_relaxed)) {
        }
    }

    template <class Body>
    void for_each_leaf(const Body& body) {
        const ScanChunks chunks(static_cast<std::int64_t>(tree_.leaves().size()), 1 << 23);
        crew_.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                body(tree_.leaves()[i]);
        });
    }

    template <class Body>
    void for_each_position(const Body& body) {
        for_each_leaf([&](std::int32_t id) {
            const Node& leaf = tree_.nodes()[id];
            for (std::int32_t p = leaf.begin; p < leaf.end; ++p) body(p);
        });
    }

    void offer_known() {
        for_each_position([&](std::int32_t p) {
            if (knows_nearest(p)) lower_limit(component_[p], bound_[p]);
        });
    }

    // The least edge outwards of a point, as far as it is known.
    struct Found {
        Edge edge;
        std::int32_t position;
        double reduced;  // farther points are of no use
    };

    // The points of a leaf that search, together: one way down the tree serves them all.
    struct Batch {
        const Node& leaf;
        std::vector<double> low, high;
        std::vector<double> queries;
        Found found[KdTree<In>::max_leaf];
        double bound[KdTree<In>::scratch_size];
    };
    using Index = std::uint8_t;

    void search(std::int32_t leaf_id) {
        const Node& leaf = tree_.nodes()[leaf_id];
        Index active[KdTree<In>::max_leaf];
        int n_active = 0;
        for (std::int32_t i = 0; i < leaf.size(); ++i) {
            const std::int32_t p = leaf.begin + i;
            if (!knows_nearest(p) &&
                bound_[p] <= limit_[component_[p]].load(std::memory_order_relaxed))
                active[n_active++] = static_cast<Index>(i);
        }
        if (n_active == 0) return;
        const std::int64_t d = tree_.n_cols();
        Batch batch{leaf,
                    std::vector<double>(d),
                    std::vector<double>(d),
                    std::vector<double>(leaf.size() * d),
                    {},
                    {}};
        tree_.read_box(leaf_id, batch.low.data(), batch.high.data());
        for (int a = 0; a < n_active; ++a) {
            const std::int32_t p = leaf.begin + active[a];
            tree_.read_point(leaf, p, batch.queries.data() + active[a] * d);
            const double limit = limit_[component_[p]].load(std::memory_order_relaxed);
            const double reach = foresight_ * limit;
            batch.found[active[a]] = {{reach}, -1, metric_.reduced_at_most(reach)};
        }
        descend(batch, active, n_active, 0);
        for (int a = 0; a < n_active; ++a) {
            const std::int32_t p = leaf.begin + active[a];
            const Found& found = batch.found[active[a]];
            nearest_[p] = found.position;
            bound_[p] = found.edge.length;
            if (found.position >= 0) lower_limit(component_[p], found.edge.length);
        }
    }

    void descend(Batch& batch, const Index* active, int n_active, std::int32_t node_id) {
        const Node& node = tree_.nodes()[node_id];
        if (node.is_leaf()) {
            for (int a = 0; a < n_active; ++a) look(batch, active[a], node);
            return;
        }
        const Pair between =
            tree_.nearest_of(sum_, batch.low.data(), batch.high.data(), node.child);
        const int near = between[1] < between[0];
        for (const int side : {near, 1 - near}) {
            const std::int32_t child = node.child + side;
            if (between[side] <= 0 && uniform_[child] < 0) {  // no box to tell them apart
                descend(batch, active, n_active, child);
                continue;
            }
            Index kept[KdTree<In>::max_leaf];
            const int n_kept = filter(batch, active, n_active, child, between[side], kept);
            if (n_kept > 0) descend(batch, kept, n_kept, child);
        }
    }

    // Those points of the batch that may find something of use in the node.
    int filter(Batch& batch, const Index* active, int n_active, std::int32_t node, double between,
               Index* kept) {
        int n_hopeful = 0;
        for (int a = 0; a < n_active; ++a) {
            const Index i = active[a];
            kept[n_hopeful] = i;
            n_hopeful += between <= batch.found[i].reduced &&
                         uniform_[node] != component_[batch.leaf.begin + i];
        }
        if (n_hopeful == 0 || between <= 0) return n_hopeful;
        tree_.nearest_of(sum_, tree_.points(batch.leaf), node, batch.bound);
        int n_kept = 0;
        for (int a = 0; a < n_hopeful; ++a) {
            const Index i = kept[a];
            kept[n_kept] = i;
            n_kept += batch.bound[i] <= batch.found[i].reduced;
        }
        return n_kept;
    }

    void look(Batch& batch, Index i, const Node& leaf) {
        double reduced[KdTree<In>::scratch_size];
        const std::int32_t p = batch.leaf.begin + i;
        Found& found = batch.found[i];
        reduced_to(sum_, batch.queries.data() + i * tree_.n_cols(), tree_.points(leaf),
                   tree_.n_cols(), reduced);
        for (std::int32_t j = 0; j < leaf.size(); ++j) {
            if (reduced[j] > found.reduced) continue;
            const std::int32_t q = leaf.begin + j;
            if (component_[q] == component_[p]) continue;
            double length = metric_.length_of(reduced[j]);
            if (!core_.empty()) length = std::max({length, core_[p], core_[q]});
            const Edge edge = Edge::between(length, row(p), row(q));
            if (edge < found.edge) found = {edge, q, metric_.reduced_at_most(length)};
        }
    }

    void choose_least() {
        for_each_position([&](std::int32_t p) {
            const std::int32_t c = component_[p];
            if (bound_[p] > limit_[c].load(std::memory_order_relaxed) || !knows_nearest(p)) return;
            const Edge edge = Edge::between(bound_[p], row(p), row(nearest_[p]));
            const std::lock_guard lock(locks_[c % n_locks]);
            if (edge < least_[c].edge) least_[c] = {edge, nearest_[p]};
        });
    }

    void merge(std::vector<std::int32_t>& roots, std::vector<Edge>& edges) {
        for (const std::int32_t root : roots)
            if (sets_.unite(root, component_[least_[root].position]))
                edges.push_back(least_[root].edge);
        for (const std::int32_t root : roots) sets_.flatten(root);
        for_each_position([&](std::int32_t p) { component_[p] = sets_.parent(component_[p]); });
        std::erase_if(roots, [&](std::int32_t root) { return sets_.parent(root) != root; });
    }

    struct Least {
        Edge edge;
        std::int32_t position = -1;
    };

    const Sum& sum_;
    const Metric& metric_;
    const KdTree<In>& tree_;
    const Crew& crew_;
    std::int64_t n_;
    // In few columns it pays to look farther than a round asks: that spares searches in the next.
    double foresight_ = tree_.n_cols() <= 3 ? 1.5 : 1.0;
    UnionFind sets_;
    std::vector<std::int32_t> component_;  // of each position
    std::vector<std::int32_t> uniform_;    // of each node
    std::vector<std::int32_t> nearest_;    // position last found nearest outside, or -1
    std::vector<double> bound_;            // nothing outside is nearer than this
    std::vector<double> core_;
    std::vector<Least> least_;                // of each component
    std::vector<std::atomic<double>> limit_;  // of each component: length of its least edge
    std::mutex locks_[n_locks];
};

// Prim (1957): the tree takes in the nearest outside row, again and again.
//
// Rows outside stay packed in tiles; a row that is taken in leaves its slot to the last one. Each
// step compares the row just taken with all outside: n^2 / 2 distances, O(n) memory.
template <class Sum, class In>
class Prim {
public:
    Prim(const Sum& sum, const Metric& metric, Matrix<const In> rows, const double* cores,
         const Crew& crew)
        : sum_(sum),
          metric_(metric),
          cores_(cores),
          crew_(crew),
          n_cols_(rows.n_cols),
          tiles_((rows.n_rows + tile - 1) / tile * tile * n_cols_ + packed_slack),
          outside_(rows.n_rows),
          least_(rows.n_rows),
          useful_(rows.n_rows, std::numeric_limits<double>::infinity()) {
        std::iota(outside_.begin(), outside_.end(), 0);
        for (std::int64_t i = 0; i < rows.n_rows; ++i)
            for (std::int64_t t = 0; t < n_cols_; ++t) *cell(i, t) = rows.at(i, t);
    }

    std::vector<Edge> run() {
        std::vector<Edge> edges;
        edges.reserve(outside_.size());
        std::vector<double> point(n_cols_);
        std::int64_t slot = 0;
        while (true) {
            const std::int32_t taken = take(slot, point.data());
            if (outside_.empty()) return edges;
            slot = compare_with(taken, point.data());
            edges.push_back(least_[slot]);
            if (edges.size() % 256 == 0 && crew_.poll && crew_.poll()) throw Interrupted{};
        }
    }

private:
    static constexpr std::int64_t tile = 64;

    In* cell(std::int64_t slot, std::int64_t t) {
        return tiles_.data() + (slot / tile * n_cols_ + t) * tile + slot % tile;
    }

    std::int32_t take(std::int64_t slot, double* point) {
        const std::int32_t row = outside_[slot];
        const auto last = static_cast<std::int64_t>(outside_.size()) - 1;
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            point[t] = *cell(slot, t);
            *cell(slot, t) = *cell(last, t);
        }
        outside_[slot] = outside_[last];
        least_[slot] = least_[last];
        useful_[slot] = useful_[last];
        outside_.pop_back();
        return row;
    }

    // Offer every row outside the edge to `taken`; the slot of the least edge of all.
    std::int64_t compare_with(std::int32_t taken, const double* point) {
        const auto n_outside = static_cast<std::int64_t>(outside_.size());
        const std::int64_t size =
            std::max<std::int64_t>(tile, (1 << 16) / n_cols_ / tile * tile);  // rows in a chunk
        std::vector<std::int64_t> best((n_outside + size - 1) / size);
        crew_.run(static_cast<std::int64_t>(best.size()), [&](std::int64_t chunk, int) {
            const std::int64_t end = std::min(n_outside, (chunk + 1) * size);
            best[chunk] = chunk * size;
            for (std::int64_t first = chunk * size; first < end; first += tile)
                compare_tile(taken, point, first, std::min(end, first + tile), best[chunk]);
        });
        return *std::min_element(best.begin(), best.end(), [&](std::int64_t a, std::int64_t b) {
            return least_[a] < least_[b];
        });
    }

    void compare_tile(std::int32_t taken, const double* point, std::int64_t first, std::int64_t end,
                      std::int64_t& best) {
        double reduced[tile + packed_slack];
        reduced_to(sum_, point, Packed<In>{cell(first, 0), end - first, tile}, n_cols_, reduced);
        for (std::int64_t slot = first; slot < end; ++slot) {
            if (reduced[slot - first] <= useful_[slot])
                offer(slot, taken, metric_.length_of(reduced[slot - first]));
            if (least_[slot] < least_[best]) best = slot;
        }
    }

    void offer(std::int64_t slot, std::int32_t taken, double length) {
        if (cores_) length = std::max({length, cores_[taken], cores_[outside_[slot]]});
        const Edge edge = Edge::between(length, taken, outside_[slot]);
        if (!(edge < least_[slot])) return;
        least_[slot] = edge;
        useful_[slot] = metric_.reduced_at_most(length);
    }

    const Sum& sum_;
    const Metric& metric_;
    const double* cores_;
    const Crew& crew_;
    std::int64_t n_cols_;
    AlignedVector<In> tiles_;            // rows outside, by slot
    std::vector<std::int32_t> outside_;  // row in each slot
    std::vector<Edge> least_;            // from each slot's row to the tree
    std::vector<double> useful_;         // farther rows cannot give the slot a lesser edge
};

// Sort in pieces of a number that depends on the length alone, then merge them two by two.
inline void sort_edges(std::vector<Edge>& edges, const Crew& crew) {
    const auto n = static_cast<std::int64_t>(edges.size());
    const std::int64_t n_pieces = n < 10000 ? 1 : 16;
    const auto at = [&](std::int64_t piece) {
        return edges.begin() + std::min(piece, n_pieces) * n / n_pieces;
    };
    crew.run(n_pieces, [&](std::int64_t i, int) { std::sort(at(i), at(i + 1)); });
    for (std::int64_t width = 1; width < n_pieces; width *= 2)
        crew.run(n_pieces / (2 * width), [&](std::int64_t i, int) {
            const std::int64_t first = i * 2 * width;
            std::inplace_merge(at(first), at(first + width), at(first + 2 * width));
        });
}

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
        edges = with_sum(metric, rows.n_cols, [&](const auto& sum) {
            return Prim(sum, metric, rows, cores, crew).run();
        });
    }
    sort_edges(edges, crew);
    return edges;
}

}  // namespace coterie
