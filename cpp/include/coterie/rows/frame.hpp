// The frame: shifted, power-of-two scaled coordinates in which the expanded form
// |c|^2 - 2 x.c neither overflows nor cancels away.
//
// A row x is seen as x' = x * scale - shift. Centres use the same scale and shift, so
// distances keep their order; what rounding remains is what `margin` bounds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "coterie/rows/matrix.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

template <class In>
struct Frame {
    In scale;         // a power of two
    const In* shift;  // one number a column, in scaled units
};

// A coordinate of a centre, given in original units.
template <class In>
inline double in_frame(double value, const Frame<In>& frame, std::int64_t col) {
    return value * static_cast<double>(frame.scale) - static_cast<double>(frame.shift[col]);
}

// Two computed values of |c|^2 - 2 x.c further apart than this are in the right order.
//
// With u the unit roundoff, the accumulation of d products onto |c|^2 errs by at most
// (d + 1) u (|c| + |x|)^2, the rounding of x' and c' by 2 u (|c| + |x|)^2; two values are compared
// and one more u pays for this formula's own rounding. The larger factor for double also covers the
// d roundings in |c|^2 itself and those of the direct form, which is what a row falls back to.
template <class Real>
inline Real margin(std::int64_t n_cols, Real norm, Real max_center_norm) {
    constexpr Real unit = std::numeric_limits<Real>::epsilon() / 2;
    const Real reach = norm + max_center_norm;
    const Real factor = sizeof(Real) == 8 ? 8 : 2;
    // Products below the smallest normal number lose digits; that number pays for all of them.
    return factor * static_cast<Real>(n_cols + 4) * unit * reach * reach +
           std::numeric_limits<Real>::min();
}

// A tile: some rows, in the frame, transposed so that rows sit in lanes.
template <class Real>
inline constexpr int tile_rows = 2 * Simd<Real>::lanes;

namespace detail {

// Four floats or two doubles: the unit in which rows are transposed.
template <class Real>
struct Piece;
template <>
struct Piece<float> {
    typedef float Type __attribute__((vector_size(16)));
    static constexpr int size = 4;
};
template <>
struct Piece<double> {
    typedef double Type __attribute__((vector_size(16)));
    static constexpr int size = 2;
};

// Pieces of several rows side by side, the first row in the lowest lanes.
template <class Real>
inline Vec<Real> join(const typename Piece<Real>::Type* piece) {
    if constexpr (vector_bytes == 16)
        return (Vec<Real>)piece[0];
    else if constexpr (vector_bytes == 32)
        return concat(piece[0], piece[1]);
    else
        return concat(concat(piece[0], piece[1]), concat(piece[2], piece[3]));
}

template <class Real>
inline Vec<Real> load_pieces(const Real* const* rows, std::int64_t col) {
    constexpr int size = Piece<Real>::size;
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4) {
        __m512 v = _mm512_castps128_ps512(_mm_loadu_ps((const float*)rows[0] + col));
        v = _mm512_insertf32x4(v, _mm_loadu_ps((const float*)rows[size] + col), 1);
        v = _mm512_insertf32x4(v, _mm_loadu_ps((const float*)rows[2 * size] + col), 2);
        v = _mm512_insertf32x4(v, _mm_loadu_ps((const float*)rows[3 * size] + col), 3);
        return (Vec<Real>)v;
    } else {
        __m512d v = _mm512_castpd128_pd512(_mm_loadu_pd((const double*)rows[0] + col));
        v = _mm512_insertf64x2(v, _mm_loadu_pd((const double*)rows[size] + col), 1);
        v = _mm512_insertf64x2(v, _mm_loadu_pd((const double*)rows[2 * size] + col), 2);
        v = _mm512_insertf64x2(v, _mm_loadu_pd((const double*)rows[3 * size] + col), 3);
        return (Vec<Real>)v;
    }
#elif defined(__AVX__)
    if constexpr (sizeof(Real) == 4) {
        const __m256 v = _mm256_castps128_ps256(_mm_loadu_ps((const float*)rows[0] + col));
        return (Vec<Real>)_mm256_insertf128_ps(v, _mm_loadu_ps((const float*)rows[size] + col), 1);
    } else {
        const __m256d v = _mm256_castpd128_pd256(_mm_loadu_pd((const double*)rows[0] + col));
        return (Vec<Real>)_mm256_insertf128_pd(v, _mm_loadu_pd((const double*)rows[size] + col), 1);
    }
#else
    typename Piece<Real>::Type pieces[vector_bytes / 16];
    for (int lane = 0; lane < vector_bytes / 16; ++lane)
        std::memcpy(&pieces[lane], rows[lane * size] + col, 16);
    return join<Real>(pieces);
#endif
}

