// A tile of rows held twice: by columns, so that rows sit in lanes, and by rows, padded with zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/rows/frame.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

// Columns as they are padded: whole vectors, and whole blocks of four.
template <class Real>
constexpr std::int64_t padded_cols(std::int64_t n_cols) {
    constexpr std::int64_t unit = std::max(Simd<Real>::lanes, 4);
    return (n_cols + unit - 1) / unit * unit;
}

template <class Real>
class RowTile {
public:
    RowTile(std::int64_t width, std::int64_t n_cols, std::int64_t stride)
        : width(width),
          n_cols(n_cols),
          stride(stride),
          columns_(stride * width),
          rows_(width * stride) {}

    // Take rows ids[0..count), count >= 1; lanes past `count` repeat the last row.
    template <class In>
    void load(Matrix<const In> from, const std::int64_t* ids, std::int64_t count) {
        for (std::int64_t r = 0; r < width; ++r) {
            const In* x = from.row(ids[std::min(r, count - 1)]);
            Real* to = rows_.data() + r * stride;
            if (from.col_stride == 1)
                for (std::int64_t t = 0; t < n_cols; ++t) to[t] = static_cast<Real>(x[t]);
            else
                for (std::int64_t t = 0; t < n_cols; ++t)
                    to[t] = static_cast<Real>(x[t * from.col_stride]);
        }
        for (std::int64_t r = 0; r < width; r += Simd<Real>::lanes) transpose(r);
    }

    const Real* columns() const { return columns_.data(); }
    const Real* row(std::int64_t r) const { return rows_.data() + r * stride; }

    const std::int64_t width, n_cols, stride;

private:
    void transpose(std::int64_t first_row) {
        constexpr int lanes = Simd<Real>::lanes, size = detail::Piece<Real>::size;
        const Real* row[lanes];
        for (int l = 0; l < lanes; ++l) row[l] = rows_.data() + (first_row + l) * stride;
        const std::int64_t n_cols = this->n_cols, width = this->width;
        Real* to = columns_.data() + first_row;
        for (std::int64_t col = 0; col < n_cols; col += size, to += size * width) {
            Vec<Real> v[size];
            for (int i = 0; i < size; ++i) v[i] = detail::load_pieces<Real>(row + i, col);
            detail::transpose_lanes(v);
            for (int i = 0; i < size; ++i) store(to + i * width, v[i]);
        }
    }

    AlignedVector<Real> columns_, rows_;
};

}  // namespace coterie
