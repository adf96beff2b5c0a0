// The nearest codeword of every row of a tile: rows in lanes, and the code in the low bits of the
// squared distance, so that one minimum finds both.
//
// Accumulators start at |x|^2 + |c|^2 and end as |x - c|^2 but for rounding; a bias of what
// rounding can do keeps them positive, and positive floats are in the order of their bits. So the
// two smallest are found by minima of integers, which leave the multipliers to the products.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "coterie/quantize/codebook.hpp"
#include "coterie/rows/frame.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

inline constexpr int code_tile = tile_rows<float>;

namespace detail {

// The smallest and second smallest of a tile's lanes, as bits.
struct TwoNearest {
    IntVec<float> best[2], second[2];
};

// A squared distance with a code in place of its low bits.
[[gnu::always_inline]] inline IntVec<float> tagged(Vec<float> sq_dist, IntVec<float> mask,
                                                   IntVec<float> code) {
#if defined(__AVX512F__)
    return (IntVec<float>)_mm512_ternarylogic_epi32((__m512i)sq_dist, (__m512i)mask, (__m512i)code,
                                                    0xEA);  // (a & b) | c
#else
    return ((IntVec<float>)sq_dist & mask) | code;
#endif
}

template <int fixed_cols>
TwoNearest scan_codes(const float* tile, const float* start, const Codebook& codebook) {
    constexpr int lanes = Simd<float>::lanes;
    const IntVec<float> mask = broadcast(~code_mask);
    const IntVec<float> far = broadcast(std::numeric_limits<std::int32_t>::max());
    IntVec<float> best[2] = {far, far}, second[2] = {far, far};
    const std::int64_t d = fixed_cols ? fixed_cols : codebook.n_cols();
    const float* panel = codebook.panels();
    for (std::int64_t j = 0; j < codebook.n_codes(); j += code_panel) {
        Vec<float> acc[2][code_panel];
        const Vec<float> start0 = load(start), start1 = load(start + lanes);
#pragma GCC unroll 8
        for (int p = 0; p < code_panel; ++p) {
            const Vec<float> sq_norm = broadcast(panel[p]);
            acc[0][p] = start0 + sq_norm;
            acc[1][p] = start1 + sq_norm;
        }
        const float* codes = panel + code_panel;
        panel += 2 * code_panel;
        const float* x = tile;
#pragma GCC unroll 1
        for (std::int64_t t = 0; t < d; ++t) {
            const Vec<float> x0 = load(x), x1 = load(x + lanes);
#pragma GCC unroll 8
            for (int p = 0; p < code_panel; ++p) {
                const Vec<float> c = broadcast(panel[p]);
                acc[0][p] = multiply_add(acc[0][p], c, x0);
                acc[1][p] = multiply_add(acc[1][p], c, x1);
            }
            x += 2 * lanes;
            panel += code_panel;
        }
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v)
#pragma GCC unroll 8
            for (int p = 0; p < code_panel; ++p) {
                const IntVec<float> value =
                    tagged(acc[v][p], mask, (IntVec<float>)broadcast(codes[p]));
                second[v] = vec_min(second[v], vec_max(best[v], value));
                best[v] = vec_min(best[v], value);
            }
    }
    return {{best[0], best[1]}, {second[0], second[1]}};
}

}  // namespace detail

// One thread's tile of rows of one part, and what was found for it.
class CodeFinder {
public:
    explicit CodeFinder(std::int64_t widest) : tile_(widest * code_tile) {}

    // found(first, count, codes) for rows [begin, end), some adjacent ones at a time and in order.
    // False where a row has no nearest codeword because it is not finite. `rows` are those of the
    // part, seen about `shift`; ties go to the lower code. The answer is that of the direct form in
    // float64, whatever the instruction set: where rounding could have changed it, that decides.
    template <class Found>
    bool find(Matrix<const float> rows, const float* shift, const Codebook& codebook,
              std::int64_t begin, std::int64_t end, const Found& found) {
        std::int64_t ids[code_tile];
        bool finite = true;
        for (std::int64_t first = begin; first < end; first += code_tile) {
            const int here = static_cast<int>(std::min<std::int64_t>(code_tile, end - first));
            for (int r = 0; r < code_tile; ++r) ids[r] = first + r;
            load_tile<float, float>(rows, {1.0f, shift}, ids, here, tile_.data(), sq_norms_);
            for (std::uint32_t doubts = look(codebook); doubts; doubts &= doubts - 1) {
                const int r = std::countr_zero(doubts);
                if (r >= here) break;
                const auto direct = codebook.direct().nearest(rows.row(first + r));
                finite &= direct.best < std::numeric_limits<double>::infinity();
                code_[r] = direct.label;
            }
            found(first, here, code_);
        }
        return finite;
    }

private:
    // The nearest codes of the tile; a bit for each row whose may be another.
    std::uint32_t look(const Codebook& codebook) {
        constexpr int lanes = Simd<float>::lanes;
        alignas(64) float error[code_tile], start[code_tile];
        for (int r = 0; r < code_tile; ++r) {
            // Two more roundings than the frame's margin counts: |x|^2 is added, and the bias.
            error[r] = margin(codebook.n_cols() + 2, std::sqrt(sq_norms_[r]), codebook.max_norm());
            start[r] = sq_norms_[r] + error[r];
        }
        const detail::TwoNearest two = with_one_of<4, 8, 0>(
            codebook.n_cols(), [&](auto n_cols) __attribute__((always_inline)) {
                return detail::scan_codes<n_cols>(tile_.data(), start, codebook);
            });
        std::uint32_t doubts = 0;
        for (int v = 0; v < 2; ++v) {
            const Vec<float> best = (Vec<float>)two.best[v], second = (Vec<float>)two.second[v];
            // Codes stand where the last 8 of 23 bits were: 2^-15 of either distance.
            const Vec<float> doubt = second * broadcast(0x1p-14f) + load(error + v * lanes);
            const auto sure = second - best > doubt;  // false for NaN
            doubts |= lane_bits(~sure) << v * lanes;
            store(code_ + v * lanes, (Vec<std::int32_t>)(two.best[v] & broadcast(code_mask)));
        }
        return doubts;
    }

    AlignedVector<float> tile_;
    alignas(64) float sq_norms_[code_tile];
    alignas(64) std::int32_t code_[code_tile];
};

}  // namespace coterie