// Transpose within each 16-byte lane, so that lane l of out[t] holds column t of rows size*l...
[[gnu::always_inline]] inline void transpose_lanes(Vec<float> v[4]) {
    constexpr int n = Simd<float>::lanes;
    // Of each lane: one and one of either vector in turn, or two of one and then of the other.
    const auto low = [](int i) { return i / 4 * 4 + i % 2 * n + i % 4 / 2; };
    const auto high = [](int i) { return i / 4 * 4 + i % 2 * n + i % 4 / 2 + 2; };
    const auto left = [](int i) { return i / 4 * 4 + i % 4 / 2 * n + i % 2; };
    const auto right = [](int i) { return i / 4 * 4 + i % 4 / 2 * n + i % 2 + 2; };
    const Vec<float> ab_low = shuffled(v[0], v[1], low), ab_high = shuffled(v[0], v[1], high);
    const Vec<float> cd_low = shuffled(v[2], v[3], low), cd_high = shuffled(v[2], v[3], high);
    v[0] = shuffled(ab_low, cd_low, left);
    v[1] = shuffled(ab_low, cd_low, right);
    v[2] = shuffled(ab_high, cd_high, left);
    v[3] = shuffled(ab_high, cd_high, right);
}

[[gnu::always_inline]] inline void transpose_lanes(Vec<double> v[2]) {
    constexpr int n = Simd<double>::lanes;
    const Vec<double> first = shuffled(v[0], v[1], [](int i) { return i / 2 * 2 + i % 2 * n; });
    v[1] = shuffled(v[0], v[1], [](int i) { return i / 2 * 2 + i % 2 * n + 1; });
    v[0] = first;
}

}  // namespace detail

namespace detail {

// Rows side by side in memory with few columns: loops the compiler turns into strided loads.
template <int n_cols, class Real>
inline void load_narrow_tile(const Real* __restrict x, const Frame<Real>& frame,
                             Real* __restrict tile, Real* __restrict sq_norms) {
    constexpr int width = tile_rows<Real>;
    for (int col = 0; col < n_cols; ++col) {
        const Real scale = frame.scale, shift = frame.shift[col];
        for (int r = 0; r < width; ++r) {
            const Real v = x[r * n_cols + col] * scale - shift;
            tile[col * width + r] = v;
            sq_norms[r] = col == 0 ? v * v : sq_norms[r] + v * v;
        }
    }
}

}  // namespace detail

namespace detail {

// A vector of rows of one or two columns, side by side in memory, in the frame.
template <int n_cols, class Real>
inline void load_narrow(const Real* x, const Frame<Real>& frame, Vec<Real> v[n_cols]) {
    static_assert(n_cols <= 2);
    constexpr int lanes = Simd<Real>::lanes;
    if constexpr (n_cols == 1) {
        v[0] = load(x);
    } else {
        const Vec<Real> a = load(x), b = load(x + lanes);
        v[0] = shuffled(a, b, [](int i) { return 2 * i; });
        v[1] = shuffled(a, b, [](int i) { return 2 * i + 1; });
    }
    for (int t = 0; t < n_cols; ++t)
        v[t] = v[t] * broadcast(frame.scale) - broadcast(frame.shift[t]);
}

}  // namespace detail

namespace detail {

// Some values of a row in the frame, rounded to Real last: computed in the wider of the two types.
template <class In, class Real>
inline typename Piece<Real>::Type framed_piece(const In* x, const Frame<In>& frame,
                                               std::int64_t col) {
    constexpr int size = Piece<Real>::size;
    using Wide = std::conditional_t<(sizeof(In) > sizeof(Real)), In, Real>;
    typedef In Given __attribute__((vector_size(size * sizeof(In))));
    typedef Wide Values __attribute__((vector_size(size * sizeof(Wide))));
    Given value, shift;
    std::memcpy(&value, x + col, sizeof value);
    std::memcpy(&shift, frame.shift + col, sizeof shift);
    const Values framed = __builtin_convertvector(value, Values) * static_cast<Wide>(frame.scale) -
                          __builtin_convertvector(shift, Values);
    return __builtin_convertvector(framed, typename Piece<Real>::Type);
}

// A vector of a row's values in the frame, as floats.
template <class In>
[[gnu::always_inline]] inline Vec<float> framed(const In* x, const In* shift, In scale) {
    if constexpr (std::is_same_v<In, float>) {
        return load(x) * broadcast(scale) - load(shift);
    } else {
        constexpr int half = Simd<double>::lanes;
        typedef float Half __attribute__((vector_size(vector_bytes / 2)));
        Half v[2];
        for (int i = 0; i < 2; ++i)
            v[i] = __builtin_convertvector(
                load(x + i * half) * broadcast(scale) - load(shift + i * half), Half);
        return concat(v[0], v[1]);
    }
}

// As load_pieces, in the frame.
template <class In, class Real>
inline Vec<Real> load_framed_pieces(const In* const* rows, const Frame<In>& frame,
                                    std::int64_t col) {
    typename Piece<Real>::Type pieces[vector_bytes / 16];
#pragma GCC unroll 4
    for (int lane = 0; lane < vector_bytes / 16; ++lane)
        pieces[lane] = framed_piece<In, Real>(rows[lane * Piece<Real>::size], frame, col);
    return join<Real>(pieces);
}

}  // namespace detail

