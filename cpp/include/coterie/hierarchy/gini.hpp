// The Gini index of cluster sizes, kept up to date while clusters are joined.
//
// Of k clusters with sizes c_1 .. c_k that add up to n it is
//     G = sum_{i < j} |c_i - c_j| / ((k - 1) n):
// 0 where all are equal, towards 1 where one has nearly all rows. The sum is a whole number below
// n^2, so it is kept exactly: a cluster that comes or goes changes it by what it differs from all
// the others, which takes how many clusters are no larger than it and how many rows these have.
#pragma once

#include <cstdint>
#include <vector>

namespace coterie {

// How many clusters of up to each size there are, and their rows: a tree of partial sums (Fenwick
// 1994), O(log n) for a look and for a change.
class SizeCounts {
public:
    struct Part {
        std::int64_t clusters = 0, rows = 0;
    };

    explicit SizeCounts(std::int64_t largest) : sums_(largest + 1) {}

    void add(std::int64_t size, std::int64_t clusters) {
        const auto end = static_cast<std::int64_t>(sums_.size());
        for (std::int64_t i = size; i < end; i += i & -i) {
            sums_[i].clusters += clusters;
            sums_[i].rows += clusters * size;
        }
    }

    Part up_to(std::int64_t size) const {
        Part part;
        for (std::int64_t i = size; i > 0; i &= i - 1) {
            part.clusters += sums_[i].clusters;
            part.rows += sums_[i].rows;
        }
        return part;
    }

private:
    std::vector<Part> sums_;
};

class GiniOfSizes {
public:
    // Every row is a cluster of its own.
    explicit GiniOfSizes(std::int64_t n_rows)
        : n_rows_(n_rows), present_{n_rows, n_rows}, counts_(n_rows) {
        counts_.add(1, n_rows);
    }

    // Of two clusters at least.
    double index() const {
        return static_cast<double>(differences_) /
               (static_cast<double>(present_.clusters - 1) * static_cast<double>(n_rows_));
    }

    void join(std::int64_t size_a, std::int64_t size_b) {
        change(size_a, -1);
        change(size_b, -1);
        change(size_a + size_b, 1);
    }

private:
    // A cluster comes (1) or goes (-1).
    void change(std::int64_t size, std::int64_t by) {
        const SizeCounts::Part low = counts_.up_to(size);
        const SizeCounts::Part high{present_.clusters - low.clusters, present_.rows - low.rows};
        differences_ += by * (size * low.clusters - low.rows + high.rows - size * high.clusters);
        counts_.add(size, by);
        present_.clusters += by;
        present_.rows += by * size;
    }

    std::int64_t n_rows_;
    SizeCounts::Part present_;
    SizeCounts counts_;
    std::int64_t differences_ = 0;
};

}  // namespace coterie
