// Bindings of the density family: DBSCAN on a grid, on tiles, and by looking neighbours up.
#include "coterie/density/dbscan_graph.hpp"
#include "coterie/density/dbscan_grid.hpp"
#include "coterie/density/dbscan_tiles.hpp"

#include <nanobind/stl/string.h>

#include "csr.hpp"

namespace coterie::bind {
namespace {

using Labels = Column<std::int64_t>;
using Flags = Column<std::uint8_t>;

Border as_border(const std::string& name) {
    if (name == "first") return Border::first;
    if (name == "nearest") return Border::nearest;
    require(name == "noise", "border must be first, nearest or noise");
    return Border::noise;
}

Density as_density(double eps, double min_weight, const Weights& weights, std::int64_t n_rows) {
    if (!weights) return {eps, min_weight, nullptr, true};
    require_length(*weights, n_rows, "weights must have one entry a row");
    const double* first = weights->data();
    const bool negative = std::any_of(first, first + n_rows, [](double w) { return w < 0; });
    return {eps, min_weight, first, !negative};
}

Clustering as_clustering(const Labels& labels, const Flags& core, std::int64_t n_rows) {
    require(n_rows > 0 && n_rows < std::int64_t{no_cluster}, "rows must be 1 to 2^32 - 2");
    require_length(labels, n_rows, "labels must have one entry a row");
    require_length(core, n_rows, "core must have one entry a row");
    return {labels.data(), core.data()};
}

template <class T>
std::optional<std::int64_t> dbscan_grid(Rows<T> rows, Weights weights, double eps,
                                        double min_weight, const std::string& border, Labels labels,
                                        Flags core, int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    const Density density = as_density(eps, min_weight, weights, x.n_rows);
    const Clustering out = as_clustering(labels, core, x.n_rows);
    const Border rule = as_border(border);
    return without_gil([&] { return dbscan_on_grid(x, density, rule, out, crew_of(n_threads)); });
}

template <class T>
std::int64_t dbscan_tiles(Rows<T> rows, Weights weights, double eps, double min_weight,
                          const std::string& border, Labels labels, Flags core, int n_threads) {
    const Matrix<const T> x = as_matrix(rows);
    const Density density = as_density(eps, min_weight, weights, x.n_rows);
    const Clustering out = as_clustering(labels, core, x.n_rows);
    const Border rule = as_border(border);
    return without_gil([&] {
        const Crew crew = crew_of(n_threads);
        return TileDbscan<T>(x, density, crew).run(rule, out);
    });
}

template <class T>
void label_by_core(Rows<T> core_rows, Column<const std::int64_t> core_labels, double eps,
                   const std::string& border, Rows<T> rows, Labels labels, int n_threads) {
    const Matrix<const T> x = as_matrix(core_rows), queries = as_matrix(rows);
    require(x.n_rows > 0 && x.n_cols == queries.n_cols, "rows must have the columns of core_rows");
    require_length(core_labels, x.n_rows, "core_labels must have one entry a core row");
    require_length(labels, queries.n_rows, "labels must have one entry a row");
    const Border rule = as_border(border);
    without_gil([&] {
        const Crew crew = crew_of(n_threads);
        if (label_by_core_on_grid(x, core_labels.data(), eps, rule, queries, labels.data(), crew))
            return;
        TileDbscan<T>(x, Density{eps, 0, nullptr, true}, crew)
            .label_by_core(rule, core_labels.data(), queries, labels.data());
    });
}

template <class Neighbours>
std::int64_t expand(const Neighbours& neighbours, const Weights& weights, double min_weight,
                    const std::string& border, const Labels& labels, const Flags& core,
                    int n_threads) {
    const std::int64_t n = neighbours.n_rows();
    const Density density = as_density(neighbours.eps, min_weight, weights, n);
    const Clustering out = as_clustering(labels, core, n);
    const Border rule = as_border(border);
    return without_gil(
        [&] { return dbscan_by_expansion(neighbours, density, rule, out, crew_of(n_threads)); });
}

template <class T>
std::int64_t dbscan_dense(Rows<T> dists, Weights weights, double eps, double min_weight,
                          const std::string& border, Labels labels, Flags core, int n_threads) {
    require(dists.shape(0) == dists.shape(1), "dists must be square");
    return expand(DenseNeighbours<T>{as_matrix(dists), eps}, weights, min_weight, border, labels,
                  core, n_threads);
}

template <class T, class Index>
Csr<T, Index> as_square_csr(const Column<const T>& values, const Column<const Index>& columns,
                            const Column<const Index>& starts) {
    return as_csr(values, columns, starts, static_cast<std::int64_t>(starts.shape(0)) - 1);
}

template <class T, class Index>
std::int64_t dbscan_sparse(Column<const T> values, Column<const Index> columns,
                           Column<const Index> starts, Weights weights, double eps,
                           double min_weight, const std::string& border, Labels labels, Flags core,
                           int n_threads) {
    const Csr<T, Index> dists = as_square_csr(values, columns, starts);
    return expand(SparseNeighbours<T, Index>{dists, eps}, weights, min_weight, border, labels, core,
                  n_threads);
}

template <class T, class Index>
std::int64_t dbscan_graph(Column<const T> values, Column<const Index> columns,
                          Column<const Index> starts, Weights weights, double eps,
                          double min_weight, const std::string& border, Labels labels, Flags core,
                          int n_threads) {
    const Csr<T, Index> lengths = as_square_csr(values, columns, starts);
    return expand(GraphNeighbours<T, Index>{lengths, eps}, weights, min_weight, border, labels,
                  core, n_threads);
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    const auto add = [&](const char* name, auto function) {
        m.def(name, function, "rows"_a.noconvert(), "weights"_a.none(), "eps"_a, "min_weight"_a,
              "border"_a, "labels"_a.noconvert(), "core"_a.noconvert(), "n_threads"_a);
    };
    add("dbscan_grid", &dbscan_grid<T>);
    add("dbscan_tiles", &dbscan_tiles<T>);
    add("dbscan_dense", &dbscan_dense<T>);
    m.def("label_by_core", &label_by_core<T>, "core_rows"_a.noconvert(),
          "core_labels"_a.noconvert(), "eps"_a, "border"_a, "rows"_a.noconvert(),
          "labels"_a.noconvert(), "n_threads"_a);
}

template <class T, class Index>
void add_sparse_for(nb::module_& m) {
    using namespace nb::literals;
    const auto add = [&](const char* name, auto function) {
        m.def(name, function, "values"_a.noconvert(), "columns"_a.noconvert(),
              "starts"_a.noconvert(), "weights"_a.none(), "eps"_a, "min_weight"_a, "border"_a,
              "labels"_a.noconvert(), "core"_a.noconvert(), "n_threads"_a);
    };
    add("dbscan_sparse", &dbscan_sparse<T, Index>);
    add("dbscan_graph", &dbscan_graph<T, Index>);
}

}  // namespace

void add_density(nb::module_& m) {
    add_for<float>(m);
    add_for<double>(m);
    add_sparse_for<float, std::int32_t>(m);
    add_sparse_for<float, std::int64_t>(m);
    add_sparse_for<double, std::int32_t>(m);
    add_sparse_for<double, std::int64_t>(m);
}

}  // namespace coterie::bind
