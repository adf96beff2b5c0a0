// The kd-tree, the searches and the spanning tree against plain loops.
#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/neighbors/neighbors.hpp"
#include "coterie/neighbors/spanning_tree.hpp"
#include "coterie/neighbors/union_find.hpp"

using namespace coterie;

namespace {

// Rows of a few integers: duplicates and equal distances abound. Or scattered ones.
template <class In>
std::vector<In> some_rows(std::int64_t n, std::int64_t d, bool grid) {
    std::mt19937 random(static_cast<unsigned>(n * 31 + d));
    std::uniform_int_distribution<int> whole(0, 4);
    std::normal_distribution<double> any;
    std::vector<In> rows(n * d);
    for (In& x : rows) x = static_cast<In>(grid ? whole(random) : any(random));
    return rows;
}

template <class In>
double plain_reduced(const In* a, const In* b, std::int64_t d) {
    double sum = 0;
    for (std::int64_t t = 0; t < d; ++t) {
        const double gap = static_cast<double>(a[t]) - static_cast<double>(b[t]);
        sum += rounded(gap * gap);
    }
    return sum;
}

template <class In, class Body>
void for_some_rows(const Body& body) {
    for (const std::int64_t n : {1, 2, 31, 33, 100, 700})
        for (const std::int64_t d : {1, 2, 3, 8, 17})
            for (const bool grid : {false, true}) {
                check::say("rows", n, "columns", d, grid ? "on a grid" : "", sizeof(In) * 8,
                           "bits");
                const std::vector<In> rows = some_rows<In>(n, d, grid);
                body(rows, Matrix<const In>{rows.data(), n, d, d, 1});
            }
}

template <class In>
void check_tree() {
    for_some_rows<In>([](const std::vector<In>& values, Matrix<const In> rows) {
        const std::int64_t d = rows.n_cols;
        const KdTree<In> tree(rows, Crew{3, {}});
        std::vector<std::int32_t> order = tree.order();
        std::sort(order.begin(), order.end());
        for (std::int64_t i = 0; i < rows.n_rows; ++i) CHECK(order[i] == i);
        std::int32_t next = 0;
        for (const std::int32_t id : tree.leaves()) {
            const auto& leaf = tree.nodes()[id];
            CHECK(leaf.begin == next && leaf.size() > 0 && leaf.size() <= tree.max_leaf);
            next = leaf.end;
            std::vector<double> point(d), low(d), high(d);
            tree.read_box(id, low.data(), high.data());
            for (std::int32_t p = leaf.begin; p < leaf.end; ++p) {
                tree.read_point(leaf, p, point.data());
                for (std::int64_t t = 0; t < d; ++t) {
                    CHECK(point[t] == values[tree.order()[p] * d + t]);
                    CHECK(low[t] <= point[t] && point[t] <= high[t]);
                }
            }
        }
        CHECK(next == rows.n_rows);
    });
}

template <class In>
void check_counts() {
    for_some_rows<In>([](const std::vector<In>& values, Matrix<const In> rows) {
        const KdTree<In> tree(rows, Crew{2, {}});
        const std::int64_t n = rows.n_rows, d = rows.n_cols;
        for (std::int64_t q = 0; q < n; q += 1 + n / 20) {
            const std::vector<double> query(values.begin() + q * d, values.begin() + (q + 1) * d);
            for (const double radius : {0.0, 1.0, 4.0, 1e9}) {
                std::int64_t expected = 0, seen = 0;
                for (std::int64_t i = 0; i < n; ++i)
                    expected += plain_reduced(&values[q * d], &values[i * d], d) <= radius;
                const SumOfSquares sum;
                tree.for_each_within(
                    sum, query.data(), radius, [&](std::int32_t row, double reduced) {
                        ++seen;
                        CHECK(reduced == plain_reduced(&values[q * d], &values[row * d], d));
                    });
                CHECK(seen == expected);
                CHECK(tree.count_within(sum, query.data(), radius, n + 1) == expected);
                CHECK((tree.count_within(sum, query.data(), radius, 5) >= 5) == (expected >= 5));
            }
        }
    });
}

template <class In>
void check_nearest() {
    for_some_rows<In>([](const std::vector<In>& values, Matrix<const In> rows) {
        const std::int64_t n = rows.n_rows, d = rows.n_cols, k = std::min<std::int64_t>(n, 5);
        const Metric metric = Metric::named("euclidean");
        for (const bool by_tree : {true, false}) {
            std::vector<double> lengths(n * k);
            std::vector<std::int64_t> found(n * k);
            const RowIndex index(metric, rows, by_tree, Crew{2, {}});
            knn(index, nullptr, k, lengths.data(), found.data(), Crew{3, {}});
            std::vector<In> again(n * d);
            index.copy_rows(again.data());
            CHECK(again == values);
            for (std::int64_t q = 0; q < n; q += 1 + n / 30) {
                std::vector<std::pair<double, std::int64_t>> all;
                for (std::int64_t i = 0; i < n; ++i)
                    all.emplace_back(plain_reduced(&values[q * d], &values[i * d], d), i);
                std::sort(all.begin(), all.end());
                for (std::int64_t i = 0; i < k; ++i) CHECK(found[q * k + i] == all[i].second);
            }
        }
    });
}

// Boruvka and Prim share only the order of edges; that they agree is the test.
template <class In>
void check_spanning_trees() {
    for_some_rows<In>([](const std::vector<In>&, Matrix<const In> rows) {
        const Metric metric = Metric::named("manhattan");
        std::vector<double> cores(rows.n_rows);
        const RowIndex by_tree(metric, rows, true, Crew{2, {}});
        const RowIndex by_tiles(metric, rows, false, Crew{2, {}});
        kth_lengths(by_tree, nullptr, std::min<std::int64_t>(4, rows.n_rows), cores.data(), nullptr,
                    Crew{1, {}});
        for (const double* given :
             {static_cast<const double*>(nullptr), static_cast<const double*>(cores.data())}) {
            const auto one = spanning_tree(by_tree, given, Crew{3, {}});
            const auto other = spanning_tree(by_tiles, given, Crew{2, {}});
            CHECK(static_cast<std::int64_t>(one.size()) == rows.n_rows - 1);
            CHECK(one.size() == other.size());
            for (std::size_t i = 0; i < one.size(); ++i)
                CHECK(!(one[i] < other[i]) && !(other[i] < one[i]));
            CHECK(std::is_sorted(one.begin(), one.end()));
        }
    });
}

}  // namespace

