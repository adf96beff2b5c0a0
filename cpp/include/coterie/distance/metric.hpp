// Metrics as sums over columns, in float64 and in column order.
//
// A metric is compared in *reduced* form (squared for Euclidean, without the root for Minkowski)
// and turned to a length at the end. Points sit in lanes and each lane sums its columns in order
// with products rounded before they are added, so every width, tree and tile gives the bits of
// the plain loop, and pairs at exactly the same distance stay so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

template <class V>
inline V magnitude(V v) {
    if constexpr (std::is_same_v<V, double>)
        return std::fabs(v);
    else
        return v < 0 ? -v : v;
}

template <class V>
inline V larger(V a, V b) {
    return a > b ? a : b;
}

template <class V, class Function>
inline V each_lane(V v, const Function& function) {
    if constexpr (std::is_same_v<V, double>) {
        return function(v);
    } else {
        for (std::size_t i = 0; i < sizeof(V) / sizeof(double); ++i) v[i] = function(v[i]);
        return v;
    }
}

// The sums. `add` takes what two points have in column t; V is a double or a vector of them.
// Those `from_gaps` depend on |a - b| alone and never fall with it, which bounding boxes need.

struct SumOfSquares {
    static constexpr bool from_gaps = true;
    template <class V>
    struct State {
        V sum{};
    };
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        const V gap = a - b;
        s.sum += rounded(gap * gap);
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum;
    }
};

struct SumOfGaps {
    static constexpr bool from_gaps = true;
    template <class V>
    using State = SumOfSquares::State<V>;
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        s.sum += magnitude(a - b);
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum;
    }
};

struct LargestGap {
    static constexpr bool from_gaps = true;
    template <class V>
    using State = SumOfSquares::State<V>;
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        s.sum = larger(magnitude(a - b), s.sum);  // never -0, which `magnitude` may be
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum;
    }
};

// Powers of the gaps, each times the weight of its column where there are weights.
struct SumOfPowers {
    static constexpr bool from_gaps = true;
    double p;
    const double* weights;  // of every column, or null
    template <class V>
    using State = SumOfSquares::State<V>;
    template <class V>
    void add(State<V>& s, std::int64_t t, V a, V b) const {
        V part = magnitude(a - b);
        if (p == 2)
            part = rounded(part * part);
        else if (p != 1)
            part = each_lane(part, [p = p](double gap) { return std::pow(gap, p); });
        s.sum += weights ? rounded(part * weights[t]) : part;
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum;
    }
};

// Share of the columns that differ.
struct ShareDiffering {
    static constexpr bool from_gaps = false;
    double n_cols;
    template <class V>
    using State = SumOfSquares::State<V>;
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        const V zero{};
        s.sum += a != b ? zero + 1.0 : zero;
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum / n_cols;
    }
};

// Dissimilarities of 0/1 rows, by how many columns both have, one has, and neither has.
struct PairCounts {
    enum class Share { jaccard, dice, rogers_tanimoto, russell_rao, sokal_sneath, yule };

    static constexpr bool from_gaps = false;
    Share share;
    double n_cols;
    template <class V>
    struct State {
        V both{}, left{}, right{};
    };
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        s.both += a * b;
        s.left += a;
        s.right += b;
    }
    template <class V>
    V value(const State<V>& s) const {
        const V left_only = s.left - s.both, right_only = s.right - s.both;
        const V unshared = left_only + right_only;
        switch (share) {
            case Share::jaccard:
                return share_of(unshared, s.both + unshared);
            case Share::dice:
                return share_of(unshared, 2.0 * s.both + unshared);
            case Share::rogers_tanimoto:
                return 2.0 * unshared / (n_cols + unshared);
            case Share::russell_rao:
                return (n_cols - s.both) / n_cols;
            case Share::sokal_sneath:
                return share_of(2.0 * unshared, s.both + 2.0 * unshared);
            default: {
                const V neither = n_cols - s.both - unshared, crossed = left_only * right_only;
                return share_of(2.0 * crossed, s.both * neither + crossed);
            }
        }
    }

private:
    // Nothing of nothing is no difference: a row is at distance 0 from its copies.
    template <class V>
    static V share_of(V part, V whole) {
        const V zero{};
        return part > zero ? part / whole : zero;
    }
};

// Bray & Curtis (1957): the gaps over the sums of both rows; rows of zeros are the same.
struct GapsOverSums {
    static constexpr bool from_gaps = false;
    template <class V>
    struct State {
        V gaps{}, sums{};
    };
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        s.gaps += magnitude(a - b);
        s.sums += magnitude(a + b);
    }
    template <class V>
    V value(const State<V>& s) const {
        const V zero{}, beyond = zero + std::numeric_limits<double>::infinity();
        // Gaps beyond all numbers are a distance beyond them, whatever the sums are.
        const V share = s.gaps < beyond ? s.gaps / s.sums : beyond;
        return s.gaps > zero ? share : zero;
    }
};

