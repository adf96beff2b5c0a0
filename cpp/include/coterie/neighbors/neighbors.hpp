// Nearest neighbours and neighbours within a radius, by tree or by tiles: one index, two roads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/brute_neighbors.hpp"
#include "coterie/neighbors/kdtree.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The k nearest seen so far, by distance and then by row.
class KNearest {
public:
    struct Neighbor {
        double reduced;
        std::int32_t row;
        friend bool operator<(const Neighbor& a, const Neighbor& b) {
            return a.reduced < b.reduced || (a.reduced == b.reduced && a.row < b.row);
        }
    };

    explicit KNearest(std::int64_t k) : found_(k) { start(0); }

    void start(std::int64_t) {
        std::fill(found_.begin(), found_.end(),
                  Neighbor{std::numeric_limits<double>::infinity(),
                           std::numeric_limits<std::int32_t>::max()});
    }
    double limit() const { return found_.back().reduced; }
    void take(double reduced, std::int32_t row) {
        const Neighbor neighbor{reduced, row};
        if (!(neighbor < found_.back())) return;
        std::size_t i = found_.size() - 1;
        for (; i > 0 && neighbor < found_[i - 1]; --i) found_[i] = found_[i - 1];
        found_[i] = neighbor;
    }
    std::span<const Neighbor> all() const { return found_; }

private:
    std::vector<Neighbor> found_;
};

// Everything within a radius, in the order of rows.
class Within {
public:
    using Neighbor = KNearest::Neighbor;
    explicit Within(const Ball& ball) : ball_(ball) {}

    void start(std::int64_t) { found_.clear(); }
    double limit() const { return ball_.limit(); }
    void take(double reduced, std::int32_t row) {
        if (ball_.has(reduced)) found_.push_back({reduced, row});
    }
    std::span<const Neighbor> all() {
        std::sort(found_.begin(), found_.end(),
                  [](const Neighbor& a, const Neighbor& b) { return a.row < b.row; });
        return found_;
    }

private:
    Ball ball_;
    std::vector<Neighbor> found_;
};

// The number of points within a radius, or the sum of their weights.
class CountWithin {
public:
    CountWithin(const Ball& ball, const double* weights) : ball_(ball), weights_(weights) {}

    void start(std::int64_t) { total_ = 0; }
    double limit() const { return ball_.limit(); }
    void take(double reduced, std::int32_t row) {
        if (ball_.has(reduced)) total_ += weights_ ? weights_[row] : 1.0;
    }
    double all() const { return total_; }

private:
    Ball ball_;
    const double* weights_;
    double total_ = 0;
};

// What becomes of a query that has seen all it may.
template <class Seen>
using Emit = std::function<void(std::int64_t query, Seen& seen)>;

namespace detail {

// What queries have seen, whatever is kept of it: the searches are compiled once for all kinds.
class Watch {
public:
    virtual ~Watch() = default;
    virtual std::unique_ptr<Watch> fresh() const = 0;
    virtual void start(std::int64_t query) = 0;
    virtual void take(const double* reduced, const std::int32_t* rows, std::int64_t count) = 0;
    virtual void end(std::int64_t query) = 0;

    double limit = 0;  // what is farther is of no use
};

template <class Seen>
class WatchOf final : public Watch {
public:
    WatchOf(const Seen& seen, const Emit<Seen>& emit) : seen_(seen), emit_(emit) {}

