// Colours counted, looked up and painted against loops over a map.
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/quantize/colors.hpp"

using namespace coterie;

namespace {

std::vector<std::uint8_t> noisy_pixels(std::int64_t n, int n_levels) {
    std::mt19937 random(static_cast<unsigned>(n + n_levels));
    std::uniform_int_distribution<int> level(0, n_levels - 1);
    std::vector<std::uint8_t> pixels(3 * n);
    for (auto& value : pixels) value = static_cast<std::uint8_t>(level(random) * 255 / n_levels);
    return pixels;
}

}  // namespace

TEST(colors_are_counted_looked_up_and_painted) {
    for (const std::int64_t n : {0, 1, 2, 1000, 40000})
        for (const int n_levels : {1, 3, 256})
            for (const int n_threads : {1, 2, 5}) {
                const Crew crew{n_threads, {}};
                const std::vector<std::uint8_t> pixels = noisy_pixels(n, n_levels);
                std::vector<std::uint32_t> counts(n_rgb_colors);
                count_colors(pixels.data(), n, counts.data(), crew);
                std::map<std::uint32_t, std::uint32_t> expected;
                for (std::int64_t i = 0; i < n; ++i) ++expected[color_number(&pixels[3 * i])];
                std::size_t n_distinct = 0;
                for (const std::uint32_t count : counts) n_distinct += count > 0;
                CHECK(n_distinct == expected.size());
                for (const auto& [number, count] : expected) CHECK(counts[number] == count);

                std::vector<std::uint16_t> table(n_rgb_colors), indices(n);
                for (std::size_t i = 0; i < table.size(); ++i) table[i] = (i * 2654435761u) % 300;
                look_up_colors(pixels.data(), n, table.data(), indices.data(), crew);
                for (std::int64_t i = 0; i < n; ++i)
                    CHECK(indices[i] == table[color_number(&pixels[3 * i])]);

                for (const int bytes : {1, 2, 3, 4, 6, 8}) {
                    std::vector<std::uint8_t> palette(300 * bytes), out(n * bytes);
                    for (std::size_t i = 0; i < palette.size(); ++i) palette[i] = i * 7;
                    paint(indices.data(), n, palette.data(), bytes, out.data(), crew);
                    for (std::int64_t i = 0; i < n * bytes; ++i)
                        CHECK(out[i] == palette[indices[i / bytes] * bytes + i % bytes]);
                }
            }
}
