// Weighted sums of rows and of their products about given pivots: the M-step's statistics.
//
// Responsibilities below `least_resp` add nothing: the rows above it are compacted, and a rank-one
// update has columns in lanes. Sums of a tile are kept in the rows' type, totals in double.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/rows/row_tile.hpp"
#include "coterie/simd/constant.hpp"
#include "coterie/simd/simd.hpp"

namespace coterie {

enum class Products { none, diagonal, full };

// Statistics of all components. Columns, and the rows of `second` when full, are padded.
struct MomentSums {
    MomentSums(std::int64_t n_components, std::int64_t stride, Products products)
        : stride(stride),
          second_size(products == Products::none       ? 0
                      : products == Products::diagonal ? stride
                                                       : stride * stride),
          counts(n_components + 1),
          first(n_components * stride),
          second(n_components * second_size) {}

    void add(const MomentSums& other) {
        const auto into = [](std::vector<double>& to, const std::vector<double>& from) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
        };
        into(counts, other.counts);
        into(first, other.first);
        into(second, other.second);
    }

    std::int64_t stride, second_size;
    std::vector<double> counts, first, second;
};

// Add the lanes to as many doubles.
inline void add_to(double* to, Vec<double> v) { store(to, load(to) + v); }
inline void add_to(double* to, Vec<float> v) {
    typedef float Half __attribute__((vector_size(vector_bytes / 2)));
    Half halves[2];
    std::memcpy(halves, &v, sizeof v);
    add_to(to, widened<Vec<double>>(halves[0]));
    add_to(to + Simd<double>::lanes, widened<Vec<double>>(halves[1]));
}

template <class V>
inline double sum_of_lanes(V v) {
    constexpr int lanes = sizeof v / sizeof v[0];
    alignas(64) double doubles[lanes] = {};
    add_to(doubles, v);
    for (int step = lanes / 2; step > 0; step /= 2)
        for (int l = 0; l < step; ++l) doubles[l] += doubles[l + step];
    return doubles[0];
}

// One thread's scratch for adding tiles to the sums.
template <class Real>
class MomentAdder {
public:
    MomentAdder(std::int64_t width, std::int64_t stride, Products products)
        : stride_(stride),
          products_(products),
          active_(width),
          mass_(width),
          root_(width),
          scaled_(products == Products::full ? width * stride : 0) {}

    // Add the tile's rows to component `id`. The pivot is padded with zeros, and lanes past the
    // tile's count weigh nothing.
    void add(const RowTile<Real>& tile, const Real* resp, const Real* weights, const Real* pivot,
             std::int64_t id, MomentSums& sums) {
        double& count = sums.counts[id];
        double* first = sums.first.data() + id * stride_;
        double* second = sums.second.data() + id * sums.second_size;
        with_one_of<1, 2, 3, 4, 0>(tile.n_cols, [&](auto d) {
            if constexpr (d > 0) {
                add_narrow<d>(tile, resp, weights, pivot, count, first, second);
            } else {
                compact(tile, resp, weights);
                for (std::int64_t i = 0; i < n_active_; ++i) count += static_cast<double>(mass_[i]);
                if (n_active_ > 0) add_active(pivot, first, second);
            }
        });
    }

private:
    static constexpr Real least_resp = 1e-20f;
    static constexpr int lanes = Simd<Real>::lanes;

    // Few columns: rows stay in lanes, and every sum is a vector.
    template <int d>
    void add_narrow(const RowTile<Real>& tile, const Real* resp, const Real* weights,
                    const Real* pivot, double& count, double* first, double* second) const {
        Vec<Real> mass_sum{}, sum[d] = {}, products[d][d] = {};
        const Real* columns = tile.columns();
        for (std::int64_t r = 0; r < tile.width; r += lanes) {
            const Vec<Real> mass = load(resp + r) * load(weights + r);
            mass_sum += mass;
            Vec<Real> x[d];
#pragma GCC unroll 4
            for (int a = 0; a < d; ++a)
                x[a] = load(columns + a * tile.width + r) - broadcast(pivot[a]);
#pragma GCC unroll 4
            for (int a = 0; a < d; ++a) {
                const Vec<Real> weighted = mass * x[a];
                sum[a] += weighted;
#pragma GCC unroll 4
                for (int b = a; b < d; ++b) products[a][b] += weighted * x[b];
            }
        }
        count += sum_of_lanes(mass_sum);
        for (int a = 0; a < d; ++a) {
            first[a] += sum_of_lanes(sum[a]);
            if (products_ == Products::diagonal) second[a] += sum_of_lanes(products[a][a]);
            if (products_ == Products::full)
                for (int b = a; b < d; ++b) second[a * stride_ + b] += sum_of_lanes(products[a][b]);
        }
    }

    void compact(const RowTile<Real>& tile, const Real* resp, const Real* weights) {
        const Vec<Real> least = broadcast(least_resp);
        const Real** const active = active_.data();
        Real* const mass = mass_.data();
        std::int64_t n = 0;
        for (std::int64_t r = 0; r < tile.width; r += lanes)
            for (unsigned bits = lane_bits(load(resp + r) > least); bits; bits &= bits - 1) {
                const std::int64_t row = r + std::countr_zero(bits);
                active[n] = tile.row(row);
                mass[n] = weights[row] * resp[row];
                ++n;
            }
        n_active_ = n;
    }

