// One step of k-means in every node of a level of a vocabulary tree: many small problems at once.
//
// Each node has rows of its own and centres of its own, its children to be. Work is cut into runs
// of rows of one node, so that one node of many rows and many nodes of few keep all threads busy
// alike. Sums are whole numbers (sums.hpp), so neither cuts nor threads show in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/centroid/finder.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sums.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The rows of each node, and its centres among those of the level.
struct TreeLevel {
    const std::int64_t* row_ids;        // of one node after the other
    const std::int64_t* row_starts;     // n_nodes + 1
    const std::int64_t* center_starts;  // n_nodes + 1
    const bool* active;                 // nodes that still learn; others are left alone
    std::int64_t n_nodes;
};

namespace detail {

// Some rows of one node.
struct NodeRun {
    std::int64_t node, begin, end;
    bool whole;  // whether the node has no others
};

inline std::vector<NodeRun> runs_of(const TreeLevel& level, std::int64_t n_cols) {
    std::vector<NodeRun> runs;
    for (std::int64_t node = 0; node < level.n_nodes; ++node) {
        if (!level.active[node]) continue;
        const std::int64_t first = level.row_starts[node];
        const std::int64_t n_centers = level.center_starts[node + 1] - level.center_starts[node];
        const Chunks chunks(level.row_starts[node + 1] - first, n_centers * n_cols);
        for (std::int64_t c = 0; c < chunks.count(); ++c)
            runs.push_back(
                {node, first + chunks.begin(c), first + chunks.end(c), chunks.count() == 1});
    }
    return runs;
}

// What a run adds to the sums of its node's centres; cleared as it is poured out.
class RunSums {
public:
    RunSums(const SumsOut& out, std::int64_t n_level, std::int64_t n_cols)
        : out_(out), n_level_(n_level), n_cols_(n_cols) {}

    SumsOut room_for(std::int64_t n_centers) {
        n_centers_ = n_centers;
        values_.assign(out_.grid.limbs * n_centers * n_cols_, 0);
        weights_.assign(out_.grid.limbs * n_centers, 0);
        return {out_.grid, values_.data(), weights_.data()};
    }

    // `alone`: no other thread adds to these centres.
    void pour(std::int64_t first_center, bool alone) const {
        for (int limb = 0; limb < out_.grid.limbs; ++limb) {
            const std::int64_t to = limb * n_level_ + first_center, from = limb * n_centers_;
            add(out_.values + to * n_cols_, values_.data() + from * n_cols_, n_centers_ * n_cols_,
                alone);
            add(out_.weights + to, weights_.data() + from, n_centers_, alone);
        }
    }

private:
    static void add(std::int64_t* to, const std::int64_t* from, std::int64_t n, bool alone) {
        if (alone)
            for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
        else
            for (std::int64_t i = 0; i < n; ++i)
                __atomic_fetch_add(to + i, from[i], __ATOMIC_RELAXED);
    }

    SumsOut out_;
    std::int64_t n_level_, n_cols_, n_centers_ = 0;
    std::vector<std::int64_t> values_, weights_;
};

}  // namespace detail

// Label every row of the active nodes with the nearest centre of its node (its number among those
// of the level; ties to the lower), and move the sums of the rows whose label changed. A label of
// -1 on entry means "in no cluster yet". Returns the number of rows that changed.
template <class In>
std::int64_t assign_level(const Weighted<In>& data, const TreeLevel& level, const double* centers,
                          Frame<In> frame, std::int32_t* labels, const SumsOut& out,
                          const Crew& crew) {
    const std::int64_t d = data.rows.n_cols, n_level = level.center_starts[level.n_nodes];
    const std::vector<detail::NodeRun> runs = detail::runs_of(level, d);
    const auto n_runs = static_cast<std::int64_t>(runs.size());
    std::vector<std::int64_t> n_moved(crew.n_at_work(n_runs));
    PerThread<detail::RunSums> sums(crew.n_at_work(n_runs), out, n_level, d);
    crew.run(n_runs, [&](std::int64_t at, int worker) {
        const detail::NodeRun& run = runs[at];
        const std::int64_t first = level.center_starts[run.node];
        const std::int64_t n_centers = level.center_starts[run.node + 1] - first;
        Centers<In> packed(centers + first * d, n_centers, d, frame);
        Finder<In> finder(packed, data.rows);
        Mover<Weighted<In>> mover(0, data, sums[worker].room_for(n_centers), n_centers);
        finder.find(level.row_ids + run.begin, run.end - run.begin,
                    [&](std::int64_t row, const Sighting& seen) {
                        const auto label = static_cast<std::int32_t>(first + seen.label);
                        if (labels[row] == label) return;
                        const std::int32_t before =
                            labels[row] < 0 ? -1 : static_cast<std::int32_t>(labels[row] - first);
                        mover.move(row, before, seen.label);
                        labels[row] = label;
                    });
        if (mover.n_moved == 0) return;
        sums[worker].pour(first, run.whole);
        n_moved[worker] += mover.n_moved;
    });
    std::int64_t total = 0;
    for (const std::int64_t n : n_moved) total += n;
    return total;
}

}  // namespace coterie
