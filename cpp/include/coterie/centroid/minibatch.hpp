// Mini-batch k-means (Sculley 2010): many steps of "label a batch, move its centres" in one call.
//
// A step is short, so the threads of a call stay together from step to step. A batch is labelled
// in chunks of rows and then summed cluster by cluster in batch order, both without partial
// results: the bits depend neither on the threads nor on the instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "coterie/centroid/batches.hpp"
#include "coterie/centroid/center_sums.hpp"
#include "coterie/threads/gang.hpp"

namespace coterie {

// The steps to take: step s uses the rows row_ids[s * batch_size ..] with their weights.
struct StepPlan {
    const std::int64_t* row_ids;
    std::int64_t n_steps, batch_size;
    const double* weights;  // one a row of the source; null: one each
    // How much sooner than a plain mean a centre forgets its early rows: a row seen when the
    // centre had weight n counts in proportion to n^forget. 0 is Sculley's mean of all rows.
    double forget;
    // Return early once a centre has less than this share of the heaviest one's weight, which is
    // looked at whenever `check_rows` rows have passed or a centre has no weight at all.
    double low_ratio;
    std::int64_t check_rows;
};

// What the steps change.
struct StepState {
    double* centers;  // [n_centers][n_cols], original units
    double* counts;   // weight each centre has taken in
    std::int64_t n_centers;
    std::int64_t rows_since_check;
};

// What the steps tell: one entry a step each.
struct StepReport {
    double* inertias;  // weighted squared distances of the batch, before the centres move
    double* sq_moves;  // summed squared moves of the centres
};

// The steps of one call, and the room they need.
template <class Batches>
class MinibatchSteps {
public:
    MinibatchSteps(Batches& batches, const StepPlan& plan, StepState& state, int n_threads)
        : batches_(batches),
          plan_(plan),
          state_(state),
          k_(state.n_centers),
          d_(batches.n_cols()),
          labels_(plan.batch_size),
          inertias_(k_),
          sq_moves_(k_),
          members_(k_, plan.batch_size),
          sums_(n_threads, CenterSums(d_)),
          readers_(n_threads, Reader(batches)) {}

    // Fewer steps than planned where a centre's weight got too low; returns how many.
    std::int64_t run(const StepReport& report, const Crew& crew) {
        std::int64_t n_done = 0;
        const std::int64_t n_useful = std::max(n_chunks_, n_groups_);
        const Crew few{crew.n_at_work(n_useful), crew.poll};
        Gang::together(few, [&](Gang& gang) {
            for (bool go_on = true; go_on && n_done < plan_.n_steps; ++n_done) {
                const bool check = time_to_check();
                std::tie(report.inertias[n_done], report.sq_moves[n_done]) = step(n_done, gang);
                go_on = !(check && one_is_too_light());
            }
        });
        return n_done;
    }

private:
    using Reader = typename Batches::Reader;

    bool time_to_check() {
        state_.rows_since_check += plan_.batch_size;
        const bool now = *std::min_element(state_.counts, state_.counts + k_) <= 0 ||
                         state_.rows_since_check >= plan_.check_rows;
        if (now) state_.rows_since_check = 0;
        return now;
    }

    bool one_is_too_light() const {
        const auto [lightest, heaviest] = std::minmax_element(state_.counts, state_.counts + k_);
        return *lightest < plan_.low_ratio * *heaviest;
    }

    // Label the batch, then move its centres; the batch's inertia and the squared moves.
    std::pair<double, double> step(std::int64_t number, Gang& gang) {
        row_ids_ = plan_.row_ids + number * plan_.batch_size;
        batches_.pack(state_.centers, k_, packed_);
        gang.round(static_cast<std::uint32_t>(n_chunks_), label_chunk_);
        members_.sort(labels_.data());
        gang.round(static_cast<std::uint32_t>(n_groups_), move_group_);
        double inertia = 0, sq_move = 0;
        for (std::int64_t j = 0; j < k_; ++j) {
            inertia += inertias_[j];
            sq_move += sq_moves_[j];
        }
        return {inertia, sq_move};
    }

    void label_chunk(std::int64_t chunk) {
        const std::int64_t begin = chunk * chunk_rows_;
        const std::int64_t end = std::min(plan_.batch_size, begin + chunk_rows_);
        const std::int64_t* all_ids_end = plan_.row_ids + plan_.n_steps * plan_.batch_size;
        batches_.label(*packed_, row_ids_, all_ids_end, begin, end, labels_.data());
    }

    void move_center(std::int64_t j, int worker) {
        double* center = state_.centers + j * d_;
        const double weight = sum_members(j, worker);
        inertias_[j] = sq_moves_[j] = 0;
        if (weight <= 0) return;
        state_.counts[j] += weight;
        const double rate =
            (1 + plan_.forget) / (state_.counts[j] + rounded(plan_.forget * weight));
        inertias_[j] = sums_[worker].sq_sum();
        sq_moves_[j] = sums_[worker].move(center, rate);
    }

    // Sum the rows of a cluster about its centre; their weight.
    double sum_members(std::int64_t j, int worker) {
        constexpr int most_rows = Reader::most_rows;
        const typename Batches::Value* rows[most_rows];
        double weights[most_rows];
        double weight = 0;
        sums_[worker].clear();
        for (std::int64_t m = members_.starts[j]; m < members_.starts[j + 1];) {
            int count = 0;
            for (; count < most_rows && m < members_.starts[j + 1]; ++count, ++m) {
                const std::int64_t position = members_.positions[m];
                rows[count] = readers_[worker].row(row_ids_, position);
                weights[count] = plan_.weights ? plan_.weights[row_ids_[position]] : 1.0;
                weight += weights[count];
            }
            sums_[worker].add(rows, weights, count, state_.centers + j * d_);
        }
        return weight;
    }

    Batches& batches_;
    const StepPlan& plan_;
    StepState& state_;
    const std::int64_t k_, d_;
    const std::int64_t chunk_rows_ =
        std::clamp<std::int64_t>((std::int64_t{1} << 19) / (k_ * d_ + 1) / 32 * 32, 128, 4096);
    const std::int64_t n_chunks_ = (plan_.batch_size + chunk_rows_ - 1) / chunk_rows_;
    const std::int64_t n_groups_ =
        std::min<std::int64_t>(k_, std::clamp<std::int64_t>(plan_.batch_size* d_ / 4096, 1, 32));

    const std::int64_t* row_ids_ = nullptr;  // of the batch at hand
    std::optional<typename Batches::Packed> packed_;
    std::vector<std::int32_t> labels_;
    std::vector<double> inertias_, sq_moves_;  // of each centre
    Members members_;
    std::vector<CenterSums> sums_;  // of each thread
    std::vector<Reader> readers_;   // likewise
    const Gang::Body label_chunk_ = [this](std::int64_t chunk, int) { label_chunk(chunk); };
    const Gang::Body move_group_ = [this](std::int64_t group, int worker) {
        for (std::int64_t j = k_ * group / n_groups_; j < k_ * (group + 1) / n_groups_; ++j)
            move_center(j, worker);
    };
};

// Take the steps of the plan; returns how many were taken.
template <class Batches>
std::int64_t minibatch_steps(Batches& batches, const StepPlan& plan, StepState& state,
                             const StepReport& report, const Crew& crew) {
    return MinibatchSteps<Batches>(batches, plan, state, crew.n_threads).run(report, crew);
}

}  // namespace coterie
