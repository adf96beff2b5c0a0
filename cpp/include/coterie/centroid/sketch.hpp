// Rows rounded to 7 bits a column: proof, from few bytes, that two rows are far apart.
//
// Column t of a row is kept as round((x * scale - low[t]) * per_unit), from 0 to 127: as levels.
// Where rounding moves two points by at most a and b levels, their distance is at least that of
// the rounded ones less a + b. With rows r and points p in levels, its square is
//     sum r (r - 128) + sum p^2 - 2 sum r (p - 64),
// in which sums of products of bytes are exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "coterie/rows/direct.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Where levels lie: the same for all columns, so that distances are kept; 0 if all rows are equal.
struct Levels {
    const double* low;  // least value of each column, times scale
    double per_unit;
};

// Tiles of as many rows as a vector has lanes: the first sum above of each row, four columns of
// each row, then the next four. What is left of the last tile is zeros.
struct Sketch {
    static constexpr int tile_rows = Simd<float>::lanes;
    static constexpr std::int64_t max_cols = 1 << 16;

    const std::uint8_t* bytes;
    Levels levels;
    double moved;  // how far rounding moved the row it moved most, in levels

    static std::int64_t n_groups(std::int64_t n_cols) { return (n_cols + 7) / 8 * 2; }
    static std::int64_t tile_bytes(std::int64_t n_cols) {
        return (n_groups(n_cols) + 1) * 4 * tile_rows;
    }
    static std::int64_t n_bytes(std::int64_t n_rows, std::int64_t n_cols) {
        return (n_rows + tile_rows - 1) / tile_rows * tile_bytes(n_cols);
    }
};

namespace detail {

// Sum of r (r - offset) over the levels r of a row.
inline std::int32_t sum_of_products(const std::vector<std::uint8_t>& levels, std::int32_t offset) {
    std::int32_t sum = 0;
    for (const std::int32_t level : levels) sum += level * (level - offset);
    return sum;
}

// Round a row; by how many levels that moved it, squared.
template <class In>
inline double to_levels(const In* row, std::int64_t n_cols, double scale, Levels levels,
                        std::uint8_t* to) {
    double sq_moved = 0;
    for (std::int64_t t = 0; t < n_cols; ++t) {
        const double level =
            (static_cast<double>(row[t]) * scale - levels.low[t]) * levels.per_unit;
        const auto nearest = static_cast<std::int32_t>(std::min(level + 0.5, 127.0));
        to[t] = static_cast<std::uint8_t>(nearest);
        sq_moved += (level - nearest) * (level - nearest);
    }
    return sq_moved;
}

}  // namespace detail

// Fill the bytes of a sketch.
template <class In>
Sketch sketch_rows(Matrix<const In> rows, double scale, Levels levels, std::uint8_t* bytes,
                   const Crew& crew) {
    constexpr int lanes = Sketch::tile_rows;
    const std::int64_t d = rows.n_cols, n_groups = Sketch::n_groups(d);
    const std::int64_t n_tiles = (rows.n_rows + lanes - 1) / lanes;
    const Chunks chunks(n_tiles, 8 * lanes * d);
    std::vector<double> sq_moved(chunks.count());
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<In> buffer(d);
        std::vector<std::uint8_t> row(4 * n_groups);
        for (std::int64_t tile = chunks.begin(chunk); tile < chunks.end(chunk); ++tile) {
            std::uint8_t* to = bytes + tile * Sketch::tile_bytes(d);
            const std::int64_t first = tile * lanes;
            if (first + lanes > rows.n_rows) std::memset(to, 0, Sketch::tile_bytes(d));
            for (std::int64_t i = first; i < std::min(first + lanes, rows.n_rows); ++i) {
                const In* values = contiguous_row(rows, i, buffer.data());
                sq_moved[chunk] = std::max(sq_moved[chunk],
                                           detail::to_levels(values, d, scale, levels, row.data()));
                const std::int32_t sum = detail::sum_of_products(row, 128);
                std::memcpy(to + (i - first) * 4, &sum, 4);
                for (std::int64_t group = 0; group < n_groups; ++group)
                    std::memcpy(to + ((group + 1) * lanes + i - first) * 4, &row[4 * group], 4);
            }
        }
    });
    return {bytes, levels, std::sqrt(*std::max_element(sq_moved.begin(), sq_moved.end()))};
}

// Points held against whole tiles of a sketch.
class SketchedPoints {
public:
    using Words = IntVec<float>;

    SketchedPoints(const double* points, std::int64_t count, std::int64_t n_cols, double scale,
                   Sketch sketch)
        : sketch_(sketch),
          n_cols_(n_cols),
          n_groups_(Sketch::n_groups(n_cols)),
          n_panels_((count + panel - 1) / panel) {
        words_.assign(n_panels_ * n_groups_ * panel, 0);
        start_.assign(n_panels_ * panel, nowhere);
        std::vector<std::uint8_t> row(4 * n_groups_);
        double sq_moved = 0;
        for (std::int64_t j = 0; j < count; ++j) {
            sq_moved = std::max(sq_moved, detail::to_levels(points + j * n_cols, n_cols, scale,
                                                            sketch.levels, row.data()));
            start_[j] = -(detail::sum_of_products(row, 0) / 2);
            for (std::uint8_t& level : row) level = static_cast<std::uint8_t>(level - 64);
            std::int32_t* to = &words_[j / panel * n_groups_ * panel + j % panel];
            for (std::int64_t group = 0; group < n_groups_; ++group)
                std::memcpy(to + group * panel, &row[4 * group], 4);
            std::fill(row.begin(), row.end(), std::uint8_t{0});
        }
        moved_ = static_cast<float>(sketch.moved + std::sqrt(sq_moved));
    }

