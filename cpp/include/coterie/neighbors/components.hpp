// Connected components, joined by several threads at once.
//
// A forest over 0 .. n-1 in which a parent is never above its child. Roots are joined by
// compare-and-swap, the higher below the lower, so the components, and the root of each, are the
// same in whatever order the joins happen.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace coterie {

class Components {
public:
    explicit Components(std::int64_t n) : parent_(new std::atomic<std::uint32_t>[n]) {
        for (std::int64_t i = 0; i < n; ++i)
            parent_[i].store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    }

    // The lowest member once all joins are done; until then some member of the same component.
    std::uint32_t root(std::uint32_t i) {
        while (true) {
            std::uint32_t up = parent_[i].load(std::memory_order_relaxed);
            if (up == i) return i;
            const std::uint32_t top = parent_[up].load(std::memory_order_relaxed);
            if (top == up) return up;
            parent_[i].compare_exchange_weak(up, top, std::memory_order_relaxed);  // halve the path
            i = top;
        }
    }

    // Whether the two were apart.
    bool join(std::uint32_t a, std::uint32_t b) {
        while (true) {
            a = root(a);
            b = root(b);
            if (a == b) return false;
            if (a < b) std::swap(a, b);
            std::uint32_t expected = a;
            if (parent_[a].compare_exchange_weak(expected, b, std::memory_order_relaxed))
                return true;
        }
    }

private:
    std::unique_ptr<std::atomic<std::uint32_t>[]> parent_;
};

}  // namespace coterie
