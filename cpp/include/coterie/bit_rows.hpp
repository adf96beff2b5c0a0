// Rows of zeros and ones, a bit a column: a 32nd of what floats take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/lloyd.hpp"

namespace coterie {

struct BitRows {
    const std::uint8_t* bytes;  // (n_rows, n_bytes); column 8 b + i is bit i of byte b
    std::int64_t n_rows, n_cols;

    std::int64_t n_bytes() const { return (n_cols + 7) / 8; }
    const std::uint8_t* row(std::int64_t i) const { return bytes + i * n_bytes(); }
};

struct WeightedBits {
    BitRows rows;
    const double* weights;
};

namespace detail {

// Eight columns or fewer as a byte; `odd` is set where one is neither 0 nor 1.
template <class In>
inline std::uint8_t pack_byte(const In* x, std::int64_t count, bool& odd) {
    unsigned byte = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        byte |= static_cast<unsigned>(x[i] != 0) << i;
        odd |= (x[i] != 0) & (x[i] != 1);
    }
    return static_cast<std::uint8_t>(byte);
}

}  // namespace detail

// Fill `bytes` from rows of zeros and ones. Returns the first row that holds anything else, or -1.
template <class In>
std::int64_t pack_bits(Matrix<const In> rows, std::uint8_t* bytes, const Crew& crew) {
    const std::int64_t d = rows.n_cols, n_bytes = (d + 7) / 8;
    const Chunks chunks(rows.n_rows, d);
    std::vector<std::int64_t> odd_rows(chunks.count(), rows.n_rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<In> buffer(d);
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const In* x = contiguous_row(rows, i, buffer.data());
            std::uint8_t* to = bytes + i * n_bytes;
            bool odd = false;
            for (std::int64_t t = 0; t + 8 <= d; t += 8) *to++ = detail::pack_byte(x + t, 8, odd);
            if (d % 8) *to = detail::pack_byte(x + d / 8 * 8, d % 8, odd);
            if (odd) odd_rows[chunk] = std::min(odd_rows[chunk], i);
        }
    });
    for (const std::int64_t i : odd_rows)
        if (i < rows.n_rows) return i;
    return -1;
}

}  // namespace coterie
