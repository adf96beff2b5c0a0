// k-means++ for many small problems at once: the first centres of all parts.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/quantize/part_means.hpp"
#include "coterie/rows/direct.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

namespace detail {

// Some rows of one part and their squared distances to the nearest centre so far.
class SeedPart {
public:
    SeedPart(Matrix<const float> rows, const std::int64_t* row_ids, std::int64_t n_ids)
        : rows_(rows),
          ids_(row_ids),
          n_(n_ids),
          padded_((n_ids + block - 1) / block * block),
          columns_(padded_ * rows.n_cols),
          nearest_(padded_),
          tried_(padded_),
          taken_(padded_),
          totals_(padded_ / block) {
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t t = 0; t < rows.n_cols; ++t)
                columns_[t * padded_ + i] = rows.row(ids_[i])[t];
        std::fill_n(nearest_.begin(), n_, std::numeric_limits<float>::max());
    }

    // The first centre is any row, the others rows drawn by squared distance: the one of some tries
    // that leaves the least. `uniforms` holds n_tries numbers in [0, 1) for each centre.
    void seed(const double* uniforms, std::int64_t n_tries, std::int64_t n_centers, double* centers,
              std::int64_t stride) {
        for (std::int64_t j = 0; j < n_centers; ++j) {
            Pool::breathe();
            double least = std::numeric_limits<double>::infinity();
            std::int64_t chosen = 0;
            for (std::int64_t i = 0; i < (j == 0 ? 1 : n_tries); ++i) {
                const double u = uniforms[j * n_tries + i];
                const std::int64_t row =
                    j == 0
                        ? std::min(static_cast<std::int64_t>(u * static_cast<double>(n_)), n_ - 1)
                        : draw(u);
                const double left = try_row(row);
                if (!(left < least)) continue;
                least = left;
                chosen = row;
                taken_.swap(tried_);
            }
            nearest_.swap(taken_);
            total_up();
            for (std::int64_t t = 0; t < rows_.n_cols; ++t)
                centers[j * stride + t] = static_cast<double>(columns_[t * padded_ + chosen]);
        }
    }

private:
    static constexpr std::int64_t block = 64;

    // What would be left of the distances with a centre at this row; they stay in `tried_`.
    double try_row(std::int64_t row) {
        constexpr int lanes = Simd<float>::lanes;
        for (std::int64_t i = 0; i < padded_; i += lanes) {
            Vec<float> sq_dist = {};
            for (std::int64_t t = 0; t < rows_.n_cols; ++t) {
                const float* column = columns_.data() + t * padded_;
                const Vec<float> diff = load(column + i) - broadcast(column[row]);
                sq_dist += rounded(diff * diff);
            }
            store(tried_.data() + i, vec_min(load(nearest_.data() + i), sq_dist));
        }
        double total = 0;
        for (std::int64_t b = 0; b < padded_ / block; ++b) total += block_sum(tried_, b);
        return total;
    }

    // In eight strands, whatever the width of vectors.
    static double block_sum(const AlignedVector<float>& values, std::int64_t b) {
        constexpr int lanes = Simd<double>::lanes, n_vecs = 8 / lanes;
        Vec<double> sum[n_vecs] = {};
        for (std::int64_t i = b * block; i < (b + 1) * block; i += 8)
            for (int v = 0; v < n_vecs; ++v)
                sum[v] += load_as_double(values.data() + i + v * lanes);
        double strand[8];
        for (int v = 0; v < n_vecs; ++v) store(strand + v * lanes, sum[v]);
        return ((strand[0] + strand[4]) + (strand[2] + strand[6])) +
               ((strand[1] + strand[5]) + (strand[3] + strand[7]));
    }

    void total_up() {
        for (std::size_t b = 0; b < totals_.size(); ++b)
            totals_[b] = block_sum(nearest_, static_cast<std::int64_t>(b));
    }

    // The row at this share of the summed distances; a row that is a centre already only where all
    // are.
    std::int64_t draw(double share) const {
        double total = 0;
        for (const double part : totals_) total += part;
        double left = rounded(share * total);
        std::size_t b = 0;
        while (b + 1 < totals_.size() && left >= totals_[b]) left -= totals_[b++];
        std::int64_t last = 0;
        for (std::int64_t i = static_cast<std::int64_t>(b) * block;
             i < std::min(n_, static_cast<std::int64_t>(b + 1) * block); ++i) {
            if (nearest_[i] <= 0) continue;
            last = i;
            left -= static_cast<double>(nearest_[i]);
            if (left < 0) break;
        }
        return last;
    }

    Matrix<const float> rows_;
    const std::int64_t* ids_;
    std::int64_t n_, padded_;
    AlignedVector<float> columns_, nearest_, tried_, taken_;
    std::vector<double> totals_;
};

}  // namespace detail

// Starting centres of all parts, drawn among rows `row_ids`; `uniforms` is [n_parts][n_centers]
// [n_tries]. One part a task.
inline void seed_parts(const PartRows& rows, const std::int64_t* row_ids, std::int64_t n_ids,
                       const double* uniforms, std::int64_t n_tries, Matrix<double> centers,
                       const Crew& crew) {
    crew.run(rows.cuts.n_parts, [&](std::int64_t m, int) {
        detail::SeedPart part(rows.part(m), row_ids, n_ids);
        part.seed(uniforms + m * centers.n_rows * n_tries, n_tries, centers.n_rows,
                  centers.data + rows.cuts.first(m), centers.row_stride);
    });
}

}  // namespace coterie
