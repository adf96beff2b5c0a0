// The k nearest so far, by value and then by id.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/neighbors/smallest_k.hpp"

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
    explicit TopK(std::int64_t k) : k_(static_cast<std::size_t>(k)), best_(k) {}

    bool full() const { return best_.full(); }
    // What is farther is of no use.
    double limit() const {
        return full() ? best_.largest().value : std::numeric_limits<double>::infinity();
    }
    void take(const Found& found) { best_.take(found); }
    void take_all(const TopK& others) {
        for (const Found& found : others.best_.all()) take(found);
    }

    // Write all, nearest first; where there are fewer than k, id -1 infinitely far away.
    template <class Length>
    void write(double* values, std::int64_t* ids, const Length& length_of) {
        const std::vector<Found>& found = best_.sorted();
        for (std::size_t i = 0; i < k_; ++i) {
            const bool there = i < found.size();
            values[i] = there ? length_of(found[i].value) : std::numeric_limits<double>::infinity();
            ids[i] = there ? found[i].id : -1;
        }
        best_.clear();
    }

private:
    std::size_t k_;
    SmallestK<Found> best_;
};

}  // namespace coterie::search
