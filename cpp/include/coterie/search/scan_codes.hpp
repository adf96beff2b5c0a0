// The scan of all codes: for each query a watcher sees the rows whose value is within its limit.
//
// Rows go by in chunks that grow. Before each, the limits that the watchers have reached by then
// make new byte tables, so the filter sharpens as the search goes on; the first chunk passes whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/search/code_values.hpp"
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

// What a scan needs besides codes and tables, kept from one scan to the next.
class CodeScanner {
public:
    CodeScanner(std::int64_t n_parts, int bits)
        : nibbles_(bits == 4 ? n_parts : 1)
#if defined(__AVX512BW__)
          ,
          twins_(bits == 8 ? n_parts : 0)
#endif
    {
    }

    // watchers[q].limit() and watchers[q].take(value, row) for the queries with these tables and
    // the rows of blocks [begin, end): every row whose value is at most the limit is taken, in the
    // order of rows; others may be.
    template <class Watcher>
    void scan(const Codes& codes, const std::vector<Tables>& tables, std::vector<Watcher>& watchers,
              std::int64_t begin, std::int64_t end) {
        measure(codes, tables);
        detail::in_growing_chunks(begin, end, codes.n_bytes(),
                                  [&](std::int64_t from, std::int64_t to) {
                                      if (codes.bits == 4)
                                          scan_nibbles(codes, tables, watchers, from, to);
                                      else
                                          scan_bytes(codes, tables, watchers, from, to);
                                  });
    }

private:
    // What does not depend on limits.
    void measure(const Codes& codes, const std::vector<Tables>& tables) {
        if (codes.bits == 4) {
            ranges_.clear();
            for (const Tables& each : tables)
                ranges_.push_back(range_of(each.values, each.n_parts * each.n_words));
        } else if (looks_up_in_registers) {
            scales_.resize(std::max(scales_.size(), tables.size()));
            for (std::size_t q = 0; q < tables.size(); ++q) scales_[q].measure(tables[q]);
        }
    }

    template <class Watcher>
    void scan_nibbles(const Codes& codes, const std::vector<Tables>& tables,
                      std::vector<Watcher>& watchers, std::int64_t from, std::int64_t to) {
        const auto n_queries = static_cast<int>(tables.size());
        for (int first = 0; first < n_queries; first += NibbleTables::most_queries) {
            Pool::breathe();
            const int count = std::min(NibbleTables::most_queries, n_queries - first);
            for (int q = 0; q < count; ++q)
                nibbles_.make(q, tables[first + q], ranges_[first + q],
                              watchers[first + q].limit());
            for (auto& passed : passed_) passed.clear();
            scan_4bit(
                codes, nibbles_, count, from, to, [&](int q, std::int64_t row, std::uint64_t bits) {
                    if (row >= codes.n_rows) return;  // padding
                    if (codes.n_rows - row < 64)
                        bits &= (std::uint64_t{1} << (codes.n_rows - row)) - 1;
                    for (; bits; bits >>= 16, row += 16)
                        if (bits & 0xffff)
                            passed_[q].push_back({row, static_cast<std::uint32_t>(bits & 0xffff)});
                });
            for (int q = 0; q < count; ++q)
                take_nibble_rows(tables[first + q], codes, passed_[q], watchers[first + q]);
        }
    }

    template <class Watcher>
    void scan_bytes(const Codes& codes, const std::vector<Tables>& tables,
                    std::vector<Watcher>& watchers, std::int64_t from, std::int64_t to) {
        const auto n_queries = static_cast<int>(tables.size());
        // What has no limit passes whole: plain sums are all that is needed.
        if (!looks_up_in_registers || std::ranges::all_of(watchers, [](const Watcher& watcher) {
                return std::isinf(watcher.limit());
            })) {
            for (int q = 0; q < n_queries; ++q) {
                Pool::breathe();
                scan_plainly(
                    codes, tables[q], from, to, [&] { return watchers[q].limit(); },
                    [&](std::int64_t row, float value) { take(codes, watchers[q], row, value); });
            }
            return;
        }
#if defined(__AVX512BW__)
        for (int q = 0; q < n_queries; ++q) scales_[q].set_limit(watchers[q].limit());
        for (int first = 0; first < n_queries; first += 2) {
            Pool::breathe();
            const int second = std::min(first + 1, n_queries - 1);
            twins_.make(tables[first], scales_[first], tables[second], scales_[second]);
            scan_8bit(codes, twins_, from, to, [&](int q, std::int64_t row) {
                if (first + q < n_queries)
                    take(codes, watchers[first + q], row,
                         value_of<8>(tables[first + q], codes, row));
            });
        }
#endif
    }

    template <class Watcher>
    static void take(const Codes& codes, Watcher& watcher, std::int64_t row, float value) {
        if (row < codes.n_rows && value <= watcher.limit()) watcher.take(value, row);
    }

    std::vector<Range> ranges_;
    std::vector<ByteScale> scales_;
    NibbleTables nibbles_;
    std::vector<PassedRows> passed_[NibbleTables::most_queries];
#if defined(__AVX512BW__)
    TwinTables twins_;
#endif
};

}  // namespace coterie::search
