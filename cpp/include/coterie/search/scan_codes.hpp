// The scan of all codes: for each query a watcher sees the rows whose value is within its limit.
//
// Rows go by in chunks that grow. Before each, the limits that the watchers have reached by then
// make new byte tables, so the filter sharpens as the search goes on; the first chunk passes whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/search/scan_4bit.hpp"
#include "coterie/search/scan_8bit.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

namespace detail {

// Chunks of blocks: 8 blocks, then four times as many each, up to what the second-level cache has
// room for.
template <class Body>
void in_growing_chunks(std::int64_t begin, std::int64_t end, std::int64_t n_bytes,
                       const Body& body) {
    const std::int64_t most = std::max<std::int64_t>((1 << 18) / (n_bytes * block_rows), 16);
    for (std::int64_t size = 8; begin < end; size = std::min(4 * size, most)) {
        const std::int64_t stop = std::min(end, begin + size);
        body(begin, stop);
        begin = stop;
    }
}

}  // namespace detail

// watchers[q].limit() and watchers[q].take(value, row) for the queries with these tables and the
// rows of blocks [begin, end): every row whose value is at most the limit is taken, in the order of
// rows.
template <class Watcher>
void scan_codes(const Codes& codes, const std::vector<Tables>& tables,
                std::vector<Watcher>& watchers, std::int64_t begin, std::int64_t end) {
    const auto n_queries = static_cast<int>(tables.size());
    // What has no limit passes whole: plain sums are all that is needed.
    const auto goes_plainly = [&] {
        return codes.bits == 8 &&
               (!looks_up_in_registers || std::ranges::all_of(watchers, [](const Watcher& watcher) {
                   return std::isinf(watcher.limit());
               }));
    };
    std::vector<ByteScale> scales;
    if (codes.bits == 4 || looks_up_in_registers)
        for (const Tables& each : tables) scales.emplace_back(each);
    NibbleTables nibbles(codes);
#if defined(__AVX512BW__)
    TwinTables twins(codes);
#endif
    const auto take = [&](int q, std::int64_t row, float value) {
        if (row < codes.n_rows && value <= watchers[q].limit()) watchers[q].take(value, row);
    };
    detail::in_growing_chunks(begin, end, codes.n_bytes(), [&](std::int64_t from, std::int64_t to) {
        for (std::size_t q = 0; q < scales.size(); ++q) scales[q].set_limit(watchers[q].limit());
        if (goes_plainly()) {
            for (int q = 0; q < n_queries; ++q) {
                Pool::breathe();
                scan_plainly(
                    codes, tables[q], from, to, [&] { return watchers[q].limit(); },
                    [&](std::int64_t row, float value) { take(q, row, value); });
            }
        } else if (codes.bits == 4) {
            constexpr int group = NibbleTables::n_queries;
            for (int first = 0; first < n_queries; first += group) {
                Pool::breathe();
                const int count = std::min(group, n_queries - first);
                for (int q = 0; q < group; ++q) {
                    const int source = first + std::min(q, count - 1);
                    nibbles.make(q, tables[source], scales[source]);
                }
                scan_4bit(codes, nibbles, from, to, [&](int q, std::int64_t row) {
                    if (q < count) take(first + q, row, value_of<4>(tables[first + q], codes, row));
                });
            }
        } else {
#if defined(__AVX512BW__)
            for (int first = 0; first < n_queries; first += 2) {
                Pool::breathe();
                const int second = std::min(first + 1, n_queries - 1);
                twins.make(tables[first], scales[first], tables[second], scales[second]);
                scan_8bit(codes, twins, from, to, [&](int q, std::int64_t row) {
                    if (first + q < n_queries)
                        take(first + q, row, value_of<8>(tables[first + q], codes, row));
                });
            }
#endif
        }
    });
}

}  // namespace coterie::search
