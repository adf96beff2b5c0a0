// Views of rows as they lie in the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

// A strided matrix; strides count elements. C order has col_stride 1, Fortran order row_stride 1.
template <class T>
struct Matrix {
    T* data;
    std::int64_t n_rows;
    std::int64_t n_cols;
    std::int64_t row_stride;
    std::int64_t col_stride;

    T* row(std::int64_t i) const { return data + i * row_stride; }
    T& at(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * col_stride]; }
};

// Rows with the weights they count with (null: one each).
template <class In>
struct Weighted {
    Matrix<const In> rows;
    const double* weights;
};

// Compressed sparse rows. Indices within a row are unique; their order does not matter.
template <class T, class Index>
struct Csr {
    const T* values;
    const Index* columns;
    const Index* starts;  // n_rows + 1
    std::int64_t n_rows;
    std::int64_t n_cols;
};

// The stored values of one row, in the order in which they lie in memory.
template <class In, class Index>
struct Stored {
    const In* values;
    const Index* columns;
    Index count;
};

template <class In, class Index>
inline Stored<In, Index> stored(const Csr<In, Index>& rows, std::int64_t i) {
    const Index begin = rows.starts[i];
    return {rows.values + begin, rows.columns + begin, rows.starts[i + 1] - begin};
}

template <class In, class Index>
inline std::int64_t n_stored(const Csr<In, Index>& rows) {
    return rows.starts[rows.n_rows] - rows.starts[0];
}

template <class In, class Index>
struct WeightedCsr {
    Csr<In, Index> rows;
    const double* weights;  // null: one each
};

}  // namespace coterie
