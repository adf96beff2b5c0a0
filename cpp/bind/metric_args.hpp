// How a metric comes from Python.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "convert.hpp"

#include "coterie/metric.hpp"

namespace coterie::bind {

// Name, p of Minkowski's, ranges and weights of Gower's columns.
using MetricArgs = std::tuple<std::string, double, std::optional<Column<const double>>,
                              std::optional<Column<const double>>>;

inline Metric as_metric(const MetricArgs& args, std::int64_t n_cols) {
    const auto& [name, p, ranges, weights] = args;
    for (const auto* column : {&ranges, &weights}) {
        require(column->has_value() || name != "gower", "gower needs ranges and weights");
        if (*column) require_length(**column, n_cols, "ranges and weights have an entry a column");
    }
    return Metric::named(name, p, ranges ? ranges->data() : nullptr,
                         weights ? weights->data() : nullptr);
}

}  // namespace coterie::bind
