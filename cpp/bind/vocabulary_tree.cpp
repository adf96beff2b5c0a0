// Bindings of the vocabulary tree: learning a level, going down, searching the leaves.
#include "rows_args.hpp"
#include "space_args.hpp"

#include "coterie/quantize/tree_descent.hpp"
#include "coterie/quantize/tree_level.hpp"
#include "coterie/quantize/tree_search.hpp"
#include "coterie/quantize/tree_seeds.hpp"

namespace coterie::bind {
namespace {

using Starts = Column<const std::int64_t>;

// Of `Level` in quantize/_tree_level.py.
struct LevelArgs {
    Column<const std::int64_t> row_ids;
    Starts row_starts, center_starts;
    Column<const bool> active;

    bool read(nb::handle from) {
        return read_attribute(from, "row_ids", row_ids) &&
               read_attribute(from, "row_starts", row_starts) &&
               read_attribute(from, "center_starts", center_starts) &&
               read_attribute(from, "active", active);
    }
    TreeLevel level(std::int64_t n_rows, std::int64_t n_centers) const {
        const auto n_nodes = static_cast<std::int64_t>(active.shape(0));
        const auto n_ids = static_cast<std::int64_t>(row_ids.shape(0));
        require_length(row_starts, n_nodes + 1,
                       "row_starts must have one entry per node and an end");
        require_length(center_starts, n_nodes + 1,
                       "center_starts must have one entry per node and an end");
        require_indexes(row_ids.data(), n_ids, n_rows, "row_ids must lie within the rows");
        require_starts(row_starts.data(), n_nodes, n_ids, "row_starts must rise within row_ids");
        require_starts(center_starts.data(), n_nodes, n_centers,
                       "center_starts must rise within the centers");
        require(center_starts(n_nodes) == n_centers, "center_starts must end with the centers");
        for (std::int64_t node = 0; node < n_nodes; ++node)
            require(!active(node) || center_starts(node) < center_starts(node + 1),
                    "an active node must have a centre");
        return {row_ids.data(), row_starts.data(), center_starts.data(), active.data(), n_nodes};
    }
};

// Of `Tree` in quantize/_tree.py.
struct TreeArgs {
    Table<const double> centers;
    Column<const std::int32_t> starts, leaf_numbers;

