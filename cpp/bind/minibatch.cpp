// Bindings of mini-batch k-means: runs of steps over dense and sparse rows.
#include <nanobind/stl/pair.h>

#include "rows_args.hpp"
#include "space_args.hpp"

#include "coterie/centroid/minibatch.hpp"

namespace coterie::bind {
namespace {

// Of `RunningMeans` in centroid/_minibatch.py; the arrays are written to.
struct MeansArgs {
    Table<double> centers;
    Column<double> counts;
    std::int64_t rows_since_check = 0;

    bool read(nb::handle from) {
        return read_attribute(from, "centers", centers) && read_attribute(from, "counts", counts) &&
               read_attribute(from, "rows_since_check", rows_since_check);
    }
    StepState state(std::int64_t n_cols) const {
        require(centers.shape(0) > 0 && static_cast<std::int64_t>(centers.shape(1)) == n_cols,
                "centers must have the columns of the rows");
        require_length(counts, centers.shape(0), "counts must have one entry per centre");
        return {centers.data(), counts.data(), static_cast<std::int64_t>(centers.shape(0)),
                rows_since_check};
    }
};

// Of `Steps` in centroid/_minibatch.py, which are written.
struct StepsArgs {
    Column<double> inertias, sq_moves;

    bool read(nb::handle from) {
        return read_attribute(from, "inertias", inertias) &&
               read_attribute(from, "sq_moves", sq_moves);
    }
    StepReport report(std::int64_t n_steps) const {
        require_length(inertias, n_steps, "inertias must have one entry per step");
        require_length(sq_moves, n_steps, "sq_moves must have one entry per step");
        return {inertias.data(), sq_moves.data()};
    }
};

template <class T>
DenseBatches<T> batches_of(const Matrix<const T>& rows, const FrameArgs<T>& frame,
                           std::int64_t batch_size) {
    return DenseBatches<T>(rows, frame.frame(rows.n_cols), batch_size);
}

template <class T, class Index>
SparseBatches<T, Index> batches_of(const Csr<T, Index>& rows, const FrameArgs<T>& frame,
                                   std::int64_t) {
    return SparseBatches<T, Index>(rows, frame.scale);
}

// (steps taken, rows since the weights of the centres were last looked at)
template <class Given>
std::pair<std::int64_t, std::int64_t> take_steps(Given given, FrameArgs<Value<Given>> frame,
                                                 Weights weights,
                                                 Table<const std::int64_t> row_ids,  // a row a step
                                                 MeansArgs means, double forget, double low_ratio,
                                                 std::int64_t check_rows, StepsArgs steps,
                                                 int n_threads) {
    const auto rows = as_rows(given);
    require(row_ids.shape(1) > 0, "a batch must have at least one row");
    require_indexes(row_ids.data(), row_ids.size(), rows.n_rows,
                    "row_ids must lie within the rows");
    const StepPlan plan{row_ids.data(),
                        static_cast<std::int64_t>(row_ids.shape(0)),
                        static_cast<std::int64_t>(row_ids.shape(1)),
                        as_weights(weights, rows.n_rows),
                        forget,
                        low_ratio,
                        check_rows};
    StepState state = means.state(rows.n_cols);
    const StepReport report = steps.report(plan.n_steps);
    const std::int64_t n_done = without_gil([&] {
        auto batches = batches_of(rows, frame, plan.batch_size);
        return minibatch_steps(batches, plan, state, report, crew_of(n_threads));
    });
    return {n_done, state.rows_since_check};
}

}  // namespace

void add_minibatch(nb::module_& m) {
    using namespace nb::literals;
    for_all_rows([&]<class Given>() {
        m.def("minibatch_steps", &take_steps<Given>, "rows"_a.noconvert(), "space"_a,
              "weights"_a.none(), "row_ids"_a.noconvert(), "means"_a, "forget"_a, "low_ratio"_a,
              "check_rows"_a, "steps"_a, "n_threads"_a);
    });
}

}  // namespace coterie::bind
