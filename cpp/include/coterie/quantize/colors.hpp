// Pictures of 8-bit colours by tables over all 2^24 of them: how often each occurs, which entry of
// a palette it goes to; and painting with a palette.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "coterie/threads/pool.hpp"

namespace coterie {

inline constexpr std::int64_t n_rgb_colors = std::int64_t{1} << 24;

inline std::uint32_t color_number(const std::uint8_t* pixel) {
    return std::uint32_t{pixel[0]} << 16 | std::uint32_t{pixel[1]} << 8 | pixel[2];
}

namespace detail {

inline Chunks pixel_chunks(std::int64_t n_pixels) { return Chunks(n_pixels, 1); }

// Where each of some shares of the reds begins, so that each has about as many pixels; the last
// entry is 256.
inline std::vector<int> shares_of_reds(const std::array<std::int64_t, 256>& n_of_red,
                                       std::int64_t n_pixels, int n_shares) {
    std::vector<int> starts{0};
    std::int64_t seen = 0;
    for (int red = 0; red < 256; ++red) {
        const auto n_begun = static_cast<std::int64_t>(starts.size());
        if (red > starts.back() && seen >= n_pixels / n_shares * n_begun && n_begun < n_shares)
            starts.push_back(red);
        seen += n_of_red[red];
    }
    starts.push_back(256);
    return starts;
}

}  // namespace detail

// How often each colour occurs among pixels of three bytes, fewer than 2^32; `counts` has an entry
// a colour, all zero. Every thread reads all pixels and counts those whose red is among its own:
// one table for all, no locks, and neighbouring pixels agree so often that the test costs little.
inline void count_colors(const std::uint8_t* pixels, std::int64_t n_pixels, std::uint32_t* counts,
                         const Crew& crew) {
    constexpr std::int64_t breath = 1 << 20;
    std::vector<int> starts{0, 256};
    if (crew.n_threads > 1) {
        // Any shares give the same counts; these are balanced by a look at some pixels.
        std::array<std::int64_t, 256> n_of_red{};
        const std::int64_t stride = std::max<std::int64_t>(n_pixels >> 14, 1);
        std::int64_t n_seen = 0;
        for (std::int64_t i = 0; i < n_pixels; i += stride, ++n_seen) ++n_of_red[pixels[3 * i]];
        starts = detail::shares_of_reds(n_of_red, n_seen, crew.n_threads);
    }
    crew.run(static_cast<std::int64_t>(starts.size()) - 1, [&](std::int64_t share, int) {
        const auto first = static_cast<unsigned>(starts[share]);
        const auto n_reds = static_cast<unsigned>(starts[share + 1]) - first;
        for (std::int64_t begin = 0; begin < n_pixels; begin += breath) {
            const std::uint8_t* const end = pixels + 3 * std::min(begin + breath, n_pixels);
            for (const std::uint8_t* pixel = pixels + 3 * begin; pixel < end; pixel += 3)
                if (pixel[0] - first < n_reds) ++counts[color_number(pixel)];
            Pool::breathe();
        }
    });
}

// What a table over all colours says of each pixel.
template <class Index>
void look_up_colors(const std::uint8_t* pixels, std::int64_t n_pixels, const Index* table,
                    Index* indices, const Crew& crew) {
    const Chunks chunks = detail::pixel_chunks(n_pixels);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            indices[i] = table[color_number(pixels + 3 * i)];
    });
}

namespace detail {

template <int bytes, class Index>
void paint_entries(const Index* indices, std::int64_t n_pixels, const std::uint8_t* palette,
                   std::uint8_t* out, const Crew& crew) {
    const Chunks chunks = pixel_chunks(n_pixels);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            std::memcpy(out + bytes * i, palette + bytes * indices[i], bytes);
    });
}

}  // namespace detail

// The palette's entry of each index; an entry is so many bytes: 1, 2, 3, 4, 6 or 8.
template <class Index>
void paint(const Index* indices, std::int64_t n_pixels, const std::uint8_t* palette, int bytes,
           std::uint8_t* out, const Crew& crew) {
    switch (bytes) {
        case 1:
            return detail::paint_entries<1>(indices, n_pixels, palette, out, crew);
        case 2:
            return detail::paint_entries<2>(indices, n_pixels, palette, out, crew);
        case 3:
            return detail::paint_entries<3>(indices, n_pixels, palette, out, crew);
        case 4:
            return detail::paint_entries<4>(indices, n_pixels, palette, out, crew);
        case 6:
            return detail::paint_entries<6>(indices, n_pixels, palette, out, crew);
        default:
            return detail::paint_entries<8>(indices, n_pixels, palette, out, crew);
    }
}

}  // namespace coterie
