// DBSCAN against the definition, on every path, with pairs at exactly eps.
#include "coterie/density/dbscan_graph.hpp"
#include "coterie/density/dbscan_grid.hpp"
#include "coterie/density/dbscan_tiles.hpp"

#include "problem.hpp"

using namespace coterie;
using namespace problem;

namespace {

struct Found {
    std::vector<std::int64_t> labels;
    std::vector<std::uint8_t> core;
    explicit Found(std::int64_t n) : labels(n, -7), core(n, 7) {}
    Clustering out() { return {labels.data(), core.data()}; }
    bool operator==(const Found&) const = default;
};

// All squared distances, by the direct sum in column order.
template <class In>
std::vector<double> all_sq_dists(Matrix<const In> x) {
    std::vector<double> sq_dists;
    for (std::int64_t i = 0; i < x.n_rows; ++i)
        for (std::int64_t j = 0; j < x.n_rows; ++j) {
            double sum = 0;
            for (std::int64_t t = 0; t < x.n_cols; ++t) {
                const double diff =
                    static_cast<double>(x.at(i, t)) - static_cast<double>(x.at(j, t));
                sum += rounded(diff * diff);
            }
            sq_dists.push_back(sum);
        }
    return sq_dists;
}

// By the book: the expansion over a matrix, which the paths for rows do not use.
Found by_the_book(const std::vector<double>& sq_dists, std::int64_t n, const Density& density,
                  Border border) {
    Found found(n);
    const DenseNeighbours<double> neighbours{{sq_dists.data(), n, n, n, 1}, density.sq_eps()};
    dbscan_by_expansion(neighbours, density, border, found.out(), Crew{1, {}});
    return found;
}

}  // namespace

TEST(every_path_of_dbscan_finds_the_clusters_of_the_definition) {
    std::mt19937 random(3);
    const double eps_of[] = {1, std::sqrt(2.0), 2, 3.5, 0.05};
    const double eps_of_many_columns[] = {2, std::sqrt(5.0), 8.5, 9.5, 0.09};
    for (const std::int64_t d : {1, 2, 3, 4, 7, 8, 9, 17, 40})
        for (const std::int64_t n : {1, 2, 3, 63, 64, 65, 129, 530})
            for (const Layout layout : layouts)
                for (const Kind kind : kinds) {
                    const Rows<double> rows(n, d, layout, kind, random);
                    const auto x = rows.view();
                    std::vector<double> weights;
                    for (std::int64_t i = 0; i < n; ++i)
                        weights.push_back(static_cast<double>(random() % 4) - 1);
                    const bool weighted = random() % 3 == 0;
                    const Density density{(d < 40 ? eps_of : eps_of_many_columns)[random() % 5],
                                          static_cast<double>(1 + random() % 6),
                                          weighted ? weights.data() : nullptr, !weighted};
                    const auto border = static_cast<Border>(random() % 3);
                    check::say("n", n, "d", d, "layout", static_cast<int>(layout), "kind",
                               static_cast<int>(kind), "eps", density.eps);
                    const Found expected = by_the_book(all_sq_dists(x), n, density, border);
                    const Crew crew{static_cast<int>(1 + random() % 3), {}};
                    Found tiles(n), grid(n);
                    TileDbscan<double>(x, density, crew).run(border, tiles.out());
                    CHECK(tiles == expected);
                    if (dbscan_on_grid(x, density, border, grid.out(), crew))
                        CHECK(grid == expected);
                    else
                        CHECK(d > max_grid_cols);
                }
}

