// Dense kernels against naive loops: nearest centres, sums, bounds, statistics, distances.
#include <optional>

#include "coterie/centroid/bounds.hpp"
#include "coterie/rows/columns.hpp"
#include "problem.hpp"

using namespace coterie;
using namespace problem;

// Half of the time, let the coarse tier come first; it may serve only some of the rows.
template <class In>
static void perhaps_coarse(Centers<In>& packed, Matrix<const In> x, std::mt19937& random) {
    const auto ids = counting(x.n_rows);
    const float longest = Finder<In>(packed, x).norm_of_most(ids.data(), x.n_rows, 0);
    const float part[] = {0, 0.1f, 0.7f, 1, 1.25f};  // short ones make some of the centres far
    if (random() % 2) packed.make_coarse(part[random() % 5] * longest);
}

TEST(finder_gives_exact_labels_and_true_bounds) {
    each_problem(
        []<class In>(const Rows<In>& rows, std::int64_t k, Kind kind, std::mt19937& random) {
            const auto x = rows.view();
            const auto centers = centers_for(x, k, kind, random);
            const Space<In> space(x, true, 1);
            Centers<In> packed(centers.data(), k, x.n_cols, space.frame());
            perhaps_coarse(packed, x, random);
            Finder<In> finder(packed, x);
            auto ids = counting(x.n_rows);
            std::shuffle(ids.begin(), ids.end(), random);
            std::vector<int> visits(x.n_rows);
            finder.find(ids.data(), x.n_rows, [&](std::int64_t i, const Sighting& seen) {
                const NaiveNearest found = naive_nearest(x, i, centers);
                ++visits[i];
                CHECK(seen.label == found.label);
                CHECK(seen.upper >= std::sqrt(found.best) * space.scale);
                CHECK(k == 1 || seen.lower <= std::sqrt(found.second) * space.scale);
            });
            CHECK(std::count(visits.begin(), visits.end(), 1) == x.n_rows);
        });
}

TEST(assign_and_sum_matches_naive_labels_and_sums) {
    each_problem(
        []<class In>(const Rows<In>& rows, std::int64_t k, Kind kind, std::mt19937& random) {
            const auto x = rows.view();
            const int limbs = random() % 4 ? 1 : 3;
            const Space<In> space(x, true, limbs);
            const auto weights = some_weights(x.n_rows, random);
            const double* weigh = random() % 2 ? weights.data() : nullptr;
            const Grid grid = space.grid(weigh ? 1024 : 1);
            std::vector<std::int32_t> labels(x.n_rows, -1);
            Sums sums(grid, k, x.n_cols);
            // From no labels at all, then from those of other centres.
            for (int pass = 0; pass < 2; ++pass) {
                const auto centers = centers_for(x, k, kind, random);
                const auto expected = naive_labels(x, centers);
                const auto before = labels;
                Centers<In> packed(centers.data(), k, x.n_cols, space.frame());
                perhaps_coarse(packed, x, random);
                const std::int64_t changed = assign_and_sum(Weighted<In>{x, weigh}, packed,
                                                            labels.data(), sums.out(), Crew{2, {}});
                std::int64_t n_different = 0;
                for (std::int64_t i = 0; i < x.n_rows; ++i) n_different += before[i] != labels[i];
                CHECK(labels == expected);
                CHECK(changed == n_different);
                CHECK(sums == naive_sums(x, weigh, expected, grid, k));
                std::vector<std::int32_t> again(x.n_rows);
                assign(Weighted<In>{x, nullptr}, packed, again.data(), Crew{1, {}});
                CHECK(again == expected);
            }
        });
}

