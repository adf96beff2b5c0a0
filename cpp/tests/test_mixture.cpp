// The mixtures' passes against sums written out in long double.
#include <cmath>
#include <limits>

#include "coterie/mixture/gaussian_pass.hpp"
#include "coterie/mixture/linear_pass.hpp"
#include "problem.hpp"

using namespace coterie;
using namespace problem;

namespace {

// Units in the last place between a vector function and the same in long double.
template <class Real, class Function, class Exact>
long double ulps_off(Real x, const Function& function, const Exact& exact) {
    const Real got = function(broadcast(x))[Simd<Real>::lanes - 1];
    const long double expected = exact(static_cast<long double>(x));
    const Real rounded = std::abs(static_cast<Real>(expected));
    const long double ulp = std::nextafter(rounded, std::numeric_limits<Real>::max()) - rounded;
    return std::abs(got - expected) / ulp;
}

template <class Real>
void check_exp_and_log() {
    const Real least = detail::LogTables<Real>::least;
    std::mt19937 random(1);
    std::uniform_real_distribution<Real> any(0, 1);
    for (int i = 0; i < 20000; ++i) {
        const Real x = least * any(random) * (i % 2 ? Real(1) : Real(0.01));
        CHECK(ulps_off(x, vec_exp<Real>, [](long double v) { return std::exp(v); }) < 2);
        const Real y = 1 + std::ldexp(any(random), i % 20);
        CHECK(ulps_off(y, vec_log<Real>, [](long double v) { return std::log(v); }) < 2);
    }
    for (const Real x : {least, 2 * least, -std::numeric_limits<Real>::infinity()})
        CHECK(vec_exp<Real>(broadcast(x))[0] == 0);
    CHECK(vec_exp<Real>(broadcast(Real(0)))[0] == 1);
    CHECK(vec_log<Real>(broadcast(Real(1)))[0] == 0);
}

// Responsibilities and log densities from scores, row by row.
struct NaivePosterior {
    std::vector<long double> resp, row_log_prob;
    long double log_lik = 0;

    NaivePosterior(const std::vector<long double>& scores, std::int64_t n_scores,
                   const double* weights) {
        for (std::size_t i = 0; i < scores.size(); i += n_scores) {
            const auto begin = scores.begin() + i;
            const long double top = *std::max_element(begin, begin + n_scores);
            long double sum = 0;
            for (std::int64_t j = 0; j < n_scores; ++j) sum += std::exp(begin[j] - top);
            for (std::int64_t j = 0; j < n_scores; ++j)
                resp.push_back(std::exp(begin[j] - top) / sum);
            row_log_prob.push_back(top + std::log(sum));
            log_lik += (weights ? weights[i / n_scores] : 1) * row_log_prob.back();
        }
    }
};

// A mixture about some of the rows; memory of exactly the size that the kernel may read.
struct SomeGaussians {
    std::int64_t k, d;
    Factors kind;
    std::vector<double> log_weights, means, factors, log_norms;
    double background;

    SomeGaussians(std::int64_t k, std::vector<double> centers, Factors kind, std::mt19937& random)
        : k(k), d(centers.size() / k), kind(kind), means(std::move(centers)) {
        std::uniform_real_distribution<double> uniform(0.5, 1.5);
        const std::int64_t n_factors = kind == Factors::tied ? 1 : k;
        for (std::int64_t j = 0; j < n_factors; ++j)
            for (std::int64_t a = 0; a < (kind == Factors::diagonal ? 1 : d); ++a)
                for (std::int64_t b = 0; b < d; ++b)
                    factors.push_back(kind == Factors::diagonal || a == b ? uniform(random)
                                      : a < b ? (uniform(random) - 1) / static_cast<double>(d)
                                              : 0);
        for (std::int64_t j = 0; j < k; ++j) {
            log_weights.push_back(j > 0 && random() % 5 == 0 ? -INFINITY : -uniform(random));
            log_norms.push_back(uniform(random));
        }
        background = random() % 2 ? -INFINITY : -5 * uniform(random);
    }
    GaussianMixture view() const {
        return {
            k,         d, log_weights.data(), means.data(), kind, factors.data(), log_norms.data(),
            background};
    }

    template <class In>
    std::vector<long double> scores(Matrix<const In> rows) const {
        std::vector<long double> all;
        const GaussianMixture mixture = view();
        for (std::int64_t i = 0; i < rows.n_rows; ++i) {
            for (std::int64_t j = 0; j < k; ++j) {
                const double* factor = mixture.factor(j);
                long double sq_norm = 0;
                for (std::int64_t c = 0; c < d; ++c) {
                    long double y = 0;
                    for (std::int64_t t = kind == Factors::diagonal ? c : 0; t <= c; ++t)
                        y += (static_cast<long double>(rows.at(i, t)) - mixture.mean(j)[t]) *
                             factor[kind == Factors::diagonal ? c : t * d + c];
                    sq_norm += y * y;
                }
                all.push_back(log_weights[j] + log_norms[j] - sq_norm / 2);
            }
            all.push_back(background);
        }
        return all;
    }
};

}  // namespace

TEST(exp_and_log_are_within_two_units_in_the_last_place) {
    check_exp_and_log<float>();
    check_exp_and_log<double>();
}

