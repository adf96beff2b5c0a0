// Bindings of the mixture family: passes of EM.
#include <nanobind/stl/pair.h>

#include "rows_args.hpp"

#include "coterie/mixture/gaussian_pass.hpp"
#include "coterie/mixture/linear_pass.hpp"
#include "coterie/mixture/small_matrices.hpp"

namespace coterie::bind {
namespace {

using Doubles = Column<const double>;
template <class T>
using Maybe = std::optional<T>;
using DoublesIn = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // any shape
using DoublesOut = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

template <class Array>
auto* data_or_null(const Maybe<Array>& array) {
    return array ? array->data() : nullptr;
}

template <class Array>
bool has_shape(const Array& array, std::initializer_list<std::int64_t> shape) {
    if (array.ndim() != shape.size()) return false;
    std::size_t axis = 0;
    for (const std::int64_t length : shape)
        if (static_cast<std::int64_t>(array.shape(axis++)) != length) return false;
    return true;
}

bool any_alive(const Doubles& log_weights) {
    return std::any_of(log_weights.data(), log_weights.data() + log_weights.shape(0),
                       [](double w) { return w > -INFINITY; });
}

PosteriorOut as_posterior(const Maybe<Column<double>>& row_log_prob,
                          const Maybe<Table<double>>& resp,
                          const Maybe<Column<std::int32_t>>& labels, std::int64_t n,
                          std::int64_t k) {
    if (row_log_prob) require_length(*row_log_prob, n, "row_log_prob must have one entry per row");
    if (labels) require_length(*labels, n, "labels must have one entry per row");
    require(!resp || has_shape(*resp, {n, k}),
            "resp must have a row for each row and a column for each component");
    return {data_or_null(row_log_prob), data_or_null(resp), data_or_null(labels)};
}

GaussianMixture as_mixture(const Doubles& log_weights, const Table<const double>& means,
                           const DoublesIn& factors, const Doubles& log_norms, double background) {
    const auto k = static_cast<std::int64_t>(means.shape(0));
    const auto d = static_cast<std::int64_t>(means.shape(1));
    require(k > 0 && d > 0, "means must have at least one row and one column");
    require_length(log_weights, k, "log_weights must have one entry per component");
    require_length(log_norms, k, "log_norms must have one entry per component");
    const bool diagonal = has_shape(factors, {k, d}), full = has_shape(factors, {k, d, d});
    require(diagonal || full || has_shape(factors, {1, d, d}),
            "factors must have the shape (k, d, d), (1, d, d) or (k, d)");
    const Factors kind = diagonal ? Factors::diagonal : full ? Factors::full : Factors::tied;
    const bool alive =
        background > -INFINITY || std::any_of(log_weights.data(), log_weights.data() + k,
                                              [](double w) { return w > -INFINITY; });
    require(alive, "log_weights are all -inf: at least one component must have weight");
    return {k,         d, log_weights.data(), means.data(), kind, factors.data(), log_norms.data(),
            background};
}

// All of counts and first, or none; second only with them.
Maybe<MomentsOut> as_moments(const Maybe<Column<double>>& counts, const Maybe<Table<double>>& first,
                             const Maybe<DoublesOut>& second, std::int64_t k, std::int64_t d) {
    require(counts.has_value() == first.has_value() && (counts || !second),
            "counts and first are given together, second only with them");
    if (!counts) return std::nullopt;
    require_length(*counts, k + 1, "counts must have one entry per component and one more");
    require(has_shape(*first, {k, d}), "first must have the shape of the means");
    if (!second) return MomentsOut{counts->data(), first->data(), Products::none, nullptr};
    const bool full = has_shape(*second, {k, d, d});
    require(full || has_shape(*second, {k, d}), "second must have the shape (k, d, d) or (k, d)");
    return MomentsOut{counts->data(), first->data(), full ? Products::full : Products::diagonal,
                      second->data()};
}

template <class T>
std::pair<double, double> gaussian_pass_rows(
    Rows<T> rows, Weights weights, Doubles log_weights, Table<const double> means,
    DoublesIn factors, Doubles log_norms, double background, Maybe<Column<double>> row_log_prob,
    Maybe<Table<double>> resp, Maybe<Column<std::int32_t>> labels, Maybe<Column<double>> counts,
    Maybe<Table<double>> first, Maybe<DoublesOut> second, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const GaussianMixture mixture = as_mixture(log_weights, means, factors, log_norms, background);
    const std::int64_t n = data.rows.n_rows, k = mixture.n_components, d = mixture.n_cols;
    require(data.rows.n_cols == d, "means must have the columns of the rows");
    const PosteriorOut out = as_posterior(row_log_prob, resp, labels, n, k);
    const Maybe<MomentsOut> moments = as_moments(counts, first, second, k, d);
    const Likelihood total = without_gil([&] {
        return gaussian_pass(data, mixture, out, moments ? &*moments : nullptr, crew_of(n_threads));
    });
    return {total.log_lik, total.neg_entropy};
}

template <class Data>
std::pair<double, double> linear_pass_of(const Data& data, const Doubles& offsets,
                                         const Table<const double>& slopes,
                                         const Maybe<Column<double>>& row_log_prob,
                                         const Maybe<Table<double>>& resp,
                                         const Maybe<Column<std::int32_t>>& labels,
                                         const Maybe<Column<double>>& counts,
                                         const Maybe<Table<double>>& first, int n_threads) {
    const auto k = static_cast<std::int64_t>(slopes.shape(0));
    const std::int64_t n = data.rows.n_rows, d = data.rows.n_cols;
    require(k > 0 && d > 0, "slopes must have at least one row and one column");
    require(static_cast<std::int64_t>(slopes.shape(1)) == d,
            "slopes must have the columns of the rows");
    require_length(offsets, k, "offsets must have one entry per component");
    require(any_alive(offsets), "offsets are all -inf: at least one component must have weight");
    const PosteriorOut out = as_posterior(row_log_prob, resp, labels, n, k);
    require(counts.has_value() == first.has_value(), "counts and first are given together");
    if (counts) require_length(*counts, k, "counts must have one entry per component");
    require(!first || has_shape(*first, {k, d}), "first must have the shape of the slopes");
    const LinearOut sums{data_or_null(counts), data_or_null(first)};
    const Likelihood total = without_gil([&] {
        return linear_pass(data, LinearMixture{k, d, offsets.data(), slopes.data()}, out,
                           counts ? &sums : nullptr, crew_of(n_threads));
    });
    return {total.log_lik, total.neg_entropy};
}

template <class Given>
std::pair<double, double> linear_pass_rows(Given given, Weights weights, Doubles offsets,
                                           Table<const double> slopes,
                                           Maybe<Column<double>> row_log_prob,
                                           Maybe<Table<double>> resp,
                                           Maybe<Column<std::int32_t>> labels,
                                           Maybe<Column<double>> counts, Maybe<Table<double>> first,
                                           int n_threads) {
    return linear_pass_of(as_weighted(given, weights), offsets, slopes, row_log_prob, resp, labels,
                          counts, first, n_threads);
}

template <class T>
std::int64_t pack_bits_of(Rows<T> rows, Table<std::uint8_t> bits, int n_threads) {
    const Matrix<const T> from = as_matrix(rows);
    require(has_shape(bits, {from.n_rows, (from.n_cols + 7) / 8}),
            "bits must have a row for each row and a byte for each eight columns");
    return without_gil([&] { return pack_bits(from, bits.data(), crew_of(n_threads)); });
}

std::pair<double, double> linear_pass_bits(
    Table<const std::uint8_t> bits, std::int64_t n_cols, Weights weights, Doubles offsets,
    Table<const double> slopes, Maybe<Column<double>> row_log_prob, Maybe<Table<double>> resp,
    Maybe<Column<std::int32_t>> labels, Maybe<Column<double>> counts, Maybe<Table<double>> first,
    int n_threads) {
    const BitRows rows{bits.data(), static_cast<std::int64_t>(bits.shape(0)), n_cols};
    require(n_cols > 0 && static_cast<std::int64_t>(bits.shape(1)) == rows.n_bytes(),
            "bits must have a byte for each eight columns");
    const WeightedBits data{rows, as_weights(weights, rows.n_rows)};
    return linear_pass_of(data, offsets, slopes, row_log_prob, resp, labels, counts, first,
                          n_threads);
}

// How many matrices a stack has, all of them squares with `d` columns.
std::int64_t stack_size(const Cube<const double>& stack, std::int64_t d) {
    const auto k = static_cast<std::int64_t>(stack.shape(0));
    require(has_shape(stack, {k, d, d}), "matrices must be squares, stacked");
    return k;
}

void factor_inverses_of(Cube<const double> matrices, Doubles least, Cube<double> factors,
                        Column<bool> found) {
    const auto d = static_cast<std::int64_t>(matrices.shape(1));
    const std::int64_t k = stack_size(matrices, d);
    require(has_shape(factors, {k, d, d}), "factors must have the shape of the matrices");
    require_length(least, k, "least must have one entry per matrix");
    require_length(found, k, "found must have one entry per matrix");
    without_gil([&] {
        factor_inverses(matrices.data(), least.data(), k, d, factors.data(), found.data());
    });
}

bool all_exceed_floor(Cube<const double> matrices, Table<const double> floor) {
    const auto d = static_cast<std::int64_t>(matrices.shape(1));
    const std::int64_t k = stack_size(matrices, d);
    require(has_shape(floor, {d, d}), "floor must be a matrix like the others");
    return without_gil([&] { return all_exceed(matrices.data(), floor.data(), k, d); });
}

void scatter_about_moved(Doubles counts, Table<const double> first, Cube<const double> second,
                         Table<const double> moved, Cube<double> scatter) {
    const auto d = static_cast<std::int64_t>(second.shape(1));
    const std::int64_t k = stack_size(second, d);
    require_length(counts, k, "counts must have one entry per component");
    require(has_shape(first, {k, d}), "first must have a row per component");
    require(has_shape(moved, {k, d}), "moved must have a row per component");
    require(has_shape(scatter, {k, d, d}), "scatter must have the shape of second");
    without_gil([&] {
        scatter_about(counts.data(), first.data(), second.data(), moved.data(), k, d,
                      scatter.data());
    });
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("gaussian_pass", &gaussian_pass_rows<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "log_weights"_a.noconvert(), "means"_a.noconvert(), "factors"_a.noconvert(),
          "log_norms"_a.noconvert(), "background"_a, "row_log_prob"_a.none(), "resp"_a.none(),
          "labels"_a.none(), "counts"_a.none(), "first"_a.none(), "second"_a.none(), "n_threads"_a);
    m.def("pack_bits", &pack_bits_of<T>, "rows"_a.noconvert(), "bits"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_mixture(nb::module_& m) {
    using namespace nb::literals;
    add_for<float>(m);
    add_for<double>(m);
    for_all_rows([&]<class Given>() {
        m.def("linear_pass", &linear_pass_rows<Given>, "rows"_a.noconvert(), "weights"_a.none(),
              "offsets"_a.noconvert(), "slopes"_a.noconvert(), "row_log_prob"_a.none(),
              "resp"_a.none(), "labels"_a.none(), "counts"_a.none(), "first"_a.none(),
              "n_threads"_a);
    });
    m.def("factor_inverses", &factor_inverses_of, "matrices"_a.noconvert(), "least"_a.noconvert(),
          "factors"_a.noconvert(), "found"_a.noconvert());
    m.def("all_exceed", &all_exceed_floor, "matrices"_a.noconvert(), "floor"_a.noconvert());
    m.def("scatter_about", &scatter_about_moved, "counts"_a.noconvert(), "first"_a.noconvert(),
          "second"_a.noconvert(), "moved"_a.noconvert(), "scatter"_a.noconvert());
    m.def("linear_pass_bits", &linear_pass_bits, "bits"_a.noconvert(), "n_cols"_a,
          "weights"_a.none(), "offsets"_a.noconvert(), "slopes"_a.noconvert(),
          "row_log_prob"_a.none(), "resp"_a.none(), "labels"_a.none(), "counts"_a.none(),
          "first"_a.none(), "n_threads"_a);
}

}  // namespace coterie::bind
