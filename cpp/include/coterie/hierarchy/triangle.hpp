// Distances of all pairs i < j, row by row: SciPy's condensed form.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/brute_neighbors.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

template <class Real>
struct Triangle {
    Real* data;
    std::int64_t n_rows;

    // Where (i, i + 1) is; n_rows - i - 1 entries follow.
    std::int64_t start(std::int64_t i) const { return i * n_rows - i * (i + 1) / 2; }
    Real& upper(std::int64_t i, std::int64_t j) const { return data[start(i) + j - i - 1]; }
    Real& at(std::int64_t i, std::int64_t j) const { return i < j ? upper(i, j) : upper(j, i); }
};

// The lengths between all rows.
template <class Real>
void fill_triangle(const Metric& metric, Matrix<const Real> rows, Triangle<Real> out,
                   const Crew& crew) {
    with_sum(metric, [&](const auto& sum) {
        const ScanChunks chunks(rows.n_rows, rows.n_rows * rows.n_cols);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            const std::int64_t begin = chunks.begin(chunk);
            const Matrix<const Real> later{rows.row(begin), rows.n_rows - begin, rows.n_cols,
                                           rows.row_stride, rows.col_stride};
            scan_tiles(
                sum, later, later, 0, chunks.end(chunk) - begin,
                [&](std::int64_t q, std::int64_t first, const double* reduced, std::int64_t count) {
                    const std::int64_t i = begin + q;
                    for (std::int64_t k = std::max<std::int64_t>(0, q + 1 - first); k < count; ++k)
                        out.upper(i, begin + first + k) =
                            static_cast<Real>(metric.length_of(reduced[k]));
                });
        });
    });
}

}  // namespace coterie
