// Boruvka (1926) over a kd-tree: in every round each component takes its least edge outwards.
//
// What a point learned of the nearest point outside its component stays a lower bound in all
// later rounds, since components only grow; most points are settled by that alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/brute_neighbors.hpp"
#include "coterie/neighbors/components.hpp"
#include "coterie/neighbors/edges.hpp"
#include "coterie/neighbors/kdtree.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

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
          component_(n_ + packed_slack),
          uniform_(tree.nodes().size()),
          nearest_(n_, -1),
          bound_(n_),
          least_(n_),
          limit_(n_) {
        std::iota(component_.begin(), component_.end(), 0);
        if (cores) {
            core_.resize(n_ + packed_slack);
            for (std::int64_t i = 0; i < n_; ++i) core_[i] = cores[tree.order()[i]];
            bound_.assign(core_.begin(), core_.begin() + n_);
        }
    }

    std::vector<Edge> run() {
        std::vector<Edge> edges;
        edges.reserve(n_ - 1);
        std::vector<std::int32_t> roots(n_);
        std::iota(roots.begin(), roots.end(), 0);
        while (static_cast<std::int64_t>(edges.size()) < n_ - 1) {
            for (const std::int32_t root : roots) {
                limit_[root].store(infinity, std::memory_order_relaxed);
                least_[root].store(-1, std::memory_order_relaxed);
            }
            mark_uniform_nodes();
            offer_known();
            for_each_leaf([&](std::int32_t leaf) { search(leaf); });
            choose_least();
            const std::size_t n_before = edges.size();
            merge(roots, edges);
            if (edges.size() == n_before) join_blindly(roots, edges);
        }
        return edges;
    }

