// One look at every column: range, mean and squared deviations, for frames and tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Per column, about values times `scale`: smallest, largest, mean, sum of squared deviations.
struct ColumnStats {
    std::int64_t n_rows = 0;
    std::vector<double> min, max, mean, sq_dev;

    explicit ColumnStats(std::int64_t n_cols)
        : min(n_cols, std::numeric_limits<double>::infinity()),
          max(n_cols, -std::numeric_limits<double>::infinity()),
          mean(n_cols),
          sq_dev(n_cols) {}

    // Those of some columns side by side.
    ColumnStats columns(std::int64_t begin, std::int64_t count) const {
        ColumnStats some(count);
        some.n_rows = n_rows;
        std::copy_n(min.begin() + begin, count, some.min.begin());
        std::copy_n(max.begin() + begin, count, some.max.begin());
        std::copy_n(mean.begin() + begin, count, some.mean.begin());
        std::copy_n(sq_dev.begin() + begin, count, some.sq_dev.begin());
        return some;
    }

    // Chan, Golub and LeVeque (1983): the moments of two parts together.
    void merge(const ColumnStats& other) {
        if (other.n_rows == 0) return;
        const double n = static_cast<double>(n_rows + other.n_rows);
        const double share = static_cast<double>(other.n_rows) / n;
        for (std::size_t t = 0; t < mean.size(); ++t) {
            const double delta = rounded(other.mean[t] - mean[t]);
            min[t] = std::min(min[t], other.min[t]);
            max[t] = std::max(max[t], other.max[t]);
            mean[t] += rounded(delta * share);
            sq_dev[t] += other.sq_dev[t] + rounded(rounded(delta * delta) *
                                                   rounded(share * static_cast<double>(n_rows)));
        }
        n_rows += other.n_rows;
    }
};

namespace detail {

// The stats of n_rows > 0 rows from those of parts of `size` rows, part(begin, end): merged in
// their order, each as soon as those before it are there, so that few wait at a time.
template <class Part>
ColumnStats merged_stats(std::int64_t n_rows, std::int64_t size, const Crew& crew,
                         const Part& part) {
    const std::int64_t n_parts = (n_rows + size - 1) / size;
    std::vector<ColumnStats> waiting(n_parts, ColumnStats(0));
    ColumnStats total(0);
    std::int64_t n_merged = 0;
    std::mutex mutex;
    crew.run(n_parts, [&](std::int64_t i, int) {
        ColumnStats done = part(i * size, std::min(n_rows, (i + 1) * size));
        std::lock_guard lock(mutex);
        waiting[i] = std::move(done);
        for (; n_merged < n_parts && waiting[n_merged].n_rows > 0; ++n_merged) {
            ColumnStats next = std::exchange(waiting[n_merged], ColumnStats(0));
            if (n_merged == 0)
                total = std::move(next);
            else
                total.merge(next);
        }
    });
    return total;
}

// The stats of some rows in the making: sums of deviations from the first of them.
struct RunningStats {
    ColumnStats stats;
    std::vector<double> first, sum, sq;

    template <class In>
    RunningStats(const In* x, std::int64_t n_cols)
        : stats(n_cols), first(x, x + n_cols), sum(n_cols), sq(n_cols) {}

    // Some columns stay in registers while all rows go by, so these should be few.
    template <class In>
    void look_at(const In* x, std::int64_t n_rows) {
        constexpr int lanes = Simd<double>::lanes;
        const auto d = static_cast<std::int64_t>(first.size());
        std::int64_t t = 0;
        for (; t + lanes <= d; t += lanes) {
            const Vec<double> start = load(first.data() + t);
            Vec<double> min = load(stats.min.data() + t), max = load(stats.max.data() + t);
            Vec<double> total = load(sum.data() + t), total_sq = load(sq.data() + t);
            for (std::int64_t i = 0; i < n_rows; ++i) {
                const Vec<double> v = load_as_double(x + i * d + t);
                min = vec_min(v, min);
                max = vec_max(v, max);
                const Vec<double> dev = v - start;
                total += dev;
                total_sq += rounded(dev * dev);
            }
            store(stats.min.data() + t, min);
            store(stats.max.data() + t, max);
            store(sum.data() + t, total);
            store(sq.data() + t, total_sq);
        }
        for (; t < d; ++t)
            for (std::int64_t i = 0; i < n_rows; ++i) {
                const double v = static_cast<double>(x[i * d + t]);
                stats.min[t] = v < stats.min[t] ? v : stats.min[t];
                stats.max[t] = v > stats.max[t] ? v : stats.max[t];
                const double dev = v - first[t];
                sum[t] += dev;
                sq[t] += rounded(dev * dev);
            }
        stats.n_rows += n_rows;
    }

    ColumnStats finish() && {
        const auto n = static_cast<double>(stats.n_rows);
        for (std::size_t t = 0; t < first.size(); ++t) {
            stats.mean[t] = first[t] + sum[t] / n;
            stats.sq_dev[t] = std::max(0.0, sq[t] - rounded(sum[t] * (sum[t] / n)));
        }
        return std::move(stats);
    }
};

template <class In>
ColumnStats stats_of_range(Matrix<const In> rows, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t n_together = 32;
    const std::int64_t d = rows.n_cols;
    const bool together = rows.col_stride == 1 && rows.row_stride == d;
    std::vector<In> copy(together ? 0 : n_together * d);
    std::optional<RunningStats> running;
    for (std::int64_t i = begin; i < end; i += n_together) {
        const std::int64_t n = std::min(n_together, end - i);
        const In* x = together ? rows.row(i) : copy.data();
        for (std::int64_t r = 0; r < n && !together; ++r)
            for (std::int64_t t = 0; t < d; ++t) copy[r * d + t] = rows.at(i + r, t);
        if (!running) running.emplace(x, d);
        running->look_at(x, n);
    }
    return std::move(*running).finish();
}

// Dense rows in parts that depend on their number alone.
template <class In>
ColumnStats stats_of_parts(Matrix<const In> rows, const Crew& crew) {
    const std::int64_t size = std::max<std::int64_t>(256, (rows.n_rows + 63) / 64);
    return merged_stats(rows.n_rows, size, crew, [&](std::int64_t begin, std::int64_t end) {
        return stats_of_range(rows, begin, end);
    });
}

}  // namespace detail

// NaN and infinity show as a non-finite mean.
template <class In>
ColumnStats column_stats(Matrix<const In> rows, const Crew& crew) {
    // Rows too narrow for vectors: eight of them side by side are one row of a wider matrix.
    const std::int64_t d = rows.n_cols, n_wide = d < 8 ? rows.n_rows / 8 : 0;
    if (rows.n_rows == 0) return ColumnStats(d);
    if (n_wide == 0 || rows.col_stride != 1 || rows.row_stride != d)
        return detail::stats_of_parts(rows, crew);
    const ColumnStats wide =
        detail::stats_of_parts(Matrix<const In>{rows.data, n_wide, 8 * d, 8 * d, 1}, crew);
    ColumnStats total = wide.columns(0, d);
    for (std::int64_t i = 1; i < 8; ++i) total.merge(wide.columns(i * d, d));
    if (8 * n_wide < rows.n_rows)
        total.merge(detail::stats_of_range(rows, 8 * n_wide, rows.n_rows));
    return total;
}

}  // namespace coterie
