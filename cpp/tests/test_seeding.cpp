// Seeding kernels against naive loops over every row and seed.
#include "coterie/centroid/farthest.hpp"
#include "coterie/centroid/seeding.hpp"
#include "problem.hpp"

using namespace coterie;
using namespace problem;

namespace {

// A cover and the memory it points to.
struct Covering {
    std::vector<double> closest, totals;
    std::vector<std::int32_t> nearest;

    Covering(std::int64_t n, std::int64_t d)
        : closest(n, INFINITY), totals(seeding_chunks(n, d).count()), nearest(n) {}
    SeedDistances view() { return {closest.data(), nearest.data(), totals.data()}; }
};

// Rows of the data as doubles, the first one twice.
template <class In>
std::vector<double> some_rows(Matrix<const In> rows, std::int64_t k, std::mt19937& random) {
    std::vector<double> values;
    std::int64_t i = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        if (j != 1) i = static_cast<std::int64_t>(random() % rows.n_rows);
        for (std::int64_t t = 0; t < rows.n_cols; ++t)
            values.push_back(static_cast<double>(rows.at(i, t)));
    }
    return values;
}

constexpr double scale = 1.0 / 8;

template <class In>
double sq_dist_of(Matrix<const In> x, std::int64_t i, const double* seed) {
    std::vector<In> row(x.n_cols);
    return direct_sq_dist(contiguous_row(x, i, row.data()), seed, x.n_cols, scale);
}

template <class In>
void check_cover(Matrix<const In> x, const double* weights, const Covering& cover,
                 const std::vector<double>& seeds, std::int64_t n_seeds) {
    const Chunks chunks = seeding_chunks(x.n_rows, x.n_cols);
    for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
        long double total = 0;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            std::int32_t nearest = 0;
            double closest = INFINITY;
            for (std::int64_t j = 0; j < n_seeds; ++j) {
                const double sq_dist = sq_dist_of(x, i, seeds.data() + j * x.n_cols);
                if (!(sq_dist < closest)) continue;
                closest = sq_dist;
                nearest = static_cast<std::int32_t>(j);
            }
            CHECK(cover.closest[i] == closest);
            CHECK(cover.nearest[i] == nearest);
            total += (weights ? weights[i] : 1.0) * closest;
        }
        CHECK(close(cover.totals[chunk], total));
    }
}

// A sketch and the memory it points to.
template <class In>
struct Sketching {
    std::vector<double> low;
    std::vector<std::uint8_t> bytes;
    Sketch sketch;

    explicit Sketching(Matrix<const In> x)
        : low(x.n_cols, INFINITY), bytes(Sketch::n_bytes(x.n_rows, x.n_cols)) {
        double widest = 0;
        for (std::int64_t t = 0; t < x.n_cols; ++t) {
            double high = -INFINITY;
            for (std::int64_t i = 0; i < x.n_rows; ++i) {
                low[t] = std::min(low[t], static_cast<double>(x.at(i, t)) * scale);
                high = std::max(high, static_cast<double>(x.at(i, t)) * scale);
            }
            widest = std::max(widest, high - low[t]);
        }
        const Levels levels{low.data(), widest > 0 ? 127 / widest : 0};
        sketch = sketch_rows(x, scale, levels, bytes.data(), Crew{2, {}});
    }
};

}  // namespace

TEST(seeds_one_by_one_and_together_cover_alike) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind, std::mt19937& random) {
        const auto x = rows.view();
        const auto weights = some_weights(x.n_rows, random);
        const double* weigh = random() % 2 ? weights.data() : nullptr;
        const auto seeds = some_rows(x, k, random);
        Covering slowly(x.n_rows, x.n_cols), at_once(x.n_rows, x.n_cols);
        for (std::int64_t j = 0; j < k; ++j)
            add_seeds(Weighted<In>{x, weigh}, scale, Seeds{seeds.data(), j + 1}, j, slowly.view(),
                      Crew{2, {}});
        check_cover(x, weigh, slowly, seeds, k);
        add_seeds(Weighted<In>{x, weigh}, scale, Seeds{seeds.data(), 1}, 0, at_once.view(),
                  Crew{1, {}});
        add_seeds(Weighted<In>{x, weigh}, scale, Seeds{seeds.data(), k}, 1, at_once.view(),
                  Crew{1, {}});
        CHECK(at_once.closest == slowly.closest);
        CHECK(at_once.nearest == slowly.nearest);
        CHECK(at_once.totals == slowly.totals);
    });
}

