// Mini-batch k-means (Sculley 2010): many steps of "label a batch, move its centres" in one call.
//
// A step is short, so the threads of a call stay together from step to step. A batch is labelled
// in chunks of rows and then summed cluster by cluster in batch order, both without partial
// results: the bits depend neither on the threads nor on the instruction set.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "coterie/finder.hpp"
#include "coterie/lloyd.hpp"
#include "coterie/pool.hpp"
#include "coterie/sparse.hpp"

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

// Dense rows as a source of batches: a batch is copied together, so that both halves of a step
// read adjacent rows.
template <class In>
class DenseBatches {
public:
    using Packed = Centers<In>;
    using Value = In;

    DenseBatches(Matrix<const In> rows, Frame<In> frame, std::int64_t batch_size)
        : rows_(rows),
          frame_(frame),
          buffer_(batch_size * rows.n_cols),
          batch_{buffer_.data(), batch_size, rows.n_cols, rows.n_cols, 1},
          positions_(batch_size) {
        for (std::int64_t i = 0; i < batch_size; ++i) positions_[i] = i;
    }

    std::int64_t n_cols() const { return rows_.n_cols; }
    void pack(const double* centers, std::int64_t n_centers, std::optional<Packed>& packed) const {
        packed.emplace(centers, n_centers, rows_.n_cols, frame_);
    }

    // Label rows [begin, end) of the batch `row_ids`; after it, up to `all_ids_end`, come those
    // that will be asked for next.
    void label(Packed& packed, const std::int64_t* row_ids, const std::int64_t* all_ids_end,
               std::int64_t begin, std::int64_t end, std::int32_t* labels) {
        constexpr std::int64_t some = 64;
        Finder<In> finder(packed, batch_);
        for (std::int64_t first = begin; first < end; first += some) {
            const std::int64_t last = std::min(first + some, end);
            for (std::int64_t i = first; i < last; ++i)
                copy(row_ids[i], buffer_.data() + i * n_cols());
            // A few rows ahead, so that memory works while the kernel does.
            const std::int64_t ahead = std::min(last + some, all_ids_end - row_ids);
            for (std::int64_t i = last; i < ahead; ++i) prefetch(row_ids[i]);
            finder.find(positions_.data() + first, last - first,
                        [&](std::int64_t i, const Sighting& seen) { labels[i] = seen.label; });
        }
    }

    // How one thread reads rows of the batch that was labelled last, so many at a time.
    class Reader {
    public:
        static constexpr int most_rows = 16;
        explicit Reader(const DenseBatches& batches) : batches_(batches) {}
        const In* row(const std::int64_t*, std::int64_t position) {
            return batches_.batch_.row(position);
        }

    private:
        const DenseBatches& batches_;
    };

private:
    void copy(std::int64_t row_id, In* to) const {
        const In* from = contiguous_row(rows_, row_id, to);
        if (from != to) std::copy_n(from, rows_.n_cols, to);
    }
    void prefetch(std::int64_t row_id) const {
        constexpr std::int64_t line = 64 / sizeof(In), most = 16 * line;
        const In* from = rows_.row(row_id);
        if (rows_.col_stride == 1)
            for (std::int64_t t = 0; t < std::min(rows_.n_cols, most); t += line)
                __builtin_prefetch(from + t);
    }

    Matrix<const In> rows_;
    Frame<In> frame_;
    std::vector<In> buffer_;
    Matrix<const In> batch_;
    std::vector<std::int64_t> positions_;
};

// Compressed sparse rows as a source of batches; nothing is copied.
template <class In, class Index>
class SparseBatches {
public:
    using Packed = SparseCenters;
    using Value = In;

    SparseBatches(Csr<In, Index> rows, double scale) : rows_(rows), scale_(scale) {}

    std::int64_t n_cols() const { return rows_.n_cols; }
    void pack(const double* centers, std::int64_t n_centers, std::optional<Packed>& packed) const {
        packed.emplace(centers, n_centers, rows_.n_cols, scale_);
    }
    void label(Packed& packed, const std::int64_t* row_ids, const std::int64_t*, std::int64_t begin,
               std::int64_t end, std::int32_t* labels) {
        SparseFinder<In, Index> finder(packed, rows_);
        for (std::int64_t i = begin; i < end; ++i) labels[i] = finder.nearest(row_ids[i]);
    }

    class Reader {
    public:
        static constexpr int most_rows = 1;
        explicit Reader(const SparseBatches& batches) : dense_(batches.rows_) {}
        const In* row(const std::int64_t* row_ids, std::int64_t position) {
            return dense_.read(row_ids[position]);
        }

