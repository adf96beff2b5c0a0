// Disjoint sets that merge: union by smaller name, so a set is always called by its least member.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace coterie {

class UnionFind {
public:
    explicit UnionFind(std::int64_t n) : parent_(n) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    std::int32_t find(std::int32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];  // halving the path
        return i;
    }

    // Whether the two were apart.
    bool unite(std::int32_t a, std::int32_t b) {
        a = find(a), b = find(b);
        if (a == b) return false;
        if (b < a) std::swap(a, b);
        parent_[b] = a;
        return true;
    }

private:
    std::vector<std::int32_t> parent_;
};

}  // namespace coterie
