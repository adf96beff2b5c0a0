// Between Python's arrays and the kernels' views: shapes and indexes are checked here and
// nowhere below.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace nb = nanobind;

namespace coterie::bind {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;  // any strides
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class T>
Matrix<const T> as_matrix(const Rows<T>& rows) {
    return {rows.data(), static_cast<std::int64_t>(rows.shape(0)),
            static_cast<std::int64_t>(rows.shape(1)), rows.stride(0), rows.stride(1)};
}

inline void require(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

template <class Array>
void require_length(const Array& array, std::int64_t length, const char* what) {
    require(static_cast<std::int64_t>(array.shape(0)) == length, what);
}

// Values that are used as indexes: each at least 0 and less than `end`.
template <class Index>
void require_indexes(const Index* values, std::int64_t count, std::int64_t end, const char* what) {
    // By the largest, where negative ones are the largest of all: compilers make that a loop of
    // vectors, and "each lies within" none.
    using Unsigned = std::make_unsigned_t<Index>;
    Unsigned largest = 0;
    for (std::int64_t i = 0; i < count; ++i)
        largest = std::max(largest, static_cast<Unsigned>(values[i]));
    require(count <= 0 || (end > 0 && largest < static_cast<std::uint64_t>(end)), what);
}

// Where runs of something begin, and the end of the last: never falling, within 0 to `end`.
template <class Index>
void require_starts(const Index* starts, std::int64_t n_runs, std::int64_t end, const char* what) {
    bool rising = starts[0] >= 0 && starts[n_runs] <= end;
    for (std::int64_t i = 0; i < n_runs; ++i) rising &= starts[i] <= starts[i + 1];
    require(rising, what);
}

using Weights = std::optional<Column<const double>>;

inline const double* as_weights(const Weights& weights, std::int64_t n_rows) {
    if (weights) require_length(*weights, n_rows, "weights must have one entry per row");
    return weights ? weights->data() : nullptr;
}

template <class T>
Weighted<T> as_weighted(const Rows<T>& rows, const Weights& weights = {}) {
    const Matrix<const T> view = as_matrix(rows);
    return {view, as_weights(weights, view.n_rows)};
}

// A thread that asks for the GIL while the interpreter shuts down is ended by Python, which would
// unwind it through our frames and abort the process. Such a thread waits for the end instead.
template <class Ask>
auto or_wait_for_the_end(const Ask& ask) {
#if defined(__GLIBCXX__)
    try {
        return ask();
    } catch (const abi::__forced_unwind&) {
        while (true) ::pause();
    }
#else
    return ask();
#endif
}

// Answers Ctrl-C: asks Python for pending signals, on the calling thread only, with the GIL taken
// for that moment. A signal's exception stays set and is what the caller sees.
inline Crew crew_of(int n_threads) {
    return {n_threads < 1 ? 1 : n_threads, [] {
                const auto gil = or_wait_for_the_end([] { return PyGILState_Ensure(); });
                const bool stop = PyErr_CheckSignals() != 0;
                PyGILState_Release(gil);
                return stop;
            }};
}

// Run a kernel without the GIL; a signal handler's exception becomes the call's.
template <class Kernel>
auto without_gil(const Kernel& kernel) {
    using Result = std::invoke_result_t<const Kernel&>;
    using Kept = std::conditional_t<std::is_void_v<Result>, char, Result>;
    std::optional<Kept> result;
    std::exception_ptr failure;
    PyThreadState* const python = PyEval_SaveThread();
    try {
        if constexpr (std::is_void_v<Result>)
            kernel();
        else
            result.emplace(kernel());
    } catch (...) {
        failure = std::current_exception();
    }
    or_wait_for_the_end([&] { PyEval_RestoreThread(python); });
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
    if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

}  // namespace coterie::bind
