// Looks into lists of 4-bit codes for a group of queries: by steps, with one table a query, and by
// the tables of the lists for the few rows that are left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/search/code_values.hpp"
#include "coterie/search/list_tables.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/search/loose_top_k.hpp"
#include "coterie/search/step_shortlist.hpp"
#include "coterie/search/step_table.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

class StepScan {
public:
    StepScan(const Lists& lists, const ListSpace& space, const StepReach& reach,
             std::span<const std::int64_t> queries, std::int64_t n_found)
        : lists_(lists),
          queries_(queries),
          books_(space.books),
          maker_(space),
          tables_(queries.size(), StepTable(space, lists.terms, reach)),
          shortlists_(queries.size(), StepShortlist(n_found)),
          best_(queries.size(), LooseTopK(n_found)),
          values_(space.books.table_size()) {
        for (std::size_t i = 0; i < queries.size(); ++i) {
            Pool::breathe();
            tables_[i].make(queries[i]);
            shortlists_[i].set_margin(tables_[i].margin());
        }
    }

    void look(std::span<const Probe> sorted) {
        look_together<4>(sorted, [&](std::int64_t list, std::span<const Probe> probes) {
            Pool::breathe();
            Asking asking;
            int count = 0;
            for (const Probe& probe : probes) {
                asking.strides[count] = tables_[probe.query].strides(0);
                asking.query[count] = probe.query;
                asking.steps[count] = tables_[probe.query].of_list(list);
                // Where even the least would be too much, the list is passed over.
                count += shortlists_[probe.query].limit() >= asking.steps[count].base;
            }
            if (count) scan(list, asking, count);
        });
    }
    // Without values, rows that are surely among the nearest have bounds from below.
    LooseTopK& found(int query, bool with_values) {
        StepShortlist& shortlist = shortlists_[query];
        LooseTopK& best = best_[query];
        shortlist.cut();
        for (const std::int64_t place : shortlist.places()) {
            prefetch(lists_.ids + place);
            prefetch(lists_.rows + place);
        }
        if (!with_values && best.empty())
            shortlist.take_sure([&](std::int32_t steps, std::int64_t place) {
                best.take({tables_[query].least_at(steps), lists_.ids[place], lists_.rows[place]});
            });
        settle(query);
        return best;
    }

private:
    // Those that look into a list together.
    struct Asking {
        const std::uint8_t* strides[4];
        int query[4];
        ListSteps steps[4];

        const std::uint8_t* pair(std::int64_t i, int q) const { return strides[q] + 32 * i; }
    };
    // The steps below a stride of one query.
    struct Below {
        const StepTable& table;
        const std::uint8_t* pair(std::int64_t i, int) const { return table.steps(i); }
    };

    void scan(std::int64_t list, const Asking& asking, int count) {
        const Codes codes = lists_.codes(list);
        const std::uint16_t* numbers = lists_.terms.of_block(lists_.block_starts[list]);
        sum_4bit(
            codes, asking, count, 0, codes.n_blocks(),
            [&](int q, std::int64_t row, Shorts even, Shorts odd) {
                const std::uint16_t* at =
                    numbers + row / block_rows * block_rows + row % block_rows / 2;
                const ListSteps& steps = asking.steps[q];
                const Shorts ratio =
                    repeat(static_cast<std::uint16_t>(steps.ratio / StepTable::stride));
                const Shorts all_even = even + multiply_high(load_shorts(at), ratio);
                const Shorts all_odd = odd + multiply_high(load_shorts(at + block_rows / 2), ratio);
                const std::int32_t left =
                    (shortlists_[asking.query[q]].limit() - steps.base) / StepTable::stride;
                const Shorts limit = repeat(static_cast<std::uint16_t>(std::clamp(left, 0, 65535)));
                if (const std::uint64_t bits = bits_at_most(all_even, all_odd, limit))
                    take(asking.query[q], list, codes, row, bits, even, odd, steps, at);
            });
    }

    // Rows of a vector that pass by their strides: to the step.
    [[gnu::noinline]] void take(int query, std::int64_t list, const Codes& codes, std::int64_t row,
                                std::uint64_t bits, Shorts even, Shorts odd, const ListSteps& steps,
                                const std::uint16_t* numbers) {
        const std::int64_t left = codes.n_rows - row;
        if (left <= 0) return;  // padding
        if (left < 64) bits &= (std::uint64_t{1} << left) - 1;
        std::uint16_t strides[2][vector_bytes / 2], below[2][vector_bytes / 2];
        std::memcpy(strides[0], &even, sizeof even);
        std::memcpy(strides[1], &odd, sizeof odd);
        detail::sum_nibbles<1, 1>(codes, Below{tables_[query]}, row / block_rows, row % block_rows,
                                  [&](int, std::int64_t, Shorts low_even, Shorts low_odd) {
                                      std::memcpy(below[0], &low_even, sizeof low_even);
                                      std::memcpy(below[1], &low_odd, sizeof low_odd);
                                  });
        shortlists_[query].take(lists_.row_starts[list] + row, bits, [&](int i) {
            const int half = i % 2, at = i / 2;
            return steps.of_term(numbers[half * (block_rows / 2) + at]) +
                   strides[half][at] * StepTable::stride + below[half][at];
        });
        if (shortlists_[query].crowded()) settle(query);
    }

    // Hold the rows of a shortlist to the sums over the tables of their lists.
    void settle(int query) {
        const std::span<const std::int64_t> places = shortlists_[query].places();
        LooseTopK& best = best_[query];
        double base = 0;
        each_with_list(places, [&](std::int64_t list, std::int64_t place, bool is_first) {
            if (is_first) {
                Pool::breathe();
                base = maker_.make(queries_[query], list, values_.data());
            }
            const float value = value_of<4>({values_.data(), books_.n_parts, books_.n_words},
                                            lists_.codes(list), place - lists_.row_starts[list]);
            best.take({base + static_cast<double>(value), lists_.ids[place], lists_.rows[place]});
        });
        shortlists_[query].clear();
        shortlists_[query].lower_limit(tables_[query].most_at(best.limit()));
    }

    // visit(list, place, whether the place before was of another list)
    template <class Visit>
    void each_with_list(std::span<const std::int64_t> places, const Visit& visit) const {
        const std::int64_t *starts = lists_.row_starts, *end = starts + lists_.terms.n_lists + 1;
        std::int64_t list = -1;
        for (const std::int64_t place : places) {
            const bool is_first = list < 0 || place < starts[list] || place >= starts[list + 1];
            if (is_first) list = std::upper_bound(starts, end, place) - starts - 1;
            visit(list, place, is_first);
        }
    }

    const Lists& lists_;
    std::span<const std::int64_t> queries_;
    WordColumns books_;
    ListTables maker_;
    std::vector<StepTable> tables_;
    std::vector<StepShortlist> shortlists_;
    std::vector<LooseTopK> best_;
    AlignedVector<float> values_;
};

}  // namespace coterie::search
