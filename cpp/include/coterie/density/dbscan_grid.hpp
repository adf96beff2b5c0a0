// DBSCAN of few columns on a grid: cells of side eps/sqrt(d), so that rows of one cell are within
// eps of each other (Gunawan 2013; de Berg, Gunawan and Roeloffzen 2017).
//
// A cell of at least `min_weight` rows is core as a whole, and two cells need one pair of core rows
// within eps to be joined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coterie/density/cell_grid.hpp"
#include "coterie/density/dbscan.hpp"
#include "coterie/neighbors/components.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

template <class In, int D>
class GridDbscan {
public:
    using Grid = CellGrid<In, D>;
    using Run = typename Grid::Run;

    GridDbscan(Matrix<const In> rows, const CellFrame<D>& frame, const Density& density,
               const Crew& crew)
        : grid_(rows, frame, crew), density_(density), crew_(crew) {}

    std::int64_t run(Border border, const Clustering& out, std::int64_t n_rows) {
        std::unique_ptr<std::uint8_t[]> core(new std::uint8_t[n_rows]);
        mark_core(core.get());
        n_core_ = grid_.put_core_first(core.get(), crew_);
        core.reset();
        const std::int64_t n_clusters = join_cells();
        publish(border, out);
        return n_clusters;
    }

    // The rows of the grid are the core rows of a clustering: labels[i] = the cluster that queries
    // row i joins, or noise. Core rows of one cell share their cluster.
    void label_by_core(Border border, const std::int64_t* core_labels, Matrix<const In> queries,
                       std::int64_t* labels) {
        n_core_.resize(grid_.n_cells());
        clusters_.resize(grid_.n_cells());
        for (std::uint32_t cell = 0; cell < grid_.n_cells(); ++cell) {
            n_core_[cell] = grid_.size(cell);
            clusters_[cell] = static_cast<std::uint32_t>(core_labels[grid_.row(grid_.begin(cell))]);
        }
        const Chunks chunks(queries.n_rows, 1024);
        crew_.run(chunks.count(), [&](std::int64_t chunk, int) {
            typename Grid::Cursor cursor(grid_);
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                std::array<double, D> x;
                for (int t = 0; t < D; ++t) x[t] = static_cast<double>(queries.at(i, t));
                const auto key = grid_.frame().key([&](int t) { return x[t]; });
                if (key) cursor.move_to(*key);
                labels[i] = key ? label_of(x, cursor, border) : noise;
            }
        });
    }

