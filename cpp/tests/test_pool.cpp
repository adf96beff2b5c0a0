// The thread pool: every chunk once, many callers, exceptions, interrupts, nested use, fork.
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"
#include "coterie/threads/pool.hpp"

using namespace coterie;

namespace {

// Run a job; true when every chunk ran once and no worker number was used by two at a time.
bool runs_every_chunk_once(std::int64_t n_chunks, int n_threads) {
    std::vector<std::atomic<int>> runs(n_chunks), busy(n_threads);
    std::atomic<bool> alone{true};
    Crew{n_threads, {}}.run(n_chunks, [&](std::int64_t chunk, int worker) {
        if (worker < 0 || worker >= n_threads || busy[worker]++ > 0) alone = false;
        ++runs[chunk];
        --busy[worker];
    });
    for (const auto& times : runs)
        if (times != 1) return false;
    return alone;
}

// Whether two chunks run at the same time: each waits for the other to begin.
bool a_helper_comes() {
    std::atomic<int> n_begun{0};
    std::atomic<bool> met{true};
    Crew{2, {}}.run(2, [&](std::int64_t, int) {
        ++n_begun;
        for (int waits = 0; n_begun < 2; ++waits) {
            if (waits > 10000) met = false, n_begun = 2;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    return met;
}

}  // namespace

TEST(helpers_come) {
    for (int repeat = 0; repeat < 100; ++repeat) CHECK(a_helper_comes());
}

TEST(every_chunk_runs_once) {
    for (int repeat = 0; repeat < 300; ++repeat)
        for (const std::int64_t n_chunks : {0, 1, 2, 3, 7, 64})
            for (const int n_threads : {1, 2, 3, 5})
                CHECK(runs_every_chunk_once(n_chunks, n_threads));
}

TEST(callers_at_once_get_their_own_jobs) {
    std::vector<std::thread> callers;
    std::atomic<bool> good{true};
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&, caller] {
            for (int repeat = 0; repeat < 300; ++repeat)
                if (!runs_every_chunk_once(1 + (caller + repeat) % 9, 3)) good = false;
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(good);
}

TEST(a_job_inside_a_job_ends) {
    std::atomic<int> n_runs{0};
    const Crew crew{3, {}};
    crew.run(6, [&](std::int64_t, int) { crew.run(5, [&](std::int64_t, int) { ++n_runs; }); });
    CHECK(n_runs == 30);
}

TEST(an_exception_reaches_the_caller) {
    for (int repeat = 0; repeat < 200; ++repeat)
        for (const int thrower : {0, 1, 31}) {
            bool caught = false;
            try {
                Crew{3, {}}.run(32, [&](std::int64_t chunk, int) {
                    if (chunk == thrower) throw std::runtime_error("on purpose");
                });
            } catch (const std::runtime_error&) {
                caught = true;
            }
            CHECK(caught);
        }
    CHECK(runs_every_chunk_once(10, 3));
}

TEST(a_poll_that_says_stop_ends_the_job) {
    for (const int n_threads : {1, 3}) {
        std::atomic<int> n_runs{0};
        bool interrupted = false;
        try {
            Crew{n_threads, [] { return true; }}.run(1000, [&](std::int64_t, int) {
                ++n_runs;
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            });
        } catch (const Interrupted&) {
            interrupted = true;
        }
        CHECK(interrupted);
        CHECK(n_runs < 1000);
    }
}

TEST(many_short_steps_ask_now_and_then) {
    const Crew crew{1, [] { return true; }};
    Patience patience(crew);
    bool interrupted = false;
    try {
        while (true) patience.tick();
    } catch (const Interrupted&) {
        interrupted = true;
    }
    CHECK(interrupted);
}

#if !defined(__SANITIZE_THREAD__)  // which cannot follow a fork

namespace {

// Exit status of a child that runs `body`.
template <class Body>
int in_child(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // a child that hangs is a failure
        _exit(body() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST(a_child_has_a_pool_of_its_own) {
    CHECK(runs_every_chunk_once(10, 3));
    CHECK(in_child([] { return runs_every_chunk_once(10, 3) && a_helper_comes(); }) == 0);
    CHECK(runs_every_chunk_once(10, 3));
}

TEST(fork_while_others_use_the_pool) {
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) runs_every_chunk_once(4, 3);
    });
    int status = 0;
    for (int repeat = 0; repeat < 20 && status == 0; ++repeat)
        status = in_child([] { return runs_every_chunk_once(10, 3); });
    done = true;
    other.join();
    CHECK(status == 0);
}

#endif
