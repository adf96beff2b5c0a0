// The nearest rows by codes in inverted lists: each query looks into a few of them.
//
// Tasks are groups of queries. Every query first looks into the list that is nearest to it, which
// leaves a limit; then the lists go by one after the other, each asked by all queries of the group
// that look into it, so that codes and tables stay in the cache. Neither grouping nor order has a
// say in what is found.
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
    void take(float value, std::int64_t place) {
        best_.take({base_ + static_cast<double>(value), ids_[place], rows_[place]});
    }

private:
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

// All probes, sorted, so that queries that look into one list do so together.
inline void scan_lists(const Lists& lists, const ListSpace& space, const std::int64_t* queries,
                       const std::vector<Probe>& probes, std::vector<LooseTopK>& best) {
    constexpr std::size_t at_once = 4;
    const std::int64_t size = space.books.table_size();
    ListTables maker(space);
    AlignedVector<float> values(at_once * size);
    for (std::size_t i = 0, next; i < probes.size(); i = next) {
        const std::int64_t list = probes[i].list;
        std::vector<Tables> tables;
        std::vector<ListWatcher> watchers;
        for (next = i; next < probes.size() && next - i < at_once && probes[next].list == list;
             ++next) {
            Pool::breathe();
            float* table = values.data() + (next - i) * size;
            const double base = maker.make(queries[probes[next].query], list, table);
            tables.push_back({table, space.books.n_parts, space.books.n_words});
            watchers.emplace_back(best[probes[next].query], lists, list, base);
        }
        const Codes codes = lists.codes(list);
        scan_codes(codes, tables, watchers, 0, (codes.n_rows + block_rows - 1) / block_rows);
    }
}

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
        std::vector<detail::Probe> nearest, others;
        for (int i = 0; i < count; ++i)
            for (std::int64_t j = 0; j < n_probes; ++j) {
                const std::int64_t list = probes[queries[i] * n_probes + j];
                if (lists.row_starts[list] < lists.row_starts[list + 1])
                    (j == 0 ? nearest : others).push_back({list, i});
            }
        std::sort(others.begin(), others.end());
        std::vector<LooseTopK> best(count, LooseTopK(n_found));
        detail::scan_lists(lists, space, queries, nearest, best);
        detail::scan_lists(lists, space, queries, others, best);
        for (int i = 0; i < count; ++i) finish(queries[i], best[i]);
    });
}

}  // namespace coterie::search
