// Looks into lists for a group of queries, with tables for every query and list.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/search/list_tables.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/search/loose_top_k.hpp"
#include "coterie/search/scan_codes.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

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

class TableScan {
public:
    TableScan(const Lists& lists, const ListSpace& space, std::span<const std::int64_t> queries,
              std::int64_t n_found)
        : lists_(lists),
          queries_(queries),
          books_(space.books),
          maker_(space),
          scanner_(lists.n_parts, lists.bits),
          values_(at_once * space.books.table_size()),
          best_(queries.size(), LooseTopK(n_found)) {}

    void look(std::span<const Probe> sorted) {
        look_together<at_once>(sorted, [&](std::int64_t list, std::span<const Probe> probes) {
            tables_.clear();
            watchers_.clear();
            for (std::size_t i = 0; i < probes.size(); ++i) {
                Pool::breathe();
                float* table = values_.data() + i * books_.table_size();
                const double base = maker_.make(queries_[probes[i].query], list, table);
                tables_.push_back({table, books_.n_parts, books_.n_words});
                watchers_.emplace_back(best_[probes[i].query], lists_, list, base);
            }
            const Codes codes = lists_.codes(list);
            scanner_.scan(codes, tables_, watchers_, 0, codes.n_blocks());
        });
    }
    LooseTopK& found(int query, bool) { return best_[query]; }

private:
    static constexpr std::size_t at_once = 4;

    const Lists& lists_;
    std::span<const std::int64_t> queries_;
    WordColumns books_;
    ListTables maker_;
    CodeScanner scanner_;
    AlignedVector<float> values_;
    std::vector<Tables> tables_;
    std::vector<ListWatcher> watchers_;
    std::vector<LooseTopK> best_;
};

}  // namespace coterie::search
