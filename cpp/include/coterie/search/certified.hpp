// The nearest rows by codes, with a proof: each code knows how far it is from its row, which bounds
// the row's own distance from both sides; rows are compared exactly in the order of their lower
// bounds until no other can be among the k nearest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/exact.hpp"
#include "coterie/search/scan_codes.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Rows behind the codes, and how far each is from its code.
template <class In>
struct CodedRows {
    Matrix<const In> rows;
    const std::int64_t* ids;
    const float* errors;  // |x - decoded x|, rounded up
    float worst_error;    // of all
    double longest;       // no row is longer
    double stretch;       // by how much of itself a length may change on the way to the codes
    Measure measure;
};

// Bounds of what a query would find exactly, from the value of a code. For squares they are bounds
// of the distance: | |q - x| - |q - c| | <= e. For products, |q.x - q.c| <= |q| e.
class CodeBounds {
public:
    template <class In>
    CodeBounds(const CodedRows<In>& coded, const Tables& tables, double query_norm) {
        constexpr double unit = std::numeric_limits<float>::epsilon();
        const auto n_parts = static_cast<double>(tables.n_parts);
        squares_ = coded.measure == Measure::squares;
        offset_ = coded.measure == Measure::angle ? 1 : 0;
        weight_ = squares_ ? 1 : query_norm * (1 + 1e-9);
        worst_ = weight_ * static_cast<double>(coded.worst_error);
        relative_ = (n_parts + 4) * unit + coded.stretch;
        if (squares_) return;
        double size = 0;
        for (std::int64_t m = 0; m < tables.n_parts; ++m) {
            const float* part = tables.part(m);
            const auto [low, high] = std::minmax_element(part, part + tables.n_words);
            size += std::max(std::fabs(*low), std::fabs(*high));
        }
        const double rounding = static_cast<double>(coded.rows.n_cols + 8) * 0x1p-52;
        absolute_ =
            size * (n_parts + 4) * unit + query_norm * coded.longest * (rounding + coded.stretch);
        // A query of zeros is as near as can be to rows of zeros, and far from all others.
        if (coded.measure == Measure::angle && query_norm == 0) absolute_ = 1;
    }

    double lower(float value, float error) const {
        const double length = length_of(value), gap = weight_ * static_cast<double>(error);
        return squares_ ? length * (1 - relative_) - gap * (1 + relative_)
                        : length - gap - absolute_;
    }
    double upper(float value, float error) const {
        const double length = length_of(value), gap = weight_ * static_cast<double>(error);
        return squares_ ? (length + gap) * (1 + 2 * relative_) : length + gap + absolute_;
    }
    // No code whose value is above this has a lower bound up to `length`.
    double value_at_most(double length) const {
        if (!squares_) return length - offset_ + worst_ + absolute_ * 2;
        const double reach = (length + worst_ * (1 + relative_)) * (1 + 2 * relative_);
        return reach * reach * (1 + 1e-9);
    }
    // The exact value in the units of the bounds.
    double exact_length(double value) const { return squares_ ? std::sqrt(value) : value; }

private:
    double length_of(float value) const {
        const auto wide = static_cast<double>(value);
        return squares_ ? std::sqrt(std::max(wide, 0.0)) : wide + offset_;
    }

    bool squares_;
    double offset_ = 0, weight_ = 1, worst_ = 0, relative_ = 0, absolute_ = 0;
};

// Collects what may be among the k nearest of one query, and proves which are.
template <class In>
class Prover {
public:
    Prover(const CodedRows<In>& coded, const Tables& tables, const In* query, double query_norm,
           std::int64_t k)
        : coded_(coded),
          bounds_(coded, tables, query_norm),
          exact_(coded.measure, query, coded.rows.n_cols),
          k_(static_cast<std::size_t>(k)),
          best_(k) {}

    double limit() const { return limit_; }

    void take(float value, std::int64_t row) {
        const float error = coded_.errors[row];
        const double lower = bounds_.lower(value, error);
        if (lower > longest_) return;
        candidates_.push_back({lower, row});
        const double upper = bounds_.upper(value, error);
        if (uppers_.size() < k_) {
            uppers_.push_back(upper);
            std::push_heap(uppers_.begin(), uppers_.end());
        } else if (upper < uppers_.front()) {
            std::pop_heap(uppers_.begin(), uppers_.end());
            uppers_.back() = upper;
            std::push_heap(uppers_.begin(), uppers_.end());
        }
        if (uppers_.size() == k_ && uppers_.front() < longest_) shorten(uppers_.front());
        if (candidates_.size() < std::max<std::size_t>(1 << 16, 8 * k_)) return;
        drop();
        if (candidates_.size() >= std::max<std::size_t>(1 << 15, 4 * k_)) prove();
    }

    void take_some(std::int64_t first, const std::int32_t* lanes, const float* values, int count) {
        for (int i = 0; i < count; ++i) take(values[i], first + lanes[i]);
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
                const double length = bounds_.exact_length(best_.limit());
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

    void shorten(double length) {
        if (!(length < longest_)) return;
        longest_ = length;
        limit_ = bounds_.value_at_most(length);
    }
    void drop() {
        std::erase_if(candidates_, [&](const Candidate& c) { return c.lower > longest_; });
    }

    const CodedRows<In>& coded_;
    CodeBounds bounds_;
    ExactQuery exact_;
    std::size_t k_;
    TopK best_;
    std::vector<double> uppers_;  // a heap of the k smallest
    std::vector<Candidate> candidates_;
    double longest_ = std::numeric_limits<double>::infinity();  // the k-th nearest is no farther
    double limit_ = std::numeric_limits<double>::infinity();
    std::int64_t n_compared_ = 0;
};

// The k nearest rows of every query, exactly, ties by id: (n_queries, k) in C order, and how many
// rows were compared exactly. `query_norms` are those of the queries that the tables were made of.
template <class In, class Length>
void search_certified(const Codes& codes, const CodedRows<In>& coded, const float* tables,
                      Matrix<const In> queries, const double* query_norms, std::int64_t k,
                      double* values, std::int64_t* ids, std::int64_t* n_compared,
                      const Length& length_of, const Crew& crew) {
    const std::int64_t table_size = codes.n_parts * codes.n_words();
    const std::int64_t n_blocks = (codes.n_rows + block_rows - 1) / block_rows;
    constexpr std::int64_t group = 4;
    crew.run((queries.n_rows + group - 1) / group, [&](std::int64_t task, int) {
        const std::int64_t first = task * group;
        const std::int64_t last = std::min(queries.n_rows, first + group);
        std::vector<Tables> asked;
        std::vector<Prover<In>> provers;
        for (std::int64_t q = first; q < last; ++q) {
            asked.push_back({tables + q * table_size, codes.n_parts, codes.n_words()});
            provers.emplace_back(coded, asked.back(), queries.row(q), query_norms[q], k);
        }
        CodeScanner(codes.n_parts, codes.bits).scan(codes, asked, provers, 0, n_blocks);
        for (std::int64_t q = first; q < last; ++q) {
            provers[q - first].prove();
            n_compared[q] = provers[q - first].n_compared();
            provers[q - first].best().write(values + q * k, ids + q * k, length_of);
        }
    });
}

}  // namespace coterie::search