    bool read(nb::handle from) {
        return read_attribute(from, "centers", centers) && read_attribute(from, "starts", starts) &&
               read_attribute(from, "leaf_numbers", leaf_numbers);
    }
    TreeView view(std::int64_t n_cols) const {
        const auto n_nodes = static_cast<std::int64_t>(centers.shape(0));
        require(n_nodes > 0 && static_cast<std::int64_t>(centers.shape(1)) == n_cols,
                "centers must have the columns of the rows");
        require_length(starts, n_nodes + 1, "starts must have one entry per node and an end");
        require_length(leaf_numbers, n_nodes, "leaf_numbers must have one entry per node");
        require_starts(starts.data(), n_nodes, n_nodes, "starts must rise within the nodes");
        bool ok = true;
        for (std::int64_t i = 0; i < n_nodes; ++i) {
            const bool leaf = starts(i) == starts(i + 1);
            ok &= leaf ? leaf_numbers(i) >= 0 : starts(i) > i;
        }
        require(ok, "children must come after their node, and leaves must have a number");
        return {centers.data(), starts.data(), leaf_numbers.data(), n_nodes, n_cols};
    }
};

template <class T>
std::int64_t assign_level_of(Rows<T> rows, Weights weights, LevelArgs level_args,
                             Table<const double> centers, SpaceArgs<T> space,
                             Column<std::int32_t> labels, TallyArgs tally, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const std::int64_t d = data.rows.n_cols;
    const auto k = static_cast<std::int64_t>(centers.shape(0));
    require(static_cast<std::int64_t>(centers.shape(1)) == d,
            "centers must have the columns of the rows");
    require_length(labels, data.rows.n_rows, "labels must have one entry per row");
    const TreeLevel level = level_args.level(data.rows.n_rows, k);
    // A row that has a label has one of its own node.
    bool own = true;
    for (std::int64_t node = 0; node < level.n_nodes; ++node)
        if (level.active[node])
            for (std::int64_t i = level.row_starts[node]; i < level.row_starts[node + 1]; ++i) {
                const std::int32_t label = labels(level.row_ids[i]);
                own &= label < 0 || (level.center_starts[node] <= label &&
                                     label < level.center_starts[node + 1]);
            }
    require(own, "labels must be of the centers of the row's node");
    const SumsOut out = tally.out(space, k, d);
    const Frame<T> frame = space.frame(d);
    return without_gil([&] {
        return assign_level(data, level, centers.data(), frame, labels.data(), out,
                            crew_of(n_threads));
    });
}

template <class T>
void seed_sets_of(Rows<T> rows, Column<const double> weights, Starts starts, double scale,
                  Cube<const double> draws, Table<std::int64_t> seeds, Column<std::int64_t> n_found,
                  Column<double> left, int n_threads) {
    const Matrix<const T> view = as_matrix(rows);
    const auto n_sets = static_cast<std::int64_t>(n_found.shape(0));
    require_length(weights, view.n_rows, "weights must have one entry per row");
    require_length(starts, n_sets + 1, "starts must have one entry per set and an end");
    require_starts(starts.data(), n_sets, view.n_rows, "starts must rise within the rows");
    require(static_cast<std::int64_t>(draws.shape(0)) == n_sets &&
                draws.shape(1) == seeds.shape(1) && draws.shape(2) > 0,
            "draws must have some numbers for each seed of each set");
    require_length(seeds, n_sets, "seeds must have a row for each set");
    require_length(left, n_sets, "left must have one entry per set");
    without_gil([&] {
        seed_sets(view, weights.data(), starts.data(), n_sets, scale, draws.data(),
                  static_cast<std::int64_t>(seeds.shape(1)),
                  static_cast<std::int64_t>(draws.shape(2)), seeds.data(), n_found.data(),
                  left.data(), crew_of(n_threads));
    });
}

template <class T>
void find_leaves_of(Rows<T> rows, TreeArgs tree, double scale, std::int64_t beam,
                    Column<std::int32_t> labels, int n_threads) {
    const Matrix<const T> view = as_matrix(rows);
    const TreeView nodes = tree.view(view.n_cols);
    require(beam >= 1, "beam must be at least 1");
    require_length(labels, view.n_rows, "labels must have one entry per row");
    without_gil([&] {
        const PackedTree packed(nodes, scale);
        find_leaves(view, packed, beam, labels.data(), crew_of(n_threads));
    });
}

template <class T>
std::int64_t search_leaves_of(Table<const double> queries, TreeArgs tree, double scale,
                              Rows<T> rows, Column<const std::int64_t> ids, Starts starts,
                              std::int64_t beam, Table<double> sq_dists, Table<std::int64_t> found,
                              int n_threads) {
    const auto n_queries = static_cast<std::int64_t>(queries.shape(0));
    const auto d = static_cast<std::int64_t>(queries.shape(1));
    const Matrix<const double> asked{queries.data(), n_queries, d, d, 1};
    const Matrix<const T> held = as_matrix(rows);
    const TreeView nodes = tree.view(d);
    require(beam >= 1, "beam must be at least 1");
    require(held.n_cols == d, "rows must have the columns of the queries");
    require_length(ids, held.n_rows, "ids must have one entry per row");
    std::int64_t n_leaves = 0;
    for (std::int64_t i = 0; i < nodes.n_nodes; ++i)
        n_leaves = std::max<std::int64_t>(n_leaves, nodes.leaf_numbers[i] + 1);
    require_length(starts, n_leaves + 1, "starts must have one entry per leaf and an end");
    require_starts(starts.data(), n_leaves, held.n_rows, "starts must rise within the rows");
    require_length(sq_dists, n_queries, "sq_dists must have a row for each query");
    require_length(found, n_queries, "found must have a row for each query");
    require(sq_dists.shape(1) == found.shape(1) && found.shape(1) > 0,
            "sq_dists and found must have a place for each neighbour");
    return without_gil([&] {
        const PackedTree packed(nodes, scale);
        return search_leaves(asked, packed, LeafLists<T>{held, ids.data(), starts.data()}, beam,
                             static_cast<std::int64_t>(found.shape(1)), sq_dists.data(),
                             found.data(), crew_of(n_threads));
    });
}

template <class T>
void add_tree_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("assign_level", &assign_level_of<T>, "rows"_a.noconvert(), "weights"_a.none(), "level"_a,
          "centers"_a.noconvert(), "space"_a, "labels"_a.noconvert(), "tally"_a, "n_threads"_a);
    m.def("seed_sets", &seed_sets_of<T>, "rows"_a.noconvert(), "weights"_a.noconvert(),
          "starts"_a.noconvert(), "scale"_a, "draws"_a.noconvert(), "seeds"_a.noconvert(),
          "n_found"_a.noconvert(), "left"_a.noconvert(), "n_threads"_a);
    m.def("find_leaves", &find_leaves_of<T>, "rows"_a.noconvert(), "tree"_a, "scale"_a, "beam"_a,
          "labels"_a.noconvert(), "n_threads"_a);
    m.def("search_leaves", &search_leaves_of<T>, "queries"_a.noconvert(), "tree"_a, "scale"_a,
          "rows"_a.noconvert(), "ids"_a.noconvert(), "starts"_a.noconvert(), "beam"_a,
          "sq_dists"_a.noconvert(), "found"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_vocabulary_tree(nb::module_& m) {
    add_tree_for<float>(m);
    add_tree_for<double>(m);
}

}  // namespace coterie::bind
