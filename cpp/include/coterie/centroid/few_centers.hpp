// Nearest of few centres among rows of many columns: rows and centres both lie along the columns.
//
// The fused kernel of nearest.hpp transposes a tile of rows first, which many centres pay for. Here
// a row is read once from memory, in order, and multiplied with up to a dozen centres while it is
// in registers; the sums are added up across lanes in the end, which many columns pay for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/centroid/nearest.hpp"

namespace coterie {

namespace detail {

// A vector's sums of lanes i, i + 4, i + 8, ...
template <class V>
[[gnu::always_inline]] inline auto folded_to_four(V v) {
    constexpr int lanes = sizeof(V) / sizeof(v[0]);
    if constexpr (lanes == 4) {
        return v;
    } else {
        return [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
            return folded_to_four(
                __builtin_shufflevector(v, v, static_cast<int>(i)...) +
                __builtin_shufflevector(v, v, static_cast<int>(i + lanes / 2)...));
        }(std::make_index_sequence<lanes / 2>{});
    }
}

// The sums of the lanes of four vectors.
[[gnu::always_inline]] inline Piece<float>::Type sums_of_four(Vec<float> a, Vec<float> b,
                                                              Vec<float> c, Vec<float> d) {
    const auto fa = folded_to_four(a), fb = folded_to_four(b);
    const auto fc = folded_to_four(c), fd = folded_to_four(d);
    const auto ab =
        __builtin_shufflevector(fa, fb, 0, 4, 1, 5) + __builtin_shufflevector(fa, fb, 2, 6, 3, 7);
    const auto cd =
        __builtin_shufflevector(fc, fd, 0, 4, 1, 5) + __builtin_shufflevector(fc, fd, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

}  // namespace detail

template <class In>
class FewCenters {
public:
    static constexpr std::int64_t max_centers = 12;

    // Whether these are few enough for so many columns.
    static bool suit(std::int64_t n_centers, std::int64_t n_cols) {
        return n_centers <= max_centers && n_cols >= 64;
    }

    FewCenters(const double* centers, std::int64_t n_centers, std::int64_t n_cols,
               const Frame<In>& frame)
        : n_centers_(n_centers),
          n_cols_(n_cols),
          padded_((n_cols + lanes - 1) / lanes * lanes),
          block_cols_(even_share(padded_, std::max<std::int64_t>(cached / n_centers, lanes))),
          scale_(frame.scale),
          shift_(padded_),
          coefs_(n_centers * padded_),
          sq_norms_(n_centers) {
        std::copy(frame.shift, frame.shift + n_cols, shift_.begin());
        for (std::int64_t j = 0; j < n_centers; ++j) {
            double sq_norm = 0;
            for (std::int64_t t = 0; t < n_cols; ++t) {
                const double c = in_frame(centers[j * n_cols + t], frame, t);
                sq_norm += c * c;
                coefs_[(t / lanes * n_centers + j) * lanes + t % lanes] =
                    static_cast<float>(-2 * c);
            }
            sq_norms_[j] = static_cast<float>(sq_norm);
        }
    }

    // What `scan` of nearest.hpp finds of a tile of rows that have their columns side by side, and
    // the squares of their norms. The tile's rows are row_ids[0..count), those up to `limit` come
    // later and are fetched from memory meanwhile.
    void scan_rows(Matrix<const In> rows, const std::int64_t* row_ids, int count, int limit,
                   Nearest<float>& nearest, float* sq_norms) const {
        with_up_to<max_centers>(n_centers_, [&](auto k) __attribute__((always_inline)) {
            scan_rows_of<k>(rows, row_ids, count, limit, nearest, sq_norms);
        });
    }

private:
    static constexpr int lanes = Simd<float>::lanes;
    static constexpr int width = tile_rows<float>;
    // What a dozen centres have of a block of columns stays in the first cache with the rows.
    static constexpr std::int64_t cached = 4096;
    // What memory takes to answer lasts for about so many bytes of rows. No more than a tile of
    // rows ahead, or some would never be sent for.
    static constexpr std::int64_t fetched = 32768;
    // As many rows at a time as leave their sums in registers.
    static constexpr int n_together = vector_bytes == 64 ? 2 : 1;

    // The least number of whole vectors that divides `total` columns into blocks of `most`.
    static std::int64_t even_share(std::int64_t total, std::int64_t most) {
        const std::int64_t n_blocks = (total + most - 1) / most;
        return (total / lanes + n_blocks - 1) / n_blocks * lanes;
    }

    template <int k>
    void scan_rows_of(Matrix<const In> rows, const std::int64_t* row_ids, int count, int limit,
                      Nearest<float>& nearest, float* sq_norms) const {
        // Sums by centre, then |x|^2; whole fours, and the last may be of no use.
        constexpr int n_sums = (k + 1 + 3) / 4 * 4;
        alignas(64) float sums[n_sums][width] = {};
        const auto row_bytes = static_cast<std::int64_t>(n_cols_ * sizeof(In));
        const int lead = static_cast<int>(
            std::min<std::int64_t>(width, n_together * (1 + fetched / (row_bytes * n_together))));
        for (std::int64_t begin = 0; begin < n_cols_; begin += block_cols_) {
            const std::int64_t end = std::min(begin + block_cols_, n_cols_);
            for (int r = 0; r < count; r += n_together) {
                const In *x[n_together], *ahead[n_together];
                for (int i = 0; i < n_together; ++i) {
                    x[i] = rows.row(row_ids[std::min(r + i, count - 1)]);
                    ahead[i] = rows.row(row_ids[std::min(r + i + lead, limit - 1)]);
                }
                Vec<float> total[n_together][n_sums];
                multiply<k>(x, ahead, begin, end, total);
                for (int i = 0; i < n_together; ++i)
#pragma GCC unroll 4
                    for (int j = 0; j < n_sums; j += 4) {
                        const Vec<float>* of = total[i] + j;
                        const auto four = detail::sums_of_four(of[0], of[1], of[2], of[3]);
                        for (int s = 0; s < 4; ++s) sums[j + s][r + i] += four[s];
                    }
            }
        }
        nearest.clear();
        for (int half = 0; half < 2; ++half) {
            detail::RunningNearest<float, 1> running(nearest, half);
            for (int j = 0; j < k; ++j)
                running.see({broadcast(sq_norms_[j]) + load(sums[j] + half * lanes)},
                            std::bit_cast<float>(static_cast<std::int32_t>(j)));
            running.keep();
            store(sq_norms + half * lanes, load(sums[k] + half * lanes));
        }
    }

    // total[i][j] is x[i] times -2 c_j, lane by lane, and total[i][k] the square of x[i].
    template <int k, int n_sums>
    [[gnu::always_inline]] inline void multiply(const In* const (&x)[n_together],
                                                const In* const (&ahead)[n_together],
                                                std::int64_t begin, std::int64_t end,
                                                Vec<float> (&total)[n_together][n_sums]) const {
        Vec<float> sum[n_together][k + 1] = {};
        const auto add = [&](const In* const* from, std::int64_t t) __attribute__((always_inline)) {
            Vec<float> v[n_together];
#pragma GCC unroll 2
            for (int i = 0; i < n_together; ++i) {
                v[i] = detail::framed<In>(from[i], shift_.data() + t, scale_);
                sum[i][k] += v[i] * v[i];
            }
            const float* coefs = coefs_.data() + t * k;
#pragma GCC unroll 12
            for (int j = 0; j < k; ++j) {
                // Rounded: GCC would load it again for each row, and loads are what is scarce.
                const Vec<float> c = rounded(load(coefs + j * lanes));
#pragma GCC unroll 2
                for (int i = 0; i < n_together; ++i) sum[i][j] += c * v[i];
            }
        };
        constexpr int line = 64 / sizeof(In);
        std::int64_t t = begin;
        for (; t + lanes <= end; t += lanes) {
            const In* from[n_together];
            for (int i = 0; i < n_together; ++i) {
                from[i] = x[i] + t;
                for (int b = 0; b < lanes; b += line)
                    if (t % line == 0) prefetch(ahead[i] + t + b);
            }
            add(from, t);
        }
        if (t < end) {
            In rest[n_together][lanes] = {};
            const In* from[n_together];
            for (int i = 0; i < n_together; ++i) {
                std::copy(x[i] + t, x[i] + end, rest[i]);
                from[i] = rest[i];
            }
            add(from, t);
        }
        for (int i = 0; i < n_together; ++i)
            for (int j = 0; j < n_sums; ++j) total[i][j] = j <= k ? sum[i][j] : Vec<float>{};
    }

    std::int64_t n_centers_, n_cols_, padded_, block_cols_;
    In scale_;
    AlignedVector<In> shift_;     // zeros past the last column, where `rest` has zeros, too
    AlignedVector<float> coefs_;  // -2c: of every centre a vector of columns, then the next columns
    std::vector<float> sq_norms_;  // |c|^2
};

}  // namespace coterie
