// How a metric comes from Python.
#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "convert.hpp"

#include "coterie/distance/metric.hpp"

namespace coterie::bind {

// Name, p of Minkowski's, ranges and weights of columns, and the unit of rows that were scaled,
// which may be left out.
using MetricArgs = nb::tuple;

inline Metric as_metric(const MetricArgs& args, std::int64_t n_cols) {
    const std::size_t size = args.size();
    std::string name;
    double p = 2, unit = 1;
    require((size == 4 || size == 5) && nb::try_cast(args[0], name) && nb::try_cast(args[1], p) &&
                (size == 4 || nb::try_cast(args[4], unit)),
            "a metric has a name, a power, ranges, weights and a unit");
    require(unit > 0, "the unit of a metric is a number above 0");
    const auto column = [&](std::size_t i) -> const double* {
        if (args[i].is_none()) return nullptr;
        Column<const double> values;
        require(nb::try_cast(args[i], values, false),
                "ranges and weights of a metric are float64 arrays");
        require_length(values, n_cols, "ranges and weights have an entry per column");
        return values.data();  // which the tuple keeps alive
    };
    const double *ranges = column(2), *weights = column(3);
    require((ranges && weights) || name != "gower", "gower needs ranges and weights");
    return Metric::named(name, p, ranges, weights, unit);
}

}  // namespace coterie::bind
