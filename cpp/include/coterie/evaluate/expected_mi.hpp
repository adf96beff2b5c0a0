// The mutual information that two labellings share by chance, given the sizes of their clusters.
//
// Vinh, Epps and Bailey (2010): with sizes a and b of n rows, the number of rows that two clusters
// share is hypergeometric. Its probabilities are walked from the most likely number both ways, each
// from the one before, and divided by their sum: no factorials, whose logarithms would cost nine
// digits at a million rows. What is 1e-25 of the most likely adds nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/threads/pool.hpp"

namespace coterie {

// Distinct sizes of clusters, and how many clusters have each.
struct ClusterSizes {
    const std::int64_t* sizes;
    const std::int64_t* counts;
    std::int64_t n_sizes;

    std::int64_t largest() const { return *std::max_element(sizes, sizes + n_sizes); }
};

// The mean of m log(n m / (a b)) over the number m of rows that clusters of a and of b share.
// `logs` are the logarithms of 0 (unused), 1, 2, ...
inline double expected_overlap(std::int64_t a, std::int64_t b, std::int64_t n, const double* logs) {
    const std::int64_t low = std::max<std::int64_t>(0, a + b - n), high = std::min(a, b);
    const auto da = static_cast<double>(a), db = static_cast<double>(b);
    const double rest = static_cast<double>(n - a) - db;  // n - a - b
    const double log_scale = std::log(static_cast<double>(n) / da / db);
    const auto mode = static_cast<std::int64_t>((da + 1) * (db + 1) / (static_cast<double>(n) + 2));
    const std::int64_t start = std::clamp(mode, low, high);
    const auto value = [&](std::int64_t m) {
        return m > 0 ? static_cast<double>(m) * (logs[m] + log_scale) : 0.0;
    };
    constexpr double least = 1e-25;
    double total = 1, sum = value(start);
    double p = 1;
    for (std::int64_t m = start; m < high && p > least; ++m) {
        const auto dm = static_cast<double>(m);
        p *= (da - dm) * (db - dm) / ((dm + 1) * (rest + dm + 1));
        total += p;
        sum += p * value(m + 1);
    }
    p = 1;
    for (std::int64_t m = start; m > low && p > least; --m) {
        const auto dm = static_cast<double>(m);
        p *= dm * (rest + dm) / ((da - dm + 1) * (db - dm + 1));
        total += p;
        sum += p * value(m - 1);
    }
    return sum / total;
}

inline double expected_mi(const ClusterSizes& left, const ClusterSizes& right, std::int64_t n,
                          const Crew& crew) {
    std::vector<double> logs(std::min(left.largest(), right.largest()) + 1);
    for (std::size_t m = 1; m < logs.size(); ++m) logs[m] = std::log(static_cast<double>(m));
    std::vector<double> parts(left.n_sizes);
    crew.run(left.n_sizes, [&](std::int64_t i, int) {
        double part = 0;
        for (std::int64_t j = 0; j < right.n_sizes; ++j) {
            if (j % 256 == 255) Pool::breathe();
            part += static_cast<double>(right.counts[j]) *
                    expected_overlap(left.sizes[i], right.sizes[j], n, logs.data());
        }
        parts[i] = part * static_cast<double>(left.counts[i]);
    });
    double total = 0;
    for (const double part : parts) total += part;
    return total / static_cast<double>(n);
}

}  // namespace coterie
