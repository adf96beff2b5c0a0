// Bindings of distances, and of an index of rows that is asked for neighbours and trees.
#include "coterie/neighbors/neighbors.hpp"

#include <nanobind/stl/variant.h>

#include <variant>

#include "convert.hpp"
#include "metric_args.hpp"

#include "coterie/neighbors/reachable.hpp"
#include "coterie/neighbors/spanning_tree.hpp"
#include "coterie/rows/mirror.hpp"

namespace coterie::bind {
namespace {

// Rows of either precision.
using AnyRows = std::variant<Rows<float>, Rows<double>>;

Queries as_queries(const AnyRows& rows) {
    return std::visit([](const auto& given) { return Queries(as_matrix(given)); }, rows);
}

void all_lengths_of(AnyRows queries, AnyRows rows, MetricArgs metric_args, Table<double> lengths,
                    int n_threads) {
    const Queries asking = as_queries(queries);
    std::visit(
        [&](const auto& given) {
            const Metric metric = as_metric(metric_args, given.shape(1));
            require(asking.n_cols() == static_cast<std::int64_t>(given.shape(1)),
                    "queries must have the columns of the rows");
            require(static_cast<std::int64_t>(lengths.shape(0)) == asking.n_rows() &&
                        lengths.shape(1) == given.shape(0),
                    "lengths must have a row per query and a column per row");
            without_gil([&] {
                all_lengths(metric, asking, as_matrix(given), lengths.data(), crew_of(n_threads));
            });
        },
        rows);
}

template <class T>
std::int64_t first_unlike_of(Rows<T> square, int n_threads) {
    require(square.shape(0) == square.shape(1), "a square has as many columns as rows");
    return without_gil([&] { return first_unlike(as_matrix(square), crew_of(n_threads)); });
}

// Who asks an index: other rows, or its own where there are none.
class Asking {
public:
    Asking(const RowIndex& index, const std::optional<AnyRows>& rows) : n_rows_(index.n_rows()) {
        if (!rows) return;
        queries_ = as_queries(*rows);
        n_rows_ = queries_->n_rows();
        require(queries_->n_cols() == index.n_cols(), "queries must have the columns of the rows");
    }
    const Queries* queries() const { return queries_ ? &*queries_ : nullptr; }
    std::int64_t n_rows() const { return n_rows_; }

private:
    std::optional<Queries> queries_;
    std::int64_t n_rows_;
};

// An index together with the arrays of Python's that it reads.
class Index {
public:
    Index(AnyRows rows, MetricArgs metric, bool by_tree, int n_threads)
        : metric_(metric), index_(make(rows, metric, by_tree, n_threads)) {
        if (!by_tree) rows_ = rows;  // a tree has its own
    }

    void knn(const std::optional<AnyRows>& queries, Table<double> lengths,
             Table<std::int64_t> row_ids, int n_threads) const {
        const Asking asking(index_, queries);
        const auto k = static_cast<std::int64_t>(lengths.shape(1));
        require_neighbors(k);
        require_length(lengths, asking.n_rows(), "lengths must have a row per query");
        require(row_ids.shape(0) == lengths.shape(0) && row_ids.shape(1) == lengths.shape(1),
                "row_ids must have the shape of the lengths");
        without_gil([&] {
            coterie::knn(index_, asking.queries(), k, lengths.data(), row_ids.data(),
                         crew_of(n_threads));
        });
    }

    void kth_lengths(const std::optional<AnyRows>& queries, std::int64_t k, Column<double> kth,
                     Column<double> mean, int n_threads) const {
        const Asking asking(index_, queries);
        require_neighbors(k);
        require_length(kth, asking.n_rows(), "kth must have an entry per query");
        require_length(mean, asking.n_rows(), "mean must have an entry per query");
        without_gil([&] {
            coterie::kth_lengths(index_, asking.queries(), k, kth.data(), mean.data(),
                                 crew_of(n_threads));
        });
    }

    void count_within(const std::optional<AnyRows>& queries, double radius, Weights weights,
                      Column<double> counts, int n_threads) const {
        const Asking asking(index_, queries);
        if (weights)
            require_length(*weights, index_.n_rows(), "weights must have an entry per row");
        require_length(counts, asking.n_rows(), "counts must have an entry per query");
        without_gil([&] {
            coterie::count_within(index_, asking.queries(), radius,
                                  weights ? weights->data() : nullptr, counts.data(),
                                  crew_of(n_threads));
        });
    }

    void list_within(const std::optional<AnyRows>& queries, double radius,
                     Column<const std::int64_t> starts, Column<std::int64_t> row_ids,
                     Column<double> lengths, int n_threads) const {
        const Asking asking(index_, queries);
        const std::int64_t n = asking.n_rows();
        require_length(starts, n + 1, "starts must have an entry per query and one more");
        require_starts(starts.data(), n, row_ids.shape(0), "starts must rise within row_ids");
        require_length(row_ids, starts.data()[n], "row_ids must end where starts does");
        require_length(lengths, row_ids.shape(0), "lengths must be as long as row_ids");
        without_gil([&] {
            coterie::list_within(index_, asking.queries(), radius, starts.data(), row_ids.data(),
                                 lengths.data(), crew_of(n_threads));
        });
    }

