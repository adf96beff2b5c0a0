// What silhouettes are made of: for every row the distances to the rows of its own cluster, and to
// those of the cluster that is nearest on average.
//
// Rows stand in the order of their clusters, so the distances of a row to a cluster are one run,
// and of each run no more than its sum is kept: memory is some numbers a row, whatever the
// clusters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/evaluate/length_blocks.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Rows [starts[c], starts[c + 1]) of the packed order are those of cluster c.
struct ClusterRuns {
    const std::int64_t* starts;
    std::int64_t count;
    const double* totals;   // the weight of each cluster
    const double* weights;  // of the rows in packed order; null: one each
};

struct SilhouetteParts {
    double* within;   // the weighted sum of distances to the own cluster
    double* nearest;  // the least weighted mean of distances to another
};

// The sum of some lengths, in sixteen strands whatever the vector width.
template <class Length>
inline double strand_sum(const Length* lengths, const double* weights, std::int64_t count) {
    constexpr int n_strands = 16;
    double strand[n_strands] = {};
    std::int64_t i = 0;
    if (weights) {
        for (; i + n_strands <= count; i += n_strands)
            for (int s = 0; s < n_strands; ++s) strand[s] += weights[i + s] * lengths[i + s];
        for (int s = 0; i < count; ++i, ++s) strand[s] += weights[i] * lengths[i];
    } else {
        for (; i + n_strands <= count; i += n_strands)
            for (int s = 0; s < n_strands; ++s) strand[s] += static_cast<double>(lengths[i + s]);
        for (int s = 0; i < count; ++i, ++s) strand[s] += static_cast<double>(lengths[i]);
    }
    for (int half = n_strands / 2; half > 0; half /= 2)
        for (int s = 0; s < half; ++s) strand[s] += strand[s + half];
    return strand[0];
}

// Some adjacent rows on their way through all blocks.
template <class Real, class Lengths>
class SilhouetteChunk {
public:
    static constexpr std::int64_t n_together = 128;

    SilhouetteChunk(const PackedBlocks<Real>& blocks, const Lengths& lengths,
                    const ClusterRuns& runs)
        : blocks_(blocks),
          measured_(lengths),
          runs_(runs),
          queries_(n_together * blocks.n_cols),
          lengths_(asking_rows * blocks.block_rows),
          sums_(n_together),
          own_(n_together) {}

    void run(std::int64_t begin, std::int64_t end, const SilhouetteParts& out) {
        read(begin, end);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(out.nearest + begin, out.nearest + end, std::numeric_limits<double>::infinity());
        std::int64_t cluster = 0;  // of the block's first row
        for (std::int64_t block = 0; block < blocks_.count(); ++block) {
            Pool::breathe();
            for (std::int64_t q = 0; q < end - begin; q += asking_rows) {
                measured_.measure(queries_.data() + q * blocks_.n_cols, block, lengths_.data());
                for (std::int64_t i = q; i < std::min(q + asking_rows, end - begin); ++i)
                    walk(block, cluster, i, begin, out);
            }
            const std::int64_t after = block * blocks_.block_rows + blocks_.size(block);
            while (cluster < runs_.count && runs_.starts[cluster + 1] <= after) ++cluster;
        }
    }

private:
    // The rows as they ask; the last is repeated up to a whole number of groups.
    void read(std::int64_t begin, std::int64_t end) {
        const std::int64_t d = blocks_.n_cols;
        for (std::int64_t i = 0; i < n_together; ++i) {
            const std::int64_t row = std::min(begin + i, end - 1);
            for (std::int64_t t = 0; t < d; ++t)
                queries_[i * d + t] = static_cast<typename Lengths::Query>(blocks_.at(row, t));
            own_[i] =
                std::upper_bound(runs_.starts, runs_.starts + runs_.count, row) - runs_.starts - 1;
        }
    }

    // Cut a block's lengths to the runs of clusters, and close the runs that end here.
    void walk(std::int64_t block, std::int64_t cluster, std::int64_t i, std::int64_t begin,
              const SilhouetteParts& out) {
        const auto* lengths = lengths_.data() + i % asking_rows * blocks_.block_rows;
        const std::int64_t first = block * blocks_.block_rows, end = first + blocks_.size(block);
        for (std::int64_t at = first; at < end; ++cluster) {
            const std::int64_t stop = std::min(end, runs_.starts[cluster + 1]);
            sums_[i] += strand_sum(lengths + at - first,
                                   runs_.weights ? runs_.weights + at : nullptr, stop - at);
            at = stop;
            if (stop < runs_.starts[cluster + 1]) return;
            if (cluster == own_[i])
                out.within[begin + i] = sums_[i];
            else
                out.nearest[begin + i] =
                    std::min(out.nearest[begin + i], sums_[i] / runs_.totals[cluster]);
            sums_[i] = 0;
        }
    }

    const PackedBlocks<Real>& blocks_;
    const Lengths& measured_;
    ClusterRuns runs_;
    AlignedVector<typename Lengths::Query> queries_;
    AlignedVector<typename Lengths::Length> lengths_;
    std::vector<double> sums_;
    std::vector<std::int64_t> own_;
};

template <class Real, class Lengths>
void silhouette_parts(const PackedBlocks<Real>& blocks, const Lengths& lengths,
                      const ClusterRuns& runs, const SilhouetteParts& out, const Crew& crew) {
    using Chunk = SilhouetteChunk<Real, Lengths>;
    const std::int64_t n = blocks.n_rows,
                       n_chunks = (n + Chunk::n_together - 1) / Chunk::n_together;
    PerThread<Chunk> chunks(crew.n_at_work(n_chunks), blocks, lengths, runs);
    crew.run(n_chunks, [&](std::int64_t chunk, int worker) {
        const std::int64_t begin = chunk * Chunk::n_together;
        chunks[worker].run(begin, std::min(n, begin + Chunk::n_together), out);
    });
}

// Rows that `order` has in the order of their clusters, under any metric.
template <class Real>
void silhouette_parts(Matrix<const Real> rows, const std::int64_t* order, const Metric& metric,
                      const ClusterRuns& runs, const SilhouetteParts& out, const Crew& crew) {
    const PackedBlocks<Real> blocks(rows, order, runs.starts[runs.count], crew);
    if (metric.sum == Metric::Sum::squares && metric.length == Metric::Length::root)
        silhouette_parts(blocks, EuclideanLengths<Real>(blocks), runs, out, crew);
    else
        silhouette_parts(blocks, MetricLengths<Real>(blocks, metric), runs, out, crew);
}

}  // namespace coterie