// Fill tile[col][lane] with rows row_ids[0..count) in the frame and sq_norms[lane] with |x'|^2.
// Lanes past `count` repeat the last row, so nothing below needs to know. The rows next_ids (null:
// none), as many as a tile has, are fetched from memory meanwhile.
template <class In, class Real>
void load_tile(Matrix<const In> rows, const Frame<In>& frame, const std::int64_t* row_ids,
               int count, Real* tile, Real* sq_norms, const std::int64_t* next_ids = nullptr) {
    constexpr int width = tile_rows<Real>;
    constexpr int lanes = Simd<Real>::lanes;
    const std::int64_t d = rows.n_cols;
    // Ids may come in any order (a bounded pass sorts them by cluster): each must be looked at.
    std::int64_t apart = count - width;
    if (count == width)
        for (int r = 1; r < width; ++r) apart |= row_ids[r] - row_ids[0] - r;
    const bool adjacent = apart == 0;
    if constexpr (std::is_same_v<In, Real>) {
        if (adjacent && rows.col_stride == 1 && rows.row_stride == d && 1 <= d && d <= 3)
            return with_up_to<3>(d, [&](auto n_cols) __attribute__((always_inline)) {
                detail::load_narrow_tile<n_cols>(rows.row(row_ids[0]), frame, tile, sq_norms);
            });
    }
    const In* row[width];
    for (int r = 0; r < width; ++r) row[r] = rows.row(row_ids[r < count ? r : count - 1]);

    std::int64_t col = 0;
    const Vec<Real> scale = broadcast(static_cast<Real>(frame.scale));
    Vec<Real> norm[2] = {};
    const auto put = [&](std::int64_t c, int half, Vec<Real> v) {
        norm[half] += v * v;
        store(tile + c * width + half * lanes, v);
    };
    if (rows.col_stride == 1) {
        constexpr int size = detail::Piece<Real>::size;
        constexpr int line = 64 / sizeof(In);
        for (; col + size <= d; col += size) {
            if (next_ids && col % line == 0)
                for (int r = 0; r < width; ++r) prefetch(rows.row(next_ids[r]) + col);
            for (int half = 0; half < 2; ++half) {
                Vec<Real> v[size];
                for (int i = 0; i < size; ++i) {
                    const In* const* from = row + half * lanes + i;
                    if constexpr (std::is_same_v<In, Real>)
                        v[i] = detail::load_pieces<Real>(from, col);
                    else
                        v[i] = detail::load_framed_pieces<In, Real>(from, frame, col);
                }
                detail::transpose_lanes(v);
                for (int i = 0; i < size; ++i) {
                    if constexpr (std::is_same_v<In, Real>)
                        v[i] = v[i] * scale - broadcast(frame.shift[col + i]);
                    put(col + i, half, v[i]);
                }
            }
        }
    } else if constexpr (std::is_same_v<In, Real>) {
        if (adjacent && rows.row_stride == 1)
            for (; col < d; ++col)
                for (int half = 0; half < 2; ++half)
                    put(col, half,
                        load(row[half * lanes] + col * rows.col_stride) * scale -
                            broadcast(frame.shift[col]));
    }
    store(sq_norms, norm[0]);
    store(sq_norms + lanes, norm[1]);
    for (; col < d; ++col) {
        for (int r = 0; r < width; ++r) {
            using Wide = std::conditional_t<(sizeof(In) > sizeof(Real)), In, Real>;
            const Wide x = static_cast<Wide>(row[r][col * rows.col_stride]);
            const Real v = static_cast<Real>(x * static_cast<Wide>(frame.scale) -
                                             static_cast<Wide>(frame.shift[col]));
            tile[col * width + r] = v;
            sq_norms[r] += v * v;
        }
    }
}

}  // namespace coterie
