// Lloyd's two half-steps over a block of rows, dense or sparse: label every row, move cluster sums
// accordingly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/centroid/finder.hpp"
#include "coterie/centroid/sums.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/threads/per_thread.hpp"

namespace coterie {

// What passes need to know of the kind of rows: `Finder` finds nearest centres among `Packed` ones,
// `Reader` gives a row's values side by side, `Moved` those that sums change by. Sparse rows have
// theirs in sparse.hpp.
template <class Data>
struct RowKind;

template <class In>
struct RowKind<Weighted<In>> {
    using Value = In;
    using Packed = Centers<In>;
    using Finder = coterie::Finder<In>;
    using Reader = RowReader<In>;
    using Moved = RowReader<In>;

    static void prepare(Packed& centers, const Weighted<In>& data) {
        consider_coarse(centers, data.rows);
    }
    // What a row costs to label, in multiply-adds.
    static std::int64_t cost(const Weighted<In>& data, std::int64_t n_centers) {
        return n_centers * data.rows.n_cols;
    }
    // Take row i out of cluster `from` (-1: it was in none) and put it into cluster `to`.
    static void move(ClusterSums& sums, Moved& rows, const double* weights, std::int64_t i,
                     std::int32_t from, std::int32_t to) {
        const In* x = rows.read(i);
        if (weights) {
            if (from >= 0) sums.add(x, weights[i], from, -1);
            sums.add(x, weights[i], to, 1);
        } else {
            if (from >= 0) sums.add(x, from, -1);
            sums.add(x, to, 1);
        }
    }
};

// One thread's sums, moved along as rows change cluster. The first thread's are those of the pass
// itself, the others' are added to them in the end: whole numbers, so the order does not matter.
template <class Data>
class Mover {
public:
    Mover(int worker, const Data& data, const SumsOut& out, std::int64_t n_centers)
        : weights_(data.weights),
          sums_(worker, out, n_centers, data.rows.n_cols),
          rows_(data.rows) {}

    void move(std::int64_t i, std::int32_t from, std::int32_t to) {
        RowKind<Data>::move(sums_, rows_, weights_, i, from, to);
        ++n_moved;
    }
    void pour_into(const SumsOut& out) { sums_.pour_into(out); }

    std::int64_t n_moved = 0;

private:
    const double* weights_;
    ClusterSums sums_;
    typename RowKind<Data>::Moved rows_;
};

template <class Data>
struct AssignWork {
    typename RowKind<Data>::Finder finder;
    Mover<Data> mover;
    AssignWork(int worker, typename RowKind<Data>::Packed& centers, const Data& data,
               const SumsOut& out)
        : finder(centers, data.rows), mover(worker, data, out, centers.n_centers) {}
};

// Label every row with its nearest centre and move the sums of the rows whose label changed.
// A label of -1 on entry means "in no cluster yet". Returns the number of rows that changed.
template <class Data>
std::int64_t assign_and_sum(const Data& data, typename RowKind<Data>::Packed& centers,
                            std::int32_t* labels, const SumsOut& out, const Crew& crew) {
    RowKind<Data>::prepare(centers, data);
    const Chunks chunks(data.rows.n_rows, RowKind<Data>::cost(data, centers.n_centers));
    PerThread<AssignWork<Data>> works(crew.n_at_work(chunks.count()), centers, data, out);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& work = works[worker];
        work.finder.find_changed(chunks.begin(chunk), chunks.end(chunk), labels,
                                 [&](std::int64_t i, std::int32_t label) {
                                     work.mover.move(i, labels[i], label);
                                     labels[i] = label;
                                 });
    });
    std::int64_t n_changed = 0;
    for (AssignWork<Data>& work : works) {
        work.mover.pour_into(out);
        n_changed += work.mover.n_moved;
    }
    return n_changed;
}

// Label every row with its nearest centre; nothing else.
template <class Data>
void assign(const Data& data, typename RowKind<Data>::Packed& centers, std::int32_t* labels,
            const Crew& crew) {
    RowKind<Data>::prepare(centers, data);
    const Chunks chunks(data.rows.n_rows, RowKind<Data>::cost(data, centers.n_centers));
    PerThread<typename RowKind<Data>::Finder> finders(crew.n_at_work(chunks.count()), centers,
                                                      data.rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        std::fill(labels + begin, labels + end, -1);
        finders[worker].find_changed(
            begin, end, labels, [&](std::int64_t i, std::int32_t label) { labels[i] = label; });
    });
}

// Sum of weighted squared distances of rows to the centres of their labels, times scale^2, in the
// direct form; `sq_dists` (may be null) receives each row's share.
template <class Data>
double sum_sq_dists(const Data& data, const double* centers, const std::int32_t* labels,
                    double scale, double* sq_dists, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const Chunks chunks(data.rows.n_rows, d);
    std::vector<double> parts(chunks.count());
    PerThread<typename RowKind<Data>::Reader> readers(crew.n_at_work(chunks.count()), data.rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        with_one_of<1, 2, 3, 4, 0>(d, [&](auto n_cols) {
            auto& reader = readers[worker];
            double sum = 0;
            for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const auto* x = reader.read(i);
                const double* center = centers + labels[i] * d;
                double sq_dist;
                if constexpr (n_cols > 0)
                    sq_dist = direct_sq_dist<n_cols>(x, center, scale);
                else
                    sq_dist = direct_sq_dist(x, center, d, scale);
                if (sq_dists) sq_dists[i] = sq_dist;
                sum += data.weights ? rounded(data.weights[i] * sq_dist) : sq_dist;
            }
            parts[chunk] = sum;
        });
    });
    double total = 0;
    for (const double part : parts) total += part;
    return total;
}

// Distances of every row to every centre, direct form; row-major.
template <class Data>
void all_dists(const Data& data, const double* centers, std::int64_t n_centers, double scale,
               typename RowKind<Data>::Value* dists, const Crew& crew) {
    const std::int64_t d = data.rows.n_cols;
    const DirectCenters direct(centers, n_centers, d, scale);
    const Chunks chunks(data.rows.n_rows, d * n_centers);
    PerThread<typename RowKind<Data>::Reader> readers(crew.n_at_work(chunks.count()), data.rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            direct.dists(readers[worker].read(i), dists + i * n_centers);
    });
}

}  // namespace coterie
