// Points halved again and again along the widest column of what is left (Bentley 1975): how such a
// tree grows, whatever its points are and wherever it parts them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "coterie/threads/pool.hpp"

namespace coterie {

struct TreeNode {
    std::int32_t begin, end;  // its points, by position
    std::int32_t child;       // the left one, the right one follows; 0: a leaf
    std::int32_t size() const { return end - begin; }
    bool is_leaf() const { return child == 0; }
};

// The column of the largest width(column), the first of equals.
template <class Width>
std::int64_t widest_column(std::int64_t n_cols, const Width& width) {
    std::int64_t widest = 0;
    for (std::int64_t t = 1; t < n_cols; ++t)
        if (width(t) > width(widest)) widest = t;
    return widest;
}

namespace detail {

inline constexpr std::size_t n_subtrees = 64;  // that are grown on their own

inline void add_children(std::vector<TreeNode>& nodes, std::size_t parent, std::int32_t middle) {
    const TreeNode node = nodes[parent];
    nodes[parent].child = static_cast<std::int32_t>(nodes.size());
    nodes.push_back({node.begin, middle, 0});
    nodes.push_back({middle, node.end, 0});
}

// Split the nodes of a level side by side; returns the next one.
template <class Split>
std::vector<std::int32_t> split_level(std::vector<TreeNode>& nodes,
                                      const std::vector<std::int32_t>& level, const Crew& crew,
                                      const Split& split) {
    std::vector<std::int32_t> middles(level.size()), next;
    crew.run(static_cast<std::int64_t>(level.size()),
             [&](std::int64_t i, int) { middles[i] = split(std::as_const(nodes)[level[i]]); });
    for (std::size_t i = 0; i < level.size(); ++i) {
        if (middles[i] < 0) continue;
        add_children(nodes, level[i], middles[i]);
        next.push_back(nodes[level[i]].child);
        next.push_back(next.back() + 1);
    }
    return next;
}

// Put a tree in the place of the leaf `root`.
inline void graft(std::vector<TreeNode>& nodes, std::int32_t root,
                  const std::vector<TreeNode>& branch) {
    const auto shift = static_cast<std::int32_t>(nodes.size()) - 1;
    nodes[root].child = branch[0].child ? branch[0].child + shift : 0;
    for (std::size_t i = 1; i < branch.size(); ++i) {
        nodes.push_back(branch[i]);
        if (nodes.back().child) nodes.back().child += shift;
    }
}

}  // namespace detail

// The tree of positions [0, n_points), children behind their parents. split(node) moves the points
// of a node so that those before the position it returns are one half; -1: it is a leaf. The top
// grows level by level, then the subtrees each on its own.
template <class Split>
std::vector<TreeNode> halve(std::int64_t n_points, const Crew& crew, const Split& split) {
    std::vector<TreeNode> nodes{{0, static_cast<std::int32_t>(n_points), 0}};
    std::vector<std::int32_t> level{0};
    while (!level.empty() && level.size() < detail::n_subtrees)
        level = detail::split_level(nodes, level, crew, split);
    std::vector<std::vector<TreeNode>> branches(level.size());
    crew.run(static_cast<std::int64_t>(level.size()), [&](std::int64_t i, int) {
        auto& branch = branches[i];
        branch.push_back({nodes[level[i]].begin, nodes[level[i]].end, 0});
        for (std::size_t node = 0; node < branch.size(); ++node) {
            const std::int32_t middle = split(std::as_const(branch)[node]);
            if (middle >= 0) detail::add_children(branch, node, middle);
        }
    });
    for (std::size_t i = 0; i < branches.size(); ++i) detail::graft(nodes, level[i], branches[i]);
    return nodes;
}

}  // namespace coterie
