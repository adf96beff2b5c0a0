// The levels of single linkage: merges at one height happen at once, in no order.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace coterie {

// Lengths that differ by less are taken to be one number that was rounded in several ways.
inline constexpr double level_width = 1e-12;

// The level of each of the lengths, which come sorted: the longest that is at most `level_width`,
// relatively, above the first of its level. Lengths whose inverse is infinite count as zero.
inline void find_levels(std::span<const double> lengths, double* heights) {
    for (std::size_t begin = 0, end = 0; begin < lengths.size(); begin = end) {
        const double first = lengths[begin];
        const auto belongs = [&](double length) {
            return length == first || length - first <= first * level_width ||
                   1 / length == std::numeric_limits<double>::infinity();
        };
        for (end = begin + 1; end < lengths.size() && belongs(lengths[end]);) ++end;
        const double last = lengths[end - 1];
        const double height =
            last > 0 && 1 / last < std::numeric_limits<double>::infinity() ? last : 0.0;
        for (std::size_t i = begin; i < end; ++i) heights[i] = height;
    }
}

}  // namespace coterie
