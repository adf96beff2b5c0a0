// What bindings of search have in common: metrics, rows, and room for answers.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "convert.hpp"

#include "coterie/search/exact.hpp"
#include "coterie/search/finish.hpp"

namespace coterie::bind {

using search::Measure;

inline Measure measure_of(const std::string& metric) {
    if (metric == "euclidean" || metric == "sqeuclidean") return Measure::squares;
    if (metric == "inner_product") return Measure::product;
    if (metric == "cosine") return Measure::angle;
    throw std::invalid_argument("there is no search by this metric");
}

inline void require_answers(const Table<double>& values, const Table<std::int64_t>& ids,
                            std::int64_t n_queries) {
    require_length(values, n_queries, "there must be values for every query");
    require_length(ids, n_queries, "there must be ids for every query");
    require(values.shape(1) == ids.shape(1) && ids.shape(1) > 0, "values and ids must be alike");
}

template <class In>
Matrix<const In> view(const Table<const In>& table) {
    const auto n_cols = static_cast<std::int64_t>(table.shape(1));
    return {table.data(), static_cast<std::int64_t>(table.shape(0)), n_cols, n_cols, 1};
}

// What is told of a value: the distance of a sum of squares where that is asked for.
inline auto length_by(bool root) {
    return [root](double value) { return root ? std::sqrt(value) : value; };
}

inline auto answers_to(const Table<double>& values, const Table<std::int64_t>& ids, bool root) {
    return search::Answers{static_cast<std::int64_t>(ids.shape(1)), values.data(), ids.data(),
                           length_by(root)};
}

}  // namespace coterie::bind
