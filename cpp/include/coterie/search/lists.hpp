// Codes in inverted lists, and who looks into which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coterie/search/codes.hpp"

namespace coterie::search {

// What rows add to the value of their code whoever asks (see row_terms.hpp), in steps of which
// 65535 reach across a list: a term is low + step * (number + 0 to 1).
struct RowTerms {
    const std::uint16_t* numbers;  // 64 a block: of rows with an even place, then of the others
    const double *lows, *steps;    // n_lists
    std::int64_t n_lists;
    const double* origin;  // n_cols

    const std::uint16_t* of_block(std::int64_t block) const { return numbers + block * block_rows; }
};

// Codes list by list: places from row_starts[l] to row_starts[l + 1] are of list l, whose blocks
// begin at block_starts[l]; rows[place] is the row that is held there, ids[place] its id.
struct Lists {
    const std::uint8_t* blocks;
    const std::int64_t *row_starts, *block_starts, *rows, *ids;
    std::int64_t n_parts;
    int bits;
    RowTerms terms;  // of 4-bit codes

    Codes codes(std::int64_t list) const {
        const Codes all{blocks, row_starts[list + 1] - row_starts[list], n_parts, bits};
        return {all.block(block_starts[list]), all.n_rows, n_parts, bits};
    }
};

// One of a group of queries looks into a list.
struct Probe {
    std::int64_t list;
    int query;
    friend bool operator<(const Probe& a, const Probe& b) {
        return a.list < b.list || (a.list == b.list && a.query < b.query);
    }
};

// The queries of sorted probes that look into one list, at most `most` of them, together:
// look(list, probes).
template <std::size_t most, class Look>
void look_together(std::span<const Probe> probes, const Look& look) {
    for (std::size_t i = 0, next; i < probes.size(); i = next) {
        next = i + 1;
        while (next < probes.size() && next - i < most && probes[next].list == probes[i].list)
            ++next;
        look(probes[i].list, probes.subspan(i, next - i));
    }
}

}  // namespace coterie::search
