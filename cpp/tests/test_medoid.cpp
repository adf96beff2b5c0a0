// k-medoids against loops that sum everything anew, from given and from measured distances.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/medoid/build.hpp"
#include "coterie/medoid/centers.hpp"
#include "coterie/medoid/distances.hpp"
#include "coterie/medoid/nearest_row.hpp"
#include "coterie/medoid/swap.hpp"
#include "coterie/rows/mirror.hpp"

using namespace coterie;

namespace {

template <class Real>
struct Problem {
    std::int64_t n, d;
    std::vector<Real> rows, square;
    std::vector<double> weights;

    Problem(std::int64_t n, std::int64_t d, bool grid) : n(n), d(d), rows(n * d), square(n * n) {
        std::mt19937 random(static_cast<unsigned>(31 * n + d));
        std::uniform_int_distribution<int> whole(0, 4);
        std::normal_distribution<double> any;
        for (Real& x : rows) x = static_cast<Real>(grid ? whole(random) : any(random));
        for (std::int64_t i = 0; i < n; ++i) weights.push_back(1 + whole(random));
        fill_matrix(measured(), square.data(), Crew{2, {}});
    }
    Matrix<const Real> matrix() const { return {rows.data(), n, d, d, 1}; }
    MeasuredDistances<Real> measured() const {
        return {Metric::named("euclidean"), matrix(), matrix()};
    }
    GivenDistances<Real> given() const { return {square.data(), n, n}; }

    double total(const std::vector<std::int64_t>& medoids) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            double nearest = std::numeric_limits<double>::infinity();
            for (const std::int64_t m : medoids)
                nearest = std::min<double>(nearest, square[m * n + i]);
            sum += weights[i] * nearest;
        }
        return sum;
    }

    // The lowest total that one swap reaches.
    double after_best_swap(const std::vector<std::int64_t>& medoids) const {
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t slot = 0; slot < medoids.size(); ++slot)
            for (std::int64_t j = 0; j < n; ++j) {
                std::vector<std::int64_t> swapped = medoids;
                swapped[slot] = j;
                best = std::min(best, total(swapped));
            }
        return best;
    }
};

template <class Real, class Distances>
std::vector<std::int64_t> check_search(const Problem<Real>& problem, const Distances& distances,
                                       std::int64_t k, bool eager, int n_threads) {
    const Crew crew{n_threads, {}};
    SwapSearch search(distances, problem.weights.data(), nullptr);
    std::vector<std::int64_t> start(k);
    std::iota(start.begin(), start.end(), 0);
    search.start(start, 0, 1, crew);
    double before = search.held().total();
    CHECK(std::abs(before - problem.total(start)) <= 1e-9 * before);
    while (!search.settled()) {
        if (eager)
            for (const double total : search.swap_eagerly(2, 13, crew)) {
                CHECK(total < before);
                before = total;
            }
        else
            search.swap_best(crew);
    }
    const std::vector<std::int64_t> medoids = search.held().medoids();
    const double total = problem.total(medoids);
    CHECK(std::abs(search.held().total() - total) <= 1e-9 * total);
    CHECK(problem.after_best_swap(medoids) >= total * (1 - 1e-9));
    CHECK(search.held().lost_row() < 0);
    return medoids;
}

template <class Real>
void check_all(std::int64_t n, std::int64_t d, std::int64_t k, bool grid) {
    check::say(n, "rows", d, "columns", k, "medoids", grid ? "on a grid" : "anywhere");
    const Problem<Real> problem(n, d, grid);
    for (const bool eager : {true, false}) {
        const auto expected = check_search(problem, problem.given(), k, eager, 1);
        CHECK(check_search(problem, problem.given(), k, eager, 3) == expected);
        CHECK(check_search(problem, problem.measured(), k, eager, 2) == expected);
    }
    const auto built =
        Builder(problem.given(), problem.weights.data(), nullptr).build(k, Crew{2, {}});
    const MeasuredDistances<Real> measured = problem.measured();
    CHECK(Builder(measured, problem.weights.data(), nullptr).build(k, Crew{3, {}}) == built);
    for (std::int64_t step = 1; step < k; ++step) {
        std::vector<std::int64_t> some(built.begin(), built.begin() + step + 1);
        const double reached = problem.total(some);
        for (some.back() = 0; some.back() < n; ++some.back())
            CHECK(problem.total(some) >= reached * (1 - 1e-6));
    }
}

TEST(searches_end_where_no_swap_helps) {
    for (const std::int64_t n : {2, 3, 17, 40, 67})
        for (const std::int64_t d : {1, 3, 20})
            for (const bool grid : {false, true})
                for (const std::int64_t k : {std::int64_t{2}, std::min<std::int64_t>(n, 5)}) {
                    check_all<float>(n, d, k, grid);
                    check_all<double>(n, d, k, grid);
                }
}

TEST(medoids_of_clusters_have_the_least_sums) {
    const Problem<float> problem(130, 3, true);
    std::vector<std::int32_t> labels(130);
    for (std::int64_t i = 0; i < 130; ++i) labels[i] = static_cast<std::int32_t>(i % 3);
    std::vector<std::int64_t> medoids{0, 1, 2, 77};  // nobody has label 3
    find_cluster_medoids(problem.measured(), problem.weights.data(), nullptr, labels.data(), 4,
                         medoids.data(), Crew{2, {}});
    CHECK(medoids[3] == 77);
    const auto sum_to = [&](std::int64_t m) {
        double sum = 0;
        for (std::int64_t i = m % 3; i < 130; i += 3)
            sum += problem.weights[i] * problem.square[m * 130 + i];
        return sum;
    };
    for (std::int64_t j = 0; j < 130; ++j) CHECK(sum_to(medoids[j % 3]) <= sum_to(j) + 1e-9);
}

TEST(nearest_rows_are_found_from_both_kinds_of_distances) {
    const Problem<double> problem(90, 2, true);
    const std::int64_t n_some = 20;
    const MeasuredDistances<double> measured(
        Metric::named("euclidean"), problem.matrix(),
        Matrix<const double>{problem.rows.data(), n_some, 2, 2, 1});
    std::vector<double> table(90 * n_some);
    fill_matrix(measured, table.data(), Crew{2, {}});
    std::vector<std::int64_t> one(90), other(90);
    find_nearest_rows(measured, one.data(), Crew{2, {}});
    find_nearest_rows(GivenDistances<double>(table.data(), 90, n_some), other.data(), Crew{1, {}});
    CHECK(one == other);
    for (std::int64_t j = 0; j < 90; ++j) {
        const double* from = table.data() + j * n_some;
        CHECK(one[j] == std::min_element(from, from + n_some) - from);
    }
}

TEST(a_square_that_is_lopsided_is_noticed_where_it_is_first) {
    const std::int64_t n = 150;
    std::vector<float> square(n * n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) square[i * n + j] = static_cast<float>(i * j % 7);
    const Matrix<const float> view{square.data(), n, n, n, 1};
    CHECK(first_unlike(view, Crew{2, {}}) == -1);
    square[130 * n + 70] += 1;
    CHECK(first_unlike(view, Crew{3, {}}) == 70 * n + 130);
    square[149 * n + 3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(first_unlike(view, Crew{1, {}}) == 3 * n + 149);
}

}  // namespace
