// Rows that may be among the k nearest of one query, by their steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coterie/simd/simd.hpp"

namespace coterie::search {

class StepShortlist {
public:
    explicit StepShortlist(std::int64_t k)
        : k_(static_cast<std::size_t>(k)), cut_at_(k_ + 64), steps_(room), places_(room) {}

    void set_margin(std::int32_t margin) { margin_ = margin; }
    // What has more steps is of no use.
    std::int32_t limit() const { return limit_; }
    void lower_limit(std::int32_t limit) { limit_ = std::min(limit_, limit); }

    // steps_of(i) of place first + i, where bit i is set.
    template <class StepsOf>
    void take(std::int64_t first, std::uint64_t bits, const StepsOf& steps_of) {
        if (steps_.size() < n_ + room) {
            steps_.resize(2 * n_ + room);
            places_.resize(2 * n_ + room);
        }
        for (; bits; bits &= bits - 1) {
            const int i = std::countr_zero(bits);
            const std::int32_t steps = steps_[n_] = steps_of(i);
            places_[n_] = first + i;
            n_ += steps <= limit_;
        }
        if (n_ >= cut_at_) cut();
    }
    // Let go of what is too far by now.
    void cut() {
        if (n_ > k_) lower_limit(kth_or_more() + margin_);
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const std::int32_t steps = steps_[n_kept] = steps_[i];
            places_[n_kept] = places_[i];
            n_kept += steps <= limit_;
        }
        n_ = n_kept;
        cut_at_ = n_ + k_ / 2 + 32;
    }
    // Too many rows are alike.
    bool crowded() const { return n_ > 4 * k_ + 4096; }

    std::span<const std::int64_t> places() const { return {places_.data(), n_}; }
    // Tell take(steps, place) of rows that are among the k nearest whatever the rest of rounding
    // says, and keep the others. To be asked once, in the end.
    template <class Take>
    void take_sure(const Take& take) {
        const std::int32_t sure = n_ > k_ ? next_after_k() - margin_ : limit_ + 1;
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const bool kept = steps_[i] >= sure;
            if (!kept) take(steps_[i], places_[i]);
            steps_[n_kept] = steps_[i];
            places_[n_kept] = places_[i];
            n_kept += kept;
        }
        n_ = n_kept;
    }
    void clear() {
        n_ = 0;
        cut_at_ = k_ + 64;
    }

private:
    // For the rows of a vector, and what fills up the last vector of steps.
    static constexpr std::size_t room = 64 + Simd<std::int32_t>::lanes;

    std::int32_t next_after_k() const {
        std::vector<std::int32_t> steps(steps_.begin(), steps_.begin() + n_);
        std::nth_element(steps.begin(), steps.begin() + k_, steps.end());
        return steps[k_];
    }

    // At least k have so many steps or less, and hardly more than k. By halving: see `LooseTopK`.
    std::int32_t kth_or_more() {
        constexpr int lanes = Simd<std::int32_t>::lanes;
        std::fill_n(steps_.data() + n_, lanes, std::numeric_limits<std::int32_t>::max());
        std::int32_t low = steps_[0], high = low;
        for (std::size_t i = 0; i < n_; ++i) {
            low = std::min(low, steps_[i]);
            high = std::max(high, steps_[i]);
        }
        for (--low; high - low > 1;) {
            const std::int32_t middle = low + (high - low) / 2;
            IntVec<float> count = {};
            for (std::size_t i = 0; i < n_; i += lanes)
                count -= load(steps_.data() + i) <= broadcast(middle);
            std::size_t n_within = 0;
            for (int j = 0; j < lanes; ++j) n_within += static_cast<std::size_t>(count[j]);
            if (n_within < k_)
                low = middle;
            else
                high = middle;
            if (n_within >= k_ && n_within <= k_ + k_ / 16) break;
        }
        return high;
    }

    std::size_t k_, cut_at_, n_ = 0;
    std::vector<std::int32_t> steps_;  // the first n_ count
    std::vector<std::int64_t> places_;
    std::int32_t margin_ = 0, limit_ = std::int32_t{1} << 30;
};

}  // namespace coterie::search
