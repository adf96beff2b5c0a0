// What k-medoids keeps of every row: its nearest and second nearest medoid.
//
// With them the change that a swap brings is a sum over rows of which each term takes O(1)
// (Schubert & Rousseeuw 2021, "Fast and eager k-medoids clustering"). After a swap only the rows
// that lost one of their two medoids look at all medoids again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "coterie/medoid/distances.hpp"
#include "coterie/simd/simd.hpp"
#include "coterie/threads/gang.hpp"

namespace coterie {

// A row, with what a candidate is compared with side by side.
struct HeldRow {
    double nearest, second, weight;
    std::int32_t slot, second_slot;  // of the medoids
};

template <class Distances>
class NearestTwo {
public:
    using Real = typename Distances::Length;
    using Key = typename Distances::Key;

    NearestTwo(const Distances& distances, const double* weights)
        : distances_(distances),
          rows_(distances.n_rows()),
          limits_(distances.n_rows()),
          incoming_(distances.n_rows()) {
        for (std::int64_t i = 0; i < distances.n_rows(); ++i)
            rows_[i].weight = weights ? weights[i] : 1.0;
    }

    const std::vector<HeldRow>& rows() const { return rows_; }
    const Key* limits() const { return limits_.data(); }  // below it a candidate matters to a row
    const std::vector<std::int64_t>& medoids() const { return medoids_; }
    // By how much the total deviation rises when a medoid goes and none comes.
    const std::vector<double>& removal_losses() const { return removal_losses_; }
    double total() const { return total_; }
    // A row without two medoids at a finite distance, or -1.
    std::int64_t lost_row() const { return lost_row_; }

    // Take these medoids, two or more; ties go to the lower slot.
    void assign(std::vector<std::int64_t> medoids, Gang& gang) {
        medoids_ = std::move(medoids);
        lost_row_ = -1;
        std::vector<double> totals(n_pieces());
        each_piece(gang, [&](std::int64_t piece, const std::vector<std::int64_t>& ids) {
            find_two(ids);
            totals[piece] = sum_over(ids, [&](std::int64_t i) { return rows_[i].nearest; });
        });
        total_ = std::accumulate(totals.begin(), totals.end(), 0.0);
        sum_removal_losses(gang);
    }

    // Put a candidate in the slot of a medoid if that lowers the total deviation.
    bool exchange(std::int32_t slot, std::int64_t candidate, Gang& gang) {
        std::vector<double> totals(n_pieces());
        each_piece(gang, [&](std::int64_t piece, const std::vector<std::int64_t>& ids) {
            distances_.to_some(ids.data(), ids.size(), &candidate, 1,
                               [&](std::int64_t, const Real* lengths) {
                                   std::copy_n(lengths, ids.size(), incoming_.data() + ids[0]);
                               });
            totals[piece] = sum_over(ids, [&](std::int64_t i) {
                const HeldRow& row = rows_[i];
                return std::min<double>(incoming_[i], row.slot == slot ? row.second : row.nearest);
            });
        });
        const double total = std::accumulate(totals.begin(), totals.end(), 0.0);
        if (!(total < total_)) return false;  // it was rounding that promised more
        total_ = total;
        medoids_[slot] = candidate;
        each_piece(gang, [&](std::int64_t, const std::vector<std::int64_t>& ids) {
            std::vector<std::int64_t> bereft;
            for (const std::int64_t i : ids)
                if (!take_incoming(i, slot)) bereft.push_back(i);
            if (!bereft.empty()) find_two(bereft);
        });
        sum_removal_losses(gang);
        return true;
    }

private:
    static constexpr double none = std::numeric_limits<double>::infinity();

    std::int64_t n_rows() const { return static_cast<std::int64_t>(rows_.size()); }
    std::int64_t n_pieces() const { return (n_rows() + medoid_piece - 1) / medoid_piece; }

