// Hartigans' dip: how far a sample is from the nearest distribution with a single mode.
//
// Hartigan & Hartigan (1985), "The dip test of unimodality", Annals of Statistics 13, section 3.
// All heights are counts of rows, so that they are exact; the dip is D / (2 n).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"
#include "coterie/threads/radix_sort.hpp"

namespace coterie {

// The dip, and the first and the last row, of the sorted ones, of the modal interval.
struct Dip {
    double dip;
    std::int64_t low, high;
};

// The steps of the distribution function of a sorted sample, and the hulls of their corners. Step i
// stands at place[i] and rises from below[i] to below[i + 1].
class DipSteps {
public:
    // With a crew both hulls are found at once; without one, as part of a chunk of another's.
    Dip measure(const double* sorted, std::int64_t n, const Crew* crew) {
        take(sorted, n);
        const auto find = [&](std::int64_t side, int) {
            side == 0 ? find_minorant() : find_majorant();
        };
        if (crew)
            crew->run(2, find);
        else
            find(0, 0), find(1, 0);
        const std::int64_t last = count_ - 1;
        std::int64_t low = 0, high = last;
        double depth = 0;
        while (low < high) {
            trace(low, high);
            const Widest widest = find_widest();
            if (widest.gap <= depth) break;
            // Left of the mode the fit is the minorant, right of it the majorant, half of `depth`
            // away from the steps at most.
            for (std::size_t v = 1; v < minorant_.size() && minorant_[v] <= widest.low; ++v)
                depth = std::max(depth, sag(minorant_[v - 1], minorant_[v]));
            for (std::size_t v = majorant_.size() - 1; v > 0 && majorant_[v - 1] >= widest.high;
                 --v)
                depth = std::max(depth, bulge(majorant_[v - 1], majorant_[v]));
            low = widest.low;
            high = widest.high;
        }
        return {depth / (2 * static_cast<double>(n)), below_[low], below_[high + 1] - 1};
    }

private:
    struct Widest {
        double gap;
        std::int64_t low, high;
    };

    double foot(std::int64_t i) const { return below_[i]; }      // just left of the step
    double head(std::int64_t i) const { return below_[i + 1]; }  // on the step

    void take(const double* sorted, std::int64_t n) {
        if (n > room_) {  // not cleared: all of it is written before it is read
            place_.reset(new double[n]);
            below_.reset(new std::int32_t[n + 1]);
            before_.reset(new std::int32_t[n]);
            after_.reset(new std::int32_t[n]);
            room_ = n;
        }
        std::int64_t m = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            if (i > 0 && sorted[i] == sorted[i - 1]) continue;
            place_[m] = sorted[i];
            below_[m++] = static_cast<std::int32_t>(i);
        }
        below_[m] = static_cast<std::int32_t>(n);
        count_ = m;
    }

    // Whether the foot of b lies below the line between those of a and c.
    bool foot_below(std::int64_t a, std::int64_t b, std::int64_t c) const {
        return (foot(b) - foot(a)) * (place_[c] - place_[a]) <
               (foot(c) - foot(a)) * (place_[b] - place_[a]);
    }

    // Whether the head of b lies above the line between those of a and c.
    bool head_above(std::int64_t a, std::int64_t b, std::int64_t c) const {
        return (head(b) - head(a)) * (place_[c] - place_[a]) >
               (head(c) - head(a)) * (place_[b] - place_[a]);
    }

    // before_[i] is the corner before i of the convex minorant of the feet 0..i. Every chain of
    // them is a hull, and each corner is left behind once, so this is O(n).
    void find_minorant() {
        before_[0] = 0;
        for (std::int64_t i = 1; i < count_; ++i) {
            std::int64_t j = i - 1;
            while (j > 0 && !foot_below(before_[j], j, i)) j = before_[j];
            before_[i] = static_cast<std::int32_t>(j);
            if (i % (1 << 16) == 0) Pool::breathe();
        }
    }

    // after_[i] is the corner after i of the concave majorant of the heads i..last.
    void find_majorant() {
        const std::int64_t m = count_;
        after_[m - 1] = static_cast<std::int32_t>(m - 1);
        for (std::int64_t i = m - 2; i >= 0; --i) {
            std::int64_t j = i + 1;
            while (j < m - 1 && !head_above(i, j, after_[j])) j = after_[j];
            after_[i] = static_cast<std::int32_t>(j);
            if (i % (1 << 16) == 0) Pool::breathe();
        }
    }

    // The corners of both hulls from `low` to `high`, rising. Both ends are corners of the hulls of
    // all steps before, or the ends of these, so the chains meet them.
    void trace(std::int64_t low, std::int64_t high) {
        minorant_.assign(1, high);
        while (minorant_.back() > low)
            minorant_.push_back(std::max<std::int64_t>(low, before_[minorant_.back()]));
        std::reverse(minorant_.begin(), minorant_.end());
        majorant_.assign(1, low);
        while (majorant_.back() < high)
            majorant_.push_back(std::min<std::int64_t>(high, after_[majorant_.back()]));
    }

