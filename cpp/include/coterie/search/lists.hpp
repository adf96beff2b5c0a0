// The nearest rows by codes in inverted lists: each query looks into a few of them.
//
// Tasks are groups of queries. Every query first looks into the list that is nearest to it, which
// leaves a limit, then into the next three, then into four times as many; in each round the lists
// go by one after the other, each asked by all queries of the group that look into it, so that
// codes and tables stay in the cache. Neither grouping nor order has a say in what is found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "coterie/search/list_tables.hpp"
#include "coterie/search/loose_top_k.hpp"
#include "coterie/search/scan_codes.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Codes list by list: places from row_starts[l] to row_starts[l + 1] are of list l, whose blocks
// begin at block_starts[l]; rows[place] is the row that is held there, ids[place] its id.
struct Lists {
    const std::uint8_t* blocks;
    const std::int64_t *row_starts, *block_starts, *rows, *ids;
    std::int64_t n_parts;
    int bits;

    Codes codes(std::int64_t list) const {
        const Codes all{blocks, row_starts[list + 1] - row_starts[list], n_parts, bits};
        return {all.block(block_starts[list]), all.n_rows, n_parts, bits};
    }
};

// What one query finds in one list.
class ListWatcher {
public:
    ListWatcher(LooseTopK& best, const Lists& lists, std::int64_t list, double base)
        : best_(best),
          ids_(lists.ids + lists.row_starts[list]),
          rows_(lists.rows + lists.row_starts[list]),
          base_(base) {}

    // Never less than what is left for the tables, whatever rounding says.
    double limit() const {
        const double limit = best_.limit();
        return limit - base_ + (std::fabs(limit) + std::fabs(base_)) * 1e-15;
    }
    void take(float value, std::int64_t place) { best_.take(found(value, place)); }
    void take_some(std::int64_t first, const std::int32_t* lanes, const float* values, int count) {
        best_.take_some(count, [&](int i) { return found(values[i], first + lanes[i]); });
    }

private:
    Found found(float value, std::int64_t place) const {
        return {base_ + static_cast<double>(value), ids_[place], rows_[place]};
    }

    LooseTopK& best_;
    const std::int64_t *ids_, *rows_;
    double base_;
};

namespace detail {

struct Probe {
    std::int64_t list;
    int query;  // within the group
    friend bool operator<(const Probe& a, const Probe& b) {
        return a.list < b.list || (a.list == b.list && a.query < b.query);
    }
};

// Looks into lists for a group of queries.
class ListScan {
public:
    ListScan(const Lists& lists, const ListSpace& space, const std::int64_t* queries)
        : lists_(lists),
          queries_(queries),
          books_(space.books),
          maker_(space),
          scanner_(lists.n_parts, lists.bits),
          values_(at_once * space.books.table_size()) {}

    // The probes are sorted, so that queries that look into one list do so together.
    void look(const std::vector<Probe>& probes, std::vector<LooseTopK>& best) {
        for (std::size_t i = 0, next; i < probes.size(); i = next) {
            const std::int64_t list = probes[i].list;
            tables_.clear();
            watchers_.clear();
            for (next = i; next < probes.size() && next - i < at_once && probes[next].list == list;
                 ++next) {
                Pool::breathe();
                float* table = values_.data() + (next - i) * books_.table_size();
                const double base = maker_.make(queries_[probes[next].query], list, table);
                tables_.push_back({table, books_.n_parts, books_.n_words});
                watchers_.emplace_back(best[probes[next].query], lists_, list, base);
            }
            const Codes codes = lists_.codes(list);
            scanner_.scan(codes, tables_, watchers_, 0,
                          (codes.n_rows + block_rows - 1) / block_rows);
        }
    }

private:
    static constexpr std::size_t at_once = 4;

    const Lists& lists_;
    const std::int64_t* queries_;
    WordColumns books_;
    ListTables maker_;
    CodeScanner scanner_;
    AlignedVector<float> values_;
    std::vector<Tables> tables_;
    std::vector<ListWatcher> watchers_;
};

}  // namespace detail

// The `n_found` nearest rows of every query by value in the lists probes[query], (n_queries,
// n_probes) in C order, nearest first; ties by id. Each is handed to finish(query, LooseTopK&).
template <class Finish>
void search_lists(const Lists& lists, const ListSpace& space, const std::int64_t* probes,
                  std::int64_t n_probes, std::int64_t n_found, const Finish& finish,
                  const Crew& crew) {
    const std::int64_t n_queries = space.queries.n_rows;
    // Queries with the same nearest list have most others in common.
    std::vector<std::int64_t> order(n_queries);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return probes[a * n_probes] < probes[b * n_probes];
    });
    const std::int64_t group = std::clamp<std::int64_t>(n_queries / 16, 1, 128);
    crew.run((n_queries + group - 1) / group, [&](std::int64_t task, int) {
        const std::int64_t* queries = order.data() + task * group;
        const auto count = static_cast<int>(std::min(group, n_queries - task * group));
        std::vector<LooseTopK> best(count, LooseTopK(n_found));
        detail::ListScan scan(lists, space, queries);
        for (std::int64_t from = 0, to = 1; from < n_probes; from = to, to = 4 * to) {
            std::vector<detail::Probe> round;
            for (int i = 0; i < count; ++i)
                for (std::int64_t j = from; j < std::min(to, n_probes); ++j) {
                    const std::int64_t list = probes[queries[i] * n_probes + j];
                    if (lists.row_starts[list] < lists.row_starts[list + 1])
                        round.push_back({list, i});
                }
            std::sort(round.begin(), round.end());
            scan.look(round, best);
        }
        for (int i = 0; i < count; ++i) finish(queries[i], best[i]);
    });
}

}  // namespace coterie::search
