// Workspaces of the threads that share a pass.
#pragma once

#include <concepts>
#include <deque>

#include "coterie/threads/pool.hpp"

namespace coterie {

// A workspace for each thread of a pass, made by the calling thread: what a helper allocates itself
// comes from a heap of its own, which the C library keeps for that thread.
template <class Work>
class PerThread {
public:
    // Every workspace is made of `args`, after the worker's number if it wants to know that.
    template <class... Args>
    explicit PerThread(int n_workers, Args&&... args) {
        for (int worker = 0; worker < n_workers; ++worker)
            if constexpr (std::constructible_from<Work, int, Args&...>)
                works_.emplace_back(worker, args...);
            else
                works_.emplace_back(args...);
    }

    Work& operator[](int worker) { return works_[worker]; }
    auto begin() { return works_.begin(); }
    auto end() { return works_.end(); }

private:
    std::deque<Work> works_;  // neither moved nor copied
};

}  // namespace coterie
