// The codewords of one part, packed for scanning tiles of rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// Columns are cut into parts: part m has columns [starts[m], starts[m + 1]).
struct PartCuts {
    const std::int64_t* starts;
    std::int64_t n_parts;

    std::int64_t first(std::int64_t part) const { return starts[part]; }
    std::int64_t width(std::int64_t part) const { return starts[part + 1] - starts[part]; }
    std::int64_t n_cols() const { return starts[n_parts]; }
    std::int64_t widest() const {
        std::int64_t most = 0;
        for (std::int64_t m = 0; m < n_parts; ++m) most = std::max(most, width(m));
        return most;
    }
};

// A code is one byte: the low bits of a squared distance that give way to it.
inline constexpr std::int32_t code_mask = 255;

// How many codewords are compared with a tile at once: 2 x this many accumulators.
inline constexpr int code_panel = vector_bytes == 64 ? 8 : 4;

// Codewords as -2c about a shift, in panels; their number is a multiple of `code_panel`.
class Codebook {
public:
    // centers[j * stride + t] is column t of codeword j; `shift` has one number a column.
    Codebook(const double* centers, std::int64_t stride, std::int64_t n_codes, std::int64_t n_cols,
             const float* shift)
        : n_codes_(n_codes), n_cols_(n_cols), data_(n_codes * (n_cols + 2)) {
        std::vector<double> together(n_codes * n_cols);
        double max_sq = 0;
        for (std::int64_t j = 0; j < n_codes; ++j) {
            float* to = data_.data() + j / code_panel * code_panel * (n_cols + 2) + j % code_panel;
            double sq_norm = 0;
            for (std::int64_t t = 0; t < n_cols; ++t) {
                together[j * n_cols + t] = centers[j * stride + t];
                const double c = centers[j * stride + t] - static_cast<double>(shift[t]);
                sq_norm += c * c;
                to[(2 + t) * code_panel] = static_cast<float>(-2 * c);
            }
            to[0] = static_cast<float>(sq_norm);
            to[code_panel] = std::bit_cast<float>(static_cast<std::int32_t>(j));
            max_sq = std::max(max_sq, sq_norm);
        }
        max_norm_ = static_cast<float>(std::sqrt(max_sq) * (1 + 1e-6));
        direct_ = DirectCenters(together.data(), n_codes, n_cols, 1.0);
    }

    std::int64_t n_codes() const { return n_codes_; }
    std::int64_t n_cols() const { return n_cols_; }
    float max_norm() const { return max_norm_; }
    // Per panel: |c|^2, codes, -2c column by column; `code_panel` numbers each.
    const float* panels() const { return data_.data(); }
    // The same codewords in float64, as they were given.
    const DirectCenters& direct() const { return direct_; }

private:
    std::int64_t n_codes_, n_cols_;
    AlignedVector<float> data_;
    float max_norm_ = 0;
    DirectCenters direct_;
};

}  // namespace coterie
