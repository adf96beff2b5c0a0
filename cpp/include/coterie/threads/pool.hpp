// The thread pool: one primitive, parallel_for over chunks.
//
// Workers are condition-variable threads that spin briefly and then sleep. Several Python
// threads may run jobs at once: each caller works on its own job and idle workers help whichever
// job still wants hands. A forked child gets a fresh pool, since threads do not survive a fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace coterie {

// Thrown on the calling thread when its poll function asked to stop.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

class Pool {
public:
    // Returns true when the work should be abandoned; only ever called on the calling thread.
    using Poll = std::function<bool()>;

    static Pool& instance() {
        static std::once_flag once;
        std::call_once(once, [] {
            slot() = new Pool;
            // The parent's threads, and perhaps its locked mutex, are gone: start anew, leak the
            // old.
            pthread_atfork(nullptr, nullptr, [] { slot() = new Pool; });
        });
        return *slot();
    }

    // To be called now and then within a long chunk: answers Ctrl-C on the calling thread, and lets
    // helpers end where the work has been abandoned. Outside of a job it does nothing.
    static void breathe() {
        const Turn& turn = current_turn();
        if (!turn.job) return;
        if (turn.poll && *turn.poll && clock::now() >= *turn.next_poll) {
            if ((*turn.poll)()) throw Interrupted{};
            *turn.next_poll = clock::now() + poll_interval;
        }
        if (turn.job->next.load(std::memory_order_relaxed) >= abandoned) throw Interrupted{};
    }

    // Someone else's function of a chunk and a worker, by reference.
    struct Body {
        const void* function;
        void (*call)(const void* function, std::int64_t chunk, int worker);

        template <class Function>
        static Body of(const Function& function) {
            return {&function, [](const void* f, std::int64_t chunk, int worker) {
                        (*static_cast<const Function*>(f))(chunk, worker);
                    }};
        }
        void operator()(std::int64_t chunk, int worker) const { call(function, chunk, worker); }
    };

    // Call body(chunk, worker) for every chunk in [0, n_chunks), worker in [0, n_threads).
    // Chunks are taken in order; which worker takes one must not matter to the result. Not a
    // template: there are hundreds of bodies, and this would be compiled for each.
    void parallel_for(std::int64_t n_chunks, int n_threads, const Poll& poll, Body body) {
        Job job;
        job.n_chunks = n_chunks;
        job.run = body;
        const int helpers = static_cast<int>(std::min<std::int64_t>(n_threads, n_chunks)) - 1;
        if (helpers > 0) {
            std::lock_guard lock(mutex_);
            job.wanted = helpers;
            jobs_.push_back(&job);
            hire(helpers);
            epoch_.fetch_add(1, std::memory_order_release);
            wake_.notify_all();
        }
        auto next_poll = clock::now() + poll_interval;
        const Turn outer = std::exchange(current_turn(), Turn{&job, &poll, &next_poll});
        try {
            while (job.take(0)) {
                if (poll && clock::now() >= next_poll) {
                    if (poll()) {
                        job.fail(std::make_exception_ptr(Interrupted{}));
                        break;
                    }
                    next_poll = clock::now() + poll_interval;
                }
            }
        } catch (...) {
            job.fail(std::current_exception());
        }
        current_turn() = outer;
        if (helpers > 0) {
            std::unique_lock lock(mutex_);
            std::erase(jobs_, &job);
            while (job.active > 0) {
                // Wake now and then so that Ctrl-C is answered while others finish their chunks.
                done_.wait_for(lock, poll_interval);
                if (job.active > 0 && poll && clock::now() >= next_poll) {
                    lock.unlock();
                    if (poll()) job.fail(std::make_exception_ptr(Interrupted{}));
                    next_poll = clock::now() + poll_interval;
                    lock.lock();
                }
            }
        }
        if (job.error) std::rethrow_exception(job.error);
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds poll_interval{50};
    static constexpr std::int64_t abandoned = std::int64_t{1} << 60;  // no chunk has this number

    struct Job {
        Body run;
        std::int64_t n_chunks = 0;
        std::atomic<std::int64_t> next{0};
        int wanted = 0;  // helpers still to join, under the pool's mutex
        int active = 0;  // helpers at work, under the pool's mutex
        int joined = 0;  // helpers that ever joined, under the pool's mutex
        std::mutex error_mutex;
        std::exception_ptr error;

        bool take(int worker) {
            const std::int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= n_chunks) return false;
            run(chunk, worker);
            return true;
        }
        // The first failure counts; those of helpers that were sent home come after it.
        void fail(std::exception_ptr e) {
            {
                std::lock_guard lock(error_mutex);
                if (!error) error = e;
            }
            next.store(abandoned, std::memory_order_relaxed);
        }
    };

