// Collects what may be among the k nearest rows of one query, and proves which are: rows are
// compared exactly in the order of their lower bounds until no other can be nearer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/neighbors/smallest_k.hpp"
#include "coterie/search/code_bounds.hpp"
#include "coterie/search/exact.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

template <class In>
class Prover {
public:
    Prover(const CodedRows<In>& coded, const In* query, std::int64_t k)
        : coded_(coded),
          exact_(coded.measure, query, coded.rows.n_cols),
          k_(static_cast<std::size_t>(k)),
          best_(k),
          uppers_(k) {}

    // The k-th nearest row is no farther.
    double longest() const { return longest_; }

    // A row that is between these bounds.
    void take(double lower, double upper, std::int64_t row) {
        if (!(lower <= longest_)) return;
        candidates_.push_back({lower, row});
        uppers_.take(upper);
        if (uppers_.full()) shorten(uppers_.largest());
        if (candidates_.size() < std::max<std::size_t>(1 << 16, 8 * k_)) return;
        drop();
        if (candidates_.size() >= std::max<std::size_t>(1 << 15, 4 * k_)) prove();
    }

    // Compare exactly, in the order of lower bounds, until no other candidate can be nearer.
    void prove() {
        drop();
        std::sort(candidates_.begin(), candidates_.end());
        constexpr std::size_t at_once = 4;
        std::int64_t rows[at_once];
        double values[at_once];
        for (std::size_t i = 0; i < candidates_.size() && candidates_[i].lower <= longest_;
             i += at_once) {
            Pool::breathe();
            const std::size_t count = std::min(at_once, candidates_.size() - i);
            for (std::size_t j = 0; j < count; ++j) rows[j] = candidates_[i + j].row;
            exact_.values(coded_.rows, rows, static_cast<std::int64_t>(count), values);
            for (std::size_t j = 0; j < count; ++j) best_.take({values[j], coded_.ids[rows[j]]});
            n_compared_ += static_cast<std::int64_t>(count);
            if (best_.full()) {
                const double length =
                    coded_.measure == Measure::squares ? std::sqrt(best_.limit()) : best_.limit();
                shorten(length + std::fabs(length) * 1e-9);
            }
        }
        candidates_.clear();
    }

    std::int64_t n_compared() const { return n_compared_; }
    TopK& best() { return best_; }

private:
    struct Candidate {
        double lower;
        std::int64_t row;
        friend bool operator<(const Candidate& a, const Candidate& b) {
            return a.lower < b.lower || (a.lower == b.lower && a.row < b.row);
        }
    };

    void shorten(double length) { longest_ = std::min(longest_, length); }
    void drop() {
        std::erase_if(candidates_, [&](const Candidate& c) { return c.lower > longest_; });
    }

    const CodedRows<In>& coded_;
    ExactQuery exact_;
    std::size_t k_;
    TopK best_;
    SmallestK<double> uppers_;
    std::vector<Candidate> candidates_;
    double longest_ = std::numeric_limits<double>::infinity();
    std::int64_t n_compared_ = 0;
};

// Shows a prover the codes of one scan.
template <class In>
class ProvingWatcher {
public:
    // rows[place] is the row of a code; none: its place is.
    ProvingWatcher(Prover<In>& prover, const CodedRows<In>& coded, const CodeBounds& bounds,
                   const std::int64_t* rows = nullptr)
        : prover_(prover), errors_(coded.errors), rows_(rows), bounds_(bounds) {}

    double limit() const { return bounds_.value_at_most(prover_.longest()); }
    void take(float value, std::int64_t place) {
        const std::int64_t row = rows_ ? rows_[place] : place;
        const auto wide = static_cast<double>(value), error = static_cast<double>(errors_[row]);
        prover_.take(bounds_.lower(wide, error), bounds_.upper(wide, error), row);
    }
    void take_some(std::int64_t first, const std::int32_t* lanes, const float* values, int count) {
        for (int i = 0; i < count; ++i) take(values[i], first + lanes[i]);
    }

private:
    Prover<In>& prover_;
    const float* errors_;
    const std::int64_t* rows_;
    CodeBounds bounds_;
};

}  // namespace coterie::search