private:
    void mark_core(std::uint8_t* core) const {
        grid_.for_cell_chunks(crew_, [&](std::uint32_t first, std::uint32_t last) {
            typename Grid::Cursor cursor(grid_);
            std::vector<Run> runs;
            for (std::uint32_t cell = first; cell < last; ++cell) {
                std::uint8_t* marks = core + grid_.begin(cell);
                if (heavy_enough(cell)) {
                    std::fill_n(marks, grid_.size(cell), std::uint8_t{1});
                    continue;
                }
                cursor.move_to(grid_.key(cell));
                const std::int64_t n_near = rows_near(cursor, runs);
                if (!density_.weights && n_near < density_.min_weight) {
                    std::fill_n(marks, grid_.size(cell), std::uint8_t{0});
                    continue;
                }
                for (std::uint32_t p = grid_.begin(cell); p < grid_.end(cell); ++p)
                    *marks++ = density_.weights ? is_core_by_weight(p, runs) : is_core(p, runs);
            }
        });
    }

    // Whether the rows of a cell are enough to make all of them core.
    bool heavy_enough(std::uint32_t cell) const {
        if (!density_.weights) return grid_.size(cell) >= density_.min_weight;
        if (!density_.may_stop) return false;
        WeightSum sum;
        for (std::uint32_t p = grid_.begin(cell); p < grid_.end(cell); ++p)
            sum.add(density_.weights[grid_.row(p)]);
        return sum.value() >= density_.min_weight;
    }

    std::int64_t rows_near(const typename Grid::Cursor& cursor, std::vector<Run>& runs) const {
        runs.clear();
        std::int64_t n_near = 0;
        for (const Run& cells : cursor.runs()) {
            if (cells.begin == cells.end) continue;
            runs.push_back({grid_.begin(cells.begin), grid_.end(cells.end - 1)});
            n_near += runs.back().end - runs.back().begin;
        }
        return n_near;
    }

    bool is_core(std::uint32_t place, const std::vector<Run>& runs) const {
        const auto x = grid_.at(place);
        std::int64_t count = 0;
        for (const Run& run : runs) {
            IntVec<double> counts = {};
            grid_.scan(x, run, density_.sq_eps(), [&](std::uint32_t, IntVec<double> within, auto) {
                counts -= within;
                return false;
            });
            for (int i = 0; i < Simd<double>::lanes; ++i) count += counts[i];
            if (count >= density_.min_weight) return true;
        }
        return false;
    }

    bool is_core_by_weight(std::uint32_t place, const std::vector<Run>& runs) const {
        const auto x = grid_.at(place);
        WeightSum sum;
        for (const Run& run : runs) {
            grid_.scan(x, run, density_.sq_eps(),
                       [&](std::uint32_t p, IntVec<double> within, auto) {
                           for (int i = 0; i < Simd<double>::lanes; ++i)
                               if (within[i]) sum.add(density_.weights[grid_.row(p + i)]);
                           return false;
                       });
            if (density_.may_stop && sum.value() >= density_.min_weight) return true;
        }
        return sum.value() >= density_.min_weight;
    }

    Run core_of(std::uint32_t cell) const {
        return {grid_.begin(cell), grid_.begin(cell) + n_core_[cell]};
    }

    bool any_within(const std::array<double, D>& x, Run places) const {
        return grid_.scan(x, places, density_.sq_eps(),
                          [](std::uint32_t, IntVec<double> within, auto) { return any(within); });
    }

    static bool any(IntVec<double> mask) {
        std::int64_t bits = 0;
        for (int i = 0; i < Simd<double>::lanes; ++i) bits |= mask[i];
        return bits != 0;
    }

    // Join cells one step apart first: most of those two apart are then known to be joined.
    std::int64_t join_cells() {
        Components components(grid_.n_cells());
        for (const bool adjacent : {true, false})
            grid_.for_cell_chunks(crew_, [&](std::uint32_t first, std::uint32_t last) {
                typename Grid::Cursor cursor(
                    grid_, adjacent ? Grid::Nearby::next_onwards : Grid::Nearby::onwards);
                for (std::uint32_t cell = first; cell < last; ++cell) {
                    if (n_core_[cell] == 0) continue;
                    cursor.move_to(grid_.key(cell));
                    const auto runs = cursor.runs();
                    std::uint32_t root = components.root(cell);
                    for (std::size_t i = 0; i < runs.size(); ++i)
                        for (auto other = std::max(runs[i].begin, cell + 1); other < runs[i].end;
                             ++other)
                            if (n_core_[other] > 0 && cursor.is_adjacent(i, other) == adjacent &&
                                components.root(other) != root && are_within(cell, other)) {
                                components.join(cell, other);
                                root = components.root(cell);
                            }
                }
            });
        clusters_.assign(grid_.n_cells(), no_cluster);
        for (std::uint32_t cell = 0; cell < grid_.n_cells(); ++cell)
            if (n_core_[cell] > 0) clusters_[cell] = grid_.row(grid_.begin(cell));
        return number_clusters(components, clusters_);
    }

    // Whether a core row of one cell is within eps of one of the other.
    bool are_within(std::uint32_t cell, std::uint32_t other) const {
        const Run mine = core_of(cell), theirs = core_of(other);
        for (std::uint32_t p = mine.begin; p < mine.end; ++p)
            if (any_within(grid_.at(p), theirs)) return true;
        return false;
    }

    void publish(Border border, const Clustering& out) const {
        grid_.for_cell_chunks(crew_, [&](std::uint32_t first, std::uint32_t last) {
            typename Grid::Cursor cursor(grid_);
            for (std::uint32_t cell = first; cell < last; ++cell) {
                const Run core = core_of(cell);
                for (std::uint32_t p = core.begin; p < core.end; ++p) {
                    out.labels[grid_.row(p)] = clusters_[cell];
                    out.core[grid_.row(p)] = 1;
                }
                if (core.end == grid_.end(cell)) continue;
                if (border != Border::noise) cursor.move_to(grid_.key(cell));
                for (std::uint32_t p = core.end; p < grid_.end(cell); ++p) {
                    out.labels[grid_.row(p)] = label_of(grid_.at(p), cursor, border);
                    out.core[grid_.row(p)] = 0;
                }
            }
        });
    }

    // The label of a row that is not core and lies in the cell the cursor is at.
    std::int64_t label_of(const std::array<double, D>& x, const typename Grid::Cursor& cursor,
                          Border border) const {
        if (border == Border::noise) return noise;
        const std::uint32_t cluster =
            border == Border::first ? first_cluster(x, cursor) : nearest_cluster(x, cursor);
        return cluster == no_cluster ? noise : cluster;
    }

    std::uint32_t first_cluster(const std::array<double, D>& x,
                                const typename Grid::Cursor& cursor) const {
        std::uint32_t first = no_cluster;
        for (const Run& cells : cursor.runs())
            for (std::uint32_t cell = cells.begin; cell < cells.end; ++cell)
                if (clusters_[cell] < first && any_within(x, core_of(cell)))
                    first = clusters_[cell];
        return first;
    }

    std::uint32_t nearest_cluster(const std::array<double, D>& x,
                                  const typename Grid::Cursor& cursor) const {
        NearestCore nearest;
        for (const Run& cells : cursor.runs())
            for (std::uint32_t cell = cells.begin; cell < cells.end; ++cell)
                grid_.scan(x, core_of(cell), density_.sq_eps(),
                           [&](std::uint32_t p, IntVec<double> within, Vec<double> sq_dists) {
                               for (int i = 0; i < Simd<double>::lanes; ++i)
                                   if (within[i])
                                       nearest.offer(sq_dists[i], grid_.row(p + i),
                                                     clusters_[cell]);
                               return false;
                           });
        return nearest.cluster;
    }

    Grid grid_;
    Density density_;
    const Crew& crew_;
    std::vector<std::uint32_t> n_core_;
    std::vector<std::uint32_t> clusters_;  // of each cell's core rows
};

