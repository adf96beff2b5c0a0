// The nearest rows by codes, with a proof: each code knows how far it is from its row, which bounds
// the row's own distance from both sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/finish.hpp"
#include "coterie/search/prover.hpp"
#include "coterie/search/scan_codes.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Of sums of table entries that were rounded to float32 once.
template <class In>
Slack table_slack(const CodedRows<In>& coded, const Tables& tables, double query_norm) {
    const double unit = static_cast<double>(tables.n_parts + 4) *
                        static_cast<double>(std::numeric_limits<float>::epsilon());
    Slack slack = exact_slack(coded, query_norm);
    slack.relative += unit;
    if (coded.measure == Measure::squares) return slack;
    for (std::int64_t m = 0; m < tables.n_parts; ++m) {
        const Range range = range_of(tables.part(m), tables.n_words);
        slack.absolute +=
            static_cast<double>(std::max(std::fabs(range.low), std::fabs(range.high))) * unit;
    }
    return slack;
}

// The k nearest rows of every query, exactly, ties by id: (n_queries, k) in C order, and how many
// rows were compared exactly. `query_norms` are those of the queries that the tables were made of;
// no error is above `worst`.
template <class In, class Length>
void search_certified(const Codes& codes, const CodedRows<In>& coded, double worst,
                      const float* tables, Matrix<const In> queries, const double* query_norms,
                      const Answers<Length>& answers, std::int64_t* n_compared, const Crew& crew) {
    const std::int64_t table_size = codes.n_parts * codes.n_words();
    const std::int64_t n_blocks = (codes.n_rows + block_rows - 1) / block_rows;
    constexpr std::int64_t group = 4;
    crew.run((queries.n_rows + group - 1) / group, [&](std::int64_t task, int) {
        const std::int64_t first = task * group;
        const std::int64_t last = std::min(queries.n_rows, first + group);
        std::vector<Tables> asked;
        std::vector<Prover<In>> provers;
        std::vector<ProvingWatcher<In>> watchers;
        provers.reserve(group);  // watchers point to them
        for (std::int64_t q = first; q < last; ++q) {
            asked.push_back({tables + q * table_size, codes.n_parts, codes.n_words()});
            provers.emplace_back(coded, queries.row(q), answers.k);
            const CodeBounds bounds(coded.measure, query_norms[q], worst,
                                    table_slack(coded, asked.back(), query_norms[q]));
            watchers.emplace_back(provers.back(), coded, bounds);
        }
        CodeScanner(codes.n_parts, codes.bits).scan(codes, asked, watchers, 0, n_blocks);
        for (std::int64_t q = first; q < last; ++q) {
            provers[q - first].prove();
            n_compared[q] = provers[q - first].n_compared();
            answers.write(q, provers[q - first].best());
        }
    });
}

}  // namespace coterie::search
