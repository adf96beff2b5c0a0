// Squared distances by tables: of queries to all codewords, and from these to codes.
#pragma once

#include <cstdint>
#include <vector>

#include "coterie/quantize/codebook.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// tables[(q * n_parts + m) * n_codes + j] becomes the squared distance of query q to codeword j in
// the columns of part m: the direct form in float32, columns in order, the same on every ISA.
inline void fill_tables(Matrix<const float> queries, Matrix<const float> codewords, PartCuts cuts,
                        float* tables, const Crew& crew) {
    constexpr int lanes = Simd<float>::lanes;
    const std::int64_t d = codewords.n_cols, n_codes = codewords.n_rows;
    AlignedVector<float> by_column(d * n_codes);  // codewords in lanes
    for (std::int64_t j = 0; j < n_codes; ++j)
        for (std::int64_t t = 0; t < d; ++t) by_column[t * n_codes + j] = codewords.row(j)[t];
    const Chunks chunks(queries.n_rows, 4 * d * n_codes);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t q = chunks.begin(chunk); q < chunks.end(chunk); ++q)
            for (std::int64_t m = 0; m < cuts.n_parts; ++m) {
                const float* x = queries.row(q) + cuts.first(m);
                const float* words = by_column.data() + cuts.first(m) * n_codes;
                float* to = tables + (q * cuts.n_parts + m) * n_codes;
                for (std::int64_t j = 0; j < n_codes; j += lanes) {
                    Vec<float> sum = {};
                    for (std::int64_t t = 0; t < cuts.width(m); ++t) {
                        const Vec<float> diff = broadcast(x[t]) - load(words + t * n_codes + j);
                        sum += rounded(diff * diff);
                    }
                    store(to + j, sum);
                }
            }
    });
}

// distances[q * n_rows + i] becomes the sum over parts, in order, of what query q's table holds for
// the codes of row i.
inline void sum_tables(const float* tables, std::int64_t n_queries, std::int64_t n_codes,
                       const std::uint8_t* codes, std::int64_t n_rows, std::int64_t n_parts,
                       float* distances, const Crew& crew) {
    // Some rows at a time for each query, whose table is then in the nearest cache.
    constexpr std::int64_t n_together = 4096;
    const std::int64_t n_pieces = (n_rows + n_together - 1) / n_together;
    crew.run(n_queries * n_pieces, [&](std::int64_t task, int) {
        const std::int64_t q = task / n_pieces, first = task % n_pieces * n_together;
        const std::int64_t end = std::min(first + n_together, n_rows);
        const float* table = tables + q * n_parts * n_codes;
        std::int64_t i = first;
        for (; i + 4 <= end; i += 4) {  // four sums do not wait for each other
            float sum[4] = {};
            for (std::int64_t m = 0; m < n_parts; ++m)
                for (int r = 0; r < 4; ++r)
                    sum[r] += table[m * n_codes + codes[(i + r) * n_parts + m]];
            for (int r = 0; r < 4; ++r) distances[q * n_rows + i + r] = sum[r];
        }
        for (; i < end; ++i) {
            float sum = 0;
            for (std::int64_t m = 0; m < n_parts; ++m)
                sum += table[m * n_codes + codes[i * n_parts + m]];
            distances[q * n_rows + i] = sum;
        }
    });
}

}  // namespace coterie