    void spanning_tree(Weights cores, Column<std::int32_t> heads, Column<std::int32_t> tails,
                       Column<double> lengths, int n_threads) const {
        if (cores) require_length(*cores, index_.n_rows(), "cores must have an entry per row");
        for (const std::size_t length : {heads.shape(0), tails.shape(0), lengths.shape(0)})
            require(static_cast<std::int64_t>(length) + 1 == index_.n_rows(),
                    "a tree has one edge less than it has rows");
        without_gil([&] {
            const std::vector<Edge> edges =
                coterie::spanning_tree(index_, cores ? cores->data() : nullptr, crew_of(n_threads));
            for (std::size_t i = 0; i < edges.size(); ++i) {
                heads.data()[i] = edges[i].head;
                tails.data()[i] = edges[i].tail;
                lengths.data()[i] = edges[i].length;
            }
        });
    }

    void nearest_reachable(const AnyRows& queries, Column<const double> row_cores,
                           Column<const double> query_cores, double alpha,
                           Column<std::int64_t> row_ids, Column<double> lengths,
                           int n_threads) const {
        const Asking asking(index_, queries);
        require_length(row_cores, index_.n_rows(), "row_cores must have an entry per row");
        for (const std::size_t length : {query_cores.shape(0), row_ids.shape(0), lengths.shape(0)})
            require(static_cast<std::int64_t>(length) == asking.n_rows(),
                    "there must be an entry per query");
        const Reach reach{index_.metric(), row_cores.data(), query_cores.data(), alpha};
        without_gil([&] {
            coterie::nearest_reachable(index_, *asking.queries(), reach, row_ids.data(),
                                       lengths.data(), crew_of(n_threads));
        });
    }

    template <class T>
    void copy_rows(Table<T> rows) const {
        require(static_cast<std::int64_t>(rows.shape(0)) == index_.n_rows() &&
                    static_cast<std::int64_t>(rows.shape(1)) == index_.n_cols(),
                "there must be room for all rows");
        index_.copy_rows(rows.data());
    }

private:
    static RowIndex make(const AnyRows& rows, const MetricArgs& args, bool by_tree, int n_threads) {
        return std::visit(
            [&](const auto& given) {
                const auto matrix = as_matrix(given);
                require(
                    matrix.n_rows > 0 && matrix.n_rows < std::numeric_limits<std::int32_t>::max(),
                    "there must be rows, and fewer than 2^31");
                const Metric metric = as_metric(args, matrix.n_cols);
                require(!by_tree || metric.has_boxes(), "a kd-tree does not serve this metric");
                return without_gil(
                    [&] { return RowIndex(metric, matrix, by_tree, crew_of(n_threads)); });
            },
            rows);
    }
    void require_neighbors(std::int64_t k) const {
        require(1 <= k && k <= index_.n_rows(), "k must be at most the number of rows");
    }

    MetricArgs metric_;
    std::optional<AnyRows> rows_;
    RowIndex index_;
};

}  // namespace

void add_neighbors(nb::module_& m) {
    using namespace nb::literals;
    m.def("all_lengths", &all_lengths_of, "queries"_a.noconvert(), "rows"_a.noconvert(), "metric"_a,
          "lengths"_a.noconvert(), "n_threads"_a);
    m.def("first_unlike", &first_unlike_of<float>, "square"_a.noconvert(), "n_threads"_a);
    m.def("first_unlike", &first_unlike_of<double>, "square"_a.noconvert(), "n_threads"_a);
    nb::class_<Index>(m, "Index")
        .def(nb::init<AnyRows, MetricArgs, bool, int>(), "rows"_a.noconvert(), "metric"_a,
             "by_tree"_a, "n_threads"_a)
        .def("knn", &Index::knn, "queries"_a.none().noconvert(), "lengths"_a.noconvert(),
             "row_ids"_a.noconvert(), "n_threads"_a)
        .def("kth_lengths", &Index::kth_lengths, "queries"_a.none().noconvert(), "k"_a,
             "kth"_a.noconvert(), "mean"_a.noconvert(), "n_threads"_a)
        .def("count_within", &Index::count_within, "queries"_a.none().noconvert(), "radius"_a,
             "weights"_a.none(), "counts"_a.noconvert(), "n_threads"_a)
        .def("list_within", &Index::list_within, "queries"_a.none().noconvert(), "radius"_a,
             "starts"_a.noconvert(), "row_ids"_a.noconvert(), "lengths"_a.noconvert(),
             "n_threads"_a)
        .def("spanning_tree", &Index::spanning_tree, "cores"_a.none(), "heads"_a.noconvert(),
             "tails"_a.noconvert(), "lengths"_a.noconvert(), "n_threads"_a)
        .def("nearest_reachable", &Index::nearest_reachable, "queries"_a.noconvert(), "row_cores"_a,
             "query_cores"_a, "alpha"_a, "row_ids"_a.noconvert(), "lengths"_a.noconvert(),
             "n_threads"_a)
        .def("copy_rows", &Index::copy_rows<float>, "rows"_a.noconvert())
        .def("copy_rows", &Index::copy_rows<double>, "rows"_a.noconvert());
}

}  // namespace coterie::bind
