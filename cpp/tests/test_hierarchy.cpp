// Linkage from rows and from a triangle of distances against the greedy loop.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/hierarchy/genie.hpp"
#include "coterie/hierarchy/linkage_merges.hpp"
#include "coterie/hierarchy/linkage_triangle.hpp"
#include "coterie/hierarchy/linkage_vectors.hpp"

using namespace coterie;

namespace {

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
Triangle<double> lengths_of(const std::vector<In>& rows, std::int64_t n, std::int64_t d,
                            std::vector<double>& into) {
    into.assign(n * (n - 1) / 2, 0);
    const Triangle<double> triangle{into.data(), n};
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) {
            double sum = 0;
            for (std::int64_t t = 0; t < d; ++t) {
                const double gap = static_cast<double>(rows[i * d + t]) - rows[j * d + t];
                sum += gap * gap;
            }
            triangle.upper(i, j) = std::sqrt(sum);
        }
    return triangle;
}

// Replay a merge table: each merge must join a pair at the smallest distance there is.
template <class Rule>
void check_greedy(const std::vector<Merge>& merges, std::vector<double> lengths, std::int64_t n) {
    const Triangle<double> table{lengths.data(), n};
    double largest = 0;
    for (double& length : lengths) {
        largest = std::max(largest, length);
        if (Rule::squared) length *= length;
    }
    std::vector<double> size(n, 1);
    std::vector<bool> alive(n, true);
    std::vector<std::int32_t> slot(n);  // of each row's cluster
    std::iota(slot.begin(), slot.end(), 0);
    const double slack = (Rule::squared ? largest * largest : largest) * 1e-9;
    CHECK(static_cast<std::int64_t>(merges.size()) == n - 1);
    for (const Merge& merge : merges) {
        const std::int32_t a = slot[merge.first], b = slot[merge.second];
        CHECK(a != b);
        double least = std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i + 1; j < n; ++j)
                if (alive[i] && alive[j]) least = std::min(least, table.upper(i, j));
        const double apart = table.at(a, b);
        CHECK(apart <= least + slack);
        const double height = Rule::squared ? merge.height * merge.height : merge.height;
        CHECK(std::abs(height - apart) <= slack);
        for (std::int64_t x = 0; x < n; ++x)
            if (alive[x] && x != a && x != b)
                table.at(a, x) =
                    Rule::join({table.at(a, x), table.at(b, x), apart, size[x], size[a], size[b]});
        size[a] += size[b];
        alive[b] = false;
        for (std::int32_t& s : slot)
            if (s == b) s = a;
    }
}

template <class In>
void check_all(std::int64_t n, std::int64_t d, bool grid) {
    const std::vector<In> rows = some_rows<In>(n, d, grid);
    const Matrix<const In> matrix{rows.data(), n, d, d, 1};
    const std::vector<double> origin(d, 0);
    std::vector<double> lengths;
    lengths_of(rows, n, d, lengths);
    for (const char* method :
         {"single", "complete", "average", "weighted", "centroid", "median", "ward"}) {
        check::say(method, "rows", n, "columns", d, grid ? "on a grid" : "", sizeof(In) * 8);
        with_rule(method, [&]<class Rule>(Rule) {
            std::vector<double> scratch = lengths;
            const Triangle<double> table{scratch.data(), n};
            check_greedy<Rule>(link_triangle(method, table, 1, Crew{2, {}}), lengths, n);
            if (Rule::squared)
                check_greedy<Rule>(link_vectors(method, matrix, nullptr, origin.data(), 0.125,
                                                nullptr, Crew{2, {}}),
                                   lengths, n);
        });
    }
}

TEST(linkage_is_greedy) {
    for (const std::int64_t n : {1, 2, 3, 17, 64})
        for (const std::int64_t d : {1, 2, 5, 17})
            for (const bool grid : {false, true}) {
                check_all<float>(n, d, grid);
                check_all<double>(n, d, grid);
            }
}

