// One look at every column: range, mean and spread, from which frames and tolerances follow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/direct.hpp"
#include "coterie/matrix.hpp"
#include "coterie/pool.hpp"

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

// NaN and infinity show as a non-finite mean.
template <class In>
ColumnStats column_stats(Matrix<const In> rows, const Crew& crew) {
    const std::int64_t d = rows.n_cols;
    // At most 64 partial results, whatever n is, so that wide data need little memory.
    const std::int64_t size = std::max<std::int64_t>(256, (rows.n_rows + 63) / 64);
    const std::int64_t n_chunks = (rows.n_rows + size - 1) / size;
    std::vector<ColumnStats> parts(n_chunks, ColumnStats(d));
    crew.run(n_chunks, [&](std::int64_t chunk, int) {
        constexpr int lanes = Simd<double>::lanes;
        ColumnStats& part = parts[chunk];
        const std::int64_t begin = chunk * size, end = std::min(rows.n_rows, begin + size);
        std::vector<In> buffer(d);
        std::vector<double> first(d), sum(d), sq(d);
        for (std::int64_t t = 0; t < d; ++t) first[t] = static_cast<double>(rows.at(begin, t));
        for (std::int64_t i = begin; i < end; ++i) {
            const In* x = contiguous_row(rows, i, buffer.data());
            std::int64_t t = 0;
            for (; t + lanes <= d; t += lanes) {
                const Vec<double> v = load_as_double(x + t);
                store(part.min.data() + t, vec_min(v, load(part.min.data() + t)));
                store(part.max.data() + t, vec_max(v, load(part.max.data() + t)));
                const Vec<double> dev = v - load(first.data() + t);
                store(sum.data() + t, load(sum.data() + t) + dev);
                store(sq.data() + t, load(sq.data() + t) + rounded(dev * dev));
            }
            for (; t < d; ++t) {
                const double v = static_cast<double>(x[t]);
                part.min[t] = v < part.min[t] ? v : part.min[t];
                part.max[t] = v > part.max[t] ? v : part.max[t];
                const double dev = v - first[t];
                sum[t] += dev;
                sq[t] += rounded(dev * dev);
            }
        }
        const double n = static_cast<double>(end - begin);
        for (std::int64_t t = 0; t < d; ++t) {
            part.mean[t] = first[t] + sum[t] / n;
            part.sq_dev[t] = std::max(0.0, sq[t] - rounded(sum[t] * (sum[t] / n)));
        }
        part.n_rows = end - begin;
    });
    ColumnStats total(d);
    for (const ColumnStats& part : parts) {
        if (total.n_rows == 0)
            total = part;
        else
            total.merge(part);
    }
    return total;
}

}  // namespace coterie
