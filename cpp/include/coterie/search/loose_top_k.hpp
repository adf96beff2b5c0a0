// The k nearest so far with a limit that may lag behind: cheaper than a heap where k is large or
// much is taken, since all that comes is put aside and cut down to k now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/top_k.hpp"

namespace coterie::search {

class LooseTopK {
public:
    explicit LooseTopK(std::int64_t k) : k_(static_cast<std::size_t>(k)), cut_at_(k_) {}

    // What is farther is of no use; what is nearer may be of none.
    double limit() const { return farthest_.value; }
    void take(Found found) {
        if (!(found < farthest_)) return;
        found_.push_back(found);
        if (found_.size() < cut_at_) return;
        cut();
        // After the first time, at twice as many: O(1) each.
        cut_at_ = 2 * k_;
    }
    void take_all(const LooseTopK& others) {
        for (const Found& found : others.found_) take(found);
    }

    // The k nearest, or all there are, in no order.
    const std::vector<Found>& all() {
        if (found_.size() > k_) cut();
        return found_;
    }
    // Write all as `TopK` does.
    template <class Length>
    void write(double* values, std::int64_t* ids, const Length& length_of) {
        TopK best(static_cast<std::int64_t>(k_));
        for (const Found& found : all()) best.take(found);
        best.write(values, ids, length_of);
    }

private:
    void cut() {
        const auto last = found_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(found_.begin(), last, found_.end());
        farthest_ = *last;
        found_.resize(k_);
    }

    std::size_t k_, cut_at_;
    std::vector<Found> found_;
    Found farthest_{std::numeric_limits<double>::infinity(),
                    std::numeric_limits<std::int64_t>::max()};
};

}  // namespace coterie::search
