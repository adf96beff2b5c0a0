// The k nearest so far with a limit that may lag behind: cheaper than a heap where k is large or
// much is taken, since all that comes is put aside and cut down now and then, to k or a few more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coterie/search/top_k.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie::search {

class LooseTopK {
public:
    explicit LooseTopK(std::int64_t k) : k_(static_cast<std::size_t>(k)), cut_at_(k_) {}

    bool empty() const { return n_ == 0; }
    // What is farther is of no use; what is nearer may be of none.
    double limit() const { return farthest_.value; }
    void take(Found found) {
        if (found < farthest_) take_some(1, [&](int) { return found; });
    }
    // found(i) for i from 0 to count - 1, at most 16 of them.
    template <class Make>
    void take_some(int count, const Make& found) {
        if (found_.size() < n_ + 16)
            found_.resize(std::max(2 * n_, std::min<std::size_t>(cut_at_, 256)) + 16);
        for (int i = 0; i < count; ++i) {
            const Found here = found_[n_] = found(i);
            n_ += (here.value < farthest_.value) |
                  ((here.value == farthest_.value) & (here.id < farthest_.id));
        }
        if (n_ >= cut_at_) cut();
    }
    void take_all(const LooseTopK& others) {
        for (const Found& found : others.kept()) take(found);
    }

    // The k nearest, or all there are, in no order.
    std::span<const Found> all() {
        if (n_ > k_ && !cut_to(k_)) cut_to_k();
        return kept();
    }
    // Write all as `TopK` does.
    template <class Length>
    void write(double* values, std::int64_t* ids, const Length& length_of) {
        TopK best(static_cast<std::int64_t>(k_));
        for (const Found& found : all()) best.take(found);
        best.write(values, ids, length_of);
    }

private:
    std::span<const Found> kept() const { return {found_.data(), n_}; }

    void cut() {
        // After the first time, at about twice as many: O(1) each.
        cut_at_ = 2 * k_ + 16;
        if (n_ == k_)
            farthest_ = *std::max_element(found_.data(), found_.data() + n_);
        else if (!cut_to(k_ + k_ / 8))
            cut_to_k();
    }

    // Let go of what is farther than some value that at least k, and at most `most`, are within;
    // false where equals stand in the way. By halving: a count takes one pass without branches,
    // where a selection mispredicts half of its comparisons.
    bool cut_to(std::size_t most) {
        constexpr int lanes = Simd<double>::lanes;
        values_.assign((n_ + lanes - 1) / lanes * lanes, std::numeric_limits<double>::infinity());
        double low = found_[0].value, high = low;
        for (std::size_t i = 0; i < n_; ++i) {
            values_[i] = found_[i].value;
            low = std::min(low, values_[i]);
            high = std::max(high, values_[i]);
        }
        std::size_t n_within = n_;
        for (int step = 0; step < 32 && n_within > most; ++step) {
            const double middle = low + (high - low) / 2;
            const std::size_t n_below = count_within(middle);
            if (n_below < k_) {
                low = middle;
            } else {
                high = middle;
                n_within = n_below;
            }
        }
        if (n_within > most) return false;
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const Found found = found_[n_kept] = found_[i];
            n_kept += found.value <= high;
        }
        n_ = n_kept;
        farthest_ = {high, std::numeric_limits<std::int64_t>::max()};
        return true;
    }
    std::size_t count_within(double limit) const {
        IntVec<double> count = {};
        for (std::size_t i = 0; i < values_.size(); i += Simd<double>::lanes)
            count -= load(values_.data() + i) <= broadcast(limit);
        std::size_t sum = 0;
        for (int j = 0; j < Simd<double>::lanes; ++j) sum += static_cast<std::size_t>(count[j]);
        return sum;
    }

    void cut_to_k() {
        Found* last = found_.data() + k_ - 1;
        std::nth_element(found_.data(), last, found_.data() + n_);
        farthest_ = *last;
        n_ = k_;
    }

    std::size_t k_, cut_at_, n_ = 0;
    std::vector<Found> found_;  // the first n_ count
    std::vector<double> values_;
    Found farthest_{std::numeric_limits<double>::infinity(),
                    std::numeric_limits<std::int64_t>::max()};
};

}  // namespace coterie::search
