// The value of a code in whole steps: a filter for lists of 4-bit codes, with one table a query.
//
// A row's steps are those of its list, of its own term and of its table entries, each rounded down.
// Entries have two bytes: whole strides of 128 steps, which pass over most rows, and the steps that
// are left. What is held to in the end is the float32 sum V over the tables of the list: then
// steps - e <= (V - low) / step < steps + n_parts + 4 + e, where e pays for all other rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/list_tables.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/search/scan_4bit.hpp"

namespace coterie::search {

namespace detail {

template <int step = 1>
inline Range range_across(Vec<float> low, Vec<float> high) {
    if constexpr (step < Simd<float>::lanes) {
        const auto swapped = [](Vec<float> v) {
            return shuffled(v, v, [](int j) { return j ^ step; });
        };
        return range_across<2 * step>(vec_min(low, swapped(low)), vec_max(high, swapped(high)));
    }
    return {low[0], high[0]};
}

inline Range range_of_16(const float* values) {
    Vec<float> low = load(values), high = low;
    for (int i = Simd<float>::lanes; i < 16; i += Simd<float>::lanes) {
        low = vec_min(low, load(values + i));
        high = vec_max(high, load(values + i));
    }
    return range_across(low, high);
}

// sum (a - b)^2 or a.b, to a few roundings.
template <Measure measure>
inline double quick_sum(const double* a, const double* b, std::int64_t n_cols) {
    constexpr int lanes = Simd<double>::lanes;
    const auto product = [](auto x, auto y) {
        return measure == Measure::squares ? (x - y) * (x - y) : x * y;
    };
    Vec<double> sums[2] = {};
    std::int64_t t = 0;
    for (; t + 2 * lanes <= n_cols; t += 2 * lanes)
        for (int i = 0; i < 2; ++i)
            sums[i] += product(load(a + t + i * lanes), load(b + t + i * lanes));
    const Vec<double> both = sums[0] + sums[1];
    double sum = 0;
    for (int i = 0; i < lanes; ++i) sum += both[i];
    for (; t < n_cols; ++t) sum += product(a[t], b[t]);
    return sum;
}

}  // namespace detail

// How long centres, seen from the origin of the terms, and what codes stand for are at most; the
// longest step of terms; the widest part.
struct StepReach {
    double center = 0, word = 0, term_step = 0;
    std::int64_t widest = 0;

    StepReach(const ListSpace& space, const RowTerms& terms) {
        const WordColumns& books = space.books;
        for (std::int64_t l = 0; l < space.centers.n_rows; ++l) {
            const double *c = space.centers.row(l), *o = terms.origin;
            center =
                std::max(center, detail::quick_sum<Measure::squares>(c, o, space.centers.n_cols));
            term_step = std::max(term_step, terms.steps[l]);
        }
        center = std::sqrt(center);
        for (std::int64_t m = 0; m < books.n_parts; ++m)
            widest = std::max(widest, books.starts[m + 1] - books.starts[m]);
        for (std::int64_t t = 0; t < space.centers.n_cols; ++t) {
            const Range range = range_of(books.words + t * books.n_words, books.n_words);
            const double most = std::max(-static_cast<double>(range.low), double{range.high});
            word += most * most;
        }
        word = std::sqrt(word);
    }
};

// What a query makes of one list: the steps of row terms are base + number * ratio / 65536.
struct ListSteps {
    std::int32_t base;
    std::uint32_t ratio;

    std::int32_t of_term(std::uint16_t number) const {
        return base + static_cast<std::int32_t>(std::uint64_t{number} * ratio >> 16);
    }
};

class StepTable {
public:
    static constexpr int stride = 128;

    StepTable(const ListSpace& space, const RowTerms& terms, const StepReach& reach)
        : space_(&space),
          terms_(&terms),
          reach_(&reach),
          strides_(n_pairs() * 32),
          steps_(n_pairs() * 32) {}

