// Rows in blocks of rows near each other, under a tree of bounding boxes.
//
// Rows are halved at the median of their widest column until blocks are left, and copied in that
// order, so that a block is contiguous and near blocks mostly have near numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "coterie/neighbors/halving.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The smallest box around some rows.
struct Box {
    std::vector<double> low, high;

    explicit Box(std::int64_t n_cols)
        : low(n_cols, std::numeric_limits<double>::infinity()),
          high(n_cols, -std::numeric_limits<double>::infinity()) {}

    template <class In>
    void add(std::span<const In> x) {
        for (std::size_t t = 0; t < x.size(); ++t) {
            const auto value = static_cast<double>(x[t]);
            low[t] = std::min(low[t], value);
            high[t] = std::max(high[t], value);
        }
    }
};

template <class In>
class RowBlocks {
public:
    static constexpr std::int64_t block_rows = 64;

    RowBlocks(Matrix<const In> rows, const Crew& crew)
        : n_rows_(rows.n_rows), n_cols_(rows.n_cols), order_(rows.n_rows) {
        std::iota(order_.begin(), order_.end(), 0u);
        nodes_ = halve(n_blocks(), crew, [&](const TreeNode& node) { return split(rows, node); });
        leaf_of_.resize(n_blocks());
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].size() == 1) leaf_of_[nodes_[i].begin] = static_cast<std::uint32_t>(i);
        rows_.reset(new In[n_rows_ * n_cols_]);
        boxes_.resize(nodes_.size() * 2 * n_cols_);
        crew.run(n_blocks(), [&](std::int64_t block, int) {
            Box box(n_cols_);
            for (std::int64_t p = begin(block); p < end(block); ++p) {
                In* x = rows_.get() + p * n_cols_;
                for (std::int64_t t = 0; t < n_cols_; ++t) x[t] = rows.at(order_[p], t);
                box.add(std::span<const In>(x, n_cols_));
            }
            std::copy(box.low.begin(), box.low.end(), low(leaf_of_[block]));
            std::copy(box.high.begin(), box.high.end(), high(leaf_of_[block]));
        });
        for (std::int64_t i = static_cast<std::int64_t>(nodes_.size()) - 1; i >= 0; --i)
            if (!nodes_[i].is_leaf()) join_boxes(i);
    }

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_cols() const { return n_cols_; }
    std::int64_t n_blocks() const { return (n_rows_ + block_rows - 1) / block_rows; }
    std::int64_t begin(std::int64_t block) const { return block * block_rows; }
    std::int64_t end(std::int64_t block) const {
        return std::min(n_rows_, (block + 1) * block_rows);
    }
    const In* row(std::int64_t place) const { return rows_.get() + place * n_cols_; }
    std::uint32_t row_id(std::int64_t place) const { return order_[place]; }
    Box box() const {  // of all rows
        Box box(n_cols_);
        std::copy_n(boxes_.data(), n_cols_, box.low.data());
        std::copy_n(boxes_.data() + n_cols_, n_cols_, box.high.data());
        return box;
    }

    // The blocks whose box may hold a row within the square root of `sq_reach` of the box, in
    // order.
    void near(const Box& box, double sq_reach, std::vector<std::uint32_t>& blocks) const {
        // Rounding may make a computed gap too large by a few units in the last place.
        const double limit = sq_reach * (1 + static_cast<double>(n_cols_ + 8) * 0x1p-52);
        blocks.clear();
        descend(0, box, limit, blocks);
    }

private:
    double* low(std::int64_t node) { return boxes_.data() + node * 2 * n_cols_; }
    double* high(std::int64_t node) { return low(node) + n_cols_; }

    // Part some blocks' rows at the median of their widest column; -1 for a single block.
    std::int32_t split(Matrix<const In> rows, const TreeNode& node) {
        if (node.size() <= 1) return -1;
        const std::int32_t middle = node.begin + node.size() / 2;
        std::uint32_t* first = order_.data() + begin(node.begin);
        std::uint32_t* last = order_.data() + end(node.end - 1);
        const std::int64_t col = widest_of(rows, first, last);
        // Read once: an order that changes while it is looked at, or has NaN, is none.
        std::vector<std::pair<In, std::uint32_t>> keys(last - first);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const In x = rows.at(first[i], col);
            keys[i] = {x == x ? x : In(0), first[i]};
        }
        std::nth_element(keys.begin(), keys.begin() + (begin(middle) - begin(node.begin)),
                         keys.end());
        for (std::size_t i = 0; i < keys.size(); ++i) first[i] = keys[i].second;
        return middle;
    }

    std::int64_t widest_of(Matrix<const In> rows, const std::uint32_t* first,
                           const std::uint32_t* last) const {
        std::vector<In> low(n_cols_, std::numeric_limits<In>::max());
        std::vector<In> high(n_cols_, std::numeric_limits<In>::lowest());
        for (; first < last; ++first)
            for (std::int64_t t = 0; t < n_cols_; ++t) {
                low[t] = std::min(low[t], rows.at(*first, t));
                high[t] = std::max(high[t], rows.at(*first, t));
            }
        return widest_column(n_cols_, [&](std::int64_t t) { return high[t] / 2 - low[t] / 2; });
    }

    void join_boxes(std::int64_t node) {
        const std::int32_t left = nodes_[node].child, right = left + 1;
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            low(node)[t] = std::min(low(left)[t], low(right)[t]);
            high(node)[t] = std::max(high(left)[t], high(right)[t]);
        }
    }

    void descend(std::int32_t i, const Box& box, double limit,
                 std::vector<std::uint32_t>& blocks) const {
        const double* low = boxes_.data() + std::int64_t{i} * 2 * n_cols_;
        const double* high = low + n_cols_;
        double sq_gap = 0;
        for (std::int64_t t = 0; t < n_cols_; ++t) {
            const double gap = std::max({low[t] - box.high[t], box.low[t] - high[t], 0.0});
            sq_gap += gap * gap;
        }
        if (sq_gap > limit) return;
        if (nodes_[i].is_leaf()) return blocks.push_back(nodes_[i].begin);
        descend(nodes_[i].child, box, limit, blocks);
        descend(nodes_[i].child + 1, box, limit, blocks);
    }

    std::int64_t n_rows_, n_cols_;
    std::vector<std::uint32_t> order_;
    std::unique_ptr<In[]> rows_;
    std::vector<TreeNode> nodes_;         // of blocks
    std::vector<std::uint32_t> leaf_of_;  // the node of each block
    std::vector<double> boxes_;           // per node: low, high
};

}  // namespace coterie