TEST(gaussian_passes_match_naive_sums) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind kind,
                              std::mt19937& random) {
        const auto x = rows.view();
        const std::int64_t n = x.n_rows, d = x.n_cols;
        const auto factors = static_cast<Factors>(random() % 3);
        const SomeGaussians gaussians(k, centers_for(x, k, kind, random), factors, random);
        const auto weights = some_weights(n, random);
        const double* weigh = random() % 2 ? weights.data() : nullptr;
        const NaivePosterior expected(gaussians.scores(x), k + 1, weigh);

        const auto products = static_cast<Products>(random() % 3);
        std::vector<double> row_log_prob(n), resp(n * k), counts(k + 1), first(k * d);
        std::vector<double> second(products == Products::full ? k * d * d : k * d);
        std::vector<std::int32_t> labels(n);
        const MomentsOut moments{counts.data(), first.data(), products, second.data()};
        const Likelihood total = gaussian_pass(
            Weighted<In>{x, weigh}, gaussians.view(),
            PosteriorOut{row_log_prob.data(), resp.data(), labels.data()}, &moments, Crew{2, {}});

        const long double slack = sizeof(In) == 4 ? 1e-3L : 1e-11L;
        CHECK(std::abs(total.log_lik - expected.log_lik) <=
              slack * static_cast<long double>(n) + slack * std::abs(expected.log_lik));
        for (std::int64_t i = 0; i < n; ++i) {
            CHECK(close(row_log_prob[i], expected.row_log_prob[i], slack) ||
                  std::abs(row_log_prob[i] - expected.row_log_prob[i]) <= slack);
            CHECK(labels[i] >= -1 && labels[i] < k);
            for (std::int64_t j = 0; j < k; ++j)
                CHECK(std::abs(resp[i * k + j] - expected.resp[i * (k + 1) + j]) <= slack);
        }
        for (std::int64_t j = 0; j < k; ++j)
            for (std::int64_t a = 0; a < d; ++a)
                for (std::int64_t b = 0; b < d; ++b) {
                    long double count = 0, sum = 0, product = 0, reach = 1;
                    for (std::int64_t i = 0; i < n; ++i) {
                        const long double mass = (weigh ? weigh[i] : 1) * resp[i * k + j];
                        const long double xa = x.at(i, a) - gaussians.means[j * d + a];
                        const long double xb = x.at(i, b) - gaussians.means[j * d + b];
                        count += mass;
                        sum += mass * xa;
                        product += mass * xa * xb;
                        reach += mass * (xa * xa + xb * xb);
                    }
                    CHECK(std::abs(counts[j] - count) <= slack * (1 + count));
                    CHECK(std::abs(first[j * d + a] - sum) <= slack * reach);
                    if (products == Products::full)
                        CHECK(std::abs(second[(j * d + a) * d + b] - product) <= slack * reach);
                    if (products == Products::diagonal && a == b)
                        CHECK(std::abs(second[j * d + a] - product) <= slack * reach);
                    if (d > 20) b += 6;
                }
    });
}

TEST(linear_passes_match_naive_sums_dense_compressed_and_bits) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind, std::mt19937& random) {
        using Index = std::conditional_t<sizeof(In) == 4, std::int32_t, std::int64_t>;
        const std::int64_t n = rows.view().n_rows, d = rows.view().n_cols;
        const bool binary = random() % 2;
        std::vector<In> values(n * d);
        for (std::int64_t i = 0; i < n * d; ++i) {
            values[i] = rows.view().at(i / d, i % d);
            if (binary) values[i] = values[i] > 0;
        }
        const Matrix<const In> x{values.data(), n, d, d, 1};
        const Compressed<In, Index> csr(x);
        std::normal_distribution<double> normal(0, 0.1);
        std::vector<double> offsets(k), slopes(k * d);
        for (double& v : offsets) v = normal(random);
        for (double& v : slopes) v = normal(random);
        const auto weights = some_weights(n, random);
        const double* weigh = random() % 2 ? weights.data() : nullptr;
        std::vector<long double> scores;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < k; ++j) {
                scores.push_back(offsets[j]);
                for (std::int64_t t = 0; t < d; ++t)
                    scores.back() += static_cast<long double>(x.at(i, t)) * slopes[j * d + t];
            }
        const NaivePosterior expected(scores, k, weigh);
        const LinearMixture mixture{k, d, offsets.data(), slopes.data()};
        const auto check_pass = [&](const auto& data) {
            std::vector<double> row_log_prob(n), resp(n * k), counts(k), first(k * d);
            const LinearOut sums{counts.data(), first.data()};
            const Likelihood total =
                linear_pass(data, mixture, PosteriorOut{row_log_prob.data(), resp.data(), nullptr},
                            &sums, Crew{2, {}});
            CHECK(close(total.log_lik, expected.log_lik, 1e-9L));
            for (std::int64_t i = 0; i < n * k; ++i)
                CHECK(std::abs(resp[i] - expected.resp[i]) <= 1e-9L);
            for (std::int64_t j = 0; j < k; ++j)
                for (std::int64_t t = 0; t < d; ++t) {
                    long double sum = 0, reach = 1;
                    for (std::int64_t i = 0; i < n; ++i) {
                        const long double mass = (weigh ? weigh[i] : 1) * resp[i * k + j];
                        sum += mass * x.at(i, t);
                        reach += mass * std::abs(x.at(i, t));
                    }
                    CHECK(std::abs(first[j * d + t] - sum) <= 1e-12L * reach);
                }
        };
        check_pass(Weighted<In>{x, weigh});
        check_pass(WeightedCsr<In, Index>{csr.view(), weigh});
        std::vector<std::uint8_t> bits(n * ((d + 7) / 8));
        const std::int64_t odd = pack_bits(x, bits.data(), Crew{2, {}});
        if (binary) {
            CHECK(odd == -1);
            check_pass(WeightedBits{{bits.data(), n, d}, weigh});
        }
    });
}
