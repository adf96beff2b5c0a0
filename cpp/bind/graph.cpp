// Bindings of graphs.
#include <algorithm>
#include <limits>
#include <vector>

#include "convert.hpp"

#include "coterie/graph/closeness.hpp"
#include "coterie/graph/shortest_paths.hpp"

namespace coterie::bind {
namespace {

using Starts = Column<const std::int64_t>;
using Heads = Column<const std::int32_t>;
using Lengths = std::optional<Column<const double>>;

CsrGraph as_graph(const Starts& starts, const Heads& heads, const Lengths& lengths) {
    require(starts.shape(0) >= 1, "starts must have an entry more than there are nodes");
    const auto n_nodes = static_cast<std::int64_t>(starts.shape(0)) - 1;
    const auto n_arcs = static_cast<std::int64_t>(heads.shape(0));
    require(n_nodes < std::numeric_limits<std::int32_t>::max(), "there are too many nodes");
    require_starts(starts.data(), n_nodes, n_arcs, "starts must rise within the arcs");
    require_indexes(heads.data(), n_arcs, n_nodes, "heads must be nodes");
    if (lengths) {
        require_length(*lengths, n_arcs, "lengths must have an entry per arc");
        bool sound = true;  // else a search would not end
        for (std::int64_t arc = 0; arc < n_arcs; ++arc) sound &= lengths->data()[arc] >= 0;
        require(sound, "lengths must be zero or more");
    }
    return {n_nodes, starts.data(), heads.data(), lengths ? lengths->data() : nullptr};
}

void nearest_nodes(Starts starts, Heads heads, Lengths lengths, Column<const std::int32_t> sources,
                   Column<double> distances, Column<std::int32_t> labels) {
    const CsrGraph graph = as_graph(starts, heads, lengths);
    const auto n_sources = static_cast<std::int32_t>(sources.shape(0));
    require_indexes(sources.data(), n_sources, graph.n_nodes, "sources must be nodes");
    require_length(distances, graph.n_nodes, "distances must have an entry per node");
    require_length(labels, graph.n_nodes, "labels must have an entry per node");
    without_gil([&] {
        std::fill_n(distances.data(), graph.n_nodes, std::numeric_limits<double>::infinity());
        std::fill_n(labels.data(), graph.n_nodes, n_sources);
        crew_of(1).run(1, [&](std::int64_t, int) {
            PathScratch scratch;
            search_from(
                graph, sources.data(), n_sources, distances.data(), labels.data(), scratch,
                [](std::int32_t) { return true; }, [](std::int32_t, double) { return true; });
        });
        for (std::int64_t i = 0; i < graph.n_nodes; ++i)
            if (labels.data()[i] == n_sources) labels.data()[i] = -1;
    });
}

void closeness_sums(Starts starts, Heads heads, Lengths lengths, Column<const std::int32_t> labels,
                    std::int64_t n_clusters, Column<double> sums, Column<std::int64_t> n_reached,
                    int n_threads) {
    const CsrGraph graph = as_graph(starts, heads, lengths);
    require_length(labels, graph.n_nodes, "labels must have an entry per node");
    for (std::int64_t i = 0; i < graph.n_nodes; ++i)
        require(labels.data()[i] < n_clusters, "labels must be clusters");
    require_length(sums, graph.n_nodes, "sums must have an entry per node");
    require_length(n_reached, graph.n_nodes, "counts must have an entry per node");
    without_gil([&] {
        sum_all_inside(graph, labels.data(), n_clusters, sums.data(), n_reached.data(),
                       crew_of(n_threads));
    });
}

void graph_medoids(Starts starts, Heads heads, Lengths lengths, Column<const std::int32_t> labels,
                   Weights weights, bool both_ways, Column<std::int64_t> medoids, int n_threads) {
    const CsrGraph graph = as_graph(starts, heads, lengths);
    const auto n_clusters = static_cast<std::int64_t>(medoids.shape(0));
    require_length(labels, graph.n_nodes, "labels must have an entry per node");
    for (std::int64_t i = 0; i < graph.n_nodes; ++i)
        require(labels.data()[i] < n_clusters, "labels must be clusters");
    require_indexes(medoids.data(), n_clusters, graph.n_nodes, "medoids must be nodes");
    const double* own = as_weights(weights, graph.n_nodes);
    without_gil([&] {
        find_medoids(graph, labels.data(), own, both_ways, n_clusters, medoids.data(),
                     crew_of(n_threads));
    });
}

}  // namespace

void add_graph(nb::module_& m) {
    using namespace nb::literals;
    m.def("nearest_nodes", &nearest_nodes, "starts"_a.noconvert(), "heads"_a.noconvert(),
          "lengths"_a.none(), "sources"_a.noconvert(), "distances"_a.noconvert(),
          "labels"_a.noconvert());
    m.def("closeness_sums", &closeness_sums, "starts"_a.noconvert(), "heads"_a.noconvert(),
          "lengths"_a.none(), "labels"_a.noconvert(), "n_clusters"_a, "sums"_a.noconvert(),
          "n_reached"_a.noconvert(), "n_threads"_a);
    m.def("graph_medoids", &graph_medoids, "starts"_a.noconvert(), "heads"_a.noconvert(),
          "lengths"_a.none(), "labels"_a.noconvert(), "weights"_a.none(), "both_ways"_a,
          "medoids"_a.noconvert(), "n_threads"_a);
}

}  // namespace coterie::bind
