// Exact search among few rows, as the centres of lists are: the values of all rows by the 16-bit
// filter, and exact sums for those that the k-th smallest leaves in doubt.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/coarse_rows.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// As many as a few hundred kilobytes have room for the values of.
inline constexpr std::int64_t few_rows = 4096;

namespace detail {

// A value that at least k of the values are within, and hardly more than k.
inline float kth_or_more(const float* values, std::int64_t n_vecs, std::int64_t k) {
    constexpr int lanes = Simd<float>::lanes;
    constexpr float far = std::numeric_limits<float>::infinity();
    Vec<float> least = broadcast(far), most = -least;
    for (std::int64_t i = 0; i < n_vecs; ++i) {
        const Vec<float> here = load(values + i * lanes);
        least = vec_min(least, here);
        most =
            vec_max(most, here < broadcast(far) ? here : most);  // rows there are none of are far
    }
    float low = least[0], high = most[0];
    for (int j = 1; j < lanes; ++j) {
        low = std::min(low, least[j]);
        high = std::max(high, most[j]);
    }
    for (int step = 0; step < 24; ++step) {
        const float middle = low + (high - low) / 2;
        IntVec<float> count = {};
        for (std::int64_t i = 0; i < n_vecs; ++i)
            count -= load(values + i * lanes) <= broadcast(middle);
        std::int64_t n_within = 0;
        for (int j = 0; j < lanes; ++j) n_within += count[j];
        (n_within < k ? low : high) = middle;
        if (n_within >= k && n_within <= k + k / 8 + 1) break;
    }
    return high;
}

}  // namespace detail

template <class In, class Length>
void search_few(const FlatRows<In>& flat, Matrix<const In> queries, std::int64_t k, double* values,
                std::int64_t* ids, const Length& length_of, const Crew& crew) {
    constexpr int width = CoarseTile<In>::width, lanes = Simd<float>::lanes;
    const std::int64_t n_rows = flat.rows.n_rows, n_cols = flat.rows.n_cols;
    const std::int64_t n_tiles = (n_rows + width - 1) / width, stride = n_tiles * width;
    std::vector<CoarseTile<In>> tiles(n_tiles, CoarseTile<In>(n_cols));
    crew.run(n_tiles, [&](std::int64_t i, int) {
        const auto count = static_cast<int>(std::min<std::int64_t>(width, n_rows - i * width));
        tiles[i].take(flat.rows, flat.frame, i * width, count, flat.measure);
    });
    constexpr std::int64_t group = 2 * max_panel;
    crew.run((queries.n_rows + group - 1) / group, [&](std::int64_t task, int) {
        const std::int64_t begin = task * group, n = std::min(group, queries.n_rows - begin);
        const Matrix<const In> asked{queries.row(begin), n, n_cols, queries.row_stride,
                                     queries.col_stride};
        const CoarseQueries coarse(asked, flat.frame, flat.measure);
        AlignedVector<float> found(n * stride);
        for (std::int64_t i = 0; i < n_tiles; ++i) {
            Pool::breathe();
            for (std::int64_t panel = 0; panel < coarse.n_panels(); ++panel)
                with_up_to<max_panel>(coarse.size(panel), [&](auto size) {
                    const std::int64_t q = coarse.first(panel);
                    float factors[size];
                    for (int p = 0; p < size; ++p) factors[p] = coarse.factor(q + p);
                    detail::meet<size>(tiles[i], coarse.panel(panel), n_pairs(n_cols), factors,
                                       [&](int p, int lane, Vec<float> here) {
                                           store(&found[(q + p) * stride + i * width + lane], here);
                                       });
                });
        }
        std::vector<std::int64_t> doubtful;
        std::vector<double> exact;
        for (std::int64_t q = 0; q < n; ++q) {
            Pool::breathe();
            float* here = &found[q * stride];
            std::fill(here + n_rows, here + stride, std::numeric_limits<float>::infinity());
            float error = 0;
            for (const auto& tile : tiles) error = std::max(error, coarse.error(q, tile));
            // At least k rows are no farther than that plus the error, whatever the others are.
            const float kth = detail::kth_or_more(here, stride / lanes, std::min(k, n_rows));
            const bool known =
                kth - kth == 0 && kth + 2 * error < std::numeric_limits<float>::max();
            const Vec<float> limit = broadcast((kth + 2 * error) + std::fabs(kth) * 1e-6f);
            doubtful.clear();
            for (std::int64_t i = 0; known && i < stride; i += lanes)
                for (std::uint32_t bits = lane_bits(load(here + i) <= limit); bits;
                     bits &= bits - 1)
                    doubtful.push_back(i + std::countr_zero(bits));
            for (std::int64_t i = 0; !known && i < n_rows; ++i) doubtful.push_back(i);
            exact.resize(doubtful.size());
            const ExactQuery query(flat.measure, asked.row(q), n_cols);
            query.values(flat.rows, doubtful.data(), static_cast<std::int64_t>(doubtful.size()),
                         exact.data());
            TopK best(k);
            for (std::size_t i = 0; i < doubtful.size(); ++i)
                best.take({exact[i], flat.ids[doubtful[i]]});
            best.write(values + (begin + q) * k, ids + (begin + q) * k, length_of);
        }
    });
}

}  // namespace coterie::search
