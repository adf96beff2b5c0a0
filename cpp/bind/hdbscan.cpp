// Bindings of trees that are made of a spanning tree.
#include <nanobind/nanobind.h>

#include "convert.hpp"

#include "coterie/merge_tree.hpp"

namespace coterie::bind {
namespace {

std::span<const std::int32_t> as_span(const Column<const std::int32_t>& column) {
    return {column.data(), column.shape(0)};
}

void merge_tree_of(Column<const std::int32_t> heads, Column<const std::int32_t> tails,
                   Column<std::int32_t> left, Column<std::int32_t> right,
                   Column<std::int32_t> sizes) {
    const auto n_edges = static_cast<std::int64_t>(heads.shape(0));
    require(n_edges < std::int64_t{1} << 30, "there must be fewer than 2^30 edges");
    for (const std::size_t length : {tails.shape(0), left.shape(0), right.shape(0), sizes.shape(0)})
        require(length == heads.shape(0), "all arrays must have an entry an edge");
    for (const auto& ends : {as_span(heads), as_span(tails)})
        for (const std::int32_t row : ends)
            require(0 <= row && row <= n_edges, "edges must join rows of the tree");
    without_gil([&] {
        merge_tree(as_span(heads), as_span(tails), left.data(), right.data(), sizes.data());
    });
}

}  // namespace

void add_hdbscan(nb::module_& m) {
    using namespace nb::literals;
    m.def("merge_tree", &merge_tree_of, "heads"_a.noconvert(), "tails"_a.noconvert(),
          "left"_a.noconvert(), "right"_a.noconvert(), "sizes"_a.noconvert());
}

}  // namespace coterie::bind
