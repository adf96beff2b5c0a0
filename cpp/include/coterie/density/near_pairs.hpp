// The pairs of queries and rows of a block that may be within eps, where they are few: told by a
// sketch of the rows, which most pairs of rows in many columns are too far apart for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coterie/centroid/sketch.hpp"
#include "coterie/neighbors/row_blocks.hpp"

namespace coterie {

// All rows of some blocks, rounded, block by block.
template <class In>
class SketchedBlocks {
public:
    SketchedBlocks(const RowBlocks<In>& blocks, double eps, const Crew& crew)
        : scale_(std::ldexp(1.0, -std::ilogb(eps))), sq_reach_(eps * scale_ * eps * scale_) {
        const std::int64_t d = blocks.n_cols();
        if (d < min_cols || d > Sketch::max_cols || !(eps > 1e-140 && eps < 1e140)) return;
        const Box box = blocks.box();
        double widest = 0;
        for (std::int64_t t = 0; t < d; ++t) {
            low_.push_back(box.low[t] * scale_);
            widest = std::max(widest, box.high[t] * scale_ - low_[t]);
        }
        if (!(widest > 0 && widest < coarsest)) return;
        bytes_.reset(new std::uint8_t[Sketch::n_bytes(blocks.n_rows(), d)]);
        const Matrix<const In> rows{blocks.row(0), blocks.n_rows(), d, d, 1};
        const Sketch sketch =
            sketch_rows(rows, scale_, Levels{low_.data(), 127 / widest}, bytes_.get(), crew);
        const double reach = std::sqrt(sq_reach_) * sketch.levels.per_unit;
        if (2 * sketch.moved < reach / 4) sketch_ = sketch;
    }

    // Null where rounding would move rows by too much of eps.
    const Sketch* sketch() const { return sketch_ ? &*sketch_ : nullptr; }
    std::int64_t n_cols() const { return static_cast<std::int64_t>(low_.size()); }
    double scale() const { return scale_; }
    double sq_reach() const { return sq_reach_; }

private:
    static constexpr std::int64_t min_cols = 16;
    static constexpr double coarsest = 128;  // eps is a level then, or two

    double scale_, sq_reach_;
    std::vector<double> low_;
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::optional<Sketch> sketch_;
};

// Some queries, which are among the sketched rows, held against blocks of them.
template <class In>
class NearPairs {
public:
    struct Pair {
        int query;
        std::int64_t place;
    };

    explicit NearPairs(const SketchedBlocks<In>& rows) : rows_(rows) {
        std::fill_n(sq_reach_, lanes, rows.sq_reach());
    }

    void set_queries(const std::vector<const In*>& queries) {
        queries_ = queries;
        points_.reset();
        n_passed_over_ = 0;
        n_to_pass_over_ = 1;  // their own
    }

    // All pairs with rows from `begin` to `end` that may be within eps, if they are no more than
    // the rows; else, or where blocks before this one had too many, null. `begin` starts a block.
    template <class Wanted>
    const std::vector<Pair>* few(std::int64_t begin, std::int64_t end, const Wanted& wanted) {
        if (!rows_.sketch() || n_passed_over_++ < n_to_pass_over_) return nullptr;
        if (!points_) sketch_queries();
        pairs_.clear();
        for (std::int64_t first = begin; first < end; first += lanes) {
            std::uint32_t open = 0;
            for (std::int64_t p = first; p < std::min(first + lanes, end); ++p)
                open |= std::uint32_t{wanted(p)} << (p - first);
            if (!open) continue;
            points_->each_near(first / lanes, open, sq_reach_, [&](std::int64_t j, int row) {
                pairs_.push_back({static_cast<int>(j), first + row});
            });
            if (static_cast<std::int64_t>(pairs_.size()) > end - begin) return give_up();
        }
        n_passed_over_ = n_to_pass_over_ = 0;
        return &pairs_;
    }

private:
    static constexpr int lanes = Sketch::tile_rows;
    static constexpr int most_passed_over = 32;
    static_assert(RowBlocks<In>::block_rows % lanes == 0);

    void sketch_queries() {
        std::vector<double> values;
        for (const In* x : queries_) values.insert(values.end(), x, x + rows_.n_cols());
        const auto count = static_cast<std::int64_t>(queries_.size());
        points_.emplace(values.data(), count, rows_.n_cols(), rows_.scale(), *rows_.sketch());
    }

    // Near blocks come in a row: more of them are passed over each time.
    const std::vector<Pair>* give_up() {
        n_to_pass_over_ = std::min(2 * n_to_pass_over_ + 1, most_passed_over);
        n_passed_over_ = 0;
        return nullptr;
    }

    const SketchedBlocks<In>& rows_;
    double sq_reach_[lanes];
    std::vector<const In*> queries_;
    std::optional<SketchedPoints> points_;
    std::vector<Pair> pairs_;
    int n_passed_over_ = 0, n_to_pass_over_ = 0;
};

}  // namespace coterie
