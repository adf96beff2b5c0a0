// Bindings of the seedings: covering rows with seeds and drawing the next ones.
#include "coterie/centroid/seeding.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "convert.hpp"

#include "coterie/centroid/farthest.hpp"

namespace coterie::bind {
namespace {

Seeds as_seeds(const Table<const double>& seeds, std::int64_t n_cols) {
    require(seeds.shape(0) > 0 && static_cast<std::int64_t>(seeds.shape(1)) == n_cols,
            "seeds must have the columns of the rows");
    return {seeds.data(), static_cast<std::int64_t>(seeds.shape(0))};
}

SeedDistances as_distances(const Column<double>& closest, const Column<std::int32_t>& nearest,
                           const Column<double>& totals, std::int64_t n_rows, std::int64_t n_cols) {
    require_length(closest, n_rows, "closest must have one entry per row");
    require_length(nearest, n_rows, "nearest must have one entry per row");
    require_length(totals, seeding_chunks(n_rows, n_cols).count(),
                   "totals must have one entry per chunk");
    return {closest.data(), nearest.data(), totals.data()};
}

template <class T>
void add_seeds_to(Rows<T> rows, Weights weights, double scale, Table<const double> seeds,
                  std::int64_t n_old, Column<double> closest, Column<std::int32_t> nearest,
                  Column<double> totals, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const Seeds all = as_seeds(seeds, data.rows.n_cols);
    require(0 <= n_old && n_old <= all.count, "n_old must be at most the number of seeds");
    const SeedDistances known =
        as_distances(closest, nearest, totals, data.rows.n_rows, data.rows.n_cols);
    require_indexes(nearest.data(), data.rows.n_rows, std::max<std::int64_t>(1, n_old),
                    "nearest must be an old seed");
    without_gil([&] { add_seeds(data, scale, all, n_old, known, crew_of(n_threads)); });
}

template <class T>
std::tuple<std::int64_t, double> find_farthest_of(Rows<T> rows, Weights weights, double scale,
                                                  Table<const double> centers,
                                                  Column<double> sq_dists,
                                                  Column<std::int32_t> n_seen, Column<double> tops,
                                                  int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const Seeds all = as_seeds(centers, data.rows.n_cols);
    require_length(sq_dists, data.rows.n_rows, "sq_dists must have one entry per row");
    require_length(n_seen, data.rows.n_rows, "n_seen must have one entry per row");
    require_length(tops, n_far_blocks(data.rows.n_rows), "tops must have one entry per block");
    require_indexes(n_seen.data(), data.rows.n_rows, all.count + 1,
                    "n_seen must be at most the number of centers");
    const FarBounds bounds{sq_dists.data(), n_seen.data(), tops.data()};
    const FarRow found = without_gil([&] {
        return FarthestSearch<T>(data, scale, all.values, all.count, bounds)
            .find(crew_of(n_threads));
    });
    return {found.row, found.sq_dist};
}

using LowLevels = Column<const double>;

Levels as_levels(const LowLevels& low, double per_unit, std::int64_t n_cols) {
    require_length(low, n_cols, "low must have one entry per column");
    require(n_cols <= Sketch::max_cols, "a sketch has at most 65536 columns");
    return {low.data(), per_unit};
}

template <class T>
double sketch_rows_of(Rows<T> rows, double scale, LowLevels low, double per_unit,
                      Column<std::uint8_t> bytes, int n_threads) {
    const Matrix<const T> matrix = as_matrix(rows);
    const Levels levels = as_levels(low, per_unit, matrix.n_cols);
    require_length(bytes, Sketch::n_bytes(matrix.n_rows, matrix.n_cols),
                   "bytes must have the size of a sketch");
    double moved = 0;
    without_gil([&] {
        moved = sketch_rows(matrix, scale, levels, bytes.data(), crew_of(n_threads)).moved;
    });
    return moved;
}

// bytes, low, per_unit, moved
using SketchParts = std::tuple<Column<const std::uint8_t>, LowLevels, double, double>;

std::optional<Sketch> as_sketch(const std::optional<SketchParts>& parts, std::int64_t n_rows,
                                std::int64_t n_cols) {
    if (!parts) return {};
    const auto& [bytes, low, per_unit, moved] = *parts;
    require_length(bytes, Sketch::n_bytes(n_rows, n_cols), "bytes must have the size of a sketch");
    return Sketch{bytes.data(), as_levels(low, per_unit, n_cols), moved};
}

template <class T>
void measure_gains_of(Rows<T> rows, Weights weights, double scale,
                      std::optional<SketchParts> sketch_parts, Table<const double> seeds,
                      Table<const double> candidates, Column<const double> closest,
                      Column<const std::int32_t> nearest, Column<std::uint8_t> hints,
                      Column<double> gains, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const Seeds old = as_seeds(seeds, data.rows.n_cols);
    const Seeds tried = as_seeds(candidates, data.rows.n_cols);
    require_length(closest, data.rows.n_rows, "closest must have one entry per row");
    require_length(nearest, data.rows.n_rows, "nearest must have one entry per row");
    require_length(hints, data.rows.n_rows, "hints must have one entry per row");
    require_indexes(nearest.data(), data.rows.n_rows, old.count, "nearest must be a seed");
    require_length(gains, tried.count, "gains must have one entry per candidate");
    const auto sketch = as_sketch(sketch_parts, data.rows.n_rows, data.rows.n_cols);
    without_gil([&] {
        measure_gains(data, scale, sketch, old, tried, closest.data(), nearest.data(), hints.data(),
                      gains.data(), crew_of(n_threads));
    });
}

template <class T>
void add_measured_seed_to(Rows<T> rows, Weights weights, double scale, Table<const double> seeds,
                          std::int64_t candidate, Column<const std::uint8_t> hints,
                          Column<double> closest, Column<std::int32_t> nearest,
                          Column<double> totals, int n_threads) {
    const Weighted<T> data = as_weighted(rows, weights);
    const Seeds all = as_seeds(seeds, data.rows.n_cols);
    require_length(hints, data.rows.n_rows, "hints must have one entry per row");
    const SeedDistances known =
        as_distances(closest, nearest, totals, data.rows.n_rows, data.rows.n_cols);
    require_indexes(nearest.data(), data.rows.n_rows, all.count, "nearest must be a seed");
    without_gil([&] {
        add_measured_seed(data, scale, all, candidate, hints.data(), known, crew_of(n_threads));
    });
}

void draw_rows(Weights weights, Column<const double> closest, Column<const double> totals,
               std::int64_t n_cols, Column<const double> targets, Column<std::int64_t> row_ids) {
    const auto n_rows = static_cast<std::int64_t>(closest.shape(0));
    const Chunks chunks = seeding_chunks(n_rows, n_cols);
    if (weights) require_length(*weights, n_rows, "weights must have one entry per row");
    require_length(totals, chunks.count(), "totals must have one entry per chunk");
    require_length(row_ids, targets.shape(0), "row_ids must have one entry per target");
    const double* row_weights = weights ? weights->data() : nullptr;
    for (std::size_t j = 0; j < targets.shape(0); ++j)
        row_ids.data()[j] =
            draw_row(chunks, row_weights, closest.data(), totals.data(), targets.data()[j]);
}

template <class T>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("add_seeds", &add_seeds_to<T>, "rows"_a.noconvert(), "weights"_a.none(), "scale"_a,
          "seeds"_a.noconvert(), "n_old"_a, "closest"_a.noconvert(), "nearest"_a.noconvert(),
          "totals"_a.noconvert(), "n_threads"_a);
    m.def("find_farthest", &find_farthest_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "scale"_a, "centers"_a.noconvert(), "sq_dists"_a.noconvert(), "n_seen"_a.noconvert(),
          "tops"_a.noconvert(), "n_threads"_a);
    m.def("sketch_rows", &sketch_rows_of<T>, "rows"_a.noconvert(), "scale"_a, "low"_a.noconvert(),
          "per_unit"_a, "bytes"_a.noconvert(), "n_threads"_a);
    m.def("measure_gains", &measure_gains_of<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "scale"_a, "sketch"_a.none(), "seeds"_a.noconvert(), "candidates"_a.noconvert(),
          "closest"_a.noconvert(), "nearest"_a.noconvert(), "hints"_a.noconvert(),
          "gains"_a.noconvert(), "n_threads"_a);
    m.def("add_measured_seed", &add_measured_seed_to<T>, "rows"_a.noconvert(), "weights"_a.none(),
          "scale"_a, "seeds"_a.noconvert(), "candidate"_a, "hints"_a.noconvert(),
          "closest"_a.noconvert(), "nearest"_a.noconvert(), "totals"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_seeding(nb::module_& m) {
    using namespace nb::literals;
    add_for<float>(m);
    add_for<double>(m);
    m.def(
        "n_seeding_chunks",
        [](std::int64_t n_rows, std::int64_t n_cols) {
            return seeding_chunks(n_rows, n_cols).count();
        },
        "n_rows"_a, "n_cols"_a, "How many chunk totals so many rows have.");
    m.def("n_far_blocks", &n_far_blocks, "n_rows"_a, "How many blocks so many rows have.");
    m.def("n_sketch_bytes", &Sketch::n_bytes, "n_rows"_a, "n_cols"_a);
    m.def("draw_rows", &draw_rows, "weights"_a.none(), "closest"_a.noconvert(),
          "totals"_a.noconvert(), "n_cols"_a, "targets"_a.noconvert(), "row_ids"_a.noconvert());
}

}  // namespace coterie::bind