TEST(bounded_passes_match_naive_labels_and_sums) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind kind,
                              std::mt19937& random) {
        const auto x = rows.view();
        const Space<In> space(x, true, 1);
        const Grid grid = space.grid(1);
        const std::int64_t n_groups = std::vector<std::int64_t>{1, 3, 8}[random() % 3];
        std::vector<std::int32_t> order(k);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<std::int32_t> labels(x.n_rows, -1);
        std::vector<PackedBound> upper(x.n_rows), lower(x.n_rows * n_groups, 0xffff);
        std::vector<float> radius(k);
        Sums sums(grid, k, x.n_cols);
        auto centers = centers_for(x, k, kind, random);
        std::vector<double> drifts(k);
        const Crew crew{2, {}};
        for (int pass = 0; pass < 5; ++pass) {
            Centers<In> packed(centers.data(), k, x.n_cols, space.frame(), order.data(), n_groups);
            perhaps_coarse(packed, x, random);
            assign_bounded(Weighted<In>{x, nullptr}, packed, pass > 0 ? drifts.data() : nullptr,
                           labels.data(), Bounds{upper.data(), lower.data(), radius.data()},
                           random() % 2 == 0, sums.out(), crew);
            CHECK(labels == naive_labels(x, centers));
            CHECK(sums == naive_sums(x, nullptr, labels, grid, k));
            for (std::int64_t i = 0; i < x.n_rows; ++i) {
                const NaiveNearest found = naive_nearest(x, i, centers);
                CHECK(unpack_upper(upper[i]) >= std::sqrt(found.best) * space.scale);
                float least = INFINITY;
                for (std::int64_t g = 0; g < n_groups; ++g)
                    least = std::min(least, unpack_lower(lower[g * x.n_rows + i]));
                CHECK(k == 1 || least <= std::sqrt(found.second) * space.scale);
            }
            // Some centres move a little, as in the late passes of a fit.
            const auto before = centers;
            std::normal_distribution<double> normal(0, kind == Kind::offset ? 0.002 : 0.3);
            for (std::int64_t j = 0; j < k; ++j)
                if (random() % 2)
                    for (std::int64_t t = 0; t < x.n_cols; ++t)
                        centers[j * x.n_cols + t] +=
                            kind == Kind::integer ? double(random() % 2) : normal(random);
            for (std::int64_t j = 0; j < k; ++j) {
                double sq_drift = 0;
                for (std::int64_t t = j * x.n_cols; t < (j + 1) * x.n_cols; ++t)
                    sq_drift += (centers[t] - before[t]) * (centers[t] - before[t]);
                drifts[j] = std::sqrt(sq_drift) * space.scale;
            }
        }
    });
}

TEST(packed_bounds_stay_bounds) {
    constexpr int lanes = Simd<float>::lanes;
    std::mt19937 random(5);
    std::vector<float> values{0,
                              -1,
                              1e-30f,
                              detail::packed_least,
                              detail::packed_most,
                              INFINITY,
                              NAN,
                              -INFINITY,
                              -NAN,
                              1e30f,
                              1,
                              4096,
                              16370,
                              16384};
    std::normal_distribution<float> normal(0, 8);
    while (values.size() < 4096) values.push_back(std::exp2(normal(random)));
    for (std::size_t i = 0; i + lanes <= values.size(); i += lanes) {
        PackedBound upper[lanes], lower[lanes];
        store_upper(upper, load(values.data() + i));
        store_lower(lower, load(values.data() + i));
        for (int r = 0; r < lanes; ++r) {
            const float v = values[i + r], up = unpack_upper(upper[r]),
                        low = unpack_lower(lower[r]);
            CHECK(upper[r] == pack_upper(v) && lower[r] == pack_lower(v));
            CHECK(up == load_upper(upper)[r] && low == load_lower(lower)[r]);
            CHECK(!(v <= longest) || up >= v);
            CHECK(up > 0 && low >= 0 && (low <= v || low == 0));
            if (v > 0.01f && v < 16000) CHECK(up < v * 1.001f && low > v * 0.999f);
        }
    }
    CHECK(unpack_upper(pack_upper(NAN)) == longest && unpack_upper(pack_upper(-NAN)) == longest);
    CHECK(unpack_lower(pack_lower(NAN)) == 0 && unpack_lower(pack_lower(-NAN)) == 0);
}

