// Bindings of distances, neighbours and the spanning tree.
#include "coterie/neighbors.hpp"

#include "convert.hpp"
#include "metric_args.hpp"

#include "coterie/reachable.hpp"
#include "coterie/spanning_tree.hpp"

namespace coterie::bind {
namespace {

template <class T>
struct Asked {
    Metric metric;
    Matrix<const T> rows;
    std::optional<Matrix<const T>> queries;
    bool by_tree;

    Asked(const Rows<T>& rows, const std::optional<Rows<T>>& queries, const MetricArgs& args,
          bool by_tree)
        : metric(as_metric(args, rows.shape(1))), rows(as_matrix(rows)), by_tree(by_tree) {
        if (queries) this->queries = as_matrix(*queries);
        require(!queries || queries->shape(1) == rows.shape(1),
                "queries must have the columns of the rows");
        require(
            this->rows.n_rows > 0 && this->rows.n_rows < std::numeric_limits<std::int32_t>::max(),
            "there must be rows, and fewer than 2^31");
    }
    Search<T> search() const { return {metric, rows, queries ? &*queries : nullptr, by_tree}; }
    std::int64_t n_queries() const { return queries ? queries->n_rows : rows.n_rows; }
};

template <class T>
void all_lengths_of(Rows<T> queries, Rows<T> rows, MetricArgs metric, Table<double> lengths,
                    int n_threads) {
    const Asked<T> asked(rows, queries, metric, false);
    require(lengths.shape(0) == queries.shape(0) && lengths.shape(1) == rows.shape(0),
            "lengths must have a row a query and a column a row");
    without_gil([&] {
        all_lengths(asked.metric, *asked.queries, asked.rows, lengths.data(), crew_of(n_threads));
    });
}

template <class T>
void knn_of(Rows<T> rows, std::optional<Rows<T>> queries, MetricArgs metric, bool by_tree,
            Table<double> lengths, Table<std::int64_t> row_ids, int n_threads) {
    const Asked<T> asked(rows, queries, metric, by_tree);
    const auto k = static_cast<std::int64_t>(lengths.shape(1));
    require(1 <= k && k <= asked.rows.n_rows, "k must be at most the number of rows");
    require_length(lengths, asked.n_queries(), "lengths must have a row a query");
    require(row_ids.shape(0) == lengths.shape(0) && row_ids.shape(1) == lengths.shape(1),
            "row_ids must have the shape of the lengths");
    without_gil(
        [&] { knn(asked.search(), k, lengths.data(), row_ids.data(), crew_of(n_threads)); });
}

template <class T>
void kth_lengths_of(Rows<T> rows, std::optional<Rows<T>> queries, std::int64_t k, MetricArgs metric,
                    bool by_tree, Column<double> kth, std::optional<Column<double>> mean,
                    int n_threads) {
    const Asked<T> asked(rows, queries, metric, by_tree);
    require(1 <= k && k <= asked.rows.n_rows, "k must be at most the number of rows");
    require_length(kth, asked.n_queries(), "kth must have an entry a query");
    if (mean) require_length(*mean, asked.n_queries(), "mean must have an entry a query");
    without_gil([&] {
        kth_lengths(asked.search(), k, kth.data(), mean ? mean->data() : nullptr,
                    crew_of(n_threads));
    });
}

template <class T>
void count_within_of(Rows<T> rows, std::optional<Rows<T>> queries, double radius, MetricArgs metric,
                     bool by_tree, Weights weights, Column<double> counts, int n_threads) {
    const Asked<T> asked(rows, queries, metric, by_tree);
    if (weights) require_length(*weights, asked.rows.n_rows, "weights must have an entry a row");
    require_length(counts, asked.n_queries(), "counts must have an entry a query");
    without_gil([&] {
        count_within(asked.search(), radius, weights ? weights->data() : nullptr, counts.data(),
                     crew_of(n_threads));
    });
}

template <class T>
void list_within_of(Rows<T> rows, std::optional<Rows<T>> queries, double radius, MetricArgs metric,
                    bool by_tree, Column<const std::int64_t> starts, Column<std::int64_t> row_ids,
                    Column<double> lengths, int n_threads) {
    const Asked<T> asked(rows, queries, metric, by_tree);
    require_length(starts, asked.n_queries() + 1, "starts must have an entry a query and one more");
    require_starts(starts.data(), asked.n_queries(), row_ids.shape(0),
                   "starts must rise within row_ids");
    require_length(row_ids, starts.data()[asked.n_queries()], "row_ids must end where starts does");
    require_length(lengths, row_ids.shape(0), "lengths must be as long as row_ids");
    without_gil([&] {
        list_within(asked.search(), radius, starts.data(), row_ids.data(), lengths.data(),
                    crew_of(n_threads));
    });
}

template <class T>
void spanning_tree_of(Rows<T> rows, MetricArgs metric, bool by_tree, Weights cores,
                      Column<std::int32_t> heads, Column<std::int32_t> tails,
                      Column<double> lengths, int n_threads) {
    const Asked<T> asked(rows, std::nullopt, metric, by_tree);
    if (cores) require_length(*cores, asked.rows.n_rows, "cores must have an entry a row");
    for (const std::size_t length : {heads.shape(0), tails.shape(0), lengths.shape(0)})
        require(length + 1 == rows.shape(0), "a tree has one edge less than it has rows");
    without_gil([&] {
        const std::vector<Edge> edges = spanning_tree(
            asked.metric, asked.rows, cores ? cores->data() : nullptr, by_tree, crew_of(n_threads));
        for (std::size_t i = 0; i < edges.size(); ++i) {
            heads.data()[i] = edges[i].head;
            tails.data()[i] = edges[i].tail;
            lengths.data()[i] = edges[i].length;
        }
    });
}

template <class T>
void nearest_reachable_of(Rows<T> rows, Rows<T> queries, MetricArgs metric, bool by_tree,
                          Column<const double> row_cores, Column<const double> query_cores,
                          double alpha, Column<std::int64_t> row_ids, Column<double> lengths,
                          int n_threads) {
    const Asked<T> asked(rows, queries, metric, by_tree);
    require_length(row_cores, asked.rows.n_rows, "row_cores must have an entry a row");
    for (const std::size_t length : {query_cores.shape(0), row_ids.shape(0), lengths.shape(0)})
        require(length == queries.shape(0), "there must be an entry a query");
    const Reach reach{asked.metric, row_cores.data(), query_cores.data(), alpha};
    without_gil([&] {
        nearest_reachable(asked.search(), reach, row_ids.data(), lengths.data(),
                          crew_of(n_threads));
    });
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("all_lengths", &all_lengths_of<T>, "queries"_a.noconvert(), "rows"_a.noconvert(),
          "metric"_a, "lengths"_a.noconvert(), "n_threads"_a);
    m.def("knn", &knn_of<T>, "rows"_a.noconvert(), "queries"_a.none().noconvert(), "metric"_a,
          "by_tree"_a, "lengths"_a.noconvert(), "row_ids"_a.noconvert(), "n_threads"_a);
    m.def("kth_lengths", &kth_lengths_of<T>, "rows"_a.noconvert(), "queries"_a.none().noconvert(),
          "k"_a, "metric"_a, "by_tree"_a, "kth"_a.noconvert(), "mean"_a.none(), "n_threads"_a);
    m.def("count_within", &count_within_of<T>, "rows"_a.noconvert(), "queries"_a.none().noconvert(),
          "radius"_a, "metric"_a, "by_tree"_a, "weights"_a.none(), "counts"_a.noconvert(),
          "n_threads"_a);
    m.def("list_within", &list_within_of<T>, "rows"_a.noconvert(), "queries"_a.none().noconvert(),
          "radius"_a, "metric"_a, "by_tree"_a, "starts"_a.noconvert(), "row_ids"_a.noconvert(),
          "lengths"_a.noconvert(), "n_threads"_a);
    m.def("nearest_reachable", &nearest_reachable_of<T>, "rows"_a.noconvert(),
          "queries"_a.noconvert(), "metric"_a, "by_tree"_a, "row_cores"_a, "query_cores"_a,
          "alpha"_a, "row_ids"_a.noconvert(), "lengths"_a.noconvert(), "n_threads"_a);
    m.def("spanning_tree", &spanning_tree_of<T>, "rows"_a.noconvert(), "metric"_a, "by_tree"_a,
          "cores"_a.none(), "heads"_a.noconvert(), "tails"_a.noconvert(), "lengths"_a.noconvert(),
          "n_threads"_a);
}

}  // namespace

void add_neighbors(nb::module_& m) {
    add_for<float>(m);
    add_for<double>(m);
}

}  // namespace coterie::bind
