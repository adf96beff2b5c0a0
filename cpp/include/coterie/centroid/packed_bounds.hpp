// Bounds on distances in 16 bits: what a pruned pass remembers of a row.
//
// Six bits of exponent and ten of mantissa are the upper bits of a float, counted from 2^-50 (in
// the frame's units, where the longest row is about as long as one). An upper bound is rounded up
// to one of these numbers and a lower bound down, so both stay bounds: by about 2^-11 of a
// distance, which proves hardly a label less than floats would at twice the memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "coterie/simd/simd.hpp"

namespace coterie {

using PackedBound = std::uint16_t;

// Upper bounds beyond what fits say nothing; finite, so that sums of bounds stay numbers.
inline constexpr float longest = std::numeric_limits<float>::max() / 8;

namespace detail {

inline constexpr int packed_shift = 23 - 10;
inline constexpr std::int32_t packed_base = (127 - 50) << 23;  // the bits of 2^-50
inline constexpr std::int32_t packed_top = 0xffff;
inline constexpr float packed_least = std::bit_cast<float>(packed_base);
inline constexpr float packed_most =
    std::bit_cast<float>(packed_base + (packed_top << packed_shift));

typedef PackedBound PackedVec __attribute__((vector_size(vector_bytes / 2)));

// Not a number becomes `otherwise`, as with vec_min and vec_max.
inline float at_most(float v, float otherwise) { return v < otherwise ? v : otherwise; }
inline float at_least(float v, float otherwise) { return v > otherwise ? v : otherwise; }

}  // namespace detail

inline PackedBound pack_upper(float v) {
    using namespace detail;
    const float fitting = at_least(at_most(v, packed_most), packed_least);
    const std::int32_t above = (1 << packed_shift) - 1;
    return static_cast<PackedBound>((std::bit_cast<std::int32_t>(fitting) - packed_base + above) >>
                                    packed_shift);
}
inline PackedBound pack_lower(float v) {
    using namespace detail;
    const float fitting = at_most(at_least(v, packed_least), packed_most);
    return static_cast<PackedBound>((std::bit_cast<std::int32_t>(fitting) - packed_base) >>
                                    packed_shift);
}
inline float unpack_upper(PackedBound code) {
    using namespace detail;
    return code == packed_top ? longest
                              : std::bit_cast<float>((code << packed_shift) + packed_base);
}
// Less 2^-50, so that the least code is zero.
inline float unpack_lower(PackedBound code) {
    using namespace detail;
    return std::bit_cast<float>((code << packed_shift) + packed_base) - packed_least;
}

// The same for a vector of rows.
inline void store_upper(PackedBound* to, Vec<float> v) {
    using namespace detail;
    v = vec_max(vec_min(v, broadcast(packed_most)), broadcast(packed_least));
    const std::int32_t above = (1 << packed_shift) - 1;
    const auto code = ((IntVec<float>)v - (packed_base - above)) >> packed_shift;
    const auto narrow = __builtin_convertvector(code, PackedVec);
    std::memcpy(to, &narrow, sizeof narrow);
}
inline void store_lower(PackedBound* to, Vec<float> v) {
    using namespace detail;
    v = vec_min(vec_max(v, broadcast(packed_least)), broadcast(packed_most));
    const auto code = ((IntVec<float>)v - packed_base) >> packed_shift;
    const auto narrow = __builtin_convertvector(code, PackedVec);
    std::memcpy(to, &narrow, sizeof narrow);
}
inline Vec<float> load_upper(const PackedBound* from) {
    using namespace detail;
    PackedVec narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    const auto code = widened<IntVec<float>>(narrow);
    const auto v = (Vec<float>)((code << packed_shift) + packed_base);
    return code == packed_top ? broadcast(longest) : v;
}
inline Vec<float> load_lower(const PackedBound* from) {
    using namespace detail;
    PackedVec narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    const auto code = widened<IntVec<float>>(narrow);
    return (Vec<float>)((code << packed_shift) + packed_base) - broadcast(packed_least);
}

}  // namespace coterie
