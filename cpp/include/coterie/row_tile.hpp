// A tile of rows held twice: by columns, so that rows sit in lanes, and by rows, padded with zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/matrix.hpp"
#include "coterie/panel.hpp"
#include "coterie/simd.hpp"

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
          columns_(n_cols * width),
          rows_(width * stride) {}

    // Take rows ids[0..count), count >= 1; lanes past `count` repeat the last row.
    template <class In>
    void load(Matrix<const In> from, const std::int64_t* ids, std::int64_t count) {
        this->count = count;
        for (std::int64_t r = 0; r < width; ++r) {
            const In* x = from.row(ids[std::min(r, count - 1)]);
            Real* to = rows_.data() + r * stride;
            for (std::int64_t t = 0; t < n_cols; ++t) {
                to[t] = static_cast<Real>(x[t * from.col_stride]);
                columns_[t * width + r] = to[t];
            }
        }
    }

    const Real* columns() const { return columns_.data(); }
    const Real* row(std::int64_t r) const { return rows_.data() + r * stride; }

    const std::int64_t width, n_cols, stride;
    std::int64_t count = 0;

private:
    AlignedVector<Real> columns_, rows_;
};

}  // namespace coterie
