// How far a cluster is from the union of two others: Lance and Williams (1967).
//
// Ward, centroid and median work on squared distances. Products are rounded before they are added,
// so that every instruction set gives the same bits.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "coterie/simd/simd.hpp"

namespace coterie {

// Distances of x to a, of x to b and of a to b; how many rows each has.
struct Trio {
    double xa, xb, ab;
    double n_x, n_a, n_b;
};

struct SingleRule {
    static constexpr bool squared = false;
    static double join(const Trio& t) { return std::min(t.xa, t.xb); }
};

struct CompleteRule {
    static constexpr bool squared = false;
    static double join(const Trio& t) { return std::max(t.xa, t.xb); }
};

struct AverageRule {
    static constexpr bool squared = false;
    // The mean of two equal distances is that distance, and never outside what it is the mean of.
    static double join(const Trio& t) {
        const double mean = t.xa + rounded((t.xb - t.xa) * (t.n_b / (t.n_a + t.n_b)));
        return std::clamp(mean, std::min(t.xa, t.xb), std::max(t.xa, t.xb));
    }
};

struct WeightedRule {
    static constexpr bool squared = false;
    static double join(const Trio& t) { return (t.xa + t.xb) / 2; }
};

struct WardRule {
    static constexpr bool squared = true;
    static double join(const Trio& t) {
        const double gain = rounded((t.n_x + t.n_a) * t.xa) + rounded((t.n_x + t.n_b) * t.xb);
        return std::max(0.0, (gain - rounded(t.n_x * t.ab)) / (t.n_x + t.n_a + t.n_b));
    }
};

struct CentroidRule {
    static constexpr bool squared = true;
    static double join(const Trio& t) {
        const double n = t.n_a + t.n_b;
        const double mean = (rounded(t.n_a * t.xa) + rounded(t.n_b * t.xb)) / n;
        return std::max(0.0, mean - rounded(t.n_a * t.n_b / (n * n) * t.ab));
    }
};

struct MedianRule {
    static constexpr bool squared = true;
    static double join(const Trio& t) { return std::max(0.0, (t.xa + t.xb) / 2 - t.ab / 4); }
};

// Under the others no union is nearer to a third than the nearer of its parts was, provided that
// these were nearest to each other.
template <class Rule>
inline constexpr bool is_reducible =
    !std::is_same_v<Rule, CentroidRule> && !std::is_same_v<Rule, MedianRule>;

template <class Body>
decltype(auto) with_rule(std::string_view method, const Body& body) {
    if (method == "single") return body(SingleRule{});
    if (method == "complete") return body(CompleteRule{});
    if (method == "average") return body(AverageRule{});
    if (method == "weighted") return body(WeightedRule{});
    if (method == "ward") return body(WardRule{});
    if (method == "centroid") return body(CentroidRule{});
    if (method == "median") return body(MedianRule{});
    throw std::invalid_argument("there is no linkage of this name");
}

}  // namespace coterie
