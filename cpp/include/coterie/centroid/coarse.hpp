// The fused kernel in 16-bit integers: twice the products an instruction, for all rows that are no
// close call.
//
// Rows and centres of the frame are multiplied by q and rounded to whole numbers, two columns to a
// 32-bit lane. A value |c|^2 / 2 - x.c, in units of 1 / q^2, is then an exact integer sum but for
// what the rounding did to x and c. What it did to x counts by |c|, and is taken off beforehand:
// the value of each centre is the least it can be, and how much more it can be need only be known
// of the nearest. So centres far out, which are nearest to few rows, cost the others nothing.
//
// They would still make the units coarse for all. Those beyond `far_out` stand for a bound,
// |c|^2 / 2 - |x| |c|, below which they are for no row that is served; where that is the least
// value, the row is left to the other tiers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/centroid/nearest.hpp"

namespace coterie {

class CoarseCenters {
public:
    static constexpr std::int64_t max_cols = 1 << 14;  // so that errors are far from overflowing

    // Packed as Panels<float> are; rows longer than `reach` (in the frame) are not served.
    template <class In>
    CoarseCenters(const double* centers, std::int64_t n_cols, const Frame<In>& frame,
                  const std::int32_t* ids, std::int64_t n_ids, double max_center_norm, double reach)
        : panels_((n_cols + 1) / 2, ids, n_ids),
          n_cols_(n_cols),
          reach_(static_cast<float>(reach)) {
        const double cutoff = std::min(max_center_norm, far_out * reach);
        // The largest factor for which neither a coordinate nor a sum overflows.
        const double q = std::min(32000 / std::max(reach, cutoff),
                                  std::sqrt(max_sum / (cutoff * (cutoff / 2 + reach))));
        if (!(q < 1e18)) reach_ = -1;  // nothing but zeros: nothing is served
        factor_ = reach_ < 0 ? 1.0f : static_cast<float>(q);

        double max_sq_error = 0;
        own_error_.resize(panels_.n_centers());
        unit_ = 2 / (factor_ * factor_);
        // Two values are compared; the hundredth pays for this formula.
        const double pair = 2 * 1.01 * unit_;
        panels_.each_slot([&](std::int64_t id, std::int32_t* to, int size) {
            double sq_norm = 0, sq_error = 0;
            for (std::int64_t t = 0; t < n_cols; ++t) {
                const double c = in_frame(centers[id * n_cols + t], frame, t) * factor_;
                sq_norm += c * c;
            }
            const double norm = std::sqrt(sq_norm);
            if (norm > cutoff * factor_) {
                // A row's length is rounded: it may be a trifle longer than it says.
                const double least = norm * (norm / 2 - reach * factor_ * (1 + 1e-5));
                to[0] = static_cast<std::int32_t>(std::min(std::floor(least), max_sum));
                own_error_[id] = std::numeric_limits<float>::infinity();
                return;
            }
            for (std::int64_t t = 0; t < n_cols; ++t) {
                const double c = in_frame(centers[id * n_cols + t], frame, t) * factor_;
                const double whole = std::nearbyint(c);
                sq_error += (c - whole) * (c - whole);
                const auto coef = static_cast<std::uint16_t>(static_cast<std::int32_t>(-whole));
                to[(2 + t / 2) * size] |=
                    static_cast<std::int32_t>(std::uint32_t{coef} << (16 * (t % 2)));
            }
            // |c| times what rounding did to x, which is half a step a column.
            const double blur = 0.505 * std::sqrt(n_cols) * (norm + std::sqrt(sq_error));
            to[0] = static_cast<std::int32_t>(std::nearbyint(sq_norm / 2 - blur));
            own_error_[id] = static_cast<float>(pair * blur);
            max_sq_error = std::max(max_sq_error, sq_error);
        });
        // Half a step for the first term, and |x| times what rounding did to c.
        fixed_error_ = static_cast<float>(pair * 0.5);
        error_per_norm_ = static_cast<float>(pair * factor_ * std::sqrt(max_sq_error));
    }

    const Panels<std::int32_t>& panels() const { return panels_; }
    std::int64_t n_pairs() const { return panels_.n_cols(); }

    // A centre whose value is the least by more than this is the nearest to a row of this norm.
    float error(float norm, std::int32_t center) const {
        return norm <= reach_ ? fixed_error_ + own_error_[center] + error_per_norm_ * norm
                              : std::numeric_limits<float>::infinity();
    }

    // Round a tile of floats; columns go in pairs.
    void round_tile(const float* tile, std::int32_t* pairs) const {
        constexpr int width = tile_rows<float>;
        // Adding 1.5 * 2^23 leaves a float's integer part in its low bits.
        const Vec<float> factor = broadcast(factor_), magic = broadcast(12582912.0f);
        const auto whole = [&](const float* from) {
            return (Vec<std::int32_t>)(load(from) * factor + magic);
        };
        for (std::int64_t t = 0; t < n_cols_; t += 2, tile += 2 * width, pairs += width)
            for (int r = 0; r < width; r += Simd<float>::lanes) {
                Vec<std::int32_t> pair = whole(tile + r) & 0xffff;
                if (t + 1 < n_cols_) pair |= whole(tile + width + r) << 16;
                store(pairs + r, pair);
            }
    }

    // The same in the units of floats.
    void widen(const Nearest<std::int32_t>& coarse, Nearest<float>& nearest) const {
        constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
        constexpr float far = std::numeric_limits<float>::max();
        for (int r = 0; r < tile_rows<float>; ++r) {
            const float best = static_cast<float>(coarse.best[r]) * unit_;
            const float second = static_cast<float>(coarse.second[r]) * unit_;
            nearest.best[r] = coarse.best[r] == none ? far : best;
            nearest.second[r] = coarse.second[r] == none ? far : second;
            nearest.label[r] = coarse.label[r];
        }
    }

private:
    // Centres so many times as long as the longest row that is served; from 2 on their bound is no
    // less than the value of a centre at the origin.
    static constexpr double far_out = 2.1;
    static constexpr double max_sum = 2.1e9;

    Panels<std::int32_t> panels_;
    std::vector<float> own_error_;  // by centre; infinite where its value is a bound
    std::int64_t n_cols_;
    float reach_, factor_, unit_, fixed_error_, error_per_norm_;
};

}  // namespace coterie