    // visit(j, i) for each point j that may be within sqrt(closest[i]) of row i of the tile, if
    // that is one of the open ones.
    template <class Visit>
    void each_near(std::int64_t tile, std::uint32_t open, const double* closest,
                   const Visit& visit) const {
        const std::uint8_t* rows = sketch_.bytes + tile * Sketch::tile_bytes(n_cols_);
        // In halves, rounded down: points are near where products less half the squared norm are
        // above this.
        const Words near_above = (load_words(rows, 0) - far_from(closest)) >> 1;
        const auto compare_by = [&](auto by_dots) {
            std::int64_t at = 0;
            for (; at + at_once <= n_panels_; at += at_once)
                compare<at_once, by_dots>(rows, near_above, open, at, visit);
            for (; at < n_panels_; ++at) compare<1, by_dots>(rows, near_above, open, at, visit);
        };
        if constexpr (knows_dots)
            if (has_dots) return compare_by(std::true_type{});
        compare_by(std::false_type{});
    }

private:
    static constexpr int panel = 4;                      // points that share a word of bits
    static constexpr int at_once = 2;                    // panels
    static constexpr std::int32_t farthest = 1 << 30;    // above all squared distances in levels
    static constexpr std::int32_t nowhere = -(3 << 28);  // start of a point that fills a panel
    static constexpr int lanes = Sketch::tile_rows;
    static constexpr std::uint64_t every_point = [] {  // the first bit of each
        std::uint64_t bits = 0;
        for (int bit = 0; bit < panel * lanes; bit += lanes) bits |= std::uint64_t{1} << bit;
        return bits;
    }();

    template <int n_panels, bool by_dots, class Visit>
    void compare(const std::uint8_t* rows, Words near_above, std::uint64_t open,
                 std::int64_t first_panel, const Visit& visit) const {
        constexpr int n_points = n_panels * panel;
        const std::int32_t* words = words_.data() + first_panel * n_groups_ * panel;
        const std::int32_t* start = start_.data() + first_panel * panel;
        Words products[n_points];
#pragma GCC unroll 8
        for (int p = 0; p < n_points; ++p) products[p] = broadcast(start[p]);
        for (std::int64_t group = 0; group < n_groups_; group += 2, words += 2 * panel) {
            const Words x[2] = {load_words(rows, group + 1), load_words(rows, group + 2)};
#pragma GCC unroll 8
            for (int p = 0; p < n_points; ++p) {
                const std::int32_t* word = words + p / panel * n_groups_ * panel + p % panel;
                const Words y[2] = {broadcast(word[0]), broadcast(word[panel])};
                products[p] = by_dots ? add_byte_dots(products[p], x, y)
                                      : add_byte_products(products[p], x, y);
            }
        }
        std::uint64_t near[n_panels] = {};
#pragma GCC unroll 8
        for (int p = 0; p < n_points; ++p)
            near[p / panel] |= std::uint64_t{greater_bits(products[p], near_above)}
                               << (p % panel * lanes);
        for (int i = 0; i < n_panels; ++i)
            for (std::uint64_t bits = near[i] & open * every_point; bits; bits &= bits - 1) {
                const int bit = std::countr_zero(bits);
                visit((first_panel + i) * panel + bit / lanes, bit % lanes);
            }
    }

    static Words load_words(const std::uint8_t* rows, std::int64_t at) {
        Words words;
        std::memcpy(&words, rows + at * sizeof words, sizeof words);
        return words;
    }

    // Squared sketch distances from which on a point is at least sqrt(closest) away. The factor
    // pays for rounding here, the smallest normal number for what underflows.
    Words far_from(const double* closest) const {
        const auto per_unit = static_cast<float>(sketch_.levels.per_unit);
        constexpr float smallest = std::numeric_limits<float>::min();
        typedef double Doubles __attribute__((vector_size(lanes * sizeof(double))));
        Doubles sq_dists;
        std::memcpy(&sq_dists, closest, sizeof sq_dists);
        const Vec<float> reach =
            vec_sqrt(__builtin_convertvector(sq_dists, Vec<float>) + smallest) * per_unit + moved_;
        const Vec<float> limit = reach * reach * 1.00001f + 1;
        return __builtin_convertvector(vec_min(limit, broadcast(float{farthest})), Words);
    }

    Sketch sketch_;
    std::int64_t n_cols_, n_groups_, n_panels_;
    std::vector<std::int32_t> words_;
    std::vector<std::int32_t> start_;  // minus half the squared norm of each point
    float moved_;                      // by rounding, a row and a point together
};

}  // namespace coterie