// Lance & Williams (1967), "Canberra": each gap over the sizes of both cells; two zeros are equal.
struct SumOfRatios {
    static constexpr bool from_gaps = false;
    template <class V>
    using State = SumOfSquares::State<V>;
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        const V zero{}, most = zero + std::numeric_limits<double>::max();
        // A ratio is the same of halves, which are exact where the whole is beyond all numbers.
        const V unit = magnitude(a) + magnitude(b) > most ? zero + 0.5 : zero + 1.0;
        const V left = a * unit, right = b * unit, gap = magnitude(left - right);
        s.sum += gap > zero ? gap / (magnitude(left) + magnitude(right)) : zero;
    }
    template <class V>
    V value(const State<V>& s) const {
        return s.sum;
    }
};

// Squares over the columns that both rows have, as if all columns had such gaps; infinite where
// they share none. NaN is a missing cell.
struct SquaresOverShared {
    static constexpr bool from_gaps = false;
    double n_cols;
    template <class V>
    struct State {
        V sum{}, shared{};
    };
    template <class V>
    void add(State<V>& s, std::int64_t, V a, V b) const {
        const V zero{}, gap = a - b;
        s.sum += gap == gap ? rounded(gap * gap) : zero;
        s.shared += gap == gap ? zero + 1.0 : zero;
    }
    template <class V>
    V value(const State<V>& s) const {
        const V zero{};
        return s.shared > zero ? s.sum * (n_cols / s.shared)
                               : zero + std::numeric_limits<double>::infinity();
    }
};

// Gower (1971): weighted mean of |a - b| / range in numeric and of a != b in categorical columns,
// over the columns that both rows have; infinite where they share none. NaN is a missing cell.
struct MeanOverShared {
    static constexpr bool from_gaps = false;
    const double* ranges;   // of every column; 0 marks a categorical one
    const double* weights;  // of every column
    template <class V>
    struct State {
        V sum{}, weight{};
    };
    template <class V>
    void add(State<V>& s, std::int64_t t, V a, V b) const {
        const V zero{};
        V part;
        if (ranges[t] > 0)
            part = magnitude(a - b) / ranges[t];
        else
            part = a != b ? zero + 1.0 : zero;
        const V weight = zero + weights[t];
        s.weight += a - b == a - b ? weight : zero;
        s.sum += a - b == a - b ? rounded(part * weight) : zero;
    }
    template <class V>
    V value(const State<V>& s) const {
        const V zero{};
        return s.weight > zero ? s.sum / s.weight : zero + std::numeric_limits<double>::infinity();
    }
};

// Which sum, and how it becomes a length.
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

// Call body(n_cols), with two and three columns as constants to unroll for.
template <class Body>
inline decltype(auto) with_columns(std::int64_t n_cols, const Body& body) {
    switch (n_cols) {
        case 2:
            return body(std::integral_constant<std::int64_t, 2>{});
        case 3:
            return body(std::integral_constant<std::int64_t, 3>{});
        default:
            return body(n_cols);
    }
}

// The same for a sum over the columns; only squares are asked for often enough to unroll.
template <class Sum, class Body>
inline decltype(auto) with_columns_of(const Sum&, std::int64_t n_cols, const Body& body) {
    if constexpr (std::is_same_v<Sum, SumOfSquares>)
        return with_columns(n_cols, body);
    else
        return body(n_cols);
}

// Points side by side for the lanes: column t of all, then column t + 1. Reading a vector may
// reach past the last point, so a buffer of packed points ends with `packed_slack` spare values.
inline constexpr int packed_slack = 4 * Simd<double>::lanes;

template <class In>
struct Packed {
    const In* data;
    std::int64_t count;   // points
    std::int64_t stride;  // from one column to the next

    Packed from(std::int64_t first) const { return {data + first, count - first, stride}; }
};

namespace detail {

template <int n_vecs, class Sum, class In, class Columns>
inline void reduced_strip(const Sum& sum, const double* query, Packed<In> points, Columns n_cols,
                          double* out) {
    constexpr int lanes = Simd<double>::lanes;
    typename Sum::template State<Vec<double>> state[n_vecs];
    const In* column = points.data;
    for (std::int64_t t = 0; t < n_cols; ++t, column += points.stride) {
        const Vec<double> q = broadcast(query[t]);
        for (int v = 0; v < n_vecs; ++v)
            sum.add(state[v], t, q, load_as_double(column + v * lanes));
    }
    for (int v = 0; v < n_vecs; ++v) store(out + v * lanes, sum.value(state[v]));
}

}  // namespace detail

// Reduced distances from one point to all packed ones; `out` has room for packed_slack more.
template <class Sum, class In>
inline void reduced_to(const Sum& sum, const double* query, Packed<In> points, std::int64_t n_cols,
                       double* out) {
    constexpr int lanes = Simd<double>::lanes;
    with_columns_of(sum, n_cols, [&](auto d) {
        std::int64_t i = 0;
        for (; i + 2 * lanes < points.count; i += 4 * lanes)
            detail::reduced_strip<4>(sum, query, points.from(i), d, out + i);
        for (; i < points.count; i += lanes)
            detail::reduced_strip<1>(sum, query, points.from(i), d, out + i);
    });
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
