// Down a vocabulary tree: the leaf a row reaches, greedily or with a beam.
//
// Distances are of the direct form in float64 (direct.hpp), column after column with children in
// lanes, so that a row goes the way it went when the tree was learned, on any ISA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Nodes level by level; the children of node i are nodes [starts[i], starts[i + 1]).
struct TreeView {
    const double* centers;             // n_nodes x n_cols
    const std::int32_t* starts;        // n_nodes + 1
    const std::int32_t* leaf_numbers;  // n_nodes; -1 for an inner node
    std::int64_t n_nodes, n_cols;
};

// The tree with the children of each node transposed, so that they sit in lanes.
class PackedTree {
public:
    PackedTree(const TreeView& tree, double scale)
        : n_cols(tree.n_cols), scale(scale), tree_(tree), places_(tree.n_nodes) {
        std::int64_t n_groups = 0;
        for (std::int64_t node = 0; node < tree.n_nodes; ++node) {
            places_[node] = n_groups * lanes * n_cols;
            n_groups += (n_children(node) + lanes - 1) / lanes;
        }
        data_.assign(n_groups * lanes * n_cols, 0.0);
        for (std::int64_t node = 0; node < tree.n_nodes; ++node)
            for (std::int64_t j = 0; j < n_children(node); ++j) {
                const double* center = tree.centers + (tree.starts[node] + j) * n_cols;
                double* to = data_.data() + places_[node] + j / lanes * lanes * n_cols + j % lanes;
                for (std::int64_t t = 0; t < n_cols; ++t) to[t * lanes] = center[t] * scale;
            }
    }

    bool is_leaf(std::int32_t node) const { return n_children(node) == 0; }
    std::int32_t leaf_number(std::int32_t node) const { return tree_.leaf_numbers[node]; }

    // visit(child, sq_dist * scale^2) for every child of a node, in order; x is scaled.
    template <class Visit>
    void each_child(std::int32_t node, const double* x, const Visit& visit) const {
        const double* c = data_.data() + places_[node];
        for (std::int32_t first = tree_.starts[node]; first < tree_.starts[node + 1];
             first += lanes) {
            Vec<double> sum = {};
            for (std::int64_t t = 0; t < n_cols; ++t, c += lanes) {
                const Vec<double> diff = broadcast(x[t]) - load(c);
                sum += rounded(diff * diff);
            }
            const int here = std::min<int>(lanes, tree_.starts[node + 1] - first);
            for (int i = 0; i < here; ++i) visit(first + i, sum[i]);
        }
    }

    const std::int64_t n_cols;
    const double scale;

private:
    static constexpr int lanes = Simd<double>::lanes;
    std::int64_t n_children(std::int64_t node) const {
        return tree_.starts[node + 1] - tree_.starts[node];
    }

    TreeView tree_;
    std::vector<std::int64_t> places_;
    std::vector<double> data_;
};

// A node, and how far the row is from it.
struct Spot {
    double sq_dist;
    std::int32_t node;
    bool operator<(const Spot& other) const {
        return sq_dist < other.sq_dist || (sq_dist == other.sq_dist && node < other.node);
    }
};

// One thread's way down.
class Descent {
public:
    explicit Descent(const PackedTree& tree) : tree_(tree), x_(tree.n_cols) {}

    // The leaf that a row reaches by going to the nearest child each time; ties to the lower.
    template <class In>
    Spot greedy(const In* row) {
        take(row);
        Spot at{0, 0};
        while (!tree_.is_leaf(at.node)) {
            Spot nearest{std::numeric_limits<double>::infinity(), -1};
            tree_.each_child(at.node, x_.data(), [&](std::int32_t child, double sq_dist) {
                if (nearest.node < 0 || sq_dist < nearest.sq_dist) nearest = {sq_dist, child};
            });
            at = nearest;
        }
        return at;
    }

    // The leaves that a row reaches with a beam, at most `width`.
    //
    // Of every level an ordered list of nodes is kept. Place i of the next one goes to the nearest
    // node not yet in it among the children of the first i (a leaf is its own child). So the first
    // place is the greedy way, a narrower beam's list begins a wider one's (which therefore never
    // finds less), and a beam as wide as the level is exact.
    template <class In>
    const std::vector<Spot>& beam(const In* row, std::int64_t width) {
        take(row);
        kept_.assign(1, Spot{0, 0});
        for (bool inner = true; inner;) {
            inner = false;
            heap_.clear();
            next_.clear();
            for (const Spot& spot : kept_) {
                if (tree_.is_leaf(spot.node)) {
                    push(spot);
                } else {
                    inner = true;
                    tree_.each_child(spot.node, x_.data(), [&](std::int32_t child, double sq_dist) {
                        push({sq_dist, child});
                    });
                }
                pop();
            }
            while (static_cast<std::int64_t>(next_.size()) < width && !heap_.empty()) pop();
            kept_.swap(next_);
        }
        return kept_;
    }

    // The nearest of some leaves; ties go to the lower number.
    Spot nearest_of(const std::vector<Spot>& leaves) const {
        Spot nearest = leaves[0];
        for (const Spot& leaf : leaves)
            if (leaf.sq_dist < nearest.sq_dist ||
                (leaf.sq_dist == nearest.sq_dist &&
                 tree_.leaf_number(leaf.node) < tree_.leaf_number(nearest.node)))
                nearest = leaf;
        return nearest;
    }

private:
    template <class In>
    void take(const In* row) {
        for (std::int64_t t = 0; t < tree_.n_cols; ++t)
            x_[t] = static_cast<double>(row[t]) * tree_.scale;
    }
    static bool later(const Spot& a, const Spot& b) { return b < a; }
    void push(Spot spot) {
        heap_.push_back(spot);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        next_.push_back(heap_.back());
        heap_.pop_back();
    }

    const PackedTree& tree_;
    std::vector<double> x_;
    std::vector<Spot> kept_, next_, heap_;
};

// The nearest of the leaves that every row reaches.
template <class In>
void find_leaves(Matrix<const In> rows, const PackedTree& tree, std::int64_t width,
                 std::int32_t* labels, const Crew& crew) {
    const Chunks chunks(rows.n_rows, 512 * width * rows.n_cols);
    PerThread<Descent> descents(crew.n_at_work(chunks.count()), tree);
    PerThread<RowReader<In>> readers(crew.n_at_work(chunks.count()), rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        Descent& descent = descents[worker];
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            if (width > 1) Pool::breathe();
            const In* row = readers[worker].read(i);
            const Spot leaf =
                width == 1 ? descent.greedy(row) : descent.nearest_of(descent.beam(row, width));
            labels[i] = tree.leaf_number(leaf.node);
        }
    });
}

}  // namespace coterie
