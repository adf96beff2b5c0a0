// A gang of threads: a leader and its helpers over many short rounds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "coterie/threads/pool.hpp"

namespace coterie {

// Threads that stay together over many short rounds, handing over work by atomics alone.
//
// One thread leads; the others help with whatever round is open. Where no helper comes (all are
// busy elsewhere) the leader does everything itself.
class Gang {
public:
    using Body = std::function<void(std::int64_t chunk, int worker)>;

    // Run lead(gang) on the calling thread while the crew's other threads help with its rounds.
    template <class Lead>
    static void together(const Crew& crew, const Lead& lead) {
        Gang gang(crew);
        crew.run(crew.n_threads, [&](std::int64_t, int worker) {
            if (worker > 0) return gang.help(worker);
            const Dismissal at_the_end{gang};
            if (!gang.dismissed_) lead(gang);
        });
    }

    // One round: body(chunk, worker) for every chunk in [0, n_chunks). Only the leader calls this.
    void round(std::uint32_t n_chunks, const Body& body) {
        body_ = &body;
        n_open_.store(n_chunks, std::memory_order_relaxed);
        tickets_.store(++n_rounds_ << 32 | n_chunks, std::memory_order_release);
        bool interrupted = false;
        while (take(0))
            if (!interrupted && poll()) {
                interrupted = true;
                n_open_ -= static_cast<std::uint32_t>(tickets_.exchange(n_rounds_ << 32));
            }
        // Helpers may still be in the body, so nobody leaves before they are done.
        for (int tries = 0; n_open_.load(std::memory_order_acquire) > 0; ++tries) rest(tries);
        if (interrupted) throw Interrupted{};
    }

private:
    explicit Gang(const Crew& crew) : crew_(crew), next_poll_(clock::now() + poll_interval) {}

    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds poll_interval{50};

    struct Dismissal {
        Gang& gang;
        ~Dismissal() { gang.dismissed_.store(true, std::memory_order_release); }
    };

    // A chunk that throws is done as well: the pool hands the exception to the caller in the end.
    struct Done {
        std::atomic<std::uint32_t>& n_open;
        ~Done() { n_open.fetch_sub(1, std::memory_order_release); }
    };

    void help(int worker) {
        for (int tries = 0; !dismissed_.load(std::memory_order_acquire); ++tries) {
            if (take(worker)) tries = 0;
            rest(tries);
        }
    }

    // A ticket names its round as well, so one that was seen in an earlier round buys nothing.
    bool take(int worker) {
        std::uint64_t seen = tickets_.load(std::memory_order_acquire);
        do {
            if (static_cast<std::uint32_t>(seen) == 0) return false;
        } while (!tickets_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                                 std::memory_order_acquire));
        const Done when_left{n_open_};
        (*body_)(static_cast<std::uint32_t>(seen) - 1, worker);
        return true;
    }

    bool poll() {
        if (!crew_.poll || clock::now() < next_poll_) return false;
        next_poll_ = clock::now() + poll_interval;
        return crew_.poll();
    }

    // Spin while the wait is likely short, then leave the processor to others.
    static void rest(int tries) {
        if (tries > 2000) return std::this_thread::yield();
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    const Crew& crew_;
    clock::time_point next_poll_;
    const Body* body_ = nullptr;
    std::uint64_t n_rounds_ = 0;
    alignas(64) std::atomic<std::uint64_t> tickets_{0};  // round << 32 | chunks not yet taken
    alignas(64) std::atomic<std::uint32_t> n_open_{0};   // chunks not yet done
    alignas(64) std::atomic<bool> dismissed_{false};
};

}  // namespace coterie
