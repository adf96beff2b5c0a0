// Rows to codes, and codes to rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "coterie/quantize/codebook.hpp"
#include "coterie/quantize/nearest_code.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The codebooks of all parts: codeword j of part m is row j of `codewords` in the columns of m.
class Codebooks {
public:
    // Rows are seen about `shift`, one number a column; any will do, near the rows is best.
    template <class Real>
    Codebooks(Matrix<const Real> codewords, PartCuts cuts, const float* shift)
        : cuts(cuts), shift_(shift) {
        const std::vector<double> wide(codewords.data,
                                       codewords.data + codewords.n_rows * codewords.n_cols);
        for (std::int64_t m = 0; m < cuts.n_parts; ++m)
            books_.emplace_back(wide.data() + cuts.first(m), codewords.n_cols, codewords.n_rows,
                                cuts.width(m), shift + cuts.first(m));
    }

    const Codebook& operator[](std::int64_t part) const { return books_[part]; }
    const float* shift(std::int64_t part) const { return shift_ + cuts.first(part); }

    const PartCuts cuts;

private:
    const float* shift_;
    std::vector<Codebook> books_;
};

// The columns of one part.
inline Matrix<const float> part_of(Matrix<const float> rows, PartCuts cuts, std::int64_t part) {
    return {rows.data + cuts.first(part), rows.n_rows, cuts.width(part), rows.row_stride, 1};
}

// codes[i * n_parts + m] becomes the nearest codeword of row i in part m; rows are in C order.
// False where a row is not finite.
inline bool encode_rows(Matrix<const float> rows, const Codebooks& books, std::uint8_t* codes,
                        const Crew& crew) {
    const PartCuts cuts = books.cuts;
    const Chunks chunks(rows.n_rows, cuts.n_cols() * books[0].n_codes());
    PerThread<CodeFinder> finders(crew.n_at_work(chunks.count()), cuts.widest());
    std::atomic<bool> finite{true};
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        // Few rows at a time for all parts, so that these stay in the nearest cache.
        constexpr std::int64_t n_together = code_tile;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); i += n_together) {
            const std::int64_t end = std::min(i + n_together, chunks.end(chunk));
            for (std::int64_t m = 0; m < cuts.n_parts; ++m)
                if (!finders[worker].find(
                        part_of(rows, cuts, m), books.shift(m), books[m], i, end,
                        [&](std::int64_t first, int count, const std::int32_t* found) {
                            std::uint8_t* to = codes + first * cuts.n_parts + m;
                            for (int r = 0; r < count; ++r)
                                to[r * cuts.n_parts] = static_cast<std::uint8_t>(found[r]);
                        }))
                    finite.store(false, std::memory_order_relaxed);
        }
    });
    return finite;
}

// The codewords that codes stand for, side by side.
inline void decode_rows(const std::uint8_t* codes, std::int64_t n_rows,
                        Matrix<const float> codewords, PartCuts cuts, float* rows,
                        const Crew& crew) {
    const std::int64_t d = codewords.n_cols;
    const Chunks chunks(n_rows, d);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            for (std::int64_t m = 0; m < cuts.n_parts; ++m) {
                const float* word = codewords.row(codes[i * cuts.n_parts + m]) + cuts.first(m);
                std::copy_n(word, cuts.width(m), rows + i * d + cuts.first(m));
            }
    });
}

// Per part, the sum of squared differences between rows and the codewords of their codes.
inline void sum_code_errors(Matrix<const float> rows, const std::uint8_t* codes,
                            Matrix<const float> codewords, PartCuts cuts, double* errors,
                            const Crew& crew) {
    const Chunks chunks(rows.n_rows, codewords.n_cols);
    std::vector<double> partial(chunks.count() * cuts.n_parts);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        double* sums = partial.data() + chunk * cuts.n_parts;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            for (std::int64_t m = 0; m < cuts.n_parts; ++m) {
                const float* x = rows.row(i) + cuts.first(m);
                const float* c = codewords.row(codes[i * cuts.n_parts + m]) + cuts.first(m);
                double sq_dist = 0;
                for (std::int64_t t = 0; t < cuts.width(m); ++t) {
                    const double diff = static_cast<double>(x[t]) - static_cast<double>(c[t]);
                    sq_dist += rounded(diff * diff);
                }
                sums[m] += sq_dist;
            }
    });
    std::fill(errors, errors + cuts.n_parts, 0.0);
    for (std::size_t i = 0; i < partial.size(); ++i) errors[i % cuts.n_parts] += partial[i];
}

}  // namespace coterie
