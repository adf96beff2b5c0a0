// The trees of HDBSCAN on small cases worked out by hand.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "check.hpp"

#include "coterie/density/condense.hpp"
#include "coterie/density/select_clusters.hpp"
#include "coterie/neighbors/levels.hpp"
#include "coterie/neighbors/merge_tree.hpp"
#include "coterie/neighbors/rooted_tree.hpp"

namespace {

using namespace coterie;
using Ints = std::vector<std::int32_t>;
using Doubles = std::vector<double>;

struct Linkage {
    Ints left, right, sizes;
    Doubles heights;
    Merges view() const {
        return {left.data(), right.data(), heights.data(), sizes.data(),
                static_cast<std::int32_t>(left.size()) + 1};
    }
};

Linkage link(const Ints& heads, const Ints& tails, const Doubles& lengths) {
    Linkage out{Ints(heads.size()), Ints(heads.size()), Ints(heads.size()), lengths};
    merge_tree(heads, tails, out.left.data(), out.right.data(), out.sizes.data());
    return out;
}

struct Condensed {
    Ints row_cluster, parent, size;
    Doubles row_lambda, birth, death, peak, stability;
    std::int32_t n_clusters;

    Condensed(const Linkage& linkage, std::int32_t min_cluster_size) {
        const auto n_rows = linkage.left.size() + 1;
        const auto most = std::max<std::size_t>(1, 2 * (n_rows / min_cluster_size) - 1);
        row_cluster.resize(n_rows), row_lambda.resize(n_rows);
        for (Ints* part : {&parent, &size}) part->resize(most);
        for (Doubles* part : {&birth, &death, &peak, &stability}) part->resize(most);
        const Merges merges = linkage.view();
        const Crew crew;
        n_clusters = Condenser(merges, min_cluster_size,
                               {row_cluster.data(), row_lambda.data(), parent.data(), size.data(),
                                birth.data(), death.data(), peak.data(), stability.data()},
                               crew)
                         .run();
    }
    Ints select(const Selection& rule, bool leaves) const {
        Ints owner(n_clusters);
        select_clusters({parent.data(), size.data(), birth.data(), stability.data(), n_clusters},
                        rule, leaves, owner.data());
        return owner;
    }
};

}  // namespace

// Rows 0-1-2 at distance 1, 3-4-5 at 0.5, joined at 4; row 6 comes last, at 8.
const Ints heads{3, 4, 0, 1, 2, 5}, tails{4, 5, 1, 2, 3, 6};
const Doubles lengths{0.5, 0.5, 1, 1, 4, 8};

TEST(edges_point_away_from_the_first_row) {
    Ints from{3, 1, 3, 2}, to{2, 0, 1, 4};
    point_away_from_first(from, to);
    CHECK((from == Ints{3, 0, 1, 2}));
    CHECK((to == Ints{2, 1, 3, 4}));
    Ints none;
    point_away_from_first(none, none);
    CHECK(none.empty());
}

TEST(edges_merge_rows_to_clusters) {
    const Linkage linkage = link(heads, tails, lengths);
    CHECK((linkage.left == Ints{3, 7, 0, 9, 10, 11}));
    CHECK((linkage.right == Ints{4, 5, 1, 2, 8, 6}));
    CHECK((linkage.sizes == Ints{2, 3, 2, 3, 6, 7}));
}

TEST(small_parts_fall_and_large_ones_split) {
    const Condensed tree(link(heads, tails, lengths), 3);
    CHECK(tree.n_clusters == 3);
    CHECK((Ints(tree.parent.begin(), tree.parent.begin() + 3) == Ints{-1, 0, 0}));
    CHECK((tree.row_cluster == Ints{1, 1, 1, 2, 2, 2, 0}));
    CHECK((tree.row_lambda == Doubles{1, 1, 1, 2, 2, 2, 0.125}));
    CHECK(tree.birth[1] == 0.25 && tree.death[0] == 0.25 && tree.peak[0] == 2);
    CHECK(tree.stability[0] == 0.125 + 6 * 0.25);
    CHECK(tree.stability[1] == 3 * 0.75 && tree.stability[2] == 3 * 1.75);
}

TEST(clusters_are_selected) {
    const Condensed tree(link(heads, tails, lengths), 3);
    const std::int32_t any = 100;
    CHECK((tree.select({any, 0, false}, false) == Ints{-1, 1, 2}));
    CHECK((tree.select({any, 0, true}, false) == Ints{-1, 1, 2}));
    CHECK((tree.select({any, 0, false}, true) == Ints{-1, 1, 2}));
    CHECK((tree.select({any, 5, false}, false) == Ints{-1, 1, 2}));
    CHECK((tree.select({any, 5, true}, false) == Ints{0, 0, 0}));
    CHECK((tree.select({2, 0, false}, false) == Ints{-1, -1, -1}));
}

TEST(without_a_split_there_is_only_the_first_cluster) {
    const Condensed tree(link(heads, tails, lengths), 4);
    CHECK(tree.n_clusters == 1);
    CHECK((tree.select({100, 0, false}, false) == Ints{-1}));
    CHECK((tree.select({100, 0, true}, false) == Ints{0}));
    CHECK((tree.select({100, 0, true}, true) == Ints{-1}));
}

TEST(equal_rows_are_infinitely_dense) {
    const Condensed tree(link({0, 1, 2}, {1, 2, 3}, {0, 0, 0}), 2);
    for (const double lambda : tree.row_lambda) CHECK(std::isinf(lambda));
    for (std::int32_t c = 0; c < tree.n_clusters; ++c) CHECK(!std::isnan(tree.stability[c]));
}

// Pairs 0-1, 2-3 and 4-5, all joined at 2 by row 6: in whatever order, three clusters and a row.
TEST(a_level_parts_into_all_its_pieces_at_once) {
    for (const auto& [from, to] : {std::pair{Ints{0, 2, 4, 6, 6, 6}, Ints{1, 3, 5, 1, 3, 5}},
                                   std::pair{Ints{0, 2, 4, 4, 2, 6}, Ints{1, 3, 5, 6, 6, 1}}}) {
        const Condensed tree(link(from, to, {1, 1, 1, 2, 2, 2}), 2);
        CHECK(tree.n_clusters == 4);
        CHECK((Ints(tree.parent.begin(), tree.parent.begin() + 4) == Ints{-1, 0, 0, 0}));
        CHECK((Ints(tree.size.begin(), tree.size.begin() + 4) == Ints{7, 2, 2, 2}));
        CHECK(tree.row_cluster[6] == 0 && tree.row_lambda[6] == 0.5);
        for (const int row : {0, 2, 4}) CHECK(tree.row_cluster[row] == tree.row_cluster[row + 1]);
        CHECK(tree.stability[0] == 3.5 && tree.stability[1] == 1);
    }
}

TEST(lengths_that_rounding_tells_apart_are_one_level) {
    const double near = 1 + 4e-13, inf = std::numeric_limits<double>::infinity();
    const Doubles sorted{0, 1e-310, 1, near, 1 + 8e-13, 1 + 12e-13, inf, inf};
    Doubles heights(sorted.size());
    find_levels(sorted, heights.data());
    CHECK((heights == Doubles{0, 0, 1 + 8e-13, 1 + 8e-13, 1 + 8e-13, 1 + 12e-13, inf, inf}));
}
