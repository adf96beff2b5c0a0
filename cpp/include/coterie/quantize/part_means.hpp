// Lloyd's step for many small problems at once: all parts of the columns, each with its own
// centres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/quantize/encode.hpp"

namespace coterie {

// Training rows of all parts, one part after the other: part m begins at n_rows * cuts.first(m) and
// has its rows side by side, about the shift.
struct PartRows {
    const float* data;
    std::int64_t n_rows;
    PartCuts cuts;

    Matrix<const float> part(std::int64_t m) const {
        return {data + n_rows * cuts.first(m), n_rows, cuts.width(m), cuts.width(m), 1};
    }
};

// Lay rows out by parts, less `shift`; the sum of all squares of what becomes of them.
inline double split_rows(Matrix<const float> rows, PartCuts cuts, const float* shift, float* out,
                         const Crew& crew) {
    const std::int64_t n = rows.n_rows;
    const Chunks chunks(n, 8 * rows.n_cols);
    std::vector<double> partial(chunks.count());
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<double> squares(rows.n_cols);
        for (std::int64_t m = 0; m < cuts.n_parts; ++m) {
            const std::int64_t first = cuts.first(m), width = cuts.width(m);
            float* part = out + n * first;
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                for (std::int64_t t = 0; t < width; ++t) {
                    const float value = rows.row(i)[first + t] - shift[first + t];
                    part[i * width + t] = value;
                    const double wide = value;  // whose square is exact
                    squares[first + t] += wide * wide;
                }
        }
        for (const double square : squares) partial[chunk] += square;
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

// What a step tells of every part; codes, columns and parts as in Codebooks.
struct PartSums {
    std::uint8_t* codes;    // [n_parts][n_rows]: on entry those of the last step
    double* sums;           // [n_codes][n_cols]
    std::int64_t* counts;   // [n_parts][n_codes]
    std::int64_t* changed;  // [n_parts]: rows whose code is another
};

namespace detail {

// One share's sums of one part.
struct ShareSums {
    AlignedVector<double> sums;  // [n_codes][width]: a row that straddles cache lines costs double
    std::vector<std::int64_t> counts;
    std::int64_t changed = 0;

    // Rows side by side join the sums of their codes, which replace those that are known.
    template <int fixed_cols>
    void add(const float* x, std::int64_t n_cols, int count, const std::int32_t* found,
             std::uint8_t* known) {
        const std::int64_t d = fixed_cols ? fixed_cols : n_cols;
        double* const all = sums.data();
        for (int r = 0; r < count; ++r, x += d) {
            double* sum = all + found[r] * d;
            for (std::int64_t t = 0; t < d; ++t) sum[t] += static_cast<double>(x[t]);
        }
        for (int r = 0; r < count; ++r) {
            ++counts[found[r]];
            changed += known[r] != found[r];
            known[r] = static_cast<std::uint8_t>(found[r]);
        }
    }
};

}  // namespace detail

// The nearest centre of every row in every part, and the sums of the rows of each centre. Rows are
// summed in order within shares, whose number depends on n_rows alone, and shares in order.
inline void assign_parts(const PartRows& rows, Matrix<const double> centers, const PartSums& out,
                         const Crew& crew) {
    const PartCuts cuts = rows.cuts;
    const std::int64_t n = rows.n_rows, n_codes = centers.n_rows;
    const std::vector<float> no_shift(centers.n_cols);
    const Codebooks books(centers, cuts, no_shift.data());
    const std::int64_t n_shares = std::clamp<std::int64_t>(n / 4096, 1, 64);
    std::vector<detail::ShareSums> shares(n_shares * cuts.n_parts);
    PerThread<CodeFinder> finders(crew.n_at_work(n_shares * cuts.n_parts), cuts.widest());
    crew.run(n_shares * cuts.n_parts, [&](std::int64_t task, int worker) {
        const std::int64_t m = task / n_shares, share = task % n_shares, width = cuts.width(m);
        detail::ShareSums& here = shares[task];
        here.sums.assign(n_codes * width, 0.0);
        here.counts.assign(n_codes, 0);
        const Matrix<const float> part = rows.part(m);
        std::uint8_t* codes = out.codes + m * n;
        const std::int64_t end = n * (share + 1) / n_shares;
        for (std::int64_t i = n * share / n_shares; i < end; i += 4096) {
            Pool::breathe();
            const auto add = [&](std::int64_t first, int count, const std::int32_t* found) {
                with_one_of<4, 8, 16, 0>(width, [&](auto n_cols) {
                    here.template add<n_cols>(part.row(first), width, count, found, codes + first);
                });
            };
            finders[worker].find(part, books.shift(m), books[m], i,
                                 std::min<std::int64_t>(i + 4096, end), add);
        }
    });
    crew.run(cuts.n_parts, [&](std::int64_t m, int) {
        const std::int64_t width = cuts.width(m);
        out.changed[m] = 0;
        for (std::int64_t j = 0; j < n_codes; ++j) {
            double* sum = out.sums + j * centers.n_cols + cuts.first(m);
            std::fill(sum, sum + width, 0.0);
            std::int64_t count = 0;
            for (std::int64_t share = 0; share < n_shares; ++share) {
                const detail::ShareSums& from = shares[m * n_shares + share];
                for (std::int64_t t = 0; t < width; ++t) sum[t] += from.sums[j * width + t];
                count += from.counts[j];
            }
            out.counts[m * n_codes + j] = count;
        }
        for (std::int64_t share = 0; share < n_shares; ++share)
            out.changed[m] += shares[m * n_shares + share].changed;
    });
}

}  // namespace coterie