    private:
        DenseRow<In, Index> dense_;
    };

private:
    Csr<In, Index> rows_;
    double scale_;
};

// The steps to take: step s uses the rows row_ids[s * batch_size ..] with their weights.
struct StepPlan {
    const std::int64_t* row_ids;
    std::int64_t n_steps, batch_size;
    const double* weights;  // one a row of the source; null: one each
    // How much sooner than a plain mean a centre forgets its early rows: a row seen when the
    // centre had weight n counts in proportion to n^forget. 0 is Sculley's mean of all rows.
    double forget;
    // Return early once a centre has less than this share of the heaviest one's weight, which is
    // looked at whenever `check_rows` rows have passed or a centre has no weight at all.
    double low_ratio;
    std::int64_t check_rows;
};

// What the steps change.
struct StepState {
    double* centers;  // [n_centers][n_cols], original units
    double* counts;   // weight each centre has taken in
    std::int64_t n_centers;
    std::int64_t rows_since_check;
};

// What the steps tell: one entry a step each.
struct StepReport {
    double* inertias;  // weighted squared distances of the batch, before the centres move
    double* sq_moves;  // summed squared moves of the centres
};

namespace detail {

// Sums of one cluster's rows about its centre: w (x - c) and w (x - c)^2, column by column.
// Products are rounded before they are added, so that every ISA gives the same bits.
class CenterSums {
public:
    explicit CenterSums(std::int64_t n_cols) : sum_(n_cols), sq_(n_cols) {}

    void clear() {
        std::fill(sum_.begin(), sum_.end(), 0.0);
        std::fill(sq_.begin(), sq_.end(), 0.0);
    }

    template <class In>
    void add(const In* const* rows, const double* weights, int count, const double* center) {
        const auto d = static_cast<std::int64_t>(sum_.size());
        std::int64_t t = 0;
        for (; t + 4 * lanes <= d; t += 4 * lanes) add_columns<4>(rows, weights, count, center, t);
        for (; t + lanes <= d; t += lanes) add_columns<1>(rows, weights, count, center, t);
        for (; t < d; ++t)
            for (int r = 0; r < count; ++r) {
                const double diff = static_cast<double>(rows[r][t]) - center[t];
                const double weighed = rounded(weights[r] * diff);
                sum_[t] += weighed;
                sq_[t] += rounded(weighed * diff);
            }
    }

    double sq_sum() const {
        double total = 0;
        for (const double sq : sq_) total += sq;
        return total;
    }

    // Move the centre by rate * sum; the squared length of the move.
    double move(double* center, double rate) const {
        double sq_move = 0;
        for (std::size_t t = 0; t < sum_.size(); ++t) {
            const double by = rounded(rate * sum_[t]);
            center[t] += by;
            sq_move += rounded(by * by);
        }
        return sq_move;
    }

private:
    static constexpr int lanes = Simd<double>::lanes;

    // Columns [t, t + n * lanes), with the sums in registers.
    template <int n, class In>
    void add_columns(const In* const* rows, const double* weights, int count, const double* center,
                     std::int64_t t) {
        Vec<double> c[n], sum[n], sq[n];
#pragma GCC unroll 4
        for (int i = 0; i < n; ++i) {
            c[i] = load(center + t + i * lanes);
            sum[i] = load(sum_.data() + t + i * lanes);
            sq[i] = load(sq_.data() + t + i * lanes);
        }
        for (int r = 0; r < count; ++r) {
            const Vec<double> weight = broadcast(weights[r]);
#pragma GCC unroll 4
            for (int i = 0; i < n; ++i) {
                const Vec<double> diff = load_as_double(rows[r] + t + i * lanes) - c[i];
                const Vec<double> weighed = rounded(weight * diff);
                sum[i] += weighed;
                sq[i] += rounded(weighed * diff);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < n; ++i) {
            store(sum_.data() + t + i * lanes, sum[i]);
            store(sq_.data() + t + i * lanes, sq[i]);
        }
    }

    std::vector<double> sum_, sq_;
};

// The positions of a batch in the order of their labels; cluster j has [starts[j], starts[j + 1]).
struct Members {
    std::vector<std::int64_t> starts, positions;

    Members(std::int64_t n_centers, std::int64_t batch_size)
        : starts(n_centers + 1), positions(batch_size), next_(n_centers) {}

