// Bindings of pictures: counting colours, looking them up in a table, painting with a palette.
#include "convert.hpp"

#include "coterie/quantize/colors.hpp"

namespace coterie::bind {
namespace {

using Pixels = Table<const std::uint8_t>;

std::int64_t check_pixels(const Pixels& pixels) {
    require(pixels.shape(1) == 3, "pixels must have three columns");
    const auto n_pixels = static_cast<std::int64_t>(pixels.shape(0));
    require(n_pixels < std::int64_t{1} << 32, "pixels must be fewer than 2^32");
    return n_pixels;
}

void count_colors_of(Pixels pixels, Column<std::uint32_t> counts, int n_threads) {
    const std::int64_t n_pixels = check_pixels(pixels);
    require_length(counts, n_rgb_colors, "counts must have an entry a colour");
    without_gil([&] { count_colors(pixels.data(), n_pixels, counts.data(), crew_of(n_threads)); });
}

template <class Index>
void look_up_colors_of(Pixels pixels, Column<const Index> table, Column<Index> indices,
                       int n_threads) {
    const std::int64_t n_pixels = check_pixels(pixels);
    require_length(table, n_rgb_colors, "table must have an entry a colour");
    require_length(indices, n_pixels, "indices must have an entry a pixel");
    without_gil([&] {
        look_up_colors(pixels.data(), n_pixels, table.data(), indices.data(), crew_of(n_threads));
    });
}

template <class Index>
void paint_with(Column<const Index> indices, Table<const std::uint8_t> palette,
                Table<std::uint8_t> out, int n_threads) {
    const auto n_pixels = static_cast<std::int64_t>(indices.shape(0));
    const auto bytes = static_cast<int>(palette.shape(1));
    require(bytes >= 1 && bytes <= 8 && bytes != 5 && bytes != 7,
            "an entry must have 1, 2, 3, 4, 6 or 8 bytes");
    require_length(out, n_pixels, "out must have a row a pixel");
    require(out.shape(1) == palette.shape(1), "out must have the columns of the palette");
    require_indexes(indices.data(), n_pixels, static_cast<std::int64_t>(palette.shape(0)),
                    "indices must be entries of the palette");
    without_gil([&] {
        paint(indices.data(), n_pixels, palette.data(), bytes, out.data(), crew_of(n_threads));
    });
}

template <class Index>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("look_up_colors", &look_up_colors_of<Index>, "pixels"_a.noconvert(),
          "table"_a.noconvert(), "indices"_a.noconvert(), "n_threads"_a);
    m.def("paint", &paint_with<Index>, "indices"_a.noconvert(), "palette"_a.noconvert(),
          "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_colors(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_colors", &count_colors_of, "pixels"_a.noconvert(), "counts"_a.noconvert(),
          "n_threads"_a);
    add_for<std::uint8_t>(m);
    add_for<std::uint16_t>(m);
    add_for<std::uint32_t>(m);
}

}  // namespace coterie::bind