    std::unique_ptr<Watch> fresh() const override { return std::make_unique<WatchOf>(*this); }
    void start(std::int64_t query) override {
        seen_.start(query);
        limit = seen_.limit();
    }
    void take(const double* reduced, const std::int32_t* rows, std::int64_t count) override {
        for (std::int64_t i = 0; i < count; ++i)
            if (reduced[i] <= seen_.limit()) seen_.take(reduced[i], rows[i]);
        limit = seen_.limit();
    }
    void end(std::int64_t query) override { emit_(query, seen_); }

private:
    Seen seen_;
    const Emit<Seen>& emit_;
};

template <class Sum, class In>
[[gnu::noinline]] void search_tree(const Sum& sum, const KdTree<In>& tree, const double* query,
                                   Watch& watch) {
    double reduced[KdTree<In>::scratch_size];
    unsigned n_leaves = 0;
    tree.for_each_leaf(
        sum, query, [&] { return watch.limit; },
        [&](const typename KdTree<In>::Node& leaf) {
            if (++n_leaves % 256 == 0) Pool::breathe();
            reduced_to(sum, query, tree.points(leaf), tree.n_cols(), reduced);
            watch.take(reduced, tree.order().data() + leaf.begin, leaf.size());
        });
}

// Queries among the tree's own points go leaf by leaf, so that neighbours share the caches.
template <class Sum, class In>
void search_own(const Sum& sum, const KdTree<In>& tree, const Watch& fresh, const Crew& crew) {
    const ScanChunks chunks(static_cast<std::int64_t>(tree.leaves().size()), 1 << 23);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        std::vector<double> query(tree.n_cols());
        const auto watch = fresh.fresh();
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const auto& leaf = tree.nodes()[tree.leaves()[i]];
            for (std::int32_t position = leaf.begin; position < leaf.end; ++position) {
                if (position % 8 == 0) Pool::breathe();
                tree.read_point(leaf, position, query.data());
                watch->start(tree.order()[position]);
                search_tree(sum, tree, query.data(), *watch);
                watch->end(tree.order()[position]);
            }
        }
    });
}

template <class Sum, class In>
void search_others(const Sum& sum, const KdTree<In>& tree, const Queries& queries,
                   const Watch& fresh, const Crew& crew) {
    const ScanChunks chunks(queries.n_rows(), 1 << 22);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const auto watch = fresh.fresh();
        for (std::int64_t q = chunks.begin(chunk); q < chunks.end(chunk); ++q) {
            if (q % 8 == 0) Pool::breathe();
            watch->start(q);
            search_tree(sum, tree, queries.read(q, q + 1).data(), *watch);
            watch->end(q);
        }
    });
}

template <class Sum, class In>
void search_tiles(const Sum& sum, Matrix<const In> rows, const Queries& queries, const Watch& fresh,
                  const Crew& crew) {
    const ScanChunks chunks(queries.n_rows(), rows.n_rows * rows.n_cols);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        std::vector<std::unique_ptr<Watch>> watches;
        for (std::int64_t q = begin; q < end; ++q) {
            watches.push_back(fresh.fresh());
            watches.back()->start(q);
        }
        std::vector<std::int32_t> tile;  // its rows
        scan_tiles(
            sum, queries, rows, begin, end,
            [&](std::int64_t q, std::int64_t first, const double* reduced, std::int64_t count) {
                if (q == begin) {
                    tile.resize(count);
                    std::iota(tile.begin(), tile.end(), static_cast<std::int32_t>(first));
                }
                watches[q - begin]->take(reduced, tile.data(), count);
            });
        for (std::int64_t q = begin; q < end; ++q) watches[q - begin]->end(q);
    });
}

}  // namespace detail

// Rows to search in, built once and asked often: a tree of them, or the rows as they lie.
class RowIndex {
public:
    template <class In>
    RowIndex(const Metric& metric, Matrix<const In> rows, bool by_tree, const Crew& crew)
        : metric_(metric),
          n_rows_(rows.n_rows),
          n_cols_(rows.n_cols),
          held_(by_tree ? Held(std::in_place_type<KdTree<In>>, rows, crew) : Held(rows)) {}

    const Metric& metric() const { return metric_; }
    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_cols() const { return n_cols_; }

    // by_tree(sum, tree) or by_tiles(sum, rows), with the metric's sum as a type of its own.
    template <class ByTree, class ByTiles>
    decltype(auto) by_either(const ByTree& by_tree, const ByTiles& by_tiles) const {
        return std::visit(
            [&](const auto& held) -> decltype(auto) {
                if constexpr (requires { held.leaves(); })
                    return with_box_sum(metric_,
                                        [&](const auto& sum) { return by_tree(sum, held); });
                else
                    return with_sum(metric_, [&](const auto& sum) { return by_tiles(sum, held); });
            },
            held_);
    }

