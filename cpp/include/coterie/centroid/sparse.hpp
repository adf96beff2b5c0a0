// Compressed sparse rows for Lloyd's passes, with the labels, sums and distances that dense rows of
// the same values have.
//
// A stored value costs one multiply-add for each centre, a zero costs nothing. What must have the
// bits of the direct form (close calls, distances) is computed on the row written out in full.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sums.hpp"
#include "coterie/rows/columns.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/rows/frame.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// One thread's dense copy of the row it looks at.
template <class In, class Index>
class DenseRow {
public:
    explicit DenseRow(Csr<In, Index> rows) : rows_(rows), row_(rows.n_cols) {}

    // The row written out in full; valid until the next call.
    const In* read(std::int64_t i) {
        for (Index s = 0; s < last_.count; ++s) row_[last_.columns[s]] = 0;
        last_ = stored(rows_, i);
        for (Index s = 0; s < last_.count; ++s) row_[last_.columns[s]] = last_.values[s];
        return row_.data();
    }

private:
    Csr<In, Index> rows_;
    std::vector<In> row_;
    Stored<In, Index> last_{};
};

// The centres of one pass as -2c, transposed so that centres sit in lanes; shared by all threads.
class SparseCenters {
public:
    SparseCenters(const double* centers, std::int64_t n_centers, std::int64_t n_cols, double scale)
        : n_centers(n_centers),
          n_cols(n_cols),
          scale(scale),
          stride((n_centers + lanes - 1) / lanes * lanes),
          values_(centers),
          coefs_(n_cols * stride),
          sq_norms_(stride, std::numeric_limits<double>::max()) {
        std::fill_n(sq_norms_.begin(), n_centers, 0.0);
        for (std::int64_t first = 0; first < n_centers; first += lanes)
            for (std::int64_t t = 0; t < n_cols; ++t)
                for (std::int64_t j = first; j < std::min(first + lanes, n_centers); ++j) {
                    const double c = centers[j * n_cols + t] * scale;
                    sq_norms_[j] += c * c;
                    coefs_[t * stride + j] = -2 * c;
                }
        const double max_sq = *std::max_element(sq_norms_.begin(), sq_norms_.begin() + n_centers);
        max_norm_ = std::sqrt(max_sq) * (1 + 1e-6);
    }

    const double* coefs() const { return coefs_.data(); }        // [n_cols][stride]
    const double* sq_norms() const { return sq_norms_.data(); }  // padding is never nearest
    double max_norm() const { return max_norm_; }
    const DirectCenters& direct() {
        std::call_once(direct_once_,
                       [&] { direct_ = DirectCenters(values_, n_centers, n_cols, scale); });
        return direct_;
    }

    static constexpr int lanes = Simd<double>::lanes;
    const std::int64_t n_centers, n_cols;
    const double scale;
    const std::int64_t stride;  // n_centers, padded to whole vectors

private:
    const double* values_;  // row-major, original units
    std::vector<double> coefs_, sq_norms_;
    double max_norm_;
    std::once_flag direct_once_;
    DirectCenters direct_;
};

namespace detail {

// The two smallest |c|^2 - 2 x.c in each lane, and whose the smallest is.
struct LaneNearest {
    Vec<double> best = broadcast(std::numeric_limits<double>::max());
    Vec<double> second = best;
    Vec<double> label = {};
};

// Centres are scanned in groups whose accumulators stay in registers.
inline constexpr int max_group = 8;

// Lower `nearest` to what it holds and the `size` vectors of centres that start at `first`.
template <int size, class Index>
inline void scan_group(const double* x, const Index* columns, Index count,
                       const SparseCenters& centers, std::int64_t first, LaneNearest& nearest) {
    constexpr int lanes = SparseCenters::lanes;
    Vec<double> acc[size];
#pragma GCC unroll 8
    for (int g = 0; g < size; ++g) acc[g] = load(centers.sq_norms() + first + g * lanes);
    for (Index s = 0; s < count; ++s) {
        const Vec<double> value = broadcast(x[s]);
        const double* c = centers.coefs() + columns[s] * centers.stride + first;
#pragma GCC unroll 8
        for (int g = 0; g < size; ++g) acc[g] += value * load(c + g * lanes);
    }
    Vec<double> id;
    for (int i = 0; i < lanes; ++i) id[i] = static_cast<double>(first + i);
#pragma GCC unroll 8
    for (int g = 0; g < size; ++g) {
        nearest.second = vec_min(nearest.second, vec_max(nearest.best, acc[g]));
        nearest.label = acc[g] < nearest.best ? id : nearest.label;
        nearest.best = vec_min(nearest.best, acc[g]);
        id += broadcast(static_cast<double>(lanes));
    }
}

}  // namespace detail

// One thread's workspace for finding nearest centres.
template <class In, class Index>
class SparseFinder {
public:
    SparseFinder(SparseCenters& centers, Csr<In, Index> rows)
        : centers_(centers), rows_(rows), dense_(rows) {}

    // The label that the direct form in float64 gives to row i; ties go to the lower index.
    std::int32_t nearest(std::int64_t i) {
        const auto row = stored(rows_, i);
        scaled_.resize(row.count);
        double sq_norm = 0;
        for (Index s = 0; s < row.count; ++s) {
            scaled_[s] = static_cast<double>(row.values[s]) * centers_.scale;
            sq_norm += scaled_[s] * scaled_[s];
        }
        const auto found = scan(row);
        // |c|^2 is a sum of n_cols squares onto which row.count products are added, all in float64:
        // as many roundings as a row of that many columns onto an exact |c|^2. `margin` has room
        // for the roundings of the direct form besides.
        const double error =
            margin(centers_.n_cols + row.count, std::sqrt(sq_norm), centers_.max_norm());
        // Written so that a NaN or infinity also counts as doubtful.
        if (found.second - found.best > error) return found.label;
        return centers_.direct().nearest(dense_.read(i)).label;
    }