    void make(std::int64_t query) {
        query_ = space_->queries.row(query);
        const WordColumns& books = space_->books;
        const std::int64_t n_cols = space_->queries.n_cols;
        const bool squares = space_->measure == Measure::squares;
        std::vector<float> residual(n_cols);
        double sq_norm = 0;
        for (std::int64_t t = 0; t < n_cols; ++t) {
            const double off = query_[t] - terms_->origin[t];
            residual[t] = static_cast<float>(squares ? 2 * off : off);
            sq_norm += off * off;
        }
        AlignedVector<float> table(books.table_size());
        make_table<Measure::product>(books, residual.data(), table.data());
        std::vector<float> lows(books.n_parts);
        double span = 0;
        low_ = 0;
        for (std::int64_t m = 0; m < books.n_parts; ++m) {
            const Range range = detail::range_of_16(table.data() + m * 16);
            lows[m] = range.low;
            low_ += static_cast<double>(range.low);
            span = std::max(span, static_cast<double>(range.high) - static_cast<double>(range.low));
        }
        // Sums of two bytes fit in 8 bits, those of all, like the strides of terms, in 15. No
        // stride is so short that float32 would not tell it from none.
        const int top = static_cast<int>(std::min<std::int64_t>(127, 32767 / books.n_parts));
        const double norm = std::sqrt(sq_norm), far = reach_->center + reach_->word;
        const double largest = squares ? (norm + far) * (norm + far) : norm * far;
        const double long_step =
            std::max({span / top, reach_->term_step * 2.001, largest * 0x1p-20, 1e-35});
        step_ = long_step / stride;
        const double unit = static_cast<double>(2 * reach_->widest + books.n_parts + 16) *
                            static_cast<double>(std::numeric_limits<float>::epsilon());
        slack_ = largest * unit / step_ + static_cast<double>(books.n_parts) * 0.01;
        for (std::int64_t m = 0; m < books.n_parts; ++m)
            round_down_twice(table.data() + m * 16, lows[m], static_cast<float>(1 / long_step), top,
                             strides_.data() + m * 16, steps_.data() + m * 16);
    }

    ListSteps of_list(std::int64_t list) const {
        const double* center = space_->centers.row(list);
        const std::int64_t n_cols = space_->centers.n_cols;
        const double value = space_->measure == Measure::squares
                                 ? detail::quick_sum<Measure::squares>(query_, center, n_cols)
                                 : -detail::quick_sum<Measure::product>(query_, center, n_cols);
        return {static_cast<std::int32_t>(std::floor((value + terms_->lows[list]) / step_)),
                static_cast<std::uint32_t>(65536 * (terms_->steps[list] / step_))};
    }

    // Where k rows have so many steps or less, a row with more than `margin` above is not among the
    // k nearest.
    std::int32_t margin() const {
        return static_cast<std::int32_t>(std::ceil(2 * slack_)) +
               static_cast<std::int32_t>(space_->books.n_parts) + 5;
    }
    // No row with so many has less than this value.
    double least_at(std::int32_t steps) const { return low_ + step_ * (steps - slack_); }
    // No row of this value or less has more.
    std::int32_t most_at(double value) const {
        const double steps = (value - low_) / step_ + slack_ + 1;
        return static_cast<std::int32_t>(std::clamp(steps, -1e9, 1e9));
    }
    // Two tables of 16, of the lower and of the upper halves of byte i: of strides, and of steps.
    const std::uint8_t* strides(std::int64_t i) const { return strides_.data() + i * 32; }
    const std::uint8_t* steps(std::int64_t i) const { return steps_.data() + i * 32; }

private:
    static void round_down_twice(const float* entries, float low, float inverse, int top,
                                 std::uint8_t* strides, std::uint8_t* steps) {
        constexpr int lanes = Simd<float>::lanes;
        typedef std::uint8_t Few __attribute__((vector_size(lanes)));
        const Vec<float> most = broadcast(static_cast<float>(top));
        for (int c = 0; c < 16; c += lanes) {
            const Vec<float> exact = (load(entries + c) - broadcast(low)) * broadcast(inverse);
            const auto whole = __builtin_convertvector(vec_min(exact, most), IntVec<float>);
            const Vec<float> rest = exact - __builtin_convertvector(whole, Vec<float>);
            const auto left = __builtin_convertvector(
                vec_min(rest * broadcast(float{stride}), broadcast(float{stride - 1})),
                IntVec<float>);
            const Few high = __builtin_convertvector(whole, Few);
            const Few below = __builtin_convertvector(left, Few);
            std::memcpy(strides + c, &high, sizeof high);
            std::memcpy(steps + c, &below, sizeof below);
        }
    }
    std::int64_t n_pairs() const { return (space_->books.n_parts + 1) / 2; }

    const ListSpace* space_;
    const RowTerms* terms_;
    const StepReach* reach_;
    AlignedVector<std::uint8_t> strides_, steps_;
    const double* query_ = nullptr;
    double low_ = 0, step_ = 1, slack_ = 0;
};

}  // namespace coterie::search
