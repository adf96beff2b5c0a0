// The row that a query reaches first: nearest by mutual reachability.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "coterie/distance/metric.hpp"
#include "coterie/neighbors/neighbors.hpp"

namespace coterie {

// Distances are divided by alpha and compared with the core distances of both ends.
struct Reach {
    Metric metric;
    const double* row_cores;
    const double* query_cores;
    double alpha;
};

// Equally reachable rows are told apart by distance, then by row.
class NearestReachable {
public:
    explicit NearestReachable(const Reach& reach) : reach_(reach) {}

    void start(std::int64_t query) {
        core_ = reach_.query_cores[query];
        best_ = {};
        limit_ = std::numeric_limits<double>::infinity();
    }
    double limit() const { return limit_; }
    void take(double reduced, std::int32_t row) {
        const double length = reach_.metric.length_of(reduced) / reach_.alpha;
        const Found found{std::max({length, core_, reach_.row_cores[row]}), reduced, row};
        if (!(found < best_)) return;
        best_ = found;
        // Nothing is reached below the query's own core distance: then only nearer rows matter.
        const double farthest = best_.length * reach_.alpha * (1 + 1e-15);
        limit_ = best_.length <= core_ ? best_.reduced : reach_.metric.reduced_at_most(farthest);
    }
    std::int32_t row() const { return best_.row; }
    double length() const { return best_.length; }

private:
    struct Found {
        double length = std::numeric_limits<double>::infinity();
        double reduced = std::numeric_limits<double>::infinity();
        std::int32_t row = std::numeric_limits<std::int32_t>::max();
        friend bool operator<(const Found& a, const Found& b) {
            return std::tie(a.length, a.reduced, a.row) < std::tie(b.length, b.reduced, b.row);
        }
    };

    const Reach& reach_;
    double core_ = 0;
    Found best_;
    double limit_ = std::numeric_limits<double>::infinity();
};

// The row each query reaches first, and how far it is by mutual reachability.
inline void nearest_reachable(const RowIndex& index, const Queries& queries, const Reach& reach,
                              std::int64_t* row_ids, double* lengths, const Crew& crew) {
    index.search(
        &queries, NearestReachable(reach),
        [&](std::int64_t q, const NearestReachable& seen) {
            row_ids[q] = std::min<std::int64_t>(seen.row(), index.n_rows() - 1);
            lengths[q] = seen.length();
        },
        crew);
}

}  // namespace coterie
