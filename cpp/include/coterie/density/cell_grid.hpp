// Rows on a grid of few columns, sorted by cell.
//
// Cells are sorted by key, and the keys of a cell's neighbours along the last column are
// consecutive: the rows near a cell are 5^(d-1) runs in memory.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coterie/density/dbscan.hpp"
#include "coterie/neighbors/row_blocks.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"
#include "coterie/threads/radix_sort.hpp"

namespace coterie {

inline constexpr std::int64_t max_grid_cols = 3;

// Where the cells lie. A computed coordinate (x - origin) / side errs by less than 2^-18, as there
// are fewer than 2^32 cells; the side is smaller than eps/sqrt(d) by more than that. So rows of one
// cell are within eps by the direct sum, too, and rows within eps are at most `reach` cells apart.
template <int D>
struct CellFrame {
    static constexpr int reach = 2;  // sqrt(3) < 2
    std::array<double, D> origin;
    std::array<std::uint32_t, D> stride;
    std::array<double, D> extent;
    double per_side;

    // None where the cells would be too many, or eps too extreme to be squared.
    static std::optional<CellFrame> of(const std::array<double, D>& min,
                                       const std::array<double, D>& max, double eps) {
        if (!(eps > 1e-140 && eps < 1e140)) return std::nullopt;
        CellFrame frame;
        frame.origin = min;
        frame.per_side = std::sqrt(static_cast<double>(D)) * (1 + 0x1p-15) / eps;
        double n_cells = 1;
        for (int t = D - 1; t >= 0; --t) {
            frame.stride[t] = static_cast<std::uint32_t>(n_cells);
            frame.extent[t] = std::floor((max[t] - min[t]) * frame.per_side) + 1;
            n_cells *= frame.extent[t] + 2 * reach;
            if (!(n_cells < 0x1p32)) return std::nullopt;
        }
        return frame;
    }

    // The key of the cell of x; none where no cell near it can hold a row.
    template <class X>
    std::optional<std::uint32_t> key(const X& x) const {
        std::uint32_t key = 0;
        for (int t = 0; t < D; ++t) {
            const double at = std::floor((x(t) - origin[t]) * per_side);
            if (!(at >= -reach && at < extent[t] + reach)) return std::nullopt;
            key += stride[t] * static_cast<std::uint32_t>(static_cast<std::int64_t>(at) + reach);
        }
        return key;
    }
};

// Rows sorted by cell, a column at a time, and the cells that have any.
template <class In, int D>
class CellGrid {
public:
    struct Run {
        std::uint32_t begin, end;
    };

