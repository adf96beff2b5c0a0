// Product quantization against loops over rows, parts and codewords.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/quantize/cross.hpp"
#include "coterie/quantize/encode.hpp"
#include "coterie/quantize/part_means.hpp"
#include "coterie/quantize/part_seeds.hpp"
#include "coterie/quantize/rotate.hpp"
#include "coterie/quantize/tables.hpp"

using namespace coterie;

namespace {

struct Problem {
    std::int64_t n, d, n_parts, n_codes;
    std::vector<std::int64_t> starts;
    std::vector<float> rows, words, shift;

    Problem(std::int64_t n, std::int64_t d, std::int64_t n_parts, std::int64_t n_codes, bool grid)
        : n(n),
          d(d),
          n_parts(n_parts),
          n_codes(n_codes),
          rows(n * d),
          words(n_codes * d),
          shift(d, 0.5f) {
        for (std::int64_t m = 0; m <= n_parts; ++m) starts.push_back(d * m / n_parts);
        std::mt19937 random(static_cast<unsigned>(n + 7 * d));
        std::uniform_int_distribution<int> whole(0, 3);
        std::normal_distribution<float> any;
        for (float& x : rows) x = grid ? static_cast<float>(whole(random)) : any(random);
        for (float& x : words) x = grid ? static_cast<float>(whole(random)) : any(random);
    }

    PartCuts cuts() const { return {starts.data(), n_parts}; }
    Matrix<const float> x() const { return {rows.data(), n, d, d, 1}; }
    Matrix<const float> codewords() const { return {words.data(), n_codes, d, d, 1}; }

    double sq_dist(std::int64_t i, std::int64_t j, std::int64_t m) const {
        double sum = 0;
        for (std::int64_t t = starts[m]; t < starts[m + 1]; ++t) {
            const double diff = static_cast<double>(rows[i * d + t]) - words[j * d + t];
            sum += rounded(diff * diff);
        }
        return sum;
    }
    std::int64_t nearest(std::int64_t i, std::int64_t m) const {
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < n_codes; ++j)
            if (sq_dist(i, j, m) < sq_dist(i, best, m)) best = j;
        return best;
    }
};

template <class Body>
void each_problem(const Body& body) {
    for (const std::int64_t n : {1, 5, 37, 200})
        for (const std::int64_t d : {1, 3, 4, 8, 17, 40})
            for (const std::int64_t n_parts : {std::int64_t{1}, (d + 1) / 2, d})
                for (const std::int64_t n_codes : {16, 256})
                    for (const bool grid : {false, true}) {
                        if (n_codes == 256 && n > 37) continue;  // the naive loops are slow
                        check::say("n", n, "d", d, "parts", n_parts, "codes", n_codes, "grid",
                                   grid);
                        body(Problem(n, d, n_parts, n_codes, grid));
                    }
}

}  // namespace

TEST(codes_are_nearest_and_come_back_as_words) {
    each_problem([](const Problem& p) {
        std::vector<std::uint8_t> codes(p.n * p.n_parts);
        const Codebooks books(p.codewords(), p.cuts(), p.shift.data());
        CHECK(encode_rows(p.x(), books, codes.data(), Crew{2, {}}));
        std::vector<float> words(p.n * p.d);
        decode_rows(codes.data(), p.n, p.codewords(), p.cuts(), words.data(), Crew{2, {}});
        std::vector<double> errors(p.n_parts);
        sum_code_errors(p.x(), codes.data(), p.codewords(), p.cuts(), errors.data(), Crew{2, {}});
        for (std::int64_t m = 0; m < p.n_parts; ++m) {
            double error = 0;
            for (std::int64_t i = 0; i < p.n; ++i) {
                const std::int64_t code = codes[i * p.n_parts + m];
                CHECK(code == p.nearest(i, m));
                error += p.sq_dist(i, code, m);
                for (std::int64_t t = p.starts[m]; t < p.starts[m + 1]; ++t)
                    CHECK(words[i * p.d + t] == p.words[code * p.d + t]);
            }
            CHECK(std::abs(errors[m] - error) <= 1e-9 * (1 + error));
        }
    });
}

TEST(rows_that_are_not_finite_are_told_of) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
        Problem p(100, 8, 2, 256, false);
        p.rows[50 * 8 + 3] = bad;
        std::vector<std::uint8_t> codes(p.n * p.n_parts);
        const Codebooks books(p.codewords(), p.cuts(), p.shift.data());
        CHECK(!encode_rows(p.x(), books, codes.data(), Crew{2, {}}));
    }
}

