// What the rows of lists add to the value of a code, whoever asks.
//
// Seen from any origin o, |q - c - r|^2 = |q - c|^2 - 2 (q - o).r + (|r|^2 + 2 (c - o).r), where c
// is the centre of a list and r what a code stands for. The last term is the row's own: with it in
// store, the tables of a query are of -2 (q - o).r and serve all lists. An origin amid the centres
// keeps the terms small. Products need no terms: -q.c - q.r.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/search/codes.hpp"
#include "coterie/search/list_tables.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Where the number of a row of a block is.
inline std::int64_t term_place(std::int64_t row) { return row / 2 + row % 2 * (block_rows / 2); }

namespace detail {

// The terms of the rows of one list.
inline void terms_of(const Codes& codes, const WordColumns& books, const double* center,
                     const double* origin, std::vector<double>& table, std::vector<double>& terms) {
    table.assign(books.table_size(), 0);
    for (std::int64_t m = 0; m < books.n_parts; ++m)
        for (std::int64_t t = books.starts[m]; t < books.starts[m + 1]; ++t)
            for (std::int64_t c = 0; c < books.n_words; ++c) {
                const auto word = static_cast<double>(books.words[t * books.n_words + c]);
                table[m * books.n_words + c] += (word + 2 * (center[t] - origin[t])) * word;
            }
    terms.assign(codes.n_rows, 0);
    for (std::int64_t row = 0; row < codes.n_rows; ++row) {
        const std::uint8_t* at = codes.block(row / block_rows) + row % block_rows;
        for (std::int64_t m = 0; m < books.n_parts; ++m)
            terms[row] += table[m * 16 + (at[m / 2 * block_rows] >> (m % 2 * 4) & 15)];
    }
}

}  // namespace detail

// The terms of lists of 4-bit codes under squares, seen from lists.terms.origin: `numbers`
// (n_blocks, 64), `lows` and `steps`.
inline void make_row_terms(const Lists& lists, const ListSpace& space, std::uint16_t* numbers,
                           double* lows, double* steps, const Crew& crew) {
    crew.run(space.centers.n_rows, [&](std::int64_t list, int) {
        const Codes codes = lists.codes(list);
        std::vector<double> table, terms;
        detail::terms_of(codes, space.books, space.centers.row(list), lists.terms.origin, table,
                         terms);
        lows[list] = steps[list] = 0;
        if (terms.empty()) return;
        const auto [low, high] = std::ranges::minmax(terms);
        lows[list] = low;
        steps[list] = (high - low) / 65535 * (1 + 1e-9);
        std::uint16_t* to = numbers + lists.block_starts[list] * block_rows;
        for (std::int64_t row = 0; row < codes.n_rows; ++row) {
            const double number = steps[list] > 0 ? (terms[row] - low) / steps[list] : 0;
            to[row / block_rows * block_rows + term_place(row % block_rows)] =
                static_cast<std::uint16_t>(std::min(number, 65535.0));
        }
    });
}

}  // namespace coterie::search