    CellGrid(Matrix<const In> rows, const CellFrame<D>& frame, const Crew& crew)
        : frame_(frame), n_rows_(rows.n_rows) {
        std::unique_ptr<std::uint64_t[]> sorted = sorted_by_cell(rows, crew);
        find_cells(sorted.get(), crew);
        row_.reset(new std::uint32_t[n_rows_]);
        for (auto& column : column_) column.reset(new In[n_rows_ + Simd<double>::lanes]);
        for_row_chunks(crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = begin; p < end; ++p) {
                const auto i = static_cast<std::uint32_t>(sorted[p]);
                row_[p] = i;
                for (int t = 0; t < D; ++t) column_[t][p] = rows.at(i, t);
            }
        });
        for (auto& column : column_)
            std::fill_n(column.get() + n_rows_, Simd<double>::lanes, In(0));
    }

    std::uint32_t n_cells() const { return static_cast<std::uint32_t>(keys_.size()); }
    std::uint32_t begin(std::uint32_t cell) const { return starts_[cell]; }
    std::uint32_t end(std::uint32_t cell) const { return starts_[cell + 1]; }
    std::uint32_t size(std::uint32_t cell) const { return end(cell) - begin(cell); }
    std::uint32_t key(std::uint32_t cell) const { return keys_[cell]; }
    std::uint32_t row(std::uint32_t place) const { return row_[place]; }
    const CellFrame<D>& frame() const { return frame_; }

    std::array<double, D> at(std::uint32_t place) const {
        std::array<double, D> x;
        for (int t = 0; t < D; ++t) x[t] = static_cast<double>(column_[t][place]);
        return x;
    }

    // visit(place, within, sq_dists) for vectors of rows at [begin, end), until it returns true.
    // `within` is all ones in the lanes of rows within eps of x.
    template <class Visit>
    bool scan(const std::array<double, D>& x, Run places, double sq_eps, const Visit& visit) const {
        constexpr int lanes = Simd<double>::lanes;
        const Vec<double> limit = broadcast(sq_eps);
        for (std::uint32_t p = places.begin; p < places.end; p += lanes) {
            Vec<double> sum = {};
            for (int t = 0; t < D; ++t) {
                const Vec<double> diff = broadcast(x[t]) - load_as_double(column_[t].get() + p);
                sum += rounded(diff * diff);
            }
            IntVec<double> within = sum <= limit;
            if (places.end - p < static_cast<std::uint32_t>(lanes))
                within &= lane_index() < static_cast<std::int64_t>(places.end - p);
            if (visit(p, within, sum)) return true;
        }
        return false;
    }

    // Within every cell put the rows marked `core` first, each part in the order it had.
    // Returns how many core rows the cells have.
    std::vector<std::uint32_t> put_core_first(std::uint8_t* core, const Crew& crew) {
        std::vector<std::uint32_t> n_core(n_cells());
        for_cell_chunks(crew, [&](std::uint32_t first, std::uint32_t last) {
            std::vector<std::uint32_t> places;
            for (std::uint32_t cell = first; cell < last; ++cell) {
                const auto count = static_cast<std::uint32_t>(
                    std::count(core + begin(cell), core + end(cell), std::uint8_t{1}));
                n_core[cell] = count;
                if (count > 0 && count < size(cell)) partition_cell(cell, core, places);
            }
        });
        return n_core;
    }

    template <class Body>
    void for_cell_chunks(const Crew& crew, const Body& body) const {
        constexpr std::int64_t chunk_cells = 512;
        const std::int64_t n = n_cells();
        crew.run((n + chunk_cells - 1) / chunk_cells, [&](std::int64_t chunk, int) {
            body(static_cast<std::uint32_t>(chunk * chunk_cells),
                 static_cast<std::uint32_t>(std::min(n, (chunk + 1) * chunk_cells)));
        });
    }

    // Which cells near a cell are wanted: all, those from it on, or of those the ones within a step
    // along every column but the last.
    enum class Nearby { all, onwards, next_onwards };

    // The runs of cells near a cell. Keys that rise from call to call are found at once.
    class Cursor {
    public:
        explicit Cursor(const CellGrid& grid, Nearby wanted = Nearby::all) : grid_(grid) {
            // Nearest first: most rows are known to be core after a few runs.
            static constexpr int steps[] = {0, -1, 1, -2, 2};
            for (int i = 0; i < most_runs; ++i) {
                std::int64_t offset = 0;
                bool adjacent = true;
                for (int t = 0, rest = i; t < D - 1; ++t, rest /= 5) {
                    offset += steps[rest % 5] * std::int64_t{grid.frame_.stride[t]};
                    adjacent &= rest % 5 < 3;
                }
                if (wanted != Nearby::all && offset < 0) continue;
                if (wanted == Nearby::next_onwards && !adjacent) continue;
                offsets_[n_runs_] = offset;
                adjacent_[n_runs_++] = adjacent;
            }
        }
        void move_to(std::uint32_t key) {
            constexpr int reach = CellFrame<D>::reach;
            key_ = key;
            for (int i = 0; i < n_runs_; ++i) {
                const std::int64_t middle = std::int64_t{key} + offsets_[i];
                runs_[i].begin = first_from(runs_[i].begin, middle - reach);
                runs_[i].end =
                    first_from(std::max(runs_[i].begin, runs_[i].end), middle + reach + 1);
            }
        }
        std::span<const Run> runs() const { return std::span(runs_).first(n_runs_); }
        // Whether a cell of run i is at most one step away along every column.
        bool is_adjacent(std::size_t i, std::uint32_t cell) const {
            const std::int64_t middle = std::int64_t{key_} + offsets_[i];
            return adjacent_[i] && std::abs(std::int64_t{grid_.keys_[cell]} - middle) <= 1;
        }

    private:
        // The first cell with at least this key.
        std::uint32_t first_from(std::uint32_t hint, std::int64_t key) const {
            const auto& keys = grid_.keys_;
            if (hint > 0 && std::int64_t{keys[hint - 1]} >= key) hint = 0;
            for (int step = 0; step < 16; ++step, ++hint)
                if (hint >= keys.size() || std::int64_t{keys[hint]} >= key) return hint;
            return static_cast<std::uint32_t>(
                std::lower_bound(keys.begin() + hint, keys.end(), key,
                                 [](std::uint32_t k, std::int64_t wanted) { return k < wanted; }) -
                keys.begin());
        }
        static constexpr int most_runs = D == 1 ? 1 : D == 2 ? 5 : 25;

        const CellGrid& grid_;
        std::uint32_t key_ = 0;
        int n_runs_ = 0;
        std::array<std::int64_t, most_runs> offsets_;
        std::array<bool, most_runs> adjacent_;
        std::array<Run, most_runs> runs_{};
    };

