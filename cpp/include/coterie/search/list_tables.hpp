// The tables of a query and a list whose codes are of residuals, row - centre.
//
// Jegou, Douze, Schmid (2011), section 4: |q - x|^2 is about |(q - c) - r(x)|^2, so every list has
// its own tables; q.x is about q.c + q.r(x), so one table and a number a list will do.
#pragma once

#include <cstdint>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/search/exact.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie::search {

// Codebooks, column by column: column t has value t of all `n_words` codewords of its part, which
// has the columns from starts[m] to starts[m + 1].
struct WordColumns {
    const float* words;          // (n_cols, n_words) in C order
    const std::int64_t* starts;  // n_parts + 1
    std::int64_t n_parts, n_words;

    std::int64_t table_size() const { return n_parts * n_words; }
};

namespace detail {

// Entries of one part for `n_vecs` vectors of codewords, whose sums do not wait for each other.
template <Measure measure, int n_vecs>
void make_entries(const WordColumns& books, std::int64_t part, std::int64_t first,
                  const float* residual, float* entries) {
    constexpr int lanes = Simd<float>::lanes;
    Vec<float> sum[n_vecs] = {};
    for (std::int64_t t = books.starts[part]; t < books.starts[part + 1]; ++t) {
        const float* words = books.words + t * books.n_words + first;
        const Vec<float> r = broadcast(residual[t]);
#pragma GCC unroll 8
        for (int v = 0; v < n_vecs; ++v) {
            const Vec<float> word = load(words + v * lanes);
            if constexpr (measure == Measure::squares)
                sum[v] += rounded((r - word) * (r - word));
            else
                sum[v] -= rounded(r * word);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < n_vecs; ++v) store(entries + v * lanes, sum[v]);
}

}  // namespace detail

// table[m][c]: sum (r - c)^2 or -r.c over the columns of part m, in float32 in their order.
template <Measure measure>
void make_table(const WordColumns& books, const float* residual, float* table) {
    constexpr int lanes = Simd<float>::lanes, few = 16 / lanes, many = few < 8 ? 8 : few;
    for (std::int64_t m = 0; m < books.n_parts; ++m, table += books.n_words) {
        std::int64_t c = 0;
        for (; c + many * lanes <= books.n_words; c += many * lanes)
            detail::make_entries<measure, many>(books, m, c, residual, table + c);
        for (; c < books.n_words; c += few * lanes)
            detail::make_entries<measure, few>(books, m, c, residual, table + c);
    }
}

// Queries and centres of lists in the space of the codes.
struct ListSpace {
    WordColumns books;
    Measure measure;  // squares or product
    Matrix<const double> centers, queries;
};

// Makes the tables of one query after the other, for whichever list.
class ListTables {
public:
    explicit ListTables(const ListSpace& space) : space_(space), residual_(space.queries.n_cols) {}

    // The value of a row is base + the sum of its entries.
    double make(std::int64_t query, std::int64_t list, float* table) {
        const double *q = space_.queries.row(query), *c = space_.centers.row(list);
        const auto n_cols = static_cast<std::int64_t>(residual_.size());
        if (space_.measure == Measure::squares) {
            for (std::int64_t t = 0; t < n_cols; ++t)
                residual_[t] = static_cast<float>(q[t] - c[t]);
            make_table<Measure::squares>(space_.books, residual_.data(), table);
            return 0;
        }
        for (std::int64_t t = 0; t < n_cols; ++t) residual_[t] = static_cast<float>(q[t]);
        make_table<Measure::product>(space_.books, residual_.data(), table);
        double base = 0;
        for (std::int64_t t = 0; t < n_cols; ++t) base -= rounded(q[t] * c[t]);
        return base;
    }

private:
    const ListSpace& space_;
    std::vector<float> residual_;
};

}  // namespace coterie::search
