// Exact search among all rows: a 16-bit filter with a certificate, and exact sums for what passes.
//
// Tiles of rows, packed as they come, meet panels of queries in registers. Of every query the
// k-th smallest *upper* bound so far is known, and a row whose lower bound is above it cannot be
// among the k nearest. What passes is held to the exact sums, by value and then by id, so the
// answer does not depend on tiles, threads or instruction sets.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "coterie/neighbors/smallest_k.hpp"
#include "coterie/search/coarse_rows.hpp"
#include "coterie/search/few_rows.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

namespace detail {

// What one thread has seen that may be among the nearest of one query.
class Shortlist {
public:
    struct Candidate {
        float lower;
        std::int64_t row;
    };

    explicit Shortlist(std::int64_t k) : k_(static_cast<std::size_t>(k)), uppers_(k), best(k) {}

    // The k-th smallest upper bound; there are k rows at most so far away.
    float limit() const {
        return uppers_.full() ? uppers_.largest() : std::numeric_limits<float>::infinity();
    }
    void take(float value, float error, std::int64_t row) {
        const bool known = value > -std::numeric_limits<float>::infinity();
        const float upper = known ? value + error : std::numeric_limits<float>::infinity();
        uppers_.take(upper);
        candidates_.push_back({value - error, row});
    }
    bool crowded() const { return candidates_.size() >= 4 * k_ + 256; }
    bool half_crowded() const { return candidates_.size() >= 2 * k_ + 128; }
    void drop_above(float limit) {
        std::erase_if(candidates_, [&](const Candidate& c) { return c.lower > limit; });
    }
    // Hold the candidates to the exact sums; the k best of these are kept.
    template <class In>
    void settle(const ExactQuery& query, const FlatRows<In>& flat) {
        constexpr int at_once = 32;
        std::int64_t rows[at_once];
        double values[at_once];
        for (std::size_t i = 0; i < candidates_.size(); i += at_once) {
            const int count =
                static_cast<int>(std::min<std::size_t>(at_once, candidates_.size() - i));
            for (int j = 0; j < count; ++j) rows[j] = candidates_[i + j].row;
            query.values(flat.rows, rows, count, values);
            for (int j = 0; j < count; ++j) best.take({values[j], flat.ids[rows[j]]});
        }
        candidates_.clear();
    }

private:
    std::size_t k_;
    SmallestK<float> uppers_;
    std::vector<Candidate> candidates_;

public:
    TopK best;
};

// The limits of all threads together.
class SharedLimits {
public:
    explicit SharedLimits(std::int64_t n) : limits_(n) {
        for (auto& limit : limits_) limit = std::numeric_limits<float>::infinity();
    }
    float operator[](std::int64_t q) const { return limits_[q].load(std::memory_order_relaxed); }
    void lower(std::int64_t q, float limit) {
        float known = (*this)[q];
        while (limit < known &&
               !limits_[q].compare_exchange_weak(known, limit, std::memory_order_relaxed)) {
        }
    }

private:
    std::vector<std::atomic<float>> limits_;
};

// One thread's part in the search of one block of queries.
template <class In>
class FlatScan {
public:
    FlatScan(const FlatRows<In>& flat, std::int64_t n_queries, std::int64_t k)
        : flat_(flat), tile_(flat.rows.n_cols), lists_(n_queries, Shortlist(k)) {}

    void scan(const CoarseQueries& coarse, const std::vector<ExactQuery>& exact,
              SharedLimits& shared, std::int64_t begin, std::int64_t end) {
        constexpr int width = CoarseTile<In>::width;
        for (std::int64_t first = begin; first < end; first += width) {
            Pool::breathe();
            const int count = static_cast<int>(std::min<std::int64_t>(width, end - first));
            tile_.take(flat_.rows, flat_.frame, first, count, flat_.measure);
            const std::uint32_t used = ~std::uint32_t{0} >> (32 - count);
            for (std::int64_t panel = 0; panel < coarse.n_panels(); ++panel)
                with_up_to<max_panel>(coarse.size(panel), [&](auto size) {
                    meet_panel<size>(coarse, exact, shared, panel, first, used);
                });
        }
    }