private:
    static IntVec<double> lane_index() {
        IntVec<double> index;
        for (int i = 0; i < Simd<double>::lanes; ++i) index[i] = i;
        return index;
    }

    template <class Body>
    void for_row_chunks(const Crew& crew, const Body& body) const {
        const Chunks chunks(n_rows_, 1);
        crew.run(chunks.count(),
                 [&](std::int64_t chunk, int) { body(chunks.begin(chunk), chunks.end(chunk)); });
    }

    // (key << 32 | row) of every row, sorted by key, then by row.
    std::unique_ptr<std::uint64_t[]> sorted_by_cell(Matrix<const In> rows, const Crew& crew) const {
        std::unique_ptr<std::uint64_t[]> packed(new std::uint64_t[n_rows_]);
        for_row_chunks(crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto x = [&](int t) { return static_cast<double>(rows.at(i, t)); };
                // All rows have a cell, unless they have changed since the frame was laid.
                packed[i] =
                    std::uint64_t{frame_.key(x).value_or(0)} << 32 | static_cast<std::uint64_t>(i);
            }
        });
        const double n_keys = frame_.stride[0] * (frame_.extent[0] + 2 * CellFrame<D>::reach);
        const int key_bits = std::bit_width(static_cast<std::uint64_t>(n_keys));
        return sort_by_bits(std::move(packed), n_rows_, 32, 32 + key_bits, crew);
    }

    void find_cells(const std::uint64_t* sorted, const Crew& crew) {
        const Chunks chunks(n_rows_, 1);
        const auto starts_cell = [&](std::int64_t p) {
            return p == 0 || sorted[p - 1] >> 32 != sorted[p] >> 32;
        };
        std::vector<std::int64_t> before(chunks.count() + 1, 0);
        for_row_chunks(crew, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t count = 0;
            for (std::int64_t p = begin; p < end; ++p) count += starts_cell(p);
            before[begin / chunks.size + 1] = count;
        });
        for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
        keys_.resize(before.back());
        starts_.resize(before.back() + 1);
        starts_.back() = static_cast<std::uint32_t>(n_rows_);
        for_row_chunks(crew, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t cell = before[begin / chunks.size];
            for (std::int64_t p = begin; p < end; ++p) {
                if (!starts_cell(p)) continue;
                keys_[cell] = static_cast<std::uint32_t>(sorted[p] >> 32);
                starts_[cell++] = static_cast<std::uint32_t>(p);
            }
        });
    }

    void partition_cell(std::uint32_t cell, std::uint8_t* core,
                        std::vector<std::uint32_t>& places) {
        places.clear();
        for (const bool wanted : {true, false})
            for (std::uint32_t p = begin(cell); p < end(cell); ++p)
                if ((core[p] != 0) == wanted) places.push_back(p);
        const auto rearrange = [&](auto* values) {
            std::vector<std::remove_reference_t<decltype(*values)>> moved;
            moved.reserve(places.size());
            for (const std::uint32_t p : places) moved.push_back(values[p]);
            std::copy(moved.begin(), moved.end(), values + begin(cell));
        };
        rearrange(row_.get());
        rearrange(core);
        for (auto& column : column_) rearrange(column.get());
    }

    CellFrame<D> frame_;
    std::int64_t n_rows_;
    std::vector<std::uint32_t> keys_, starts_;
    std::unique_ptr<std::uint32_t[]> row_;
    std::array<std::unique_ptr<In[]>, D> column_;
};

}  // namespace coterie
