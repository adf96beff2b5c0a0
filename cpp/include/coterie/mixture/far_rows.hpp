// Scores of rows so far from every component that double loses what tells components apart.
//
// At a distance of 1e8 standard deviations a log density is about -5e15, where doubles lie one
// apart. Sums of two doubles (Dekker 1971) keep twice the digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/mixture/gaussians.hpp"

namespace coterie {

// high + low, |low| being at most half a unit in the last place of high.
struct Twofold {
    double high = 0, low = 0;

    static Twofold sum(double a, double b) {
        const double high = a + b, part = high - a;
        return {high, (a - (high - part)) + (b - part)};
    }
    static Twofold product(double a, double b) {
        const double high = a * b;
        return {high, std::fma(a, b, -high)};
    }
    Twofold operator+(Twofold other) const {
        const Twofold s = sum(high, other.high);
        return sum(s.high, s.low + (low + other.low));
    }
    Twofold operator*(Twofold other) const {
        const Twofold p = product(high, other.high);
        return sum(p.high, p.low + (high * other.low + low * other.high));
    }
    Twofold operator-() const { return {-high, -low}; }
    bool operator>(Twofold other) const {
        return high > other.high || (high == other.high && low > other.low);
    }
};

// |(x - mean) U|^2.
inline Twofold sq_distance(const GaussianMixture& mixture, std::int64_t j, const double* x) {
    const std::int64_t d = mixture.n_cols;
    const bool diagonal = mixture.kind == Factors::diagonal;
    const double* factor = mixture.factor(j);
    Twofold total;
    for (std::int64_t c = 0; c < d; ++c) {
        Twofold y;
        for (std::int64_t t = diagonal ? c : 0; t <= c; ++t)
            y = y + Twofold::sum(x[t], -mixture.mean(j)[t]) *
                        Twofold{diagonal ? factor[c] : factor[t * d + c], 0};
        total = total + y * y;
    }
    return total;
}

// The largest score (log density less the shift) of a row, and how far below it each score lies.
inline double far_scores(const GaussianMixture& mixture, const LiveComponents& live,
                         const double* x, double* below) {
    std::vector<Twofold> scores;
    Twofold top{-INFINITY, 0};
    for (const std::int32_t id : live.ids) {
        const double height = id < 0 ? mixture.background : mixture.log_height(id);
        Twofold score = Twofold::sum(height, -live.shift);
        if (id >= 0) score = score + Twofold{-0.5, 0} * sq_distance(mixture, id, x);
        if (!std::isfinite(score.high + score.low)) score = {-INFINITY, 0};
        if (score > top) top = score;
        scores.push_back(score);
    }
    for (std::size_t j = 0; j < scores.size(); ++j) {
        const Twofold gap = scores[j] + -top;
        below[j] = std::isfinite(gap.high) ? gap.high + gap.low : -INFINITY;
    }
    return top.high + top.low;
}

}  // namespace coterie