    // change(row, label) for each row of [begin, end) whose nearest centre is not labels[row].
    template <class Change>
    void find_changed(std::int64_t begin, std::int64_t end, const std::int32_t* labels,
                      const Change& change) {
        for (std::int64_t i = begin; i < end; ++i)
            if (const std::int32_t label = nearest(i); label != labels[i]) change(i, label);
    }

private:
    DirectCenters::Found scan(const Stored<In, Index>& row) const {
        constexpr int lanes = SparseCenters::lanes;
        detail::LaneNearest nearest;
        for (std::int64_t first = 0; first < centers_.stride; first += detail::max_group * lanes)
            with_up_to<detail::max_group>(
                (centers_.stride - first) / lanes, [&](auto size) __attribute__((always_inline)) {
                    detail::scan_group<size>(scaled_.data(), row.columns, row.count, centers_,
                                             first, nearest);
                });
        DirectCenters::Found found{0, nearest.best[0], nearest.second[0]};
        int lane = 0;
        for (int i = 1; i < lanes; ++i) {
            found.second =
                std::min({found.second, nearest.second[i], std::max(found.best, nearest.best[i])});
            if (nearest.best[i] < found.best) lane = i;
            found.best = nearest.best[lane];
        }
        found.label = static_cast<std::int32_t>(nearest.label[lane]);
        return found;
    }

    SparseCenters& centers_;
    Csr<In, Index> rows_;
    DenseRow<In, Index> dense_;
    std::vector<double> scaled_;
};

template <class In, class Index>
struct RowKind<WeightedCsr<In, Index>> {
    using Data = WeightedCsr<In, Index>;
    using Value = In;
    using Packed = SparseCenters;
    using Finder = SparseFinder<In, Index>;
    using Reader = DenseRow<In, Index>;
    using Moved = Csr<In, Index>;

    static void prepare(Packed&, const Data&) {}
    static std::int64_t cost(const Data& data, std::int64_t n_centers) {
        const std::int64_t n_rows = std::max<std::int64_t>(1, data.rows.n_rows);
        return (n_stored(data.rows) / n_rows + 1) * n_centers;
    }
    static void move(ClusterSums& sums, const Moved& rows, const double* weights, std::int64_t i,
                     std::int32_t from, std::int32_t to) {
        const auto row = stored(rows, i);
        const double weight = weights ? weights[i] : 1.0;
        if (from >= 0) sums.add_sparse(row.values, row.columns, row.count, weight, from, -1);
        sums.add_sparse(row.values, row.columns, row.count, weight, to, 1);
    }
};

namespace detail {

// Statistics of rows [begin, end): of the stored values first, then joined with the zeros, by the
// formulas of ColumnStats::merge.
template <class In, class Index>
ColumnStats part_stats(const Csr<In, Index>& rows, std::int64_t begin, std::int64_t end) {
    const std::int64_t d = rows.n_cols;
    ColumnStats part(d);
    std::vector<std::int64_t> count(d);
    std::vector<double> first(d), sum(d), sq(d);
    for (Index s = rows.starts[begin]; s < rows.starts[end]; ++s) {
        const auto t = rows.columns[s];
        const double v = static_cast<double>(rows.values[s]);
        if (count[t]++ == 0) first[t] = v;
        part.min[t] = v < part.min[t] ? v : part.min[t];
        part.max[t] = v > part.max[t] ? v : part.max[t];
        const double dev = v - first[t];
        sum[t] += dev;
        sq[t] += rounded(dev * dev);
    }
    part.n_rows = end - begin;
    for (std::int64_t t = 0; t < d; ++t) {
        const std::int64_t n_zeros = part.n_rows - count[t];
        if (n_zeros > 0) {
            part.min[t] = std::min(part.min[t], 0.0);
            part.max[t] = std::max(part.max[t], 0.0);
        }
        if (count[t] == 0) continue;
        const double n = static_cast<double>(count[t]);
        const double share = n / static_cast<double>(part.n_rows);
        const double mean = first[t] + sum[t] / n;
        const double sq_dev = std::max(0.0, sq[t] - rounded(sum[t] * (sum[t] / n)));
        part.mean[t] = mean * share;
        part.sq_dev[t] =
            sq_dev + rounded(rounded(mean * mean) * rounded(share * static_cast<double>(n_zeros)));
    }
    return part;
}

}  // namespace detail

// As the dense column_stats; values that are not stored count as the zeros they are.
template <class In, class Index>
ColumnStats column_stats(const Csr<In, Index>& rows, const Crew& crew) {
    if (rows.n_rows == 0) return ColumnStats(rows.n_cols);
    // At most 64 parts, and together not larger than the stored values.
    const std::int64_t n_parts =
        std::clamp<std::int64_t>(n_stored(rows) / (4 * rows.n_cols + 1), 1, 64);
    const std::int64_t size = (rows.n_rows + n_parts - 1) / n_parts;
    return detail::merged_stats(rows.n_rows, size, crew, [&](std::int64_t begin, std::int64_t end) {
        return detail::part_stats(rows, begin, end);
    });
}

}  // namespace coterie
