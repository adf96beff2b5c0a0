// Distances as sums over columns, in float64 and in column order.
//
// Points sit in lanes and each lane sums its columns in order with products rounded before they are
// added, so every width, tree and tile gives the bits of the plain loop, and pairs at exactly the
// same distance stay so.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "coterie/rows/direct.hpp"
#include "coterie/simd/constant.hpp"
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

// Call body(n_cols), with two and three columns as constants to unroll for.
template <class Body>
inline decltype(auto) with_columns(std::int64_t n_cols, const Body& body) {
    return with_one_of<2, 3, 0>(n_cols, [&](auto constant) {
        if constexpr (constant > 0)
            return body(constant);
        else
            return body(n_cols);
    });
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

// The same for several queries, which share what is loaded of the points.
template <int n_queries, int n_vecs, class Sum, class In>
inline void reduced_panel(const Sum& sum, const double* queries, Packed<In> points,
                          std::int64_t n_cols, double* out, std::int64_t out_stride) {
    constexpr int lanes = Simd<double>::lanes;
    typename Sum::template State<Vec<double>> state[n_queries][n_vecs];
    const In* column = points.data;
    for (std::int64_t t = 0; t < n_cols; ++t, column += points.stride) {
        Vec<double> point[n_vecs];
        for (int v = 0; v < n_vecs; ++v) point[v] = load_as_double(column + v * lanes);
        for (int q = 0; q < n_queries; ++q) {
            const Vec<double> query = broadcast(queries[q * n_cols + t]);
            for (int v = 0; v < n_vecs; ++v) sum.add(state[q][v], t, query, point[v]);
        }
    }
    for (int q = 0; q < n_queries; ++q)
        for (int v = 0; v < n_vecs; ++v)
            store(out + q * out_stride + v * lanes, sum.value(state[q][v]));
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

// The same from four points at once, side by side in `queries`, with `out_stride` from the
// distances of one to those of the next.
inline constexpr int query_panel = 4;
template <class Sum, class In>
inline void reduced_to_panel(const Sum& sum, const double* queries, Packed<In> points,
                             std::int64_t n_cols, double* out, std::int64_t out_stride) {
    constexpr int lanes = Simd<double>::lanes, n_vecs = vector_bytes == 64 ? 4 : 2;
    std::int64_t i = 0;
    for (; i + (n_vecs / 2) * lanes < points.count; i += n_vecs * lanes)
        detail::reduced_panel<query_panel, n_vecs>(sum, queries, points.from(i), n_cols, out + i,
                                                   out_stride);
    for (; i < points.count; i += lanes)
        detail::reduced_panel<query_panel, 1>(sum, queries, points.from(i), n_cols, out + i,
                                              out_stride);
}

}  // namespace coterie