TEST(triangles_are_filled_in_order) {
    for (const std::int64_t n : {1, 2, 63, 200}) {
        const std::vector<double> rows = some_rows<double>(n, 5, false);
        std::vector<double> expected, found(n * (n - 1) / 2);
        lengths_of(rows, n, 5, expected);
        fill_triangle(Metric::named("euclidean"), Matrix<const double>{rows.data(), n, 5, 5, 1},
                      Triangle<double>{found.data(), n}, Crew{2, {}});
        for (std::size_t i = 0; i < found.size(); ++i)
            CHECK(std::abs(found[i] - expected[i]) <= 1e-12);
    }
}

TEST(a_table_numbers_its_unions) {
    std::vector<double> table(12);
    write_merge_table({{1, 2, 3}, {2, 0, 3}, {4, 1, 0}}, table.data());
    const std::vector<double> expected{2, 3, 1, 2, 0, 4, 2, 3, 1, 5, 4, 4};
    CHECK(table == expected);
}

// A random tree of n rows, and Genie's merges along it by the definition, O(n^2) and more.
struct RandomTree {
    std::vector<std::int32_t> heads, tails;

    RandomTree(std::int32_t n, bool star, std::mt19937& random) {
        for (std::int32_t i = 1; i < n; ++i) {
            heads.push_back(star ? 0 : std::uniform_int_distribution<int>(0, i - 1)(random));
            tails.push_back(i);
        }
        for (std::size_t e = heads.size(); e > 1; --e) {
            const std::size_t other = std::uniform_int_distribution<std::size_t>(0, e - 1)(random);
            std::swap(heads[e - 1], heads[other]);
            std::swap(tails[e - 1], tails[other]);
        }
    }

    std::vector<double> lengths() const {
        std::vector<double> lengths(heads.size());
        std::iota(lengths.begin(), lengths.end(), 1.0);
        return lengths;
    }

    std::vector<Merge> merges_of(double threshold) const {
        const std::size_t n = heads.size() + 1;
        std::vector<std::size_t> cluster(n);
        std::iota(cluster.begin(), cluster.end(), 0);
        std::vector<double> size(n, 1);
        std::vector<bool> used(heads.size());
        std::vector<Merge> merges;
        while (merges.size() < heads.size()) {
            double apart = 0, least = static_cast<double>(n);
            for (const double a : size)
                for (const double b : size)
                    if (a > 0 && b > 0) apart += std::abs(a - b) / 2, least = std::min(least, a);
            const double others = static_cast<double>(heads.size() - merges.size());
            const bool forced = apart / (others * static_cast<double>(n)) > threshold;
            std::size_t e = 0;
            const auto may_join = [&] {
                return !used[e] && (!forced || size[cluster[heads[e]]] == least ||
                                    size[cluster[tails[e]]] == least);
            };
            while (!may_join()) ++e;
            used[e] = true;
            merges.push_back({static_cast<double>(e + 1), heads[e], tails[e]});
            const std::size_t a = cluster[heads[e]], b = cluster[tails[e]];
            size[a] += size[b], size[b] = 0;
            for (std::size_t& c : cluster)
                if (c == b) c = a;
        }
        return merges;
    }
};

TEST(genie_joins_the_smallest_while_sizes_are_unequal) {
    std::mt19937 random(7);
    for (const std::int32_t n : {1, 2, 3, 10, 60, 150})
        for (const bool star : {false, true})
            for (const double threshold : {0.0, 0.1, 0.3, 0.5, 1.0}) {
                check::say("rows", n, star ? "star" : "", "threshold", threshold);
                const RandomTree tree(n, star, random);
                std::vector<double> table(4 * (n - 1)), expected(4 * (n - 1));
                link_genie(tree.heads, tree.tails, tree.lengths().data(), threshold, table.data());
                write_merge_table(tree.merges_of(threshold), expected.data());
                CHECK(table == expected);
            }
}

TEST(genie_of_edges_that_are_no_tree_ends) {
    const std::vector<std::int32_t> heads{0, 0, 1, 3, 4}, tails{0, 1, 0, 4, 3};
    const std::vector<double> lengths{0, 1, 2, 3, 4};
    std::vector<double> table(20);
    link_genie(heads, tails, lengths.data(), 0, table.data());
    double total = 0;
    for (std::size_t i = 0; i < 5; ++i) total += table[4 * i + 2];
    CHECK(total == 10);
}

}  // namespace