    Shortlist& list(std::int64_t q) { return lists_[q]; }

private:
    template <int size>
    void meet_panel(const CoarseQueries& coarse, const std::vector<ExactQuery>& exact,
                    SharedLimits& shared, std::int64_t panel, std::int64_t first,
                    std::uint32_t used) {
        const std::int64_t q = coarse.first(panel);
        float factors[size], limits[size], errors[size];
        for (int p = 0; p < size; ++p) {
            factors[p] = coarse.factor(q + p);
            errors[p] = coarse.error(q + p, tile_);
            limits[p] = shared[q + p] + errors[p];
        }
        const auto pass = [&](int p, int lane, float value) __attribute__((noinline)) {
            Shortlist& list = lists_[q + p];
            if (value - errors[p] > shared[q + p]) return;  // lowered since
            list.take(value, errors[p], first + lane);
            shared.lower(q + p, list.limit());
            if (!list.crowded()) return;
            list.drop_above(shared[q + p]);
            if (list.half_crowded()) list.settle(exact[q + p], flat_);
        };
        meet<size>(tile_, coarse.panel(panel), n_pairs(flat_.rows.n_cols), factors,
                   [&](int p, int first_lane, Vec<float> values) {
                       std::uint32_t bits = lane_bits(values <= broadcast(limits[p]));
                       bits &= used >> first_lane;
                       for (; bits; bits &= bits - 1) {
                           const int lane = std::countr_zero(bits);
                           pass(p, first_lane + lane, values[lane]);
                       }
                   });
    }

    const FlatRows<In>& flat_;
    CoarseTile<In> tile_;
    std::vector<Shortlist> lists_;
};

}  // namespace detail

// Of rows that are too many to keep the values of all.
template <class In, class Length>
void search_many(const FlatRows<In>& flat, Matrix<const In> queries, std::int64_t k, double* values,
                 std::int64_t* ids, const Length& length_of, const Crew& crew) {
    const std::int64_t n_rows = flat.rows.n_rows, n_cols = flat.rows.n_cols;
    // Queries that fit the second-level cache, and whose shortlists fit the memory.
    const std::int64_t fitting =
        std::min<std::int64_t>((1 << 19) / (2 * n_cols + 2), (1 << 27) / (96 * k + 4096));
    const std::int64_t block = std::clamp<std::int64_t>(fitting / max_panel, 1, 128) * max_panel;
    for (std::int64_t begin = 0; begin < queries.n_rows; begin += block) {
        const std::int64_t count = std::min(block, queries.n_rows - begin);
        const Matrix<const In> asked{queries.row(begin), count, n_cols, queries.row_stride,
                                     queries.col_stride};
        const CoarseQueries coarse(asked, flat.frame, flat.measure);
        std::vector<ExactQuery> exact;
        for (std::int64_t q = 0; q < count; ++q)
            exact.emplace_back(flat.measure, asked.row(q), n_cols);
        const std::int64_t wanted = (std::int64_t{1} << 28) / (count * n_cols);
        const std::int64_t share = std::clamp<std::int64_t>(wanted, 512, 32768) / 64 * 64;
        const std::int64_t n_shares = (n_rows + share - 1) / share;
        detail::SharedLimits shared(count);
        PerThread<detail::FlatScan<In>> scans(crew.n_at_work(n_shares), flat, count, k);
        crew.run(n_shares, [&](std::int64_t i, int worker) {
            scans[worker].scan(coarse, exact, shared, i * share, std::min(n_rows, (i + 1) * share));
        });
        crew.run((count + 15) / 16, [&](std::int64_t chunk, int) {
            for (std::int64_t q = chunk * 16; q < std::min(count, (chunk + 1) * 16); ++q) {
                TopK best(k);
                for (auto& scan : scans) {
                    scan.list(q).drop_above(shared[q]);
                    scan.list(q).settle(exact[q], flat);
                    best.take_all(scan.list(q).best);
                }
                best.write(values + (begin + q) * k, ids + (begin + q) * k, length_of);
            }
        });
    }
}

// The k nearest rows of every query, nearest first, ties by id: values and ids, (n_queries, k) in C
// order; where there are fewer, id -1 infinitely far away.
template <class In, class Length>
void search_flat(const FlatRows<In>& flat, Matrix<const In> queries, std::int64_t k, double* values,
                 std::int64_t* ids, const Length& length_of, const Crew& crew) {
    if (flat.rows.n_rows <= few_rows)
        search_few(flat, queries, k, values, ids, length_of, crew);
    else
        search_many(flat, queries, k, values, ids, length_of, crew);
}

}  // namespace coterie::search