TEST(few_pairs_of_a_sketch_lack_none_within_eps) {
    std::mt19937 random(7);
    int n_few = 0, n_many = 0;
    for (const std::int64_t d : {16, 33, 64})
        for (const Kind kind : {Kind::normal, Kind::integer}) {
            const Rows<float> rows(500, d, Layout::c, kind, random);
            const Crew crew{2, {}};
            const RowBlocks<float> blocks(rows.view(), crew);
            for (const double per_col : {0.25, 0.6, 1.0, 1.4, 6.0}) {
                const double eps = std::sqrt(per_col * static_cast<double>(d));
                const SketchedBlocks<float> sketched(blocks, eps, crew);
                NearPairs<float> near(sketched);
                std::vector<const float*> queries;
                for (std::int64_t p = 0; p < 64; ++p) queries.push_back(blocks.row(p));
                near.set_queries(queries);
                for (std::int64_t block = 0; block < blocks.n_blocks(); ++block) {
                    const std::int64_t begin = blocks.begin(block), end = blocks.end(block);
                    const auto wanted = [](std::int64_t p) { return p % 3 != 0; };
                    const auto* pairs = near.few(begin, end, wanted);
                    ++(pairs ? n_few : n_many);
                    if (!pairs) continue;
                    for (const auto [query, place] : *pairs)
                        CHECK(0 <= query && query < 64 && begin <= place && place < end &&
                              wanted(place));
                    for (int query = 0; query < 64; ++query)
                        for (std::int64_t p = begin; p < end; ++p) {
                            const bool within =
                                in_order_sq_dist(blocks.row(query), blocks.row(p), d) <= eps * eps;
                            const auto is_this = [&](const auto& pair) {
                                return pair.query == query && pair.place == p;
                            };
                            CHECK(!within || !wanted(p) ||
                                  std::any_of(pairs->begin(), pairs->end(), is_this));
                        }
                }
            }
        }
    CHECK(n_few > 50 && n_many > 20);
}

TEST(rows_within_eps_are_told_quickly_as_by_the_sum_in_order) {
    std::mt19937 random(8);
    const Rows<double> rows(200, 21, Layout::c, Kind::normal, random);
    const auto x = rows.view();
    for (std::int64_t i = 1; i < x.n_rows; ++i) {
        const double sq_dist = in_order_sq_dist(x.row(0), x.row(i), x.n_cols);
        for (const double eps : {std::sqrt(sq_dist), std::nextafter(std::sqrt(sq_dist), 0.0),
                                 std::sqrt(sq_dist) * (1 + 1e-13), std::sqrt(sq_dist) / 2}) {
            WithinTile<double> tile(x.n_cols, eps);
            tile.set_queries({x.row(0)});
            CHECK(tile.is_within(0, x.row(i)) == (sq_dist <= eps * eps));
        }
    }
}

TEST(rows_of_the_fit_are_labelled_as_in_the_fit) {
    std::mt19937 random(4);
    for (const std::int64_t d : {1, 2, 3, 5, 9}) {
        const Rows<float> rows(530, d, Layout::c, Kind::integer, random);
        const auto x = rows.view();
        const Density density{std::sqrt(static_cast<double>(d)), 6, nullptr, true};
        for (const Border border : {Border::first, Border::nearest}) {
            const Crew crew{2, {}};
            Found found(530);
            TileDbscan<float>(x, density, crew).run(border, found.out());
            std::vector<float> core_rows;
            std::vector<std::int64_t> core_labels;
            for (std::int64_t i = 0; i < 530; ++i) {
                if (!found.core[i]) continue;
                core_rows.insert(core_rows.end(), x.row(i), x.row(i) + d);
                core_labels.push_back(found.labels[i]);
            }
            if (core_labels.empty()) continue;
            const auto n_core = static_cast<std::int64_t>(core_labels.size());
            const Matrix<const float> core{core_rows.data(), n_core, d, d, 1};
            std::vector<std::int64_t> labels(530, -7);
            TileDbscan<float>(core, density, crew)
                .label_by_core(border, core_labels.data(), x, labels.data());
            CHECK(labels == found.labels);
            if (label_by_core_on_grid(core, core_labels.data(), density.eps, border, x,
                                      labels.data(), crew))
                CHECK(labels == found.labels);
        }
    }
}

TEST(joins_by_several_threads_give_one_forest) {
    constexpr std::uint32_t n = 20000;
    Components components(n);
    const Crew crew{4, {}};
    crew.run(n - 7, [&](std::int64_t i, int) {
        components.join(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i) + 7);
    });
    for (std::uint32_t i = 0; i < n; ++i) CHECK(components.root(i) == i % 7);
}

TEST(words_are_sorted_by_some_of_their_bits) {
    std::mt19937_64 random(5);
    for (const std::int64_t n : {0, 1, 2, 1000, 50000}) {
        std::unique_ptr<std::uint64_t[]> words(new std::uint64_t[n]);
        for (std::int64_t i = 0; i < n; ++i)
            words[i] = (random() & 0xfffff) << 32 | static_cast<std::uint64_t>(i);
        std::vector<std::uint64_t> expected(words.get(), words.get() + n);
        std::sort(expected.begin(), expected.end());
        const auto sorted = sort_by_bits(std::move(words), n, 32, 52, Crew{3, {}});
        CHECK(std::equal(expected.begin(), expected.end(), sorted.get()));
    }
}
