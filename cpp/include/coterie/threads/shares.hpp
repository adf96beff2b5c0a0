// Cutting rows into shares: each share has a result of its own, and results are added in order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/threads/pool.hpp"

namespace coterie {

// How many shares and how large depends on the problem alone, never on the threads.
struct Shares {
    std::int64_t n_rows;
    std::int64_t rows_each;   // whole tiles
    std::int64_t chunk_rows;  // whole tiles

    Shares(std::int64_t n_rows, std::int64_t work_per_row, std::int64_t result_bytes,
           std::int64_t tile_rows)
        : n_rows(n_rows) {
        const auto whole_tiles = [&](std::int64_t rows) {
            return (rows + tile_rows - 1) / tile_rows * tile_rows;
        };
        const auto rows_for = [&](std::int64_t work) {
            return std::max<std::int64_t>(work / std::max<std::int64_t>(work_per_row, 1), 1);
        };
        // Results stay within 16 MB where they can, but let eight threads work in any case.
        const std::int64_t fitting = (1 << 24) / std::max<std::int64_t>(result_bytes, 1);
        const std::int64_t most = std::clamp<std::int64_t>(fitting, 8, 64);
        // A share is worth a thread from about 2^19 multiply-adds on; with 2^23, some
        // milliseconds, it is time to look for Ctrl-C.
        rows_each = whole_tiles(
            std::max({(n_rows + most - 1) / most, rows_for(1 << 19), std::int64_t{1024}}));
        chunk_rows = whole_tiles(rows_for(1 << 23));
    }

    std::int64_t count() const { return (n_rows + rows_each - 1) / rows_each; }

    // body(share, begin, end, worker) for the chunks of every share, those of one share in order.
    template <class Body>
    void run(const Crew& crew, const Body& body) const {
        for (std::int64_t done = 0; done < rows_each; done += chunk_rows)
            crew.run(count(), [&](std::int64_t share, int worker) {
                const std::int64_t end = std::min((share + 1) * rows_each, n_rows);
                const std::int64_t from = share * rows_each + done;
                const std::int64_t to =
                    std::min(from + std::min(chunk_rows, rows_each - done), end);
                if (from < to) body(share, from, to, worker);
            });
    }
};

}  // namespace coterie
