// What scores are made of, against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/evaluate/dip.hpp"
#include "coterie/evaluate/expected_mi.hpp"
#include "coterie/evaluate/label_sums.hpp"
#include "coterie/evaluate/silhouette.hpp"

using namespace coterie;

namespace {

template <class Real>
struct Problem {
    std::int64_t n, d;
    std::vector<Real> rows;
    std::vector<double> weights;
    std::vector<std::int32_t> labels;

    Problem(std::int64_t n, std::int64_t d, int n_clusters) : n(n), d(d), rows(n * d) {
        std::mt19937 random(static_cast<unsigned>(31 * n + d));
        std::normal_distribution<double> any;
        std::uniform_int_distribution<int> cluster(0, n_clusters - 1), whole(1, 4);
        for (Real& x : rows) x = static_cast<Real>(any(random));
        for (std::int64_t i = 0; i < n; ++i) {
            weights.push_back(whole(random));
            labels.push_back(i < n_clusters ? static_cast<int>(i) : cluster(random));
        }
    }
    Matrix<const Real> matrix() const { return {rows.data(), n, d, d, 1}; }

    double length(std::int64_t i, std::int64_t j) const {
        double sum = 0;
        for (std::int64_t t = 0; t < d; ++t) {
            const double gap = static_cast<double>(rows[i * d + t]) - rows[j * d + t];
            sum += gap * gap;
        }
        return std::sqrt(sum);
    }
};

bool close(double found, double expected, double within) {
    return std::fabs(found - expected) <= within * (1 + std::fabs(expected));
}

template <class Real>
void silhouettes(std::int64_t n, std::int64_t d, int n_clusters, int n_threads) {
    check::say("n", n, "d", d, "k", n_clusters, "threads", n_threads);
    const Problem<Real> p(n, d, n_clusters);
    std::vector<std::int64_t> order(n), starts(n_clusters + 1);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto i, auto j) { return p.labels[i] < p.labels[j]; });
    std::vector<double> totals(n_clusters), weights(n), within(n), nearest(n);
    for (std::int64_t i = 0; i < n; ++i) {
        ++starts[p.labels[i] + 1];
        totals[p.labels[i]] += p.weights[i];
        weights[i] = p.weights[order[i]];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    const ClusterRuns runs{starts.data(), n_clusters, totals.data(), weights.data()};
    silhouette_parts(p.matrix(), order.data(), Metric::named("euclidean"), runs,
                     {within.data(), nearest.data()}, Crew{n_threads, {}});
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<double> sums(n_clusters);
        for (std::int64_t j = 0; j < n; ++j)
            sums[p.labels[j]] += p.weights[j] * p.length(order[i], j);
        const int own = p.labels[order[i]];
        double least = std::numeric_limits<double>::infinity();
        for (int c = 0; c < n_clusters; ++c)
            if (c != own) least = std::min(least, sums[c] / totals[c]);
        const double exact = sizeof(Real) == 4 ? 1e-5 : 1e-11;
        CHECK(close(within[i], sums[own], exact));
        CHECK(close(nearest[i], least, exact));
    }
}

}  // namespace

TEST(evaluate_silhouettes) {
    for (const int n_threads : {1, 3})
        for (const std::int64_t d : {1, 5, 67})
            for (const std::int64_t n : {2, 65, 300}) {
                silhouettes<float>(n, d, 2, n_threads);
                silhouettes<double>(n, d, static_cast<int>(n / 2 + 1), n_threads);
            }
}

TEST(evaluate_label_sums) {
    const Problem<float> p(3000, 7, 4);
    const Labelled<float> given{p.matrix(), p.weights.data(), p.labels.data()};
    const std::vector<double> shift(7, 0.5);
    std::vector<double> sums(4 * 8), expected(4 * 8), spread(4 * 2), scatter(7 * 7);
    sum_by_label(given, 4, shift.data(), sums.data(), Crew{2, {}});
    for (std::int64_t i = 0; i < p.n; ++i) {
        for (int t = 0; t < 7; ++t)
            expected[p.labels[i] * 8 + t] += p.weights[i] * (p.rows[i * 7 + t] - 0.5);
        expected[p.labels[i] * 8 + 7] += p.weights[i];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(close(sums[i], expected[i], 1e-10));
    const std::vector<double> centers(4 * 7);
    spread_by_label(given, 4, centers.data(), spread.data(), Crew{2, {}});
    scatter_by_label(given, centers.data(), scatter.data(), Crew{2, {}});
    double trace = 0;
    for (int t = 0; t < 7; ++t) trace += scatter[t * 8];
    CHECK(close(spread[0] + spread[2] + spread[4] + spread[6], trace, 1e-10));
}

TEST(evaluate_expected_mi) {
    // Two halves of four rows, by hand: they share 2, 1 or 0 rows with odds 1, 4 and 1.
    const std::int64_t sizes[] = {2}, counts[] = {2};
    const ClusterSizes halves{sizes, counts, 1};
    CHECK(close(expected_mi(halves, halves, 4, Crew{1, {}}), std::log(2.0) / 3, 1e-14));
}

TEST(evaluate_dips) {
    // By hand: two places, four in a row, two atoms, a point mass.
    const std::vector<std::vector<double>> samples{{0, 1}, {1, 2, 3, 4}, {0, 0, 0, 1, 1}, {3, 3}};
    const double expected[] = {0.25, 0.125, 0.2, 0};
    for (std::size_t s = 0; s < samples.size(); ++s) {
        const auto n = static_cast<std::int64_t>(samples[s].size());
        CHECK(close(DipSteps{}.measure(samples[s].data(), n, nullptr).dip, expected[s], 1e-15));
    }
    // A sample and its mirror image are equally far from one mode.
    std::mt19937 random(7);
    std::normal_distribution<double> any;
    for (const std::int64_t n : {1, 2, 3, 17, 500, 20000}) {
        std::vector<double> values(2 * n), dips(2);
        std::vector<std::int64_t> ends(4);
        for (std::int64_t i = 0; i < n; ++i) values[i] = any(random) + (i % 2 ? 3 : 0);
        if (n > 2) values[1] = values[2];
        sort_numbers(values.data(), n, Crew{2, {}});
        CHECK(std::is_sorted(values.begin(), values.begin() + n));
        for (std::int64_t i = 0; i < n; ++i) values[n + i] = -values[n - 1 - i];
        measure_dips({values.data(), 2, n, n, 1}, dips.data(), ends.data(), Crew{2, {}});
        CHECK(close(dips[0], dips[1], 1e-12));
        // One sample alone has its hulls found at once, to the same bits.
        double alone;
        measure_dips({values.data(), 1, n, n, 1}, &alone, ends.data() + 2, Crew{2, {}});
        CHECK(alone == dips[0] && ends[0] == ends[2] && ends[1] == ends[3]);
    }
}