TEST(a_tree_holds_every_row_once_inside_its_boxes) {
    check_tree<float>();
    check_tree<double>();
}

TEST(rows_within_a_radius_are_found_and_counted) {
    check_counts<float>();
    check_counts<double>();
}

TEST(nearest_rows_are_found_by_tree_and_by_tiles) {
    check_nearest<float>();
    check_nearest<double>();
}

TEST(boruvka_and_prim_find_the_same_tree) {
    check_spanning_trees<float>();
    check_spanning_trees<double>();
}

TEST(many_edges_are_sorted_in_pieces) {
    std::mt19937 random(0);
    std::vector<Edge> edges(30001);
    for (Edge& edge : edges) edge = Edge::between(random() % 100, random() % 1000, random() % 1000);
    std::vector<Edge> expected = edges;
    std::sort(expected.begin(), expected.end());
    sort_edges(edges, Crew{3, {}});
    for (std::size_t i = 0; i < edges.size(); ++i)
        CHECK(!(edges[i] < expected[i]) && !(expected[i] < edges[i]));
}

TEST(sets_are_called_by_their_least_member) {
    UnionFind sets(10);
    CHECK(sets.unite(7, 3) && sets.unite(9, 7) && !sets.unite(3, 9));
    CHECK(sets.find(9) == 3 && sets.find(7) == 3 && sets.find(8) == 8);
}