    // body(piece, rows of the piece), on all threads.
    template <class Body>
    void each_piece(Gang& gang, const Body& body) const {
        gang.round(static_cast<std::uint32_t>(n_pieces()), [&](std::int64_t piece, int) {
            const std::int64_t begin = piece * medoid_piece;
            std::vector<std::int64_t> ids(std::min(medoid_piece, n_rows() - begin));
            std::iota(ids.begin(), ids.end(), begin);
            body(piece, ids);
        });
    }

    template <class Value>
    double sum_over(const std::vector<std::int64_t>& ids, const Value& value) const {
        double sum = 0;
        for (const std::int64_t i : ids) sum += rounded(rows_[i].weight * value(i));
        return sum;
    }

    // Look at all medoids.
    void find_two(const std::vector<std::int64_t>& ids) {
        for (const std::int64_t i : ids) {
            rows_[i].nearest = rows_[i].second = none;
            rows_[i].slot = rows_[i].second_slot = 0;
        }
        distances_.to_some(ids.data(), ids.size(), medoids_.data(), medoids_.size(),
                           [&](std::int64_t slot, const Real* lengths) {
                               for (std::size_t at = 0; at < ids.size(); ++at)
                                   offer(rows_[ids[at]], static_cast<std::int32_t>(slot),
                                         lengths[at]);
                           });
        for (const std::int64_t i : ids) set_limit(i);
    }

    static void offer(HeldRow& row, std::int32_t slot, double length) {
        if (length < row.nearest) {
            row.second = std::exchange(row.nearest, length);
            row.second_slot = std::exchange(row.slot, slot);
        } else if (length < row.second) {
            row.second = length;
            row.second_slot = slot;
        }
    }

    // The incoming medoid has replaced that of `slot`; false where another one may be second now.
    bool take_incoming(std::int64_t i, std::int32_t slot) {
        HeldRow& row = rows_[i];
        const double length = incoming_[i];
        if (row.slot == slot) {
            if (!(length < row.second)) return false;
            row.nearest = length;
            return true;
        }
        if (row.second_slot == slot) {
            if (length > row.second) return false;
            row.second = none;
        }
        offer(row, slot, length);
        set_limit(i);
        return true;
    }

    void set_limit(std::int64_t i) {
        limits_[i] = distances_.limit_of(static_cast<Real>(rows_[i].second));
        if (rows_[i].second < none) return;
        std::int64_t known = lost_row_;  // the lowest of them is told
        while ((known < 0 || i < known) && !lost_row_.compare_exchange_weak(known, i)) {
        }
    }

    // Within a few shares of the rows, whose sums are added in their order.
    void sum_removal_losses(Gang& gang) {
        constexpr std::int64_t most = 16, least_rows = 1 << 13;
        const std::int64_t n_medoids = static_cast<std::int64_t>(medoids_.size());
        const std::int64_t each = std::max(least_rows, (n_rows() + most - 1) / most);
        const std::int64_t n_shares = (n_rows() + each - 1) / each;
        std::vector<double> parts(n_shares * n_medoids);
        gang.round(static_cast<std::uint32_t>(n_shares), [&](std::int64_t share, int) {
            double* losses = parts.data() + share * n_medoids;
            const std::int64_t end = std::min(n_rows(), (share + 1) * each);
            for (std::int64_t i = share * each; i < end; ++i) {
                const HeldRow& row = rows_[i];
                losses[row.slot] += rounded(row.weight * (row.second - row.nearest));
            }
        });
        removal_losses_.assign(n_medoids, 0.0);
        for (std::int64_t share = 0; share < n_shares; ++share)
            for (std::int64_t slot = 0; slot < n_medoids; ++slot)
                removal_losses_[slot] += parts[share * n_medoids + slot];
    }

    const Distances& distances_;
    std::vector<HeldRow> rows_;
    AlignedVector<Key> limits_;
    std::vector<Real> incoming_;  // distances to the candidate that is about to come
    std::vector<std::int64_t> medoids_;
    std::vector<double> removal_losses_;
    double total_ = 0;
    std::atomic<std::int64_t> lost_row_{-1};
};

}  // namespace coterie