TEST(gains_match_naive_ones_and_lead_to_the_same_cover) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind, std::mt19937& random) {
        const auto x = rows.view();
        const auto weights = some_weights(x.n_rows, random);
        const Weighted<In> data{x, random() % 2 ? weights.data() : nullptr};
        auto seeds = some_rows(x, 3, random);
        const auto candidates = some_rows(x, k, random);
        const Crew crew{2, {}};
        Covering cover(x.n_rows, x.n_cols);
        add_seeds(data, scale, Seeds{seeds.data(), 3}, 0, cover.view(), crew);
        std::vector<std::uint8_t> hints(x.n_rows, 255);
        std::vector<double> gains(k, NAN);
        measure_gains(data, scale, {}, Seeds{seeds.data(), 3}, Seeds{candidates.data(), k},
                      cover.closest.data(), cover.nearest.data(), hints.data(), gains.data(), crew);
        const Sketching<In> sketching(x);
        std::vector<std::uint8_t> sketched_hints(x.n_rows, 255);
        std::vector<double> sketched_gains(k, NAN);
        measure_gains(data, scale, sketching.sketch, Seeds{seeds.data(), 3},
                      Seeds{candidates.data(), k}, cover.closest.data(), cover.nearest.data(),
                      sketched_hints.data(), sketched_gains.data(), crew);
        CHECK(sketched_gains == gains);
        CHECK(sketched_hints == hints);
        for (std::int64_t j = 0; j < k; ++j) {
            long double expected = 0;
            for (std::int64_t i = 0; i < x.n_rows; ++i) {
                const double w = data.weights ? data.weights[i] : 1.0;
                const double sq_dist = sq_dist_of(x, i, candidates.data() + j * x.n_cols);
                expected += w * std::max(0.0, cover.closest[i] - sq_dist);
            }
            CHECK(close(gains[j], expected, 1e-10L));
        }
        const std::int64_t chosen = static_cast<std::int64_t>(random() % k);
        seeds.insert(seeds.end(), candidates.begin() + chosen * x.n_cols,
                     candidates.begin() + (chosen + 1) * x.n_cols);
        add_measured_seed(data, scale, Seeds{seeds.data(), 4}, chosen, hints.data(), cover.view(),
                          crew);
        check_cover(x, data.weights, cover, seeds, 4);
    });
}

TEST(a_sketch_never_hides_a_row_within_reach) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind, std::mt19937& random) {
        const auto x = rows.view();
        const auto points = some_rows(x, k, random);
        const Sketching<In> sketching(x);
        const SketchedPoints sketched(points.data(), k, x.n_cols, scale, sketching.sketch);
        constexpr int lanes = Sketch::tile_rows;
        for (std::int64_t tile = 0; tile * lanes < x.n_rows; ++tile) {
            double reach[lanes] = {};
            const auto size =
                static_cast<int>(std::min<std::int64_t>(lanes, x.n_rows - tile * lanes));
            // As far as the first point is, or a little farther.
            for (int lane = 0; lane < size; ++lane)
                reach[lane] = sq_dist_of(x, tile * lanes + lane, points.data()) * (1 + 1e-12);
            std::vector<std::uint32_t> near(k);
            const auto open = static_cast<std::uint32_t>(random()) & ((1u << lanes) - 1);
            sketched.each_near(tile, open, reach, [&](std::int64_t j, int lane) {
                CHECK(j < k && (open >> lane & 1));
                near[j] |= 1u << lane;
            });
            for (std::int64_t j = 0; j < k; ++j)
                for (int lane = 0; lane < size; ++lane) {
                    const double sq_dist =
                        sq_dist_of(x, tile * lanes + lane, points.data() + j * x.n_cols);
                    if (sq_dist <= reach[lane] && (open >> lane & 1)) CHECK(near[j] >> lane & 1);
                }
        }
    });
}

TEST(drawn_rows_are_those_the_running_sum_reaches) {
    std::mt19937 random(5);
    const Chunks chunks = seeding_chunks(10000, 2);
    CHECK(chunks.count() > 1);
    std::vector<double> closest, weights, totals;
    for (int i = 0; i < 10000; ++i) {
        closest.push_back(static_cast<double>(random() % 3));
        weights.push_back(static_cast<double>(random() % 2));
    }
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
        totals.push_back(0);
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            totals.back() += weights[i] * closest[i];
        sum += totals.back();
    }
    const auto drawn = [&](double target) {
        return draw_row(chunks, weights.data(), closest.data(), totals.data(), target);
    };
    // Whole numbers, so the running sums are exact.
    double before = 0;
    for (std::int64_t i = 0; i < 10000; ++i) {
        const double share = weights[i] * closest[i];
        if (share == 0) continue;
        CHECK(drawn(before + share / 2) == i);
        CHECK(drawn(before + share) == i);
        before += share;
    }
    // Past the end by rounding: the last row that counts.
    std::int64_t last = 9999;
    while (weights[last] * closest[last] == 0) --last;
    CHECK(drawn(2 * sum) == last);
}

TEST(the_farthest_row_is_that_of_all_distances) {
    for (const std::int64_t n : {1, 255, 257, 3000})
        for (const std::int64_t d : {1, 5, 16}) {
            std::mt19937 random(static_cast<unsigned>(n + d));
            std::vector<float> values(n * d);
            for (float& value : values) value = static_cast<float>(random() % 64);
            std::vector<double> weights(n, 1.0);
            for (std::int64_t i = 0; i < n; i += 3) weights[i] = 0;
            const Matrix<const float> rows{values.data(), n, d, d, 1};
            std::vector<double> bounds(n, INFINITY), tops(n_far_blocks(n), INFINITY);
            std::vector<std::int32_t> n_seen(n);
            std::vector<double> centers(values.begin(), values.begin() + d);
            for (std::int64_t k = 1; k < 20; ++k) {
                FarRow expected{-1, 0};
                for (std::int64_t i = 0; i < n; ++i) {
                    double nearest = INFINITY;
                    for (std::int64_t j = 0; j < k; ++j)
                        nearest = std::min(nearest, sq_dist_of(rows, i, &centers[j * d]));
                    if (weights[i] > 0 && nearest > expected.sq_dist) expected = {i, nearest};
                }
                const FarRow found =
                    FarthestSearch<float>({rows, weights.data()}, scale, centers.data(), k,
                                          {bounds.data(), n_seen.data(), tops.data()})
                        .find(Crew{2, {}});
                CHECK(found.row == expected.row);
                CHECK(found.sq_dist == expected.sq_dist);
                if (found.row < 0) break;
                for (std::int64_t t = 0; t < d; ++t) centers.push_back(rows.at(found.row, t));
            }
        }
}
