// Numbers known only now as constants to unroll for.
#pragma once

#include <cstdint>
#include <type_traits>

namespace coterie {

// Call body(constant) with the one of these that equals the value; with the last where none does.
template <int first, int... rest, class Body>
[[gnu::always_inline]] inline decltype(auto) with_one_of(std::int64_t value, const Body& body) {
    if constexpr (sizeof...(rest) > 0)
        if (value != first) return with_one_of<rest...>(value, body);
    return body(std::integral_constant<int, first>{});
}

// The same for the numbers from 1 to `most`, which is asked for first and stands for all above.
template <int most, class Body>
[[gnu::always_inline]] inline decltype(auto) with_up_to(std::int64_t value, const Body& body) {
    if constexpr (most > 1)
        if (value < most) return with_up_to<most - 1>(value, body);
    return body(std::integral_constant<int, most>{});
}

}  // namespace coterie
