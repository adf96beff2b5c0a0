// The nearest rows by their codes alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/search/scan_codes.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Keeps the k nearest of one query, ties by id.
class NearestCodes {
public:
    NearestCodes(std::int64_t k, const std::int64_t* ids) : best(k), ids_(ids) {}
    double limit() const { return best.limit(); }
    void take(float value, std::int64_t row) { best.take({value, ids_[row]}); }

    TopK best;

private:
    const std::int64_t* ids_;
};

// The k nearest rows of every query by value, ties by id: (n_queries, k) in C order; where there
// are fewer, id -1 infinitely far away. `tables` is (n_queries, n_parts, n_words) in C order.
template <class Length>
void search_codes(const Codes& codes, const std::int64_t* row_ids, const float* tables,
                  std::int64_t n_queries, std::int64_t k, double* values, std::int64_t* ids,
                  const Length& length_of, const Crew& crew) {
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
        std::vector<NearestCodes> watchers(count, NearestCodes(k, row_ids));
        scan_codes(codes, asked, watchers, n_blocks * share / n_shares,
                   n_blocks * (share + 1) / n_shares);
        found[task] = std::move(watchers);
    });
    for (std::int64_t q = 0; q < n_queries; ++q) {
        auto* shares = &found[q / group * n_shares];
        for (std::int64_t share = 1; share < n_shares; ++share)
            shares[0][q % group].best.take_all(shares[share][q % group].best);
        shares[0][q % group].best.write(values + q * k, ids + q * k, length_of);
    }
}

}  // namespace coterie::search
