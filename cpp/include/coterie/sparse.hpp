// Lloyd's half-steps on compressed sparse rows, with the labels, sums and distances that the dense
// kernels give for the same rows written out in full.
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

#include "coterie/columns.hpp"
#include "coterie/direct.hpp"
#include "coterie/frame.hpp"
#include "coterie/matrix.hpp"
#include "coterie/per_thread.hpp"
#include "coterie/pool.hpp"
#include "coterie/simd.hpp"
#include "coterie/sums.hpp"

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

template <class Index, int size = max_group>
inline void scan_group_of(std::int64_t n, const double* x, const Index* columns, Index count,
                          const SparseCenters& centers, std::int64_t first, LaneNearest& nearest) {
    if constexpr (size > 1) {
        if (n < size)
            return scan_group_of<Index, size - 1>(n, x, columns, count, centers, first, nearest);
    }
    scan_group<size>(x, columns, count, centers, first, nearest);
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

private:
    DirectCenters::Found scan(const Stored<In, Index>& row) const {
        constexpr int lanes = SparseCenters::lanes;
        detail::LaneNearest nearest;
        for (std::int64_t first = 0; first < centers_.stride; first += detail::max_group * lanes)
            detail::scan_group_of((centers_.stride - first) / lanes, scaled_.data(), row.columns,
                                  row.count, centers_, first, nearest);
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

namespace detail {

template <class In, class Index>
Chunks assign_chunks(const Csr<In, Index>& rows, std::int64_t n_centers) {
    const std::int64_t per_row = n_stored(rows) / std::max<std::int64_t>(1, rows.n_rows);
    return {rows.n_rows, (per_row + 1) * n_centers};
}

template <class In, class Index>
struct SparseAssignWork {
    SparseFinder<In, Index> finder;
    ClusterSums sums;
    std::int64_t n_moved = 0;
    SparseAssignWork(int worker, SparseCenters& centers, const Csr<In, Index>& rows,
                     const SumsOut& out)
        : finder(centers, rows), sums(worker, out, centers.n_centers, centers.n_cols) {}
};

}  // namespace detail

// Label every row with its nearest centre and move the sums of the rows whose label changed.
// A label of -1 on entry means "in no cluster yet". Returns the number of rows that changed.
template <class In, class Index>
std::int64_t assign_and_sum(const WeightedCsr<In, Index>& data, SparseCenters& centers,
                            std::int32_t* labels, const SumsOut& out, const Crew& crew) {
    using Work = detail::SparseAssignWork<In, Index>;
    const Chunks chunks = detail::assign_chunks(data.rows, centers.n_centers);
    PerThread<Work> works(crew.n_at_work(chunks.count()), centers, data.rows, out);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        Work& work = works[worker];
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const std::int32_t label = work.finder.nearest(i);
            if (label == labels[i]) continue;
            const auto row = stored(data.rows, i);
            const double weight = data.weights ? data.weights[i] : 1.0;
            if (labels[i] >= 0)
                work.sums.add_sparse(row.values, row.columns, row.count, weight, labels[i], -1);
            work.sums.add_sparse(row.values, row.columns, row.count, weight, label, 1);
            labels[i] = label;
            ++work.n_moved;
        }
    });
    std::int64_t n_changed = 0;
    for (Work& work : works) {
        work.sums.pour_into(out);
        n_changed += work.n_moved;
    }
    return n_changed;
}

// Label every row with its nearest centre; nothing else.
template <class In, class Index>
void assign(const Csr<In, Index>& rows, SparseCenters& centers, std::int32_t* labels,
            const Crew& crew) {
    const Chunks chunks = detail::assign_chunks(rows, centers.n_centers);
    PerThread<SparseFinder<In, Index>> finders(crew.n_at_work(chunks.count()), centers, rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& finder = finders[worker];
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            labels[i] = finder.nearest(i);
    });
}

// Sum of weighted squared distances of rows to the centres of their labels, times scale^2, in the
// direct form; `sq_dists` (may be null) receives each row's share. Chunks are the dense kernel's,
// so that the sum has its bits.
template <class In, class Index>
double sum_sq_dists(const WeightedCsr<In, Index>& data, const double* centers,
                    const std::int32_t* labels, double scale, double* sq_dists, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const Chunks chunks(data.rows.n_rows, d);
    std::vector<double> parts(chunks.count());
    PerThread<DenseRow<In, Index>> dense_rows(crew.n_at_work(chunks.count()), data.rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& dense = dense_rows[worker];
        double sum = 0;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const double sq_dist = direct_sq_dist(dense.read(i), centers + labels[i] * d, d, scale);
            if (sq_dists) sq_dists[i] = sq_dist;
            sum += data.weights ? rounded(data.weights[i] * sq_dist) : sq_dist;
        }
        parts[chunk] = sum;
    });
    double total = 0;
    for (const double part : parts) total += part;
    return total;
}

// Distances of every row to every centre, direct form; row-major.
template <class In, class Index>
void all_dists(const Csr<In, Index>& rows, const double* centers, std::int64_t n_centers,
               double scale, In* dists, const Crew& crew) {
    const DirectCenters direct(centers, n_centers, rows.n_cols, scale);
    const Chunks chunks(rows.n_rows, rows.n_cols * n_centers);
    PerThread<DenseRow<In, Index>> dense_rows(crew.n_at_work(chunks.count()), rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& dense = dense_rows[worker];
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            In* to = dists + i * n_centers;
            direct.each(dense.read(i), [&](std::int64_t j, double sq_dist) {
                to[j] = static_cast<In>(std::sqrt(sq_dist) / scale);
            });
        }
    });
}

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
