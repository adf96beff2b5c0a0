// A stable parallel sort of words by some of their bits.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coterie/threads/pool.hpp"

namespace coterie {

// Sort by the bits [low, high), lowest digit first. The result does not depend on the threads.
inline std::unique_ptr<std::uint64_t[]> sort_by_bits(std::unique_ptr<std::uint64_t[]> words,
                                                     std::int64_t n, int low, int high,
                                                     const Crew& crew) {
    constexpr int max_digit_bits = 9;
    constexpr std::int64_t max_chunks = 64;
    const int n_passes = (high - low + max_digit_bits - 1) / max_digit_bits;
    if (n_passes == 0 || n < 2) return words;
    const int digit_bits = (high - low + n_passes - 1) / n_passes;
    const std::int64_t n_digits = std::int64_t{1} << digit_bits;
    const std::int64_t n_chunks = std::min(max_chunks, (n + 16383) / 16384);
    const auto begin = [&](std::int64_t chunk) { return n * chunk / n_chunks; };
    std::unique_ptr<std::uint64_t[]> sorted(new std::uint64_t[n]);
    std::vector<std::int64_t> places(n_digits * n_chunks);
    for (int pass = 0; pass < n_passes; ++pass) {
        const int shift = low + pass * digit_bits;
        const auto digit = [&](std::uint64_t word) {
            return static_cast<std::int64_t>(word >> shift) & (n_digits - 1);
        };
        crew.run(n_chunks, [&](std::int64_t chunk, int) {
            std::vector<std::int64_t> counts(n_digits);
            for (std::int64_t i = begin(chunk); i < begin(chunk + 1); ++i)
                ++counts[digit(words[i])];
            for (std::int64_t d = 0; d < n_digits; ++d) places[d * n_chunks + chunk] = counts[d];
        });
        std::int64_t total = 0;
        for (std::int64_t& place : places) total += std::exchange(place, total);
        crew.run(n_chunks, [&](std::int64_t chunk, int) {
            std::vector<std::int64_t> next(n_digits);
            for (std::int64_t d = 0; d < n_digits; ++d) next[d] = places[d * n_chunks + chunk];
            for (std::int64_t i = begin(chunk); i < begin(chunk + 1); ++i)
                sorted[next[digit(words[i])]++] = words[i];
        });
        std::swap(words, sorted);
    }
    return words;
}

}  // namespace coterie
