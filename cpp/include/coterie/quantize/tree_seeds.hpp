// k-means++ in many small sets of weighted rows at once: the seeds of the nodes of a level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

namespace detail {

// One thread's k-means++ (Arthur and Vassilvitskii 2007), greedy: each seed is the best of some
// draws. Distances are of the direct form and sums go by row order: every ISA draws the same rows.
template <class In>
class SetSeeder {
public:
    SetSeeder(Matrix<const In> rows, const double* weights, double scale)
        : rows_(rows), weights_(weights), scale_(scale), seed_(rows.n_cols), reader_(rows) {}

    // Seeds among rows [begin, end), at most `n_seeds`; fewer where all others are copies of them.
    // `draws` has `n_trials` numbers in [0, 1) a seed. `left` is the potential in the end.
    std::int64_t seed(std::int64_t begin, std::int64_t end, std::int64_t n_seeds,
                      std::int64_t n_trials, const double* draws, std::int64_t* seeds,
                      double& left) {
        begin_ = begin;
        n_ = end - begin;
        closest_.assign(n_, 1.0);  // so that the first is drawn by weight alone
        double potential = sum();
        std::int64_t n_found = 0;
        while (n_found < n_seeds && potential > 0) {
            double lowest = std::numeric_limits<double>::infinity();
            for (std::int64_t trial = 0; trial < (n_found ? n_trials : 1); ++trial) {
                const std::int64_t row = draw(draws[n_found * n_trials + trial] * potential);
                const double with_it = try_seed(row, n_found == 0);
                if (with_it < lowest) {
                    lowest = with_it;
                    seeds[n_found] = begin + row;
                    best_.swap(tried_);
                }
            }
            closest_.swap(best_);
            potential = lowest;
            ++n_found;
        }
        left = potential;
        return n_found;
    }

private:
    double mass(std::int64_t i) const { return rounded(weights_[begin_ + i] * closest_[i]); }

    double sum() const {
        double total = 0;
        for (std::int64_t i = 0; i < n_; ++i) total += mass(i);
        return total;
    }

    // The row in which the masses, added up, pass `at`; the last with any where rounding hides it.
    std::int64_t draw(double at) const {
        double total = 0;
        std::int64_t last = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            const double here = mass(i);
            if (!(here > 0)) continue;
            total += here;
            last = i;
            if (total > at) break;
        }
        return last;
    }

    // Fill `tried_` with what would be closest with one more seed; its potential.
    double try_seed(std::int64_t row, bool first) {
        const In* values = reader_.read(begin_ + row);
        for (std::int64_t t = 0; t < rows_.n_cols; ++t) seed_[t] = static_cast<double>(values[t]);
        tried_.resize(n_);
        double total = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            const double sq_dist =
                direct_sq_dist(reader_.read(begin_ + i), seed_.data(), rows_.n_cols, scale_);
            tried_[i] = first ? sq_dist : std::min(closest_[i], sq_dist);
            total += rounded(weights_[begin_ + i] * tried_[i]);
        }
        return total;
    }

    Matrix<const In> rows_;
    const double* weights_;
    double scale_;
    std::int64_t begin_ = 0, n_ = 0;
    std::vector<double> closest_, tried_, best_, seed_;
    RowReader<In> reader_;
};

}  // namespace detail

// Seeds for each of some sets: rows [starts[s], starts[s + 1]) with positive weights. Row s of
// `seeds` gets the numbers of its rows, `n_found[s]` of them; `left[s]` is zero where every row of
// the set is one of them or its copy.
template <class In>
void seed_sets(Matrix<const In> rows, const double* weights, const std::int64_t* starts,
               std::int64_t n_sets, double scale, const double* draws, std::int64_t n_seeds,
               std::int64_t n_trials, std::int64_t* seeds, std::int64_t* n_found, double* left,
               const Crew& crew) {
    PerThread<detail::SetSeeder<In>> seeders(crew.n_at_work(n_sets), rows, weights, scale);
    crew.run(n_sets, [&](std::int64_t set, int worker) {
        n_found[set] = seeders[worker].seed(starts[set], starts[set + 1], n_seeds, n_trials,
                                            draws + set * n_seeds * n_trials, seeds + set * n_seeds,
                                            left[set]);
    });
}

}  // namespace coterie
