// A metric: which sum over columns it is, and how that becomes a length.
//
// It is compared in *reduced* form (squared for Euclidean, without the root for Minkowski) and
// turned to a length at the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "coterie/distance/column_sums.hpp"

namespace coterie {

struct Metric {
    enum class Sum {
        squares,
        gaps,
        largest_gap,
        powers,  // which have boxes
        differing,
        pair_counts,
        gaps_over_sums,
        ratios,
        squares_over_shared,
        over_shared
    };
    enum class Length { as_is, root, pth_root, squared, half, arc };
    using Share = PairCounts::Share;

    Sum sum;
    Length length;
    Share share = Share::jaccard;
    double p = 2;
    const double* ranges = nullptr;
    const double* weights = nullptr;
    double unit = 1;  // rows were divided by it, a power of two, lest powers of gaps overflow

    // Cosine expects rows of length one, haversine points of the unit sphere, those of `Share` 0
    // and 1.
    static Metric named(std::string_view name, double p = 2, const double* ranges = nullptr,
                        const double* weights = nullptr, double unit = 1) {
        const auto counted = [](Share share) {
            return Metric{Sum::pair_counts, Length::as_is, share};
        };
        const auto powers = [&](double power, Length length) {
            return Metric{Sum::powers, length, {}, power, nullptr, weights, unit};
        };
        const auto squares = [&](Length length) {
            return Metric{Sum::squares, length, {}, 2, nullptr, nullptr, unit};
        };
        if (name == "euclidean") return squares(Length::root);
        if (name == "sqeuclidean") return squares(Length::squared);
        if (name == "cosine") return {Sum::squares, Length::half};
        if (name == "haversine") return {Sum::squares, Length::arc};
        if (name == "manhattan") return {Sum::gaps, Length::as_is};
        if (name == "chebyshev") return {Sum::largest_gap, Length::as_is};
        if (name == "minkowski") return powers(p, p == 2 ? Length::root : Length::pth_root);
        if (name == "hamming") return {Sum::differing, Length::as_is};
        if (name == "jaccard") return counted(Share::jaccard);
        if (name == "dice") return counted(Share::dice);
        if (name == "rogerstanimoto") return counted(Share::rogers_tanimoto);
        if (name == "russellrao") return counted(Share::russell_rao);
        if (name == "sokalsneath") return counted(Share::sokal_sneath);
        if (name == "yule") return counted(Share::yule);
        if (name == "braycurtis") return {Sum::gaps_over_sums, Length::as_is};
        if (name == "canberra") return {Sum::ratios, Length::as_is};
        if (name == "nan_euclidean")
            return {Sum::squares_over_shared, Length::root, {}, 2, nullptr, nullptr, unit};
        if (name == "gower") return {Sum::over_shared, Length::as_is, {}, p, ranges, weights};
        throw std::invalid_argument("there is no native metric of this name");
    }

    bool has_boxes() const { return sum <= Sum::powers; }

    // Never falls as the reduced distance grows.
    double length_of(double reduced) const {
        switch (length) {
            case Length::root:
                return std::sqrt(reduced) * unit;
            case Length::pth_root:
                return std::pow(reduced, 1 / p) * unit;
            case Length::squared:
                return reduced * unit * unit;
            case Length::half:
                return reduced / 2;
            case Length::arc:
                return 2 * std::asin(std::min(1.0, std::sqrt(reduced) / 2));
            default:
                return reduced;
        }
    }

    // What a reduced distance must not exceed to be within `radius`.
    double reduced_of(double radius) const {
        if (radius < 0) return -1;
        switch (length) {
            case Length::root:
                return (radius / unit) * (radius / unit);
            case Length::pth_root:
                return std::pow(radius / unit, p);
            case Length::squared:
                return radius / unit / unit;
            case Length::half:
                return radius * 2;
            case Length::arc: {
                if (radius >= 3.14159265358979323846) return std::numeric_limits<double>::max();
                const double half_chord = std::sin(radius / 2);
                return 4 * half_chord * half_chord;
            }
            default:
                return radius;
        }
    }

    // At least every reduced distance whose length is at most `length`, in spite of rounding.
    double reduced_at_most(double length) const {
        if (this->length == Length::as_is) return length;
        const double reduced = reduced_of(length);
        return reduced + reduced * (1e-12 + 1e-13 * p) + std::numeric_limits<double>::min();
    }
};

// What lies within a radius: by sums of squares under Euclid's metric, else by lengths, as
// everywhere where distances are compared.
class Ball {
public:
    Ball(const Metric& metric, double radius)
        : metric_(metric),
          radius_(radius),
          by_length_(metric.length == Metric::Length::pth_root ||
                     metric.length == Metric::Length::arc),
          limit_(by_length_ ? metric.reduced_at_most(radius) : metric.reduced_of(radius)) {}

    // No reduced distance above it is within.
    double limit() const { return limit_; }
    bool has(double reduced) const {
        return reduced <= limit_ && (!by_length_ || metric_.length_of(reduced) <= radius_);
    }

private:
    Metric metric_;
    double radius_;
    bool by_length_;
    double limit_;
};

// Call body(sum) with the metric's sum as a type of its own.
template <class Body>
decltype(auto) with_box_sum(const Metric& metric, const Body& body) {
    switch (metric.sum) {
        case Metric::Sum::squares:
            return body(SumOfSquares{});
        case Metric::Sum::gaps:
            return body(SumOfGaps{});
        case Metric::Sum::largest_gap:
            return body(LargestGap{});
        case Metric::Sum::powers:
            return body(SumOfPowers{metric.p, metric.weights});
        default:
            throw std::invalid_argument("a kd-tree does not serve this metric");
    }
}

// A sum that is looked up for every tile, so that the kernels over all rows are compiled once for
// all metrics but the one that is asked for most.
struct SumByTile {
    Metric metric;
};

template <class Body>
decltype(auto) with_sum(const Metric& metric, const Body& body) {
    if (metric.sum == Metric::Sum::squares) return body(SumOfSquares{});
    return body(SumByTile{metric});
}

template <class In>
[[gnu::noinline]] void reduced_to(const SumByTile& by_tile, const double* query, Packed<In> points,
                                  std::int64_t n_cols, double* out) {
    const Metric& metric = by_tile.metric;
    const auto columns = static_cast<double>(n_cols);
    const auto fill = [&](const auto& sum) { reduced_to(sum, query, points, n_cols, out); };
    switch (metric.sum) {
        case Metric::Sum::differing:
            return fill(ShareDiffering{columns});
        case Metric::Sum::pair_counts:
            return fill(PairCounts{metric.share, columns});
        case Metric::Sum::gaps_over_sums:
            return fill(GapsOverSums{});
        case Metric::Sum::ratios:
            return fill(SumOfRatios{});
        case Metric::Sum::squares_over_shared:
            return fill(SquaresOverShared{columns});
        case Metric::Sum::over_shared:
            return fill(MeanOverShared{metric.ranges, metric.weights});
        default:
            return with_box_sum(metric, fill);
    }
}

}  // namespace coterie