    // What a thread is busy with; helpers have no poll.
    struct Turn {
        Job* job = nullptr;
        const Poll* poll = nullptr;
        std::chrono::steady_clock::time_point* next_poll = nullptr;
    };
    static Turn& current_turn() {
        static thread_local Turn turn;
        return turn;
    }

    static Pool*& slot() {
        static Pool* pool = nullptr;
        return pool;
    }

    // Have at least this many workers, or as many as the machine gives; the caller works anyway.
    void hire(int wanted) {
        try {
            for (; n_workers_ < wanted; ++n_workers_) std::thread([this] { work(); }).detach();
        } catch (const std::system_error&) {
        }
    }

    Job* job_that_wants_help() {
        for (Job* job : jobs_)
            if (job->wanted > 0) return job;
        return nullptr;
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            Job* job = job_that_wants_help();
            if (!job) {
                const auto seen = epoch_.load(std::memory_order_acquire);
                lock.unlock();
                for (int spin = 0; spin < 2000; ++spin) {
                    if (epoch_.load(std::memory_order_acquire) != seen) break;
                    pause();
                }
                lock.lock();
                wake_.wait(lock, [&] {
                    return epoch_.load(std::memory_order_acquire) != seen || job_that_wants_help();
                });
                continue;
            }
            --job->wanted;
            ++job->active;
            const int worker = ++job->joined;
            lock.unlock();
            current_turn() = Turn{job};
            try {
                while (job->take(worker)) {
                }
            } catch (...) {
                job->fail(std::current_exception());
            }
            current_turn() = {};
            lock.lock();
            if (--job->active == 0) done_.notify_all();
        }
    }

    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<Job*> jobs_;
    std::atomic<std::uint64_t> epoch_{0};
    std::int64_t n_workers_ = 0;
};

// How a kernel runs: on how many threads, and how it learns of Ctrl-C.
struct Crew {
    int n_threads = 1;
    Pool::Poll poll;

    // How many threads so many chunks can occupy: workers are numbered below this.
    int n_at_work(std::int64_t n_chunks) const {
        return static_cast<int>(std::clamp<std::int64_t>(n_chunks, 1, n_threads));
    }

    template <class Function>
    void run(std::int64_t n_chunks, const Function& function) const {
        Pool::instance().parallel_for(n_chunks, n_threads, poll, Pool::Body::of(function));
    }
};

// Rows are cut into chunks whose size depends on the problem alone, never on the threads.
struct Chunks {
    std::int64_t n_rows;
    std::int64_t size;

    Chunks(std::int64_t n_rows, std::int64_t work_per_row) : n_rows(n_rows) {
        // About 2^23 multiply-adds a chunk: some milliseconds, so Ctrl-C is answered quickly.
        const std::int64_t wanted = (std::int64_t{1} << 23) / (work_per_row > 0 ? work_per_row : 1);
        size = wanted < 256 ? 256 : wanted > 16384 ? 16384 : wanted / 64 * 64;
    }
    std::int64_t count() const { return (n_rows + size - 1) / size; }
    std::int64_t begin(std::int64_t chunk) const { return chunk * size; }
    std::int64_t end(std::int64_t chunk) const {
        const std::int64_t e = (chunk + 1) * size;
        return e < n_rows ? e : n_rows;
    }
};

// Asks for Ctrl-C now and then, in loops whose steps are short.
class Patience {
public:
    explicit Patience(const Crew& crew) : crew_(crew) {}

    // In loops whose steps are shorter than a look at the clock.
    void tick() {
        if (++ticks_ % (1 << 16) == 0) ask();
    }

    void ask() {
        if (!crew_.poll || clock::now() < next_) return;
        if (crew_.poll()) throw Interrupted{};
        next_ = clock::now() + std::chrono::milliseconds(50);
    }

private:
    using clock = std::chrono::steady_clock;
    const Crew& crew_;
    std::uint32_t ticks_ = 0;
    clock::time_point next_ = clock::now() + std::chrono::milliseconds(50);
};

}  // namespace coterie
