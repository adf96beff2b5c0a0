// From the scores of a tile of rows to their responsibilities, labels and log densities.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/mixture/softmax.hpp"

namespace coterie {

// What a pass may write for every row; each may be null.
struct PosteriorOut {
    double* row_log_prob;
    double* resp;  // (n, k)
    std::int32_t* labels;
};

// Sums over rows of w ln p(x) and of w sum_j r_j ln r_j.
struct Likelihood {
    double log_lik = 0, neg_entropy = 0;

    void add(const Likelihood& other, double weight = 1) {
        log_lik += weight * other.log_lik;
        neg_entropy += weight * other.neg_entropy;
    }
};

// Scores belong to `ids`, -1 being the background; `shift` is what was taken off all of them.
template <class Real>
class Posterior {
public:
    Posterior(const std::vector<std::int32_t>& ids, std::int64_t n_components, double shift,
              std::int64_t width)
        : ids_(ids),
          n_components_(n_components),
          shift_(shift),
          width_(width),
          scores_(ids.size() * width),
          rows_(4 * width) {}

    Real* scores() { return scores_.data(); }
    const Real* resp(std::int64_t j) const { return scores_.data() + j * width_; }
    Real top(std::int64_t r) const { return rows_[r]; }

    // Scores become responsibilities.
    void normalise(bool with_labels) {
        if (with_labels) find_largest();
        Real* rows = rows_.data();
        softmax(scores_.data(), n_scores(), width_,
                SoftmaxRow<Real>{rows, rows + width_, rows + 2 * width_});
    }

    // Whether rounding may have lost what decides between the components of this row: scores so
    // low are rounded by 1e-7 or more, and either several matter or any of them might.
    bool doubtful(std::int64_t r) const {
        return rows_[r] < Real(-1e8) && (rows_[width_ + r] > 0 || rows_[r] < Real(-1e14));
    }

    // Begin again from a better largest score, and how far below it the others lie.
    void correct(std::int64_t r, double top, const double* below) {
        double sum = 0, weighted = 0;
        std::int64_t label = 0;
        for (std::int64_t j = 0; j < n_scores(); ++j) {
            const double e = std::exp(below[j]);
            if (below[j] > below[label]) label = j;
            if (e > 0) weighted += e * below[j];
            sum += e;
        }
        for (std::int64_t j = 0; j < n_scores(); ++j)
            scores_[j * width_ + r] = static_cast<Real>(std::exp(below[j]) / sum);
        rows_[r] = static_cast<Real>(top);
        rows_[width_ + r] = static_cast<Real>(std::log(sum));
        rows_[2 * width_ + r] = static_cast<Real>(weighted / sum - std::log(sum));
        rows_[3 * width_ + r] = std::bit_cast<Real>(static_cast<typename Simd<Real>::Int>(label));
    }

    // Have the row count for nothing.
    void drop(std::int64_t r) {
        for (std::int64_t j = 0; j < n_scores(); ++j) scores_[j * width_ + r] = 0;
        for (int part = 0; part < 3; ++part) rows_[part * width_ + r] = 0;
    }

    Likelihood likelihood(std::int64_t r) const {
        return {shift_ + static_cast<double>(rows_[r]) + static_cast<double>(rows_[width_ + r]),
                static_cast<double>(rows_[2 * width_ + r])};
    }

    void publish(std::int64_t r, std::int64_t row, const PosteriorOut& out) const {
        if (out.row_log_prob) out.row_log_prob[row] = likelihood(r).log_lik;
        if (out.labels)
            out.labels[row] = ids_[std::bit_cast<typename Simd<Real>::Int>(rows_[3 * width_ + r])];
        if (!out.resp) return;
        double* to = out.resp + row * n_components_;
        std::fill_n(to, n_components_, 0.0);
        for (std::int64_t j = 0; j < n_scores(); ++j)
            if (ids_[j] >= 0) to[ids_[j]] = static_cast<double>(resp(j)[r]);
    }

private:
    std::int64_t n_scores() const { return static_cast<std::int64_t>(ids_.size()); }

    // Ties go to the lower component, and to any component before the background.
    void find_largest() {
        for (std::int64_t r = 0; r < width_; r += Simd<Real>::lanes) {
            Vec<Real> best = load(scores_.data() + r);
            IntVec<Real> label{};
            for (std::int64_t j = 1; j < n_scores(); ++j) {
                const Vec<Real> score = load(scores_.data() + j * width_ + r);
                const IntVec<Real> id = IntVec<Real>{} + static_cast<typename Simd<Real>::Int>(j);
                label = score > best ? id : label;
                best = vec_max(best, score);
            }
            store(rows_.data() + 3 * width_ + r, (Vec<Real>)label);
        }
    }

    const std::vector<std::int32_t>& ids_;
    std::int64_t n_components_;
    double shift_;
    std::int64_t width_;
    AlignedVector<Real> scores_;  // [score][row]
    AlignedVector<Real> rows_;    // top, log_sum, neg_entropy, label
};

}  // namespace coterie
