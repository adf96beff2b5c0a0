// A graph by the arcs that leave each node.
#pragma once

#include <cstdint>

namespace coterie {

// Arcs of node u: heads[starts[u]] to heads[starts[u + 1]], with lengths of zero or more, or
// without any, where each arc is one hop.
struct CsrGraph {
    std::int64_t n_nodes;
    const std::int64_t* starts;
    const std::int32_t* heads;
    const double* lengths;  // or null

    double length(std::int64_t arc) const { return lengths ? lengths[arc] : 1.0; }
};

}  // namespace coterie