    // emit(query, seen) once for every query, from any thread. Without queries the rows ask.
    template <class Seen>
    void search(const Queries* queries, const Seen& fresh,
                const std::type_identity_t<Emit<Seen>>& emit, const Crew& crew) const {
        watch(queries, detail::WatchOf<Seen>(fresh, emit), crew);
    }

    // The rows as they were given, (n_rows, n_cols) in C order and in their own precision.
    template <class In>
    void copy_rows(In* out) const {
        if (const auto* tree = std::get_if<KdTree<In>>(&held_)) return tree->copy_rows_to(out);
        if (const auto* rows = std::get_if<Matrix<const In>>(&held_))
            for (std::int64_t i = 0; i < n_rows_; ++i)
                for (std::int64_t t = 0; t < n_cols_; ++t) *out++ = rows->at(i, t);
    }

private:
    using Held =
        std::variant<KdTree<float>, KdTree<double>, Matrix<const float>, Matrix<const double>>;

    void watch(const Queries* queries, const detail::Watch& fresh, const Crew& crew) const {
        by_either(
            [&](const auto& sum, const auto& tree) {
                if (queries)
                    detail::search_others(sum, tree, *queries, fresh, crew);
                else
                    detail::search_own(sum, tree, fresh, crew);
            },
            [&](const auto& sum, const auto& rows) {
                detail::search_tiles(sum, rows, queries ? *queries : Queries(rows), fresh, crew);
            });
    }

    Metric metric_;
    std::int64_t n_rows_, n_cols_;
    Held held_;
};

// The k nearest rows of every query, nearest first, ties by row: (n_queries, k) in C order.
inline void knn(const RowIndex& index, const Queries* queries, std::int64_t k, double* lengths,
                std::int64_t* row_ids, const Crew& crew) {
    index.search(
        queries, KNearest(k),
        [&](std::int64_t q, KNearest& seen) {
            for (std::int64_t i = 0; i < k; ++i) {
                lengths[q * k + i] = index.metric().length_of(seen.all()[i].reduced);
                // Where distances are NaN too few rows are found.
                row_ids[q * k + i] = std::min<std::int64_t>(seen.all()[i].row, index.n_rows() - 1);
            }
        },
        crew);
}

// Distance to the k-th nearest row, the query itself counted, and the mean distance to the others.
inline void kth_lengths(const RowIndex& index, const Queries* queries, std::int64_t k, double* kth,
                        double* mean, const Crew& crew) {
    const std::int64_t n_others = queries ? k : k - 1;
    index.search(
        queries, KNearest(k),
        [&](std::int64_t q, KNearest& seen) {
            kth[q] = index.metric().length_of(seen.all().back().reduced);
            if (!mean) return;
            double total = 0;
            for (const auto& neighbor : seen.all())
                total += index.metric().length_of(neighbor.reduced);
            mean[q] = total / static_cast<double>(std::max<std::int64_t>(n_others, 1));
        },
        crew);
}

// How many rows, or how much weight, lie within the radius of every query.
inline void count_within(const RowIndex& index, const Queries* queries, double radius,
                         const double* weights, double* counts, const Crew& crew) {
    index.search(
        queries, CountWithin(Ball(index.metric(), radius), weights),
        [&](std::int64_t q, CountWithin& seen) { counts[q] = seen.all(); }, crew);
}

// The rows within the radius of query q, in order, from starts[q] to starts[q + 1]. There are as
// many as were counted unless the rows have changed since: then some are left out, or row 0 stands
// in, infinitely far away.
inline void list_within(const RowIndex& index, const Queries* queries, double radius,
                        const std::int64_t* starts, std::int64_t* row_ids, double* lengths,
                        const Crew& crew) {
    index.search(
        queries, Within(Ball(index.metric(), radius)),
        [&](std::int64_t q, Within& seen) {
            std::int64_t at = starts[q];
            const std::int64_t end = starts[q + 1];
            for (const auto& neighbor : seen.all()) {
                if (at == end) return;
                row_ids[at] = neighbor.row;
                lengths[at++] = index.metric().length_of(neighbor.reduced);
            }
            std::fill(row_ids + at, row_ids + end, 0);
            std::fill(lengths + at, lengths + end, std::numeric_limits<double>::infinity());
        },
        crew);
}

}  // namespace coterie
