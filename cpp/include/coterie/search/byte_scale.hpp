// Tables in bytes whose sums saturate at a limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/codes.hpp"

namespace coterie::search {

// Made for one limit: entries are rounded down in steps of which 254 reach from the least possible
// value to the limit. So a row whose sum of bytes is 255 or more is above the limit, and sums may
// saturate there.
class ByteScale {
public:
    void measure(const Tables& tables) {
        lows_.resize(tables.n_parts);
        double size = 0;
        sum_of_lows_ = 0;
        for (std::int64_t m = 0; m < tables.n_parts; ++m) {
            const auto [low, high] = range_of(tables.part(m), tables.n_words);
            lows_[m] = low;
            sum_of_lows_ += low;
            size += std::max(std::fabs(low), std::fabs(high));
        }
        // The float32 sum may be this much below the true one.
        slack_ =
            size * static_cast<double>(tables.n_parts + 2) * std::numeric_limits<float>::epsilon();
    }

    void set_limit(double limit) {
        const double reach = (limit - sum_of_lows_ + slack_) * (1 + 1e-5);
        // A step that is a little too long errs on the safe side, as rounding here might not.
        inverse_ = reach > 254 / static_cast<double>(std::numeric_limits<float>::max())
                       ? static_cast<float>(254 / reach)
                       : std::numeric_limits<float>::max();
    }

    // Entries of part m in steps, from 0 to 255.
    IntVec<float> steps(std::int64_t m, const float* entries) const {
        const Vec<float> steps = (load(entries) - broadcast(lows_[m])) * broadcast(inverse_);
        return __builtin_convertvector(vec_min(steps, broadcast(255.0f)), IntVec<float>);
    }

private:
    std::vector<float> lows_;
    double sum_of_lows_ = 0, slack_ = 0;
    float inverse_ = 0;
};

}  // namespace coterie::search
