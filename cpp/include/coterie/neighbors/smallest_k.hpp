// The k smallest so far: a heap whose top is what a newcomer must beat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coterie {

template <class T>
class SmallestK {
public:
    explicit SmallestK(std::int64_t k) : k_(static_cast<std::size_t>(k)) {}

    bool full() const { return heap_.size() == k_; }
    // The k-th smallest, where there are as many.
    const T& largest() const { return heap_.front(); }
    void take(const T& value) {
        if (full()) {
            if (!(value < heap_.front())) return;
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.back() = value;
        } else {
            heap_.push_back(value);
        }
        std::push_heap(heap_.begin(), heap_.end());
    }
    void clear() { heap_.clear(); }

    // In no order.
    const std::vector<T>& all() const { return heap_; }
    // Smallest first; to be cleared before more is taken.
    const std::vector<T>& sorted() {
        std::sort_heap(heap_.begin(), heap_.end());
        return heap_;
    }

private:
    std::size_t k_;
    std::vector<T> heap_;
};

}  // namespace coterie
