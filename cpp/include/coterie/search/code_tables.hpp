// The tables of queries: what every codeword of every part adds to the value of a row.
#pragma once

#include <cstdint>

#include "coterie/search/exact.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Codebooks of all parts: part m has `n_words` codewords of the columns from starts[m] to
// starts[m + 1], in C order; parts follow each other.
struct Codebooks {
    const float* words;
    const std::int64_t* starts;  // n_parts + 1
    std::int64_t n_parts, n_words;
};

// tables[q][m][c]: sum (q - c)^2 or -q.c over the columns of part m, summed in float64 in their
// order and then rounded once. (n_queries, n_parts, n_words) in C order.
inline void make_tables(const Codebooks& books, Measure measure, Matrix<const double> queries,
                        float* tables, const Crew& crew) {
    crew.run(queries.n_rows, [&](std::int64_t q, int) {
        const float* word = books.words;
        float* to = tables + q * books.n_parts * books.n_words;
        for (std::int64_t m = 0; m < books.n_parts; ++m) {
            const std::int64_t width = books.starts[m + 1] - books.starts[m];
            const double* query = queries.row(q) + books.starts[m];
            for (std::int64_t c = 0; c < books.n_words; ++c, word += width) {
                double sum = 0;
                for (std::int64_t t = 0; t < width; ++t) {
                    const double x = static_cast<double>(word[t]);
                    sum += measure == Measure::squares ? rounded((query[t] - x) * (query[t] - x))
                                                       : rounded(-query[t] * x);
                }
                *to++ = static_cast<float>(sum);
            }
        }
    });
}

}  // namespace coterie::search