    void sort(const std::int32_t* labels) {
        std::fill(starts.begin(), starts.end(), 0);
        const auto n = static_cast<std::int64_t>(positions.size());
        for (std::int64_t i = 0; i < n; ++i) ++starts[labels[i] + 1];
        for (std::size_t j = 0; j < next_.size(); ++j) starts[j + 1] += starts[j];
        std::copy(starts.begin(), starts.end() - 1, next_.begin());
        for (std::int64_t i = 0; i < n; ++i) positions[next_[labels[i]]++] = i;
    }

private:
    std::vector<std::int64_t> next_;
};

}  // namespace detail

// Take the steps of the plan, fewer where a centre's weight got too low; returns how many.
template <class Batches>
std::int64_t minibatch_steps(Batches& batches, const StepPlan& plan, StepState& state,
                             const StepReport& report, const Crew& crew) {
    using Reader = typename Batches::Reader;
    const std::int64_t d = batches.n_cols(), k = state.n_centers, size = plan.batch_size;
    const std::int64_t chunk_rows =
        std::clamp<std::int64_t>((std::int64_t{1} << 19) / (k * d + 1) / 32 * 32, 128, 4096);
    const std::int64_t n_chunks = (size + chunk_rows - 1) / chunk_rows;
    const std::int64_t n_groups =
        std::min<std::int64_t>(k, std::clamp<std::int64_t>(size * d / 4096, 1, 32));

    std::vector<std::int32_t> labels(size);
    std::vector<double> inertias(k), sq_moves(k);
    detail::Members members(k, size);
    std::vector<detail::CenterSums> sums(crew.n_threads, detail::CenterSums(d));
    std::vector<Reader> readers(crew.n_threads, Reader(batches));
    std::optional<typename Batches::Packed> packed;
    std::int64_t n_done = 0;

    const std::int64_t* row_ids = plan.row_ids;
    const std::int64_t* all_ids_end = row_ids + plan.n_steps * size;
    const Gang::Body label_chunk = [&](std::int64_t chunk, int) {
        const std::int64_t begin = chunk * chunk_rows;
        batches.label(*packed, row_ids, all_ids_end, begin, std::min(size, begin + chunk_rows),
                      labels.data());
    };
    const auto move_center = [&](std::int64_t j, int worker) {
        constexpr int most_rows = Reader::most_rows;
        const typename Batches::Value* rows[most_rows];
        double weights[most_rows];
        double weight = 0;
        inertias[j] = sq_moves[j] = 0;
        detail::CenterSums& sum = sums[worker];
        sum.clear();
        for (std::int64_t m = members.starts[j]; m < members.starts[j + 1];) {
            int count = 0;
            for (; count < most_rows && m < members.starts[j + 1]; ++count, ++m) {
                const std::int64_t position = members.positions[m];
                rows[count] = readers[worker].row(row_ids, position);
                weights[count] = plan.weights ? plan.weights[row_ids[position]] : 1.0;
                weight += weights[count];
            }
            sum.add(rows, weights, count, state.centers + j * d);
        }
        if (weight <= 0) return;
        state.counts[j] += weight;
        const double rate = (1 + plan.forget) / (state.counts[j] + rounded(plan.forget * weight));
        inertias[j] = sum.sq_sum();
        sq_moves[j] = sum.move(state.centers + j * d, rate);
    };
    const Gang::Body move_group = [&](std::int64_t group, int worker) {
        for (std::int64_t j = k * group / n_groups; j < k * (group + 1) / n_groups; ++j)
            move_center(j, worker);
    };
    const auto lightest_and_heaviest = [&] {
        return std::minmax_element(state.counts, state.counts + k);
    };

    const std::int64_t n_useful = std::max(n_chunks, n_groups);
    const Crew few{static_cast<int>(std::min<std::int64_t>(crew.n_threads, n_useful)), crew.poll};
    Gang::together(few, [&](Gang& gang) {
        while (n_done < plan.n_steps) {
            state.rows_since_check += size;
            const bool check =
                *lightest_and_heaviest().first <= 0 || state.rows_since_check >= plan.check_rows;
            if (check) state.rows_since_check = 0;
            row_ids = plan.row_ids + n_done * size;
            batches.pack(state.centers, k, packed);
            gang.round(static_cast<std::uint32_t>(n_chunks), label_chunk);
            members.sort(labels.data());
            gang.round(static_cast<std::uint32_t>(n_groups), move_group);
            double inertia = 0, sq_move = 0;
            for (std::int64_t j = 0; j < k; ++j) {
                inertia += inertias[j];
                sq_move += sq_moves[j];
            }
            report.inertias[n_done] = inertia;
            report.sq_moves[n_done] = sq_move;
            ++n_done;
            const auto [lightest, heaviest] = lightest_and_heaviest();
            if (check && *lightest < plan.low_ratio * *heaviest) return;
        }
    });
    return n_done;
}

}  // namespace coterie
