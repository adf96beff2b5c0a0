// The nearest rows by codes in inverted lists: each query looks into a few of them.
//
// Tasks are groups of queries. Every query first looks into the list that is nearest to it, which
// leaves a limit, then into the next three, then into four times as many; in each round the lists
// go by one after the other, each asked by all queries of the group that look into it, so that
// codes and tables stay in the cache. Neither grouping nor order has a say in what is found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "coterie/search/step_scan.hpp"
#include "coterie/search/table_scan.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

namespace detail {

// Let a group of queries look into their lists, round by round.
template <class Scan>
void look_in_rounds(const Lists& lists, std::span<const std::int64_t> queries,
                    const std::int64_t* probes, std::int64_t n_probes, Scan& scan) {
    std::vector<Probe> round;
    for (std::int64_t from = 0, to = 1; from < n_probes; from = to, to = 4 * to) {
        round.clear();
        for (std::size_t i = 0; i < queries.size(); ++i)
            for (std::int64_t j = from; j < std::min(to, n_probes); ++j) {
                const std::int64_t list = probes[queries[i] * n_probes + j];
                if (lists.row_starts[list] < lists.row_starts[list + 1])
                    round.push_back({list, static_cast<int>(i)});
            }
        std::sort(round.begin(), round.end());
        scan.look(round);
    }
}

}  // namespace detail

// The `n_found` nearest rows of every query by value in the lists probes[query], (n_queries,
// n_probes) in C order, nearest first; ties by id. Each is handed to finish(query, LooseTopK&);
// where that reads no values, rows that are surely among them may have less than their own.
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
    const auto in_groups = [&](const auto& scan_of) {
        crew.run((n_queries + group - 1) / group, [&](std::int64_t task, int) {
            const auto count = std::min(group, n_queries - task * group);
            const std::span<const std::int64_t> queries(order.data() + task * group, count);
            auto scan = scan_of(queries);
            detail::look_in_rounds(lists, queries, probes, n_probes, scan);
            for (std::size_t i = 0; i < queries.size(); ++i)
                finish(queries[i], scan.found(static_cast<int>(i), Finish::reads_values));
        });
    };
    if (lists.bits == 4) {
        const StepReach reach(space, lists.terms);
        in_groups([&](auto queries) { return StepScan(lists, space, reach, queries, n_found); });
    } else {
        in_groups([&](auto queries) { return TableScan(lists, space, queries, n_found); });
    }
}

}  // namespace coterie::search
