// The nearest rows by their codes alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/search/loose_top_k.hpp"
#include "coterie/search/scan_codes.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Keeps the k nearest of one query, ties by id.
class NearestCodes {
public:
    NearestCodes(std::int64_t k, const std::int64_t* ids) : best(k), ids_(ids) {}
    double limit() const { return best.limit(); }
    void take(float value, std::int64_t row) { best.take({value, ids_[row], row}); }
    void take_some(std::int64_t first, const std::int32_t* lanes, const float* values, int count) {
        best.take_some(count, [&](int i) {
            const std::int64_t row = first + lanes[i];
            return Found{values[i], ids_[row], row};
        });
    }

    LooseTopK best;

private:
    const std::int64_t* ids_;
};

// The `n_found` nearest rows of every query by value, ties by id, each handed to finish(query,
// LooseTopK&). `tables` is (n_queries, n_parts, n_words) in C order.
template <class Finish>
void search_codes(const Codes& codes, const std::int64_t* row_ids, const float* tables,
                  std::int64_t n_queries, std::int64_t n_found, const Finish& finish,
                  const Crew& crew) {
    const std::int64_t table_size = codes.n_parts * codes.n_words();
    const std::int64_t n_blocks = (codes.n_rows + block_rows - 1) / block_rows;
    // Queries of a task share the codes in the cache; few queries share the rows among threads.
    constexpr std::int64_t group = 16;
    const std::int64_t n_groups = (n_queries + group - 1) / group;
    const std::int64_t n_shares =
        n_groups >= 16 ? 1 : std::clamp<std::int64_t>(n_blocks / 512, 1, 16);
    std::vector<std::vector<NearestCodes>> found(n_groups * n_shares);
    crew.run(n_groups * n_shares, [&](std::int64_t task, int) {
        const std::int64_t first = task / n_shares * group, share = task % n_shares;
        const std::int64_t count = std::min(group, n_queries - first);
        std::vector<Tables> asked;
        for (std::int64_t q = first; q < first + count; ++q)
            asked.push_back({tables + q * table_size, codes.n_parts, codes.n_words()});
        std::vector<NearestCodes> watchers(count, NearestCodes(n_found, row_ids));
        CodeScanner(codes.n_parts, codes.bits)
            .scan(codes, asked, watchers, n_blocks * share / n_shares,
                  n_blocks * (share + 1) / n_shares);
        found[task] = std::move(watchers);
    });
    crew.run(n_groups, [&](std::int64_t task, int) {
        auto* shares = &found[task * n_shares];
        for (std::size_t i = 0; i < shares[0].size(); ++i) {
            for (std::int64_t share = 1; share < n_shares; ++share)
                shares[0][i].best.take_all(shares[share][i].best);
            finish(task * group + static_cast<std::int64_t>(i), shares[0][i].best);
        }
    });
}

}  // namespace coterie::search