    double between(std::int64_t a, double at_a, std::int64_t b, double at_b, std::int64_t i) const {
        if (i == a) return at_a;
        return at_a + (at_b - at_a) * ((place_[i] - place_[a]) / (place_[b] - place_[a]));
    }

    // Where the hulls are farthest apart: at a corner of one of them, and the nearest corner of the
    // other on the side of the mode.
    Widest find_widest() const {
        Widest widest{-1, minorant_.front(), majorant_.back()};
        const auto offer = [&](double gap, std::int64_t low, std::int64_t high) {
            if (gap > widest.gap) widest = {gap, low, high};
        };
        std::size_t j = 0;  // majorant_[j] is the first corner at or after the one looked at
        for (const std::int64_t g : minorant_) {
            while (majorant_[j] < g) ++j;
            const std::int64_t b = majorant_[j], a = j > 0 ? majorant_[j - 1] : b;
            const double top = b == g ? head(b) : between(a, head(a), b, head(b), g);
            offer(top - foot(g), g, b);
        }
        std::size_t i = 0;  // minorant_[i] is the last corner at or before the one looked at
        for (const std::int64_t l : majorant_) {
            while (i + 1 < minorant_.size() && minorant_[i + 1] <= l) ++i;
            const std::int64_t a = minorant_[i];
            const std::int64_t b = i + 1 < minorant_.size() ? minorant_[i + 1] : a;
            const double bottom = between(a, foot(a), b, foot(b), l);
            offer(head(l) - bottom, a, l);
        }
        return widest;
    }

    // How far the steps from a up to b, without b, stand above the line between the feet.
    double sag(std::int64_t a, std::int64_t b) const {
        const double slope = (foot(b) - foot(a)) / (place_[b] - place_[a]);
        double most = 0;
        for (std::int64_t i = a; i < b; ++i)
            most = std::max(most, head(i) - foot(a) - slope * (place_[i] - place_[a]));
        return most;
    }

    // How far the steps after a up to b stand below the line between the heads.
    double bulge(std::int64_t a, std::int64_t b) const {
        const double slope = (head(b) - head(a)) / (place_[b] - place_[a]);
        double most = 0;
        for (std::int64_t i = a + 1; i <= b; ++i)
            most = std::max(most, head(b) - slope * (place_[b] - place_[i]) - foot(i));
        return most;
    }

    std::int64_t room_ = 0, count_ = 0;
    std::unique_ptr<double[]> place_;
    std::unique_ptr<std::int32_t[]> below_, before_, after_;
    std::vector<std::int64_t> minorant_, majorant_;
};

// Sort finite numbers in place. Their bits are in the order of the numbers once those of negative
// ones are turned over.
inline void sort_numbers(double* values, std::int64_t n, const Crew& crew) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    std::unique_ptr<std::uint64_t[]> words(new std::uint64_t[n]);
    const Chunks chunks(n, 1);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(values[i]);
            words[i] = bits & sign ? ~bits : bits | sign;
        }
    });
    // Four digits tell nearly all apart; what they do not is sorted on its own.
    constexpr int low = 28;
    words = sort_by_bits(std::move(words), n, low, 64, crew);
    for (std::int64_t start = 0, end = 1; start < n; start = end++) {
        while (end < n && words[start] >> low == words[end] >> low) ++end;
        if (end > start + 1) std::sort(words.get() + start, words.get() + end);
    }
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            values[i] = std::bit_cast<double>(words[i] & sign ? words[i] & ~sign : ~words[i]);
    });
}

// The dip of each of many sorted samples, one a row; `ends` holds two numbers a row.
inline void measure_dips(Matrix<const double> samples, double* dips, std::int64_t* ends,
                         const Crew& crew) {
    const auto measure = [&](DipSteps& steps, std::int64_t i, const Crew* own) {
        const Dip found = steps.measure(samples.data + i * samples.n_cols, samples.n_cols, own);
        dips[i] = found.dip;
        ends[2 * i] = found.low;
        ends[2 * i + 1] = found.high;
    };
    if (samples.n_rows == 1) {  // both hulls of one sample at once
        DipSteps steps;
        return measure(steps, 0, &crew);
    }
    const Chunks chunks(samples.n_rows, 64 * samples.n_cols);
    crew.run(chunks.count(), [&](std::int64_t chunk, int) {
        DipSteps steps;
        for (std::int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            measure(steps, i, nullptr);
            Pool::breathe();
        }
    });
}

}  // namespace coterie
