// Lloyd's two half-steps over a block of rows: label every row, move cluster sums accordingly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coterie/finder.hpp"
#include "coterie/matrix.hpp"
#include "coterie/per_thread.hpp"
#include "coterie/sums.hpp"

namespace coterie {

// One thread's sums, moved along as rows change cluster. The first thread's are those of the pass
// itself, the others' are added to them in the end: whole numbers, so the order does not matter.
template <class In>
class Mover {
public:
    Mover(int worker, Weighted<In> data, const SumsOut& out, std::int64_t n_centers)
        : data_(data), sums_(worker, out, n_centers, data.rows.n_cols), reader_(data.rows) {}

    // Take the row out of cluster `from` (-1: it was in none) and put it into cluster `to`.
    void move(std::int64_t i, std::int32_t from, std::int32_t to) {
        const In* x = reader_.read(i);
        if (data_.weights) {
            if (from >= 0) sums_.add(x, data_.weights[i], from, -1);
            sums_.add(x, data_.weights[i], to, 1);
        } else {
            if (from >= 0) sums_.add(x, from, -1);
            sums_.add(x, to, 1);
        }
        ++n_moved;
    }
    void pour_into(const SumsOut& out) { sums_.pour_into(out); }

    std::int64_t n_moved = 0;

private:
    Weighted<In> data_;
    ClusterSums sums_;
    RowReader<In> reader_;
};

template <class In>
struct AssignWork {
    Finder<In> finder;
    Mover<In> mover;
    AssignWork(int worker, Centers<In>& centers, Weighted<In> data, const SumsOut& out)
        : finder(centers, data.rows), mover(worker, data, out, centers.n_centers) {}
};

// Label every row with its nearest centre and move the sums of the rows whose label changed.
// A label of -1 on entry means "in no cluster yet". Returns the number of rows that changed.
template <class In>
std::int64_t assign_and_sum(Weighted<In> data, Centers<In>& centers, std::int32_t* labels,
                            const SumsOut& out, const Crew& crew) {
    consider_coarse(centers, data.rows);
    const Chunks chunks(data.rows.n_rows, centers.n_centers * centers.n_cols);
    PerThread<AssignWork<In>> works(crew.n_at_work(chunks.count()), centers, data, out);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& work = works[worker];
        work.finder.find_changed(chunks.begin(chunk), chunks.end(chunk), labels,
                                 [&](std::int64_t i, std::int32_t label) {
                                     work.mover.move(i, labels[i], label);
                                     labels[i] = label;
                                 });
    });
    std::int64_t n_changed = 0;
    for (AssignWork<In>& work : works) {
        work.mover.pour_into(out);
        n_changed += work.mover.n_moved;
    }
    return n_changed;
}

// Label every row with its nearest centre; nothing else.
template <class In>
void assign(Matrix<const In> rows, Centers<In>& centers, std::int32_t* labels, const Crew& crew) {
    consider_coarse(centers, rows);
    const Chunks chunks(rows.n_rows, centers.n_centers * centers.n_cols);
    PerThread<Finder<In>> finders(crew.n_at_work(chunks.count()), centers, rows);
    crew.run(chunks.count(), [&](std::int64_t chunk, int worker) {
        auto& finder = finders[worker];
        const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        std::fill(labels + begin, labels + end, -1);
        finder.find_changed(begin, end, labels,
                            [&](std::int64_t i, std::int32_t label) { labels[i] = label; });
    });
}

// Sum of weighted squared distances of rows to the centres of their labels, times scale^2, in the
// direct form; `sq_dists` (may be null) receives each row's share.
template <class In>
double sum_sq_dists(Weighted<In> data, const double* centers, const std::int32_t* labels,
                    double scale, double* sq_dists, const Crew& crew) {
    const Chunks chunks(data.rows.n_rows, data.rows.n_cols);
    std::vector<double> parts(chunks.count());
    const std::int64_t d = data.rows.n_cols;
    const auto add_up = [&](std::int64_t chunk, const auto& sq_dist_of) {
        RowReader<In> reader(data.rows);
        double sum = 0;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const In* x = reader.read(i);
            const double sq_dist = sq_dist_of(x, centers + labels[i] * d);
            if (sq_dists) sq_dists[i] = sq_dist;
            sum += data.weights ? rounded(data.weights[i] * sq_dist) : sq_dist;
        }
        parts[chunk] = sum;
    };
    const auto narrow = [&]<int n_cols>(std::int64_t chunk) {
        add_up(chunk, [&](const In* x, const double* center) {
            return direct_sq_dist<n_cols>(x, center, scale);
        });
    };
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        if (d == 1) return narrow.template operator()<1>(chunk);
        if (d == 2) return narrow.template operator()<2>(chunk);
        if (d == 3) return narrow.template operator()<3>(chunk);
        if (d == 4) return narrow.template operator()<4>(chunk);
        add_up(chunk, [&](const In* x, const double* center) {
            return direct_sq_dist(x, center, d, scale);
        });
    });
    double total = 0;
    for (const double part : parts) total += part;
    return total;
}

// Distances of every row to every centre, direct form; row-major.
template <class In>
void all_dists(Matrix<const In> rows, const double* centers, std::int64_t n_centers, double scale,
               In* dists, const Crew& crew) {
    const DirectCenters direct(centers, n_centers, rows.n_cols, scale);
    const Chunks chunks(rows.n_rows, rows.n_cols * n_centers);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        RowReader<In> reader(rows);
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            In* to = dists + i * n_centers;
            direct.each(reader.read(i), [&](std::int64_t j, double sq_dist) {
                to[j] = static_cast<In>(std::sqrt(sq_dist) / scale);
            });
        }
    });
}

}  // namespace coterie