    void add_active(const Real* pivot, double* first, double* second) {
        if (products_ == Products::full)
            for (std::int64_t i = 0; i < n_active_; ++i) root_[i] = std::sqrt(mass_[i]);
        const auto add_columns = [&]<int vecs>(std::int64_t col) {
            switch (products_) {
                case Products::none:
                    return add_first<vecs>(col, pivot, first);
                case Products::diagonal:
                    return add_squares<vecs>(col, pivot, first, second);
                case Products::full:
                    return add_first_and_scale<vecs>(col, pivot, first);
            }
        };
        std::int64_t col = 0;
        for (; col + 4 * lanes <= stride_; col += 4 * lanes)
            add_columns.template operator()<4>(col);
        for (; col + 2 * lanes <= stride_; col += 2 * lanes)
            add_columns.template operator()<2>(col);
        if (col < stride_) add_columns.template operator()<1>(col);
        if (products_ == Products::full) add_outer(second);
    }

    // visit(i, mass, x) for every active row, x being its centred columns from `col` on.
    template <int vecs, class Visit>
    __attribute__((always_inline)) void each_active(std::int64_t col, const Real* pivot,
                                                    const Visit& visit) const {
        const Real* const* active = active_.data();
        const Real* mass = mass_.data();
        const std::int64_t n = n_active_;
        Vec<Real> p[vecs];
        for (int v = 0; v < vecs; ++v) p[v] = load(pivot + col + v * lanes);
        for (std::int64_t i = 0; i < n; ++i) {
            Vec<Real> x[vecs];
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) x[v] = load(active[i] + col + v * lanes) - p[v];
            visit(i, broadcast(mass[i]), x);
        }
    }
    template <int vecs>
    static void add_vecs(double* to, const Vec<Real>* sums) {
#pragma GCC unroll 4
        for (int v = 0; v < vecs; ++v) add_to(to + v * lanes, sums[v]);
    }

    template <int vecs>
    void add_first(std::int64_t col, const Real* pivot, double* first) const {
        Vec<Real> sums[vecs] = {};
        each_active<vecs>(col, pivot, [&](std::int64_t, Vec<Real> mass, const Vec<Real>* x) {
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) sums[v] += mass * x[v];
        });
        add_vecs<vecs>(first + col, sums);
    }

    template <int vecs>
    void add_squares(std::int64_t col, const Real* pivot, double* first, double* second) const {
        Vec<Real> sums[vecs] = {}, squares[vecs] = {};
        each_active<vecs>(col, pivot, [&](std::int64_t, Vec<Real> mass, const Vec<Real>* x) {
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) {
                const Vec<Real> weighted = mass * x[v];
                sums[v] += weighted;
                squares[v] += weighted * x[v];
            }
        });
        add_vecs<vecs>(first + col, sums);
        add_vecs<vecs>(second + col, squares);
    }

    // The products want rows times the roots of their masses.
    template <int vecs>
    void add_first_and_scale(std::int64_t col, const Real* pivot, double* first) {
        Vec<Real> sums[vecs] = {};
        const Real* root = root_.data();
        Real* to = scaled_.data() + col;
        const std::int64_t stride = stride_;
        each_active<vecs>(col, pivot, [&](std::int64_t i, Vec<Real> mass, const Vec<Real>* x) {
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) {
                sums[v] += mass * x[v];
                store(to + i * stride + v * lanes, broadcast(root[i]) * x[v]);
            }
        });
        add_vecs<vecs>(first + col, sums);
    }

    // Four rows of the products by `vecs` vectors of columns.
    template <int vecs>
    void add_block(std::int64_t row, std::int64_t col, double* second) const {
        Vec<Real> sums[4][vecs] = {};
        const Real* z = scaled_.data();
        for (std::int64_t i = 0; i < n_active_; ++i, z += stride_) {
            Vec<Real> x[vecs];
#pragma GCC unroll 3
            for (int v = 0; v < vecs; ++v) x[v] = load(z + col + v * lanes);
#pragma GCC unroll 4
            for (int p = 0; p < 4; ++p) {
                const Vec<Real> c = broadcast(z[row + p]);
#pragma GCC unroll 3
                for (int v = 0; v < vecs; ++v) sums[p][v] += c * x[v];
            }
        }
#pragma GCC unroll 4
        for (int p = 0; p < 4; ++p)
#pragma GCC unroll 3
            for (int v = 0; v < vecs; ++v)
                add_to(second + (row + p) * stride_ + col + v * lanes, sums[p][v]);
    }

    // The upper triangle, in blocks.
    void add_outer(double* second) const {
        for (std::int64_t row = 0; row < stride_; row += 4) {
            std::int64_t col = row / lanes * lanes;
            for (; col + 3 * lanes <= stride_; col += 3 * lanes) add_block<3>(row, col, second);
            if (col + 2 * lanes <= stride_)
                add_block<2>(row, col, second);
            else if (col < stride_)
                add_block<1>(row, col, second);
        }
    }

    std::int64_t stride_;
    Products products_;
    std::int64_t n_active_ = 0;
    std::vector<const Real*> active_;
    std::vector<Real> mass_, root_;
    AlignedVector<Real> scaled_;  // centred rows times the roots of their masses
};

}  // namespace coterie