private:
    static constexpr float infinity = std::numeric_limits<float>::infinity();
    static constexpr int lanes = Simd<double>::lanes;
    using Node = typename KdTree<In>::Node;
    using Bits = std::uint32_t;  // some points of a leaf
    static_assert(KdTree<In>::max_leaf <= 32);

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

    // A power of two that brings the longest of all lengths to about one, within what a float
    // holds.
    double unit_for_floats() const {
        const std::int64_t d = tree_.n_cols();
        std::vector<double> low(d), high(d);
        tree_.read_box(0, low.data(), high.data());
        typename Sum::template State<double> state;
        for (std::int64_t t = 0; t < d; ++t) sum_.add(state, t, low[t], high[t]);
        int exponent = 0;
        std::frexp(metric_.length_of(sum_.value(state)), &exponent);
        return std::ldexp(1.0, -std::clamp(exponent, -1000, 1000));
    }

    double limit_of(std::int32_t position) const {
        return limit_[component_[position]].load(std::memory_order_relaxed) / unit_;
    }

    void lower_limit(std::int32_t component, double length) {
        if (!(length * unit_ < std::numeric_limits<float>::max())) return;  // only core distances
        const float above = std::nextafter(static_cast<float>(length * unit_), infinity);
        float now = limit_[component].load(std::memory_order_relaxed);
        while (above < now &&
               !limit_[component].compare_exchange_weak(now, above, std::memory_order_relaxed)) {
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
        const Chunks chunks(n_, 1);
        crew_.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
                body(static_cast<std::int32_t>(p));
        });
    }

    // What is known from earlier rounds and not yet of the same component.
    void offer_known() {
        for_each_position([&](std::int32_t p) {
            if (nearest_[p] < 0) return;
            if (component_[nearest_[p]] == component_[p])
                nearest_[p] = -1;
            else
                lower_limit(component_[p], bound_[p]);
        });
    }

    // The points of a leaf that search, together: one way down the tree serves them all.
    struct Batch {
        std::int32_t leaf_id;
        const Node& leaf;
        std::vector<double> low, high;  // box of the leaf
        std::vector<double> queries;
        Edge edge[KdTree<In>::max_leaf];             // the least outwards, as far as it is known
        std::int32_t nearest[KdTree<In>::max_leaf];  // where it leads
        double reach[KdTree<In>::scratch_size];      // reduced; what is farther is of no use
        unsigned n_looks = 0;                        // at other leaves
    };

    void search(std::int32_t leaf_id) {
        const Node& leaf = tree_.nodes()[leaf_id];
        Bits active = 0;
        for (std::int32_t i = 0; i < leaf.size(); ++i) {
            const std::int32_t p = leaf.begin + i;
            active |= Bits{nearest_[p] < 0 && bound_[p] <= limit_of(p)} << i;
        }
        if (active == 0) return;
        Pool::breathe();
        const std::int64_t d = tree_.n_cols();
        Batch batch{leaf_id,
                    leaf,
                    std::vector<double>(d),
                    std::vector<double>(d),
                    std::vector<double>(leaf.size() * d),
                    {},
                    {},
                    {}};
        tree_.read_box(leaf_id, batch.low.data(), batch.high.data());
        each_bit(active, [&](int i) {
            tree_.read_point(leaf, leaf.begin + i, batch.queries.data() + i * d);
            look_no_farther_than(batch, i, foresight_ * limit_of(leaf.begin + i));
        });
        if (uniform_[leaf_id] < 0) {  // at home first: all of a component gain by what one finds
            each_bit(active, [&](int i) { look(batch, i, leaf); });
            each_bit(active,
                     [&](int i) { lower_limit(component_[leaf.begin + i], batch.edge[i].length); });
            each_bit(active, [&](int i) {
                const double reach = foresight_ * limit_of(leaf.begin + i);
                if (reach < batch.edge[i].length) look_no_farther_than(batch, i, reach);
            });
        }
        descend(batch, active, 0);
        each_bit(active, [&](int i) {
            const std::int32_t p = leaf.begin + i;
            nearest_[p] = batch.nearest[i];
            bound_[p] = batch.edge[i].length;
            if (nearest_[p] >= 0) lower_limit(component_[p], bound_[p]);
        });
    }

    template <class Body>
    static void each_bit(Bits bits, const Body& body) {
        for (; bits; bits &= bits - 1) body(__builtin_ctz(bits));
    }

    void look_no_farther_than(Batch& batch, int i, double length) {
        batch.edge[i] = {length};
        batch.nearest[i] = -1;
        batch.reach[i] = metric_.reduced_at_most(length);
    }

    void descend(Batch& batch, Bits active, std::int32_t node_id) {
        const Node& node = tree_.nodes()[node_id];
        if (node.is_leaf()) {
            if (++batch.n_looks % 64 == 0) Pool::breathe();
            if (node_id != batch.leaf_id) each_bit(active, [&](int i) { look(batch, i, node); });
            return;
        }
        const Pair between =
            tree_.nearest_of(sum_, batch.low.data(), batch.high.data(), node.child);
        const int near = between[1] < between[0];
        for (const int side : {near, 1 - near}) {
            const std::int32_t child = node.child + side;
            const Bits kept = between[side] <= 0 && uniform_[child] < 0
                                  ? active  // no box to tell them apart
                                  : hopeful(batch, active, child, between[side]);
            if (kept) descend(batch, kept, child);
        }
    }

    // Those points of the batch that may find something of use in the node.
    Bits hopeful(const Batch& batch, Bits active, std::int32_t node, double between) const {
        const Node& leaf = batch.leaf;
        Bits hopeless = 0;
        for (std::int32_t i = 0; i < leaf.size(); i += lanes) {
            const auto own = widened<IntVec<double>>(components(leaf.begin + i) == uniform_[node]);
            hopeless |= lane_bits(own | (load(batch.reach + i) < broadcast(between))) << i;
        }
        active &= ~hopeless;
        if (active == 0 || between <= 0) return active;
        double bound[KdTree<In>::scratch_size];
        tree_.nearest_of(sum_, tree_.points(leaf), node, bound);
        for (std::int32_t i = 0; i < leaf.size(); i += lanes)
            hopeless |= lane_bits(load(batch.reach + i) < load(bound + i)) << i;
        return active & ~hopeless;
    }

    // Hold one point of the batch against those of another leaf, or of its own.
    void look(Batch& batch, int i, const Node& leaf) {
        const std::int32_t p = batch.leaf.begin + i;
        double reduced[KdTree<In>::scratch_size];
        reduced_to(sum_, batch.queries.data() + i * tree_.n_cols(), tree_.points(leaf),
                   tree_.n_cols(), reduced);
        const Bits outside = put_away(leaf, component_[p], reduced);
        double reach = batch.reach[i];
        if (core_.empty()) {  // the nearest counts, and what rounding makes as long
            const double least = least_of(reduced, leaf.size());
            if (least > reach) return;
            reach = std::min(reach, metric_.reduced_at_most(metric_.length_of(least)));
        }
        each_bit(outside & within(reduced, leaf.size(), reach), [&](int j) {
            if (reduced[j] > batch.reach[i]) return;
            const std::int32_t q = leaf.begin + j;
            double length = metric_.length_of(reduced[j]);
            if (!core_.empty()) length = std::max({length, core_[p], core_[q]});
            const Edge edge = Edge::between(length, row(p), row(q));
            if (!(edge < batch.edge[i])) return;
            batch.edge[i] = edge;
            batch.nearest[i] = q;
            batch.reach[i] = metric_.reduced_at_most(length);
        });
    }

    // Put the points of a component, and the lanes behind the last point, infinitely far away;
    // the others' bits.
    Bits put_away(const Node& leaf, std::int32_t component, double* reduced) const {
        Bits outside = 0;
        for (std::int32_t i = 0; i < leaf.size(); i += lanes) {
            const auto other = widened<IntVec<double>>(components(leaf.begin + i) != component);
            outside |= lane_bits(other) << i;
            store(reduced + i, other ? load(reduced + i) : broadcast(double{infinity}));
        }
        for (std::int32_t i = leaf.size(); i % lanes != 0; ++i) reduced[i] = infinity;
        return outside & all_of(leaf);
    }

    static double least_of(const double* reduced, std::int32_t n) {
        Vec<double> least = load(reduced);
        for (std::int32_t i = lanes; i < n; i += lanes) least = vec_min(least, load(reduced + i));
        double result = least[0];
        for (int lane = 1; lane < lanes; ++lane) result = std::min(result, least[lane]);
        return result;
    }

    static Bits within(const double* reduced, std::int32_t n, double reach) {
        Bits bits = 0;
        for (std::int32_t i = 0; i < n; i += lanes)
            bits |= lane_bits(load(reduced + i) <= broadcast(reach)) << i;
        return bits;
    }

    static Bits all_of(const Node& leaf) { return ~Bits{0} >> (32 - leaf.size()); }

    // Of as many points from `position` on as there are lanes.
    auto components(std::int32_t position) const {
        typedef std::int32_t Ints __attribute__((vector_size(lanes * sizeof(std::int32_t))));
        Ints found;
        std::memcpy(&found, component_.data() + position, sizeof found);
        return found;
    }

    Edge known_edge(std::int32_t p) const {
        return Edge::between(bound_[p], row(p), row(nearest_[p]));
    }

    void choose_least() {
        for_each_position([&](std::int32_t p) {
            if (nearest_[p] < 0 || bound_[p] > limit_of(p)) return;
            std::atomic<std::int32_t>& least = least_[component_[p]];
            std::int32_t now = least.load(std::memory_order_relaxed);
            while ((now < 0 || known_edge(p) < known_edge(now)) &&
                   !least.compare_exchange_weak(now, p, std::memory_order_relaxed)) {
            }
        });
    }

    // Where no distance is a number all components are infinitely far apart.
    void join_blindly(const std::vector<std::int32_t>& roots, std::vector<Edge>& edges) {
        for (const std::int32_t root : roots)
            if (sets_.join(roots[0], root))
                edges.push_back(Edge::between(infinity, row(roots[0]), row(root)));
    }

    // Where two components chose each other, they chose the same edge.
    void merge(std::vector<std::int32_t>& roots, std::vector<Edge>& edges) {
        std::mutex mutex;
        const Chunks chunks(static_cast<std::int64_t>(roots.size()), 1);
        crew_.run(chunks.count(), [&](std::int64_t chunk, int) {
            std::vector<Edge> chosen;
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const std::int32_t p = least_[roots[i]].load(std::memory_order_relaxed);
                if (p < 0) continue;  // all distances are NaN
                if (sets_.join(roots[i], component_[nearest_[p]])) chosen.push_back(known_edge(p));
            }
            const std::lock_guard lock(mutex);
            edges.insert(edges.end(), chosen.begin(), chosen.end());
        });
        for_each_position([&](std::int32_t p) { component_[p] = sets_.root(component_[p]); });
        std::erase_if(roots, [&](std::int32_t root) { return component_[root] != root; });
    }

    const Sum& sum_;
    const Metric& metric_;
    const KdTree<In>& tree_;
    const Crew& crew_;
    std::int64_t n_;
    double unit_ = unit_for_floats();
    // In few columns it pays to look farther than a round asks: that spares searches in the next.
    double foresight_ = tree_.n_cols() <= 3 ? 1.5 : 1.0;
    Components sets_;
    std::vector<std::int32_t> component_;  // of each position
    std::vector<std::int32_t> uniform_;    // of each node
    std::vector<std::int32_t> nearest_;    // position found nearest outside, or -1
    std::vector<double> bound_;            // nothing outside is nearer than this
    std::vector<double> core_;
    std::vector<std::atomic<std::int32_t>>
        least_;  // of each component: where its least edge begins
    std::vector<std::atomic<float>>
        limit_;  // of each component: hardly more than its length * unit_
};

}  // namespace coterie
