// How cluster sums come from Python.
#pragma once

#include "convert.hpp"

#include "coterie/centroid/sums.hpp"

namespace coterie::bind {

// Where cluster sums are kept; the grid has as many limbs as `values`.
inline SumsOut as_sums(const Column<const double>& step_inverse, const Column<const double>& origin,
                       double weight_step_inverse, const Cube<std::int64_t>& values,
                       const Table<std::int64_t>& weights, std::int64_t n_centers,
                       std::int64_t n_cols) {
    require_length(step_inverse, n_cols, "step_inverse must have one entry a column");
    require_length(origin, n_cols, "origin must have one entry a column");
    require(weights.shape(0) == values.shape(0) &&
                static_cast<std::int64_t>(weights.shape(1)) == n_centers,
            "weight sums must have the limbs of the sums and one entry a centre");
    require(static_cast<std::int64_t>(values.shape(1)) == n_centers &&
                static_cast<std::int64_t>(values.shape(2)) == n_cols,
            "sums must have the shape of the centers");
    const Grid grid{step_inverse.data(), origin.data(), static_cast<int>(values.shape(0)),
                    weight_step_inverse};
    return {grid, values.data(), weights.data()};
}

}  // namespace coterie::bind
