// The k nearest so far, by value and then by id: a heap whose top is what a newcomer must beat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace coterie::search {

// A row that was found. Ids are compared where values are equal, so that there is one right order
// and it does not matter in which order, or by which thread, rows are looked at.
struct Found {
    double value;
    std::int64_t id;
    std::int64_t row = 0;  // where it is held, for those who look again
    friend bool operator<(const Found& a, const Found& b) {
        return a.value < b.value || (a.value == b.value && a.id < b.id);
    }
};

class TopK {
public:
    explicit TopK(std::int64_t k) : k_(static_cast<std::size_t>(k)) {}

    void clear() { heap_.clear(); }
    bool full() const { return heap_.size() == k_; }
    // What is farther is of no use.
    double limit() const {
        return full() ? heap_.front().value : std::numeric_limits<double>::infinity();
    }
    void take(Found found) {
        if (!full()) {
            heap_.push_back(found);
            std::push_heap(heap_.begin(), heap_.end());
        } else if (found < heap_.front()) {
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.back() = found;
            std::push_heap(heap_.begin(), heap_.end());
        }
    }
    void take_all(const TopK& others) {
        for (const Found& found : others.heap_) take(found);
    }

    // In no order.
    const std::vector<Found>& all() const { return heap_; }

    // Write all, nearest first; where there are fewer than k, id -1 infinitely far away.
    template <class Length>
    void write(double* values, std::int64_t* ids, const Length& length_of) {
        std::sort_heap(heap_.begin(), heap_.end());
        for (std::size_t i = 0; i < k_; ++i) {
            const bool there = i < heap_.size();
            values[i] = there ? length_of(heap_[i].value) : std::numeric_limits<double>::infinity();
            ids[i] = there ? heap_[i].id : -1;
        }
        heap_.clear();
    }

private:
    std::size_t k_;
    std::vector<Found> heap_;
};

}  // namespace coterie::search
