// Rows as Python has them, dense or CSR: a binding is one template over the kind, which it turns
// into the kernels' view by `as_rows` or `as_weighted`.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <tuple>
#include <utility>

#include "convert.hpp"
#include "records.hpp"

#include "coterie/rows/matrix.hpp"

namespace coterie::bind {

// A matrix of SciPy's in CSR format.
template <class T, class Index>
struct CsrRows {
    Column<const T> values;
    Column<const Index> columns, starts;
    std::int64_t n_rows = 0, n_cols = 0;

    bool read(nb::handle from) {
        std::string format;
        std::pair<std::int64_t, std::int64_t> shape;
        const bool ok =
            read_attribute(from, "format", format) && format == "csr" &&
            read_attribute(from, "data", values) && read_attribute(from, "indices", columns) &&
            read_attribute(from, "indptr", starts) && read_attribute(from, "shape", shape);
        std::tie(n_rows, n_cols) = shape;
        return ok;
    }
};

template <class T>
Matrix<const T> as_rows(const Rows<T>& rows) {
    return as_matrix(rows);
}

template <class T, class Index>
Csr<T, Index> as_rows(const CsrRows<T, Index>& rows) {
    const auto& [values, columns, starts, n_rows, n_cols] = rows;
    require(static_cast<std::int64_t>(starts.shape(0)) == n_rows + 1 && n_rows >= 0,
            "starts must have one entry per row and one at the end");
    const auto n_values = static_cast<std::int64_t>(values.shape(0));
    require_length(columns, n_values, "columns must have one entry per value");
    require_starts(starts.data(), n_rows, n_values, "starts must rise within the values");
    require_indexes(columns.data() + starts(0), starts(n_rows) - starts(0), n_cols,
                    "columns must lie within the columns");
    return {values.data(), columns.data(), starts.data(), n_rows, n_cols};
}

template <class T, class Index>
WeightedCsr<T, Index> as_weighted(const CsrRows<T, Index>& rows, const Weights& weights = {}) {
    const Csr<T, Index> view = as_rows(rows);
    return {view, as_weights(weights, view.n_rows)};
}

template <class T>
T value_of(const Rows<T>&);
template <class T, class Index>
T value_of(const CsrRows<T, Index>&);

// What the values of these rows are: float or double.
template <class Given>
using Value = decltype(value_of(std::declval<const Given&>()));

// add.operator()<Given>() for every kind of CSR rows.
template <class Add>
void for_csr_rows(const Add& add) {
    add.template operator()<CsrRows<float, std::int32_t>>();
    add.template operator()<CsrRows<double, std::int32_t>>();
    add.template operator()<CsrRows<float, std::int64_t>>();
    add.template operator()<CsrRows<double, std::int64_t>>();
}

// And for dense ones before them.
template <class Add>
void for_all_rows(const Add& add) {
    add.template operator()<Rows<float>>();
    add.template operator()<Rows<double>>();
    for_csr_rows(add);
}

}  // namespace coterie::bind
