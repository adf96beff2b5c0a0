// A kd-tree: boxes that halve the points again and again, down to leaves of some dozen points.
//
// Points are permuted so that each leaf is packed for the lanes. Bounds to boxes are summed like
// the distances themselves, and rounding never reverses an order: a box is skipped only when no
// computed distance to a point in it could count. No slack is needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/halving.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The two children of a node, side by side.
typedef double Pair __attribute__((vector_size(16)));

template <class In>
class KdTree {
public:
    static constexpr int max_leaf = 32;
    static constexpr int scratch_size = max_leaf + packed_slack;  // distances to a leaf

    using Node = TreeNode;

    KdTree(Matrix<const In> rows, const Crew& crew, int leaf_size = max_leaf)
        : n_cols_(rows.n_cols), leaf_size_(std::min(leaf_size, max_leaf)) {
        copy_rows(rows, crew);
        nodes_ = halve(n_rows(), crew, [&](const Node& node) { return split(node); });
        list_leaves();
        write_boxes(crew);
        pack_leaves(crew);
    }

    std::int64_t n_rows() const { return static_cast<std::int64_t>(order_.size()); }
    std::int64_t n_cols() const { return n_cols_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<std::int32_t>& leaves() const { return leaves_; }  // nodes, by position
    const std::vector<std::int32_t>& order() const { return order_; }    // row at each position

    Packed<In> points(const Node& leaf) const {
        return {points_.data() + leaf.begin * n_cols_, leaf.size(), leaf.size()};
    }
    void read_point(const Node& leaf, std::int32_t position, double* out) const {
        const Packed<In> packed = points(leaf);
        for (std::int64_t t = 0; t < n_cols_; ++t)
            out[t] = packed.data[t * packed.stride + (position - leaf.begin)];
    }
    // The rows in the order they were given in, in C order.
    void copy_rows_to(In* out) const {
        for (const std::int32_t id : leaves_) {
            const Node& leaf = nodes_[id];
            const Packed<In> packed = points(leaf);
            for (std::int32_t i = 0; i < leaf.size(); ++i)
                for (std::int64_t t = 0; t < n_cols_; ++t)
                    out[order_[leaf.begin + i] * n_cols_ + t] = packed.data[t * packed.stride + i];
        }
    }
    void read_box(std::int32_t node, double* low, double* high) const {
        const In* box = box_of(node);
        for (std::int64_t t = 0; t < n_cols_; ++t, box += 4) low[t] = box[0], high[t] = box[2];
    }

    // Reduced distances from a point to the boxes of two siblings, at most those to their points.
    template <class Sum>
    Pair nearest_of(const Sum& sum, const double* query, std::int32_t child) const {
        typename Sum::template State<Pair> state;
        with_columns_of(sum, n_cols_, [&](auto d) {
            const In* box = boxes_of(child);
            for (std::int64_t t = 0; t < d; ++t, box += 4) {
                const Pair q{query[t], query[t]};
                sum.add(state, t, larger(larger(pair(box) - q, q - pair(box + 2)), Pair{}), Pair{});
            }
        });
        return sum.value(state);
    }

    // The same from a box: at most the distances between any two points of the boxes.
    template <class Sum>
    Pair nearest_of(const Sum& sum, const double* low, const double* high,
                    std::int32_t child) const {
        typename Sum::template State<Pair> state;
        with_columns_of(sum, n_cols_, [&](auto d) {
            const In* box = boxes_of(child);
            for (std::int64_t t = 0; t < d; ++t, box += 4) {
                const Pair l{low[t], low[t]}, h{high[t], high[t]};
                sum.add(state, t, larger(larger(pair(box) - h, l - pair(box + 2)), Pair{}), Pair{});
            }
        });
        return sum.value(state);
    }

    // The same from each of a leaf's points to one box; `out` has room for packed_slack more.
    template <class Sum>
    void nearest_of(const Sum& sum, Packed<In> points, std::int32_t node, double* out) const {
        constexpr int lanes = Simd<double>::lanes;
        with_columns_of(sum, n_cols_, [&](auto d) {
            for (std::int64_t i = 0; i < points.count; i += 2 * lanes) {
                typename Sum::template State<Vec<double>> state[2];
                const In* box = box_of(node);
                const In* column = points.data + i;
                for (std::int64_t t = 0; t < d; ++t, box += 4, column += points.stride) {
                    const Vec<double> low = broadcast(static_cast<double>(box[0]));
                    const Vec<double> high = broadcast(static_cast<double>(box[2]));
                    for (int v = 0; v < 2; ++v) {
                        const Vec<double> x = load_as_double(column + v * lanes);
                        const Vec<double> zero{};
                        sum.add(state[v], t, vec_max(vec_max(low - x, x - high), zero), zero);
                    }
                }
                for (int v = 0; v < 2; ++v) store(out + i + v * lanes, sum.value(state[v]));
            }
        });
    }

    // At least the reduced distances from a point to any point of the two boxes.
    template <class Sum>
    Pair farthest_of(const Sum& sum, const double* query, std::int32_t child) const {
        typename Sum::template State<Pair> state;
        with_columns_of(sum, n_cols_, [&](auto d) {
            const In* box = boxes_of(child);
            for (std::int64_t t = 0; t < d; ++t, box += 4) {
                const Pair q{query[t], query[t]};
                sum.add(state, t, larger(pair(box + 2) - q, q - pair(box)), Pair{});
            }
        });
        return sum.value(state);
    }

    // visit(leaf) for every leaf whose box is within limit(), nearest first.
    template <class Sum, class Limit, class Visit>
    void for_each_leaf(const Sum& sum, const double* query, const Limit& limit, const Visit& visit,
                       std::int32_t node_id = 0) const {
        const Node& node = nodes_[node_id];
        if (node.is_leaf()) return visit(node);
        const Pair bound = nearest_of(sum, query, node.child);
        const int near = bound[1] < bound[0];
        if (bound[near] <= limit()) for_each_leaf(sum, query, limit, visit, node.child + near);
        if (bound[!near] <= limit()) for_each_leaf(sum, query, limit, visit, node.child + !near);
    }

    // visit(row, reduced) for every point with a reduced distance of at most `reduced_radius`.
    template <class Sum, class Visit>
    void for_each_within(const Sum& sum, const double* query, double reduced_radius,
                         const Visit& visit) const {
        double reduced[scratch_size];
        for_each_leaf(
            sum, query, [&] { return reduced_radius; },
            [&](const Node& leaf) {
                reduced_to(sum, query, points(leaf), n_cols_, reduced);
                for (std::int32_t i = 0; i < leaf.size(); ++i)
                    if (reduced[i] <= reduced_radius) visit(order_[leaf.begin + i], reduced[i]);
            });
    }

    // How many points lie within; counting may end once there are `stop_at`.
    template <class Sum>
    std::int64_t count_within(const Sum& sum, const double* query, double reduced_radius,
                              std::int64_t stop_at, std::int32_t node_id = 0) const {
        const Node& node = nodes_[node_id];
        if (node.is_leaf()) {
            double reduced[scratch_size];
            reduced_to(sum, query, points(node), n_cols_, reduced);
            return std::count_if(reduced, reduced + node.size(),
                                 [&](double r) { return r <= reduced_radius; });
        }
        const Pair nearest = nearest_of(sum, query, node.child);
        const Pair farthest = farthest_of(sum, query, node.child);
        const int first = nearest[1] < nearest[0];
        std::int64_t count = 0;
        for (const int side : {first, 1 - first}) {
            if (nearest[side] > reduced_radius || count >= stop_at) continue;
            const std::int32_t child = node.child + side;
            count += farthest[side] <= reduced_radius
                         ? nodes_[child].size()
                         : count_within(sum, query, reduced_radius, stop_at - count, child);
        }
        return count;
    }

private:
    // Boxes of siblings lie together: nodes 0, 1 + 2, 3 + 4, ... share a place, the root is alone
    // in its. Low, low, high, high a column.
    static std::int64_t place_of(std::int32_t node) { return (node + 1) / 2; }
    const In* boxes_of(std::int32_t child) const {
        return boxes_.data() + place_of(child) * 4 * n_cols_;
    }
    const In* box_of(std::int32_t node) const {
        return boxes_of(node) + (node > 0 && node % 2 == 0);
    }
    In* box_of(std::int32_t node) { return const_cast<In*>(std::as_const(*this).box_of(node)); }
    static Pair pair(const In* two) {
        return Pair{static_cast<double>(two[0]), static_cast<double>(two[1])};
    }

    void copy_rows(Matrix<const In> rows, const Crew& crew) {
        order_.resize(rows.n_rows);
        std::iota(order_.begin(), order_.end(), 0);
        points_.resize(rows.n_rows * n_cols_ + packed_slack);
        const Chunks chunks(rows.n_rows, n_cols_);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                for (std::int64_t t = 0; t < n_cols_; ++t) points_[i * n_cols_ + t] = rows.at(i, t);
        });
    }

    void write_box(std::int32_t begin, std::int32_t end, In* box) const {
        for (std::int64_t t = 0; t < n_cols_; ++t) box[4 * t] = box[4 * t + 2] = row(begin)[t];
        with_columns(n_cols_, [&](auto d) {
            for (const In* x = row(begin); x != row(end); x += d)
                for (std::int64_t t = 0; t < d; ++t) {
                    box[4 * t] = x[t] < box[4 * t] ? x[t] : box[4 * t];
                    box[4 * t + 2] = x[t] > box[4 * t + 2] ? x[t] : box[4 * t + 2];
                }
        });
    }

    // Of the leaves by their points, of the others by their children.
    void write_boxes(const Crew& crew) {
        boxes_.resize((nodes_.size() / 2 + 1) * 4 * n_cols_);
        const Chunks chunks(static_cast<std::int64_t>(leaves_.size()), max_leaf * n_cols_);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const Node& leaf = nodes_[leaves_[i]];
                write_box(leaf.begin, leaf.end, box_of(leaves_[i]));
            }
        });
        for (auto i = static_cast<std::int32_t>(nodes_.size()) - 1; i >= 0; --i)
            if (!nodes_[i].is_leaf()) join_boxes(boxes_of(nodes_[i].child), box_of(i));
    }

    void join_boxes(const In* two, In* box) const {
        for (std::int64_t t = 0; t < n_cols_; ++t, two += 4, box += 4) {
            box[0] = two[1] < two[0] ? two[1] : two[0];
            box[2] = two[3] > two[2] ? two[3] : two[2];
        }
    }

    // Part the points of a node at about the median of its widest column; -1 for a leaf. Both parts
    // have points whatever the numbers are, NaN too, so the tree has fewer than 2 n nodes.
    std::int32_t split(const Node& node) {
        if (node.size() <= leaf_size_) return -1;
        const std::int32_t at = split_by_value(node);
        return node.begin < at && at < node.end ? at : node.begin + node.size() / 2;
    }

    std::int32_t split_by_value(const Node& node) {
        std::vector<In> box(4 * n_cols_);
        write_box(node.begin, node.end, box.data());
        const std::int64_t widest = widest_column(
            n_cols_, [&](std::int64_t t) { return box[4 * t + 2] / 2 - box[4 * t] / 2; });
        const In low = box[4 * widest];
        if (low == box[4 * widest + 2]) return node.begin + node.size() / 2;  // all the same
        const In middle = about_median(node, widest);
        return middle > low ? part(node, [&](const In* x) { return x[widest] < middle; })
                            : part(node, [&](const In* x) { return x[widest] <= low; });
    }

    In about_median(const Node& node, std::int64_t column) const {
        In sample[63];
        const std::int32_t n = std::min(node.size(), 63);
        for (std::int32_t i = 0; i < n; ++i)
            sample[i] = row(node.begin + static_cast<std::int64_t>(i) * node.size() / n)[column];
        for (std::int32_t i = 0; i < n; ++i)
            if (!(sample[i] == sample[i])) sample[i] = 0;  // NaN has no place in an order
        std::nth_element(sample, sample + n / 2, sample + n);
        return sample[n / 2];
    }

    template <class IsLeft>
    std::int32_t part(const Node& node, const IsLeft& is_left) {
        std::int32_t left = node.begin, right = node.end;
        while (true) {
            while (left < right && is_left(row(left))) ++left;
            while (left < right && !is_left(row(right - 1))) --right;
            if (left >= right) return left;
            std::swap_ranges(row(left), row(left) + n_cols_, row(right - 1));
            std::swap(order_[left++], order_[--right]);
        }
    }

    void list_leaves() {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].is_leaf()) leaves_.push_back(static_cast<std::int32_t>(i));
        std::sort(leaves_.begin(), leaves_.end(), [&](std::int32_t a, std::int32_t b) {
            return nodes_[a].begin < nodes_[b].begin;
        });
    }

    void pack_leaves(const Crew& crew) {
        const Chunks chunks(static_cast<std::int64_t>(leaves_.size()), max_leaf * n_cols_);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            std::vector<In> rows(max_leaf * n_cols_);
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const Node& leaf = nodes_[leaves_[i]];
                std::copy(row(leaf.begin), row(leaf.end), rows.begin());
                In* to = row(leaf.begin);
                for (std::int64_t t = 0; t < n_cols_; ++t)
                    for (std::int32_t j = 0; j < leaf.size(); ++j) *to++ = rows[j * n_cols_ + t];
            }
        });
    }

    In* row(std::int64_t i) { return points_.data() + i * n_cols_; }
    const In* row(std::int64_t i) const { return points_.data() + i * n_cols_; }

    std::int64_t n_cols_;
    int leaf_size_;
    std::vector<Node> nodes_;
    std::vector<In> boxes_;
    std::vector<std::int32_t> leaves_;
    std::vector<std::int32_t> order_;
    AlignedVector<In> points_;
};

}  // namespace coterie
