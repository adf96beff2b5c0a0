// Sums over the rows of every cluster, for labels that are given.
//
// Rows with a label below 0 are in no cluster and add nothing. Results are added to what `out`
// holds, so rows may come some at a time; partial sums are those of shares whose cut depends on the
// rows alone, and are added in their order.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"
#include "coterie/threads/shares.hpp"

namespace coterie {

template <class In>
struct Labelled {
    Matrix<const In> rows;
    const double* weights;  // null: one each
    const std::int32_t* labels;

    double weight(std::int64_t i) const { return weights ? weights[i] : 1.0; }
};

namespace detail {

// add(reader, row, label, result) for every row with a label, into one result of `size` numbers for
// each share; then all results into `out`, in order.
template <class In, class Add>
void add_by_shares(const Labelled<In>& given, std::int64_t work_per_row, std::int64_t size,
                   double* out, const Crew& crew, const Add& add) {
    const Shares shares(given.rows.n_rows, work_per_row, size * 8, 1);
    std::vector<double> results(shares.count() * size);
    shares.run(crew, [&](std::int64_t share, std::int64_t begin, std::int64_t end, int) {
        RowReader<In> reader(given.rows);
        for (std::int64_t i = begin; i < end; ++i)
            if (given.labels[i] >= 0)
                add(reader.read(i), i, given.labels[i], results.data() + share * size);
    });
    for (std::int64_t share = 0; share < shares.count(); ++share)
        for (std::int64_t t = 0; t < size; ++t) out[t] += results[share * size + t];
}

}  // namespace detail

// The weighted sums of x - shift, and behind them the weights: (n_clusters, n_cols + 1).
template <class In>
void sum_by_label(const Labelled<In>& given, std::int64_t n_clusters, const double* shift,
                  double* out, const Crew& crew) {
    const std::int64_t d = given.rows.n_cols, width = d + 1;
    detail::add_by_shares(
        given, d, n_clusters * width, out, crew,
        [&](const In* x, std::int64_t i, std::int32_t label, double* __restrict result) {
            double* __restrict sum = result + label * width;
            const double weight = given.weight(i);
            for (std::int64_t t = 0; t < d; ++t)
                sum[t] += weight * (static_cast<double>(x[t]) - shift[t]);
            sum[d] += weight;
        });
}

// How far rows are from the centre of their cluster: the weighted sums of squared distances and of
// distances, (n_clusters, 2).
template <class In>
void spread_by_label(const Labelled<In>& given, std::int64_t n_clusters, const double* centers,
                     double* out, const Crew& crew) {
    const std::int64_t d = given.rows.n_cols;
    detail::add_by_shares(given, 2 * d, n_clusters * 2, out, crew,
                          [&](const In* x, std::int64_t i, std::int32_t label, double* result) {
                              const double sq_dist = direct_sq_dist(x, centers + label * d, d, 1.0);
                              const double weight = given.weight(i);
                              result[label * 2] += weight * sq_dist;
                              result[label * 2 + 1] += weight * std::sqrt(sq_dist);
                          });
}

// The weighted sum of (x - c)(x - c)^T, c the centre of the row's cluster: the lower triangle of
// (n_cols, n_cols).
template <class In>
void scatter_by_label(const Labelled<In>& given, const double* centers, double* out,
                      const Crew& crew) {
    const std::int64_t d = given.rows.n_cols;
    detail::add_by_shares(
        given, d * d, d * d, out, crew,
        [&](const In* x, std::int64_t i, std::int32_t label, double* __restrict result) {
            thread_local std::vector<double> kept;
            kept.resize(d);
            double* __restrict gap = kept.data();
            const double* center = centers + label * d;
            for (std::int64_t t = 0; t < d; ++t) gap[t] = static_cast<double>(x[t]) - center[t];
            const double weight = given.weight(i);
            for (std::int64_t s = 0; s < d; ++s) {
                const double left = weight * gap[s];
                double* __restrict line = result + s * d;
                for (std::int64_t t = 0; t <= s; ++t) line[t] += left * gap[t];
            }
        });
}

}  // namespace coterie