TEST(a_step_of_part_means_sums_the_rows_of_each_code) {
    each_problem([](const Problem& p) {
        const std::vector<float> no_shift(p.d);
        std::vector<float> data(p.n * p.d);
        std::vector<double> squares(p.n_parts);
        split_rows(p.x(), p.cuts(), no_shift.data(), data.data(), squares.data(), Crew{2, {}});
        const PartRows rows{data.data(), p.n, p.cuts()};
        const std::vector<double> centers(p.words.begin(), p.words.end());
        std::vector<std::uint8_t> codes(p.n * p.n_parts);
        std::vector<double> sums(centers.size()), expected(centers.size());
        std::vector<std::int64_t> counts(p.n_parts * p.n_codes), changed(p.n_parts);
        assign_parts(rows, {centers.data(), p.n_codes, p.d, p.d, 1},
                     {codes.data(), sums.data(), counts.data(), changed.data()}, Crew{2, {}});
        for (std::int64_t m = 0; m < p.n_parts; ++m)
            for (std::int64_t i = 0; i < p.n; ++i) {
                const std::int64_t code = p.nearest(i, m);
                CHECK(codes[m * p.n + i] == code);
                for (std::int64_t t = p.starts[m]; t < p.starts[m + 1]; ++t)
                    expected[code * p.d + t] += static_cast<double>(p.rows[i * p.d + t]);
            }
        CHECK(sums == expected);
        CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == p.n * p.n_parts);
    });
}

TEST(seeds_are_rows) {
    each_problem([](const Problem& p) {
        const std::vector<float> no_shift(p.d);
        std::vector<float> data(p.n * p.d);
        std::vector<double> squares(p.n_parts);
        split_rows(p.x(), p.cuts(), no_shift.data(), data.data(), squares.data(), Crew{1, {}});
        std::vector<std::int64_t> ids(p.n);
        std::iota(ids.begin(), ids.end(), 0);
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform;
        std::vector<double> uniforms(p.n_parts * p.n_codes * 2), centers(p.n_codes * p.d);
        for (double& u : uniforms) u = uniform(random);
        seed_parts({data.data(), p.n, p.cuts()}, ids.data(), p.n, uniforms.data(), 2,
                   {centers.data(), p.n_codes, p.d, p.d, 1}, Crew{2, {}});
        for (std::int64_t m = 0; m < p.n_parts; ++m)
            for (std::int64_t j = 0; j < p.n_codes; ++j) {
                bool found = false;
                for (std::int64_t i = 0; i < p.n && !found; ++i)
                    found = std::equal(p.rows.begin() + i * p.d + p.starts[m],
                                       p.rows.begin() + i * p.d + p.starts[m + 1],
                                       centers.begin() + j * p.d + p.starts[m]);
                CHECK(found);
            }
    });
}

TEST(tables_and_their_sums) {
    each_problem([](const Problem& p) {
        std::vector<float> tables(p.n * p.n_parts * p.n_codes), distances(p.n * p.n);
        fill_tables(p.x(), p.codewords(), p.cuts(), tables.data(), Crew{2, {}});
        std::vector<std::uint8_t> codes(p.n * p.n_parts);
        std::mt19937 random(2);
        for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(random() % p.n_codes);
        sum_tables(tables.data(), p.n, p.n_codes, codes.data(), p.n, p.n_parts, distances.data(),
                   Crew{2, {}});
        for (std::int64_t q = 0; q < p.n; ++q)
            for (std::int64_t i = 0; i < p.n; ++i) {
                double expected = 0;
                for (std::int64_t m = 0; m < p.n_parts; ++m)
                    expected += p.sq_dist(q, codes[i * p.n_parts + m], m);
                CHECK(std::abs(distances[q * p.n + i] - expected) <= 1e-5 * (1 + expected));
            }
    });
}

TEST(products_of_tables) {
    for (const std::int64_t n : {1, 6, 300})
        for (const std::int64_t d : {1, 7, 16, 50, 70}) {
            check::say("n", n, "d", d);
            const Problem p(n, d, 1, 16, false), square(d, d, 1, 16, false);
            std::vector<float> turned(n * d);
            rotate_rows(p.x(), square.rows.data(), turned.data(), Crew{2, {}});
            std::vector<double> crossed(d * d);
            cross_products(p.x(), p.x(), crossed.data(), Crew{2, {}});
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < d; ++j) {
                    float sum = 0;
                    for (std::int64_t t = 0; t < d; ++t)
                        sum += rounded(p.rows[i * d + t] * square.rows[t * d + j]);
                    CHECK(turned[i * d + j] == sum);
                }
            for (std::int64_t i = 0; i < d; ++i)
                for (std::int64_t j = 0; j < d; ++j) {
                    double sum = 0;
                    for (std::int64_t r = 0; r < n; ++r)
                        sum += static_cast<double>(p.rows[r * d + i]) * p.rows[r * d + j];
                    CHECK(std::abs(crossed[i * d + j] - sum) <= 1e-4 * (1 + std::abs(sum)));
                }
        }
}
