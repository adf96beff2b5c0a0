// Compressed sparse rows between Python's arrays and the kernels' views.
#pragma once

#include "convert.hpp"

#include "coterie/rows/matrix.hpp"

namespace coterie::bind {

template <class T, class Index>
Csr<T, Index> as_csr(const Column<const T>& values, const Column<const Index>& columns,
                     const Column<const Index>& starts, std::int64_t n_cols) {
    require(starts.shape(0) > 0, "starts must have one entry a row and one at the end");
    const auto n_rows = static_cast<std::int64_t>(starts.shape(0)) - 1;
    const auto n_values = static_cast<std::int64_t>(values.shape(0));
    require_length(columns, n_values, "columns must have one entry a value");
    require_starts(starts.data(), n_rows, n_values, "starts must rise within the values");
    require_indexes(columns.data() + starts(0), starts(n_rows) - starts(0), n_cols,
                    "columns must lie within the columns");
    return {values.data(), columns.data(), starts.data(), n_rows, n_cols};
}

template <class T, class Index>
WeightedCsr<T, Index> as_weighted(const Csr<T, Index>& rows, const Weights& weights) {
    if (weights) require_length(*weights, rows.n_rows, "weights must have one entry a row");
    return {rows, weights ? weights->data() : nullptr};
}

}  // namespace coterie::bind
