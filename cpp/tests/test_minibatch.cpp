// Mini-batch steps against a naive loop over the rows of each batch.
#include "coterie/centroid/minibatch.hpp"
#include "problem.hpp"

using namespace coterie;
using namespace problem;

namespace {

struct Outcome {
    std::vector<double> centers, counts, inertias, sq_moves;
    bool operator==(const Outcome&) const = default;
};

constexpr std::int64_t n_steps = 4;

template <class Batches>
Outcome run(Batches&& batches, const std::vector<std::int64_t>& row_ids, const double* weights,
            std::vector<double> centers, std::int64_t k, int n_threads) {
    Outcome out{std::move(centers), std::vector<double>(k), std::vector<double>(n_steps),
                std::vector<double>(n_steps)};
    const auto batch_size = static_cast<std::int64_t>(row_ids.size()) / n_steps;
    const StepPlan plan{row_ids.data(), n_steps, batch_size, weights, 0.5, 0.0, 1000000};
    StepState state{out.centers.data(), out.counts.data(), k, 0};
    const std::int64_t n_done = minibatch_steps(
        batches, plan, state, {out.inertias.data(), out.sq_moves.data()}, Crew{n_threads, {}});
    CHECK(n_done == n_steps);
    return out;
}

template <class In>
Outcome naive(Matrix<const In> x, const std::vector<std::int64_t>& row_ids, const double* weights,
              std::vector<double> centers, std::int64_t k) {
    const auto batch_size = static_cast<std::int64_t>(row_ids.size()) / n_steps;
    const std::int64_t d = x.n_cols;
    Outcome out{std::move(centers), std::vector<double>(k), std::vector<double>(n_steps),
                std::vector<double>(n_steps)};
    for (std::int64_t step = 0; step < n_steps; ++step) {
        std::vector<double> sums(k * d), taken(k);
        for (std::int64_t i = 0; i < batch_size; ++i) {
            const std::int64_t row = row_ids[step * batch_size + i];
            const double w = weights ? weights[row] : 1.0;
            const NaiveNearest found = naive_nearest(x, row, out.centers);
            out.inertias[step] += static_cast<double>(w * found.best);
            taken[found.label] += w;
            for (std::int64_t t = 0; t < d; ++t)
                sums[found.label * d + t] += w * (x.at(row, t) - out.centers[found.label * d + t]);
        }
        for (std::int64_t j = 0; j < k; ++j) {
            if (taken[j] == 0) continue;
            out.counts[j] += taken[j];
            const double rate = 1.5 / (out.counts[j] + 0.5 * taken[j]);
            for (std::int64_t t = 0; t < d; ++t) {
                out.centers[j * d + t] += rate * sums[j * d + t];
                out.sq_moves[step] += rate * sums[j * d + t] * rate * sums[j * d + t];
            }
        }
    }
    return out;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        CHECK(std::abs(a[i] - b[i]) <= 1e-9 * (std::abs(b[i]) + 1e-6));
}

}  // namespace

TEST(steps_match_naive_ones_dense_and_sparse) {
    each_problem(
        []<class In>(const Rows<In>& rows, std::int64_t k, Kind kind, std::mt19937& random) {
            if (kind == Kind::integer) return;  // one rounding decides a tie after the first move
            const auto x = rows.view();
            const Space<In> space(x, true, 1);
            const auto weights = some_weights(x.n_rows, random);
            const double* weigh = random() % 2 ? weights.data() : nullptr;
            const auto start = centers_for(x, k, kind, random);
            std::vector<std::int64_t> row_ids(n_steps * std::min<std::int64_t>(x.n_rows, 150));
            for (std::int64_t& id : row_ids) id = static_cast<std::int64_t>(random() % x.n_rows);
            const auto batch_size = static_cast<std::int64_t>(row_ids.size()) / n_steps;

            const Outcome dense =
                run(DenseBatches<In>(x, space.frame(), batch_size), row_ids, weigh, start, k, 1);
            const Outcome helped =
                run(DenseBatches<In>(x, space.frame(), batch_size), row_ids, weigh, start, k, 2);
            const Compressed<In, std::int32_t> csr(x);
            const Outcome sparse = run(SparseBatches<In, std::int32_t>(csr.view(), space.scale),
                                       row_ids, weigh, start, k, 1);
            const Outcome expected = naive(x, row_ids, weigh, start, k);
            CHECK(helped == dense);
            CHECK(sparse == dense);
            check_close(dense.centers, expected.centers);
            check_close(dense.counts, expected.counts);
            check_close(dense.inertias, expected.inertias);
            check_close(dense.sq_moves, expected.sq_moves);
        });
}

TEST(steps_stop_when_asked) {
    std::mt19937 random(1);
    const Rows<float> rows(5000, 8, Layout::c, Kind::normal, random);
    const auto x = rows.view();
    const Space<float> space(x, true, 1);
    const std::int64_t n_steps = 40000, batch_size = 100;  // far more than 50 ms of work
    const std::vector<std::int64_t> row_ids(n_steps * batch_size, 1);
    auto centers = centers_for(x, 20, Kind::normal, random);
    std::vector<double> counts(20), inertias(n_steps), sq_moves(n_steps);
    for (const int n_threads : {1, 2}) {
        DenseBatches<float> batches(x, space.frame(), batch_size);
        const StepPlan plan{row_ids.data(), n_steps, batch_size, nullptr, 0, 0, 1000000};
        StepState state{centers.data(), counts.data(), 20, 0};
        bool interrupted = false;
        try {
            minibatch_steps(batches, plan, state, {inertias.data(), sq_moves.data()},
                            Crew{n_threads, [] { return true; }});
        } catch (const Interrupted&) {
            interrupted = true;
        }
        CHECK(interrupted);
    }
}
