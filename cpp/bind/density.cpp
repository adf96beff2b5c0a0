// Bindings of the density family: DBSCAN on a grid, on tiles, and by looking neighbours up.
#include "coterie/density/dbscan_graph.hpp"
#include "coterie/density/dbscan_grid.hpp"
#include "coterie/density/dbscan_tiles.hpp"

#include <nanobind/stl/string.h>

#include "rows_args.hpp"

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
    require_length(*weights, n_rows, "weights must have one entry per row");
    const double* first = weights->data();
    const bool negative = std::any_of(first, first + n_rows, [](double w) { return w < 0; });
    return {eps, min_weight, first, !negative};
}

Clustering as_clustering(const Labels& labels, const Flags& core, std::int64_t n_rows) {
    require(n_rows > 0 && n_rows < std::int64_t{no_cluster}, "rows must be 1 to 2^32 - 2");
    require_length(labels, n_rows, "labels must have one entry per row");
    require_length(core, n_rows, "core must have one entry per row");
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
    require_length(labels, queries.n_rows, "labels must have one entry per row");
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
DenseNeighbours<T> neighbours_in(const Matrix<const T>& dists, double eps) {
    return {dists, eps};
}

template <class T, class Index>
SparseNeighbours<T, Index> neighbours_in(const Csr<T, Index>& dists, double eps) {
    return {dists, eps};
}

template <class Given>
std::int64_t dbscan_precomputed(Given given, Weights weights, double eps, double min_weight,
                                const std::string& border, Labels labels, Flags core,
                                int n_threads) {
    const auto dists = as_rows(given);
    require(dists.n_rows == dists.n_cols, "distances must be square");
    return expand(neighbours_in(dists, eps), weights, min_weight, border, labels, core, n_threads);
}

template <class T, class Index>
GraphNeighbours<T, Index> paths_in(const Csr<T, Index>& lengths, double eps) {
    return {lengths, eps};
}

template <class Given>
std::int64_t dbscan_graph(Given given, Weights weights, double eps, double min_weight,
                          const std::string& border, Labels labels, Flags core, int n_threads) {
    const auto lengths = as_rows(given);
    require(lengths.n_rows == lengths.n_cols, "a graph must be square");
    return expand(paths_in(lengths, eps), weights, min_weight, border, labels, core, n_threads);
}

template <class Function>
void add(nb::module_& m, const char* name, Function function) {
    using namespace nb::literals;
    m.def(name, function, "rows"_a.noconvert(), "weights"_a.none(), "eps"_a, "min_weight"_a,
          "border"_a, "labels"_a.noconvert(), "core"_a.noconvert(), "n_threads"_a);
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    add(m, "dbscan_grid", &dbscan_grid<T>);
    add(m, "dbscan_tiles", &dbscan_tiles<T>);
    m.def("label_by_core", &label_by_core<T>, "core_rows"_a.noconvert(),
          "core_labels"_a.noconvert(), "eps"_a, "border"_a, "rows"_a.noconvert(),
          "labels"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_density(nb::module_& m) {
    add_for<float>(m);
    add_for<double>(m);
    for_all_rows([&]<class Given>() { add(m, "dbscan_precomputed", &dbscan_precomputed<Given>); });
    for_csr_rows([&]<class Given>() { add(m, "dbscan_graph", &dbscan_graph<Given>); });
}

}  // namespace coterie::bind
