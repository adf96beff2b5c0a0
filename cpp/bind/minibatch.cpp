// Bindings of mini-batch k-means: runs of steps over dense and sparse rows.
#include <nanobind/stl/pair.h>

#include "csr.hpp"

#include "coterie/centroid/minibatch.hpp"

namespace coterie::bind {
namespace {

// What dense and sparse steps take alike; checked against the rows by `run`.
struct Steps {
    Weights weights;
    Table<const std::int64_t> row_ids;  // a row a step
    Table<double> centers;
    Column<double> counts;
    double forget, low_ratio;
    std::int64_t check_rows, rows_since_check;
    Column<double> inertias, sq_moves;
    int n_threads;

    void check(std::int64_t n_rows, std::int64_t n_cols) const {
        require(row_ids.shape(1) > 0, "a batch must have at least one row");
        require(centers.shape(0) > 0 && static_cast<std::int64_t>(centers.shape(1)) == n_cols,
                "centers must have the columns of the rows");
        require_length(counts, centers.shape(0), "counts must have one entry a centre");
        require_length(inertias, row_ids.shape(0), "inertias must have one entry a step");
        require_length(sq_moves, row_ids.shape(0), "sq_moves must have one entry a step");
        if (weights) require_length(*weights, n_rows, "weights must have one entry a row");
        require_indexes(row_ids.data(), row_ids.size(), n_rows, "row_ids must lie within the rows");
    }

    // (steps taken, rows since the weights of the centres were last looked at)
    template <class Batches>
    std::pair<std::int64_t, std::int64_t> run(Batches& batches) {
        const StepPlan plan{row_ids.data(),
                            static_cast<std::int64_t>(row_ids.shape(0)),
                            static_cast<std::int64_t>(row_ids.shape(1)),
                            weights ? weights->data() : nullptr,
                            forget,
                            low_ratio,
                            check_rows};
        StepState state{centers.data(), counts.data(), static_cast<std::int64_t>(centers.shape(0)),
                        rows_since_check};
        const std::int64_t n_done = minibatch_steps(
            batches, plan, state, {inertias.data(), sq_moves.data()}, crew_of(n_threads));
        return {n_done, state.rows_since_check};
    }
};

template <class T>
auto minibatch_rows(Rows<T> rows, double scale, Column<const T> shift, Weights weights,
                    Table<const std::int64_t> row_ids, Table<double> centers, Column<double> counts,
                    double forget, double low_ratio, std::int64_t check_rows,
                    std::int64_t rows_since_check, Column<double> inertias, Column<double> sq_moves,
                    int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    const Frame<T> frame = as_frame(scale, shift, x.n_cols);
    Steps steps{weights,    row_ids,          centers,  counts,   forget,   low_ratio,
                check_rows, rows_since_check, inertias, sq_moves, n_threads};
    steps.check(x.n_rows, x.n_cols);
    return without_gil([&] {
        DenseBatches<T> batches(x, frame, row_ids.shape(1));
        return steps.run(batches);
    });
}

template <class T, class Index>
auto minibatch_csr(Column<const T> values, Column<const Index> columns, Column<const Index> starts,
                   double scale, Weights weights, Table<const std::int64_t> row_ids,
                   Table<double> centers, Column<double> counts, double forget, double low_ratio,
                   std::int64_t check_rows, std::int64_t rows_since_check, Column<double> inertias,
                   Column<double> sq_moves, int n_threads) {
    const Csr<T, Index> x = as_csr(values, columns, starts, centers.shape(1));
    Steps steps{weights,    row_ids,          centers,  counts,   forget,   low_ratio,
                check_rows, rows_since_check, inertias, sq_moves, n_threads};
    steps.check(x.n_rows, x.n_cols);
    return without_gil([&] {
        SparseBatches<T, Index> batches(x, scale);
        return steps.run(batches);
    });
}

template <class T>
void add_dense(nb::module_& m) {
    using namespace nb::literals;
    m.def("minibatch_steps", &minibatch_rows<T>, "rows"_a.noconvert(), "scale"_a,
          "shift"_a.noconvert(), "weights"_a.none(), "row_ids"_a.noconvert(),
          "centers"_a.noconvert(), "counts"_a.noconvert(), "forget"_a, "low_ratio"_a,
          "check_rows"_a, "rows_since_check"_a, "inertias"_a.noconvert(), "sq_moves"_a.noconvert(),
          "n_threads"_a);
}

template <class T, class Index>
void add_csr(nb::module_& m) {
    using namespace nb::literals;
    m.def("minibatch_steps_csr", &minibatch_csr<T, Index>, "values"_a.noconvert(),
          "columns"_a.noconvert(), "starts"_a.noconvert(), "scale"_a, "weights"_a.none(),
          "row_ids"_a.noconvert(), "centers"_a.noconvert(), "counts"_a.noconvert(), "forget"_a,
          "low_ratio"_a, "check_rows"_a, "rows_since_check"_a, "inertias"_a.noconvert(),
          "sq_moves"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_minibatch(nb::module_& m) {
    add_dense<float>(m);
    add_dense<double>(m);
    add_csr<float, std::int32_t>(m);
    add_csr<float, std::int64_t>(m);
    add_csr<double, std::int32_t>(m);
    add_csr<double, std::int64_t>(m);
}

}  // namespace coterie::bind