namespace detail {

template <int D, class In>
std::optional<CellFrame<D>> frame_around(Matrix<const In> rows, double eps, const Crew& crew) {
    const Chunks chunks(rows.n_rows, 1);
    std::vector<Box> boxes(chunks.count(), Box(D));
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            In x[D];
            for (int t = 0; t < D; ++t) x[t] = rows.at(i, t);
            boxes[chunk].add(std::span<const In>(x));
        }
    });
    std::array<double, D> low, high;
    for (int t = 0; t < D; ++t) {
        low[t] = boxes[0].low[t];
        high[t] = boxes[0].high[t];
        for (const Box& box : boxes) {
            low[t] = std::min(low[t], box.low[t]);
            high[t] = std::max(high[t], box.high[t]);
        }
    }
    return CellFrame<D>::of(low, high, eps);
}

// use(GridDbscan) for rows of up to max_grid_cols columns; false where no grid can be laid.
template <class In, class Use>
bool with_grid(Matrix<const In> rows, const Density& density, const Crew& crew, const Use& use) {
    if (rows.n_cols < 1 || rows.n_cols > max_grid_cols) return false;
    return with_up_to<max_grid_cols>(rows.n_cols, [&](auto n_cols) {
        const auto frame = frame_around<n_cols>(rows, density.eps, crew);
        if (!frame) return false;
        GridDbscan<In, n_cols> grid(rows, *frame, density, crew);
        use(grid);
        return true;
    });
}

}  // namespace detail

// DBSCAN on a grid; returns the number of clusters, or none where no grid can be laid: too many
// columns, or too many cells.
template <class In>
std::optional<std::int64_t> dbscan_on_grid(Matrix<const In> rows, const Density& density,
                                           Border border, const Clustering& out, const Crew& crew) {
    std::int64_t n_clusters = 0;
    const bool done = detail::with_grid(
        rows, density, crew, [&](auto& grid) { n_clusters = grid.run(border, out, rows.n_rows); });
    return done ? std::optional(n_clusters) : std::nullopt;
}

// labels[i] = the cluster that row i of `queries` joins, given the core rows of a clustering and
// their labels; false where no grid can be laid.
template <class In>
bool label_by_core_on_grid(Matrix<const In> core_rows, const std::int64_t* core_labels, double eps,
                           Border border, Matrix<const In> queries, std::int64_t* labels,
                           const Crew& crew) {
    return detail::with_grid(core_rows, Density{eps, 0, nullptr, true}, crew, [&](auto& grid) {
        grid.label_by_core(border, core_labels, queries, labels);
    });
}

}  // namespace coterie