TEST(column_stats_match_two_naive_passes) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t, Kind, std::mt19937&) {
        const auto x = rows.view();
        const ColumnStats stats = column_stats(x, Crew{2, {}});
        CHECK(stats.n_rows == x.n_rows);
        for (std::int64_t t = 0; t < x.n_cols; ++t) {
            long double sum = 0, sq_dev = 0, least = INFINITY, most = -INFINITY;
            for (std::int64_t i = 0; i < x.n_rows; ++i) {
                const long double v = x.at(i, t);
                sum += v;
                least = std::min(least, v);
                most = std::max(most, v);
            }
            const long double mean = sum / x.n_rows;
            for (std::int64_t i = 0; i < x.n_rows; ++i)
                sq_dev += (x.at(i, t) - mean) * (x.at(i, t) - mean);
            CHECK(stats.min[t] == least);
            CHECK(stats.max[t] == most);
            CHECK(std::abs(stats.mean[t] - mean) <= 1e-13L * (std::abs(mean) + most - least));
            CHECK(std::abs(stats.sq_dev[t] - sq_dev) <= 1e-10L * (sq_dev + 1e-12L));
        }
    });
}

TEST(direct_distances_match_naive_ones) {
    each_problem([]<class In>(const Rows<In>& rows, std::int64_t k, Kind kind,
                              std::mt19937& random) {
        const auto x = rows.view();
        const auto centers = centers_for(x, k, kind, random);
        const auto labels = naive_labels(x, centers);
        const auto weights = some_weights(x.n_rows, random);
        const double scale = 1.0 / 8;
        std::vector<double> sq_dists(x.n_rows);
        const double total = sum_sq_dists(Weighted<In>{x, weights.data()}, centers.data(),
                                          labels.data(), scale, sq_dists.data(), Crew{2, {}});
        std::vector<In> dists(x.n_rows * k);
        all_dists(Weighted<In>{x, nullptr}, centers.data(), k, scale, dists.data(), Crew{2, {}});
        const DirectCenters direct(centers.data(), k, x.n_cols, scale);
        std::vector<In> row(x.n_cols);
        long double expected = 0;
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            const NaiveNearest found = naive_nearest(x, i, centers);
            expected += weights[i] * found.best;
            CHECK(close(sq_dists[i], found.best * scale * scale));
            const auto seen = direct.nearest(contiguous_row(x, i, row.data()));
            CHECK(seen.label == found.label);
            CHECK(close(seen.best, found.best * scale * scale));
            CHECK(k == 1 || close(seen.second, found.second * scale * scale));
            for (std::int64_t j = 0; j < k; ++j)
                CHECK(close(dists[i * k + j],
                            std::sqrt(naive_sq_dist(x, i, centers.data() + j * x.n_cols)),
                            sizeof(In) == 4 ? 1e-6L : 1e-12L));
        }
        CHECK(close(total, expected * scale * scale));
    });
}

TEST(same_bits_for_any_number_of_threads) {
    std::mt19937 random(3);
    const Rows<float> rows(40000, 7, Layout::c, Kind::normal, random);
    const auto x = rows.view();
    const auto centers = centers_for(x, 30, Kind::normal, random);
    const Space<float> space(x, true, 1);
    std::vector<std::int32_t> labels;
    std::vector<double> sq_dev;
    double total = 0;
    for (const int n_threads : {1, 2, 3, 4}) {
        Centers<float> packed(centers.data(), 30, 7, space.frame());
        std::vector<std::int32_t> these(x.n_rows);
        const Crew crew{n_threads, {}};
        assign(Weighted<float>{x, nullptr}, packed, these.data(), crew);
        const double sum = sum_sq_dists(Weighted<float>{x, nullptr}, centers.data(), these.data(),
                                        1.0, nullptr, crew);
        const ColumnStats stats = column_stats(x, crew);
        if (n_threads == 1) {
            labels = these;
            total = sum;
            sq_dev = stats.sq_dev;
        }
        CHECK(these == labels);
        CHECK(sum == total);
        CHECK(stats.sq_dev == sq_dev);
    }
}
