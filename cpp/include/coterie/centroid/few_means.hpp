// Means of clusters of few rows, correctly rounded.
//
// The integer sums of sums.hpp round every value to a grid of its column, which the mean of a few
// rows would show: a cluster of one row must have that row as its centre. Here rows are added in
// their order as pairs of doubles, whose 106 bits hold such sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sparse.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

namespace detail {

// Add to the unevaluated sum high + low; Knuth's exact sum of two, then Dekker's.
inline void add_to_pair(double& high, double& low, double value) {
    const double sum = high + value;
    const double part = sum - high;
    const double error = (high - (sum - part)) + (value - part);
    const double rest = low + error;
    high = sum + rest;
    low = rest - (high - sum);
}

inline void add_product_to_pair(double& high, double& low, double a, double b) {
    const double product = rounded(a * b);
    add_to_pair(high, low, product);
    add_to_pair(high, low, std::fma(a, b, -product));
}

// The quotient of two pairs, rounded once.
inline double quotient(double high, double low, double by_high, double by_low) {
    const double first = high / by_high;
    const double rest = std::fma(-first, by_high, high) + (low - rounded(first * by_low));
    return first + rest / by_high;
}

// Which rows each of some clusters has.
struct Members {
    std::vector<std::int32_t> clusters;
    std::vector<std::int64_t> ends;  // where the rows of each end
    std::vector<std::int64_t> rows;  // in order within a cluster

    // `few`: whether a cluster is one of them. Labels are read once.
    Members(const std::int32_t* labels, std::int64_t n_rows, const bool* few,
            std::int64_t n_clusters, const Crew& crew) {
        struct Found {
            std::int64_t row;
            std::int32_t label;
        };
        const Chunks chunks(n_rows, 1);
        std::vector<std::vector<Found>> found(chunks.count());
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const std::int32_t label = labels[i];
                if (label >= 0 && label < n_clusters && few[label])
                    found[chunk].push_back({i, label});
            }
        });
        std::vector<std::int64_t> place(n_clusters);
        for (const auto& part : found)
            for (const Found& one : part) ++place[one.label];
        std::int64_t n_members = 0;
        for (std::int64_t c = 0; c < n_clusters; ++c) {
            if (place[c] == 0) continue;
            const std::int64_t size = place[c];
            place[c] = n_members;
            n_members += size;
            clusters.push_back(static_cast<std::int32_t>(c));
            ends.push_back(n_members);
        }
        rows.resize(n_members);
        for (const auto& part : found)
            for (const Found& one : part) rows[place[one.label]++] = one.row;
    }

    std::int64_t begin(std::size_t at) const { return at ? ends[at - 1] : 0; }
};

// Visit the values of a row: visit(column, value).
template <class In>
struct DenseVisitor {
    explicit DenseVisitor(Matrix<const In> rows) : reader(rows), n_cols(rows.n_cols) {}
    template <class Visit>
    void each(std::int64_t i, const Visit& visit) {
        const In* x = reader.read(i);
        for (std::int64_t t = 0; t < n_cols; ++t) visit(t, static_cast<double>(x[t]));
    }
    RowReader<In> reader;
    std::int64_t n_cols;
};

template <class In, class Index>
struct StoredVisitor {
    explicit StoredVisitor(Csr<In, Index> rows) : rows(rows) {}
    template <class Visit>
    void each(std::int64_t i, const Visit& visit) {
        const auto row = stored(rows, i);
        for (Index s = 0; s < row.count; ++s)
            visit(static_cast<std::int64_t>(row.columns[s]), static_cast<double>(row.values[s]));
    }
    Csr<In, Index> rows;
};

inline DenseVisitor<float> visitor_of(Matrix<const float> rows) {
    return DenseVisitor<float>(rows);
}
inline DenseVisitor<double> visitor_of(Matrix<const double> rows) {
    return DenseVisitor<double>(rows);
}
template <class In, class Index>
StoredVisitor<In, Index> visitor_of(Csr<In, Index> rows) {
    return StoredVisitor<In, Index>(rows);
}

// One thread's sums of a cluster.
template <class Data>
class PairSums {
public:
    explicit PairSums(const Data& data)
        : data_(data),
          visitor_(visitor_of(data.rows)),
          n_cols_(data.rows.n_cols),
          high_(n_cols_),
          low_(n_cols_) {}

    // The mean of these rows; false, and `mean` is left alone, where they have no weight.
    bool mean_of(const std::int64_t* begin, const std::int64_t* end, double unit, double* mean) {
        double* __restrict high = high_.data();
        double* __restrict low = low_.data();
        std::fill(high_.begin(), high_.end(), 0.0);
        std::fill(low_.begin(), low_.end(), 0.0);
        double weight = 0, weight_rest = 0;
        std::int64_t n_heavy = 0;
        const auto weight_of = [&](std::int64_t i) { return data_.weights ? data_.weights[i] : 1; };
        for (const std::int64_t* row = begin; row < end; ++row) n_heavy += weight_of(*row) > 0;
        if (n_heavy == 0) return false;
        for (const std::int64_t* row = begin; row < end; ++row) {
            const double w = weight_of(*row);
            if (!(w > 0)) continue;
            add_to_pair(weight, weight_rest, w);
            // A row alone is its own mean, whatever its weight.
            if (n_heavy == 1 || w == 1)
                visitor_.each(*row, [&](std::int64_t t, double x) {
                    add_to_pair(high[t], low[t], x * unit);
                });
            else
                visitor_.each(*row, [&](std::int64_t t, double x) {
                    add_product_to_pair(high[t], low[t], x * unit, w);
                });
        }
        if (n_heavy == 1) weight = 1, weight_rest = 0;
        for (std::int64_t t = 0; t < n_cols_; ++t)
            mean[t] = quotient(high[t], low[t], weight, weight_rest) / unit;
        return true;
    }

private:
    Data data_;
    decltype(visitor_of(std::declval<Data>().rows)) visitor_;
    std::int64_t n_cols_;
    std::vector<double> high_, low_;
};

}  // namespace detail

// How many rows have each label.
inline void count_labels(const std::int32_t* labels, std::int64_t n_rows, std::int64_t* counts,
                         std::int64_t n_clusters) {
    std::fill(counts, counts + n_clusters, 0);
    for (std::int64_t i = 0; i < n_rows; ++i)
        if (labels[i] >= 0 && labels[i] < n_clusters) ++counts[labels[i]];
}

// Put the mean of every cluster that is `few` into its row of `means`; a cluster without weight is
// left alone. `unit` is a power of two that keeps sums from overflowing. Time O(n) for the labels
// and O(d) for each row of those clusters, memory 24 bytes a row of them.
template <class Data>
void few_means(const Data& data, const std::int32_t* labels, const bool* few,
               std::int64_t n_clusters, double unit, double* means, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const detail::Members members(labels, data.rows.n_rows, few, n_clusters, crew);
    const auto n = static_cast<std::int64_t>(members.clusters.size());
    if (n == 0) return;
    const Chunks chunks(n, 8 * d * (members.ends.back() / n + 1));
    PerThread<detail::PairSums<Data>> sums(crew.n_at_work(chunks.count()), data);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        for (std::int64_t at = chunks.begin(chunk); at < chunks.end(chunk); ++at)
            sums[worker].mean_of(members.rows.data() + members.begin(at),
                                 members.rows.data() + members.ends[at], unit,
                                 means + members.clusters[at] * d);
    });
}

}  // namespace coterie
