// Weighted sums of rows and of their products about given pivots: the M-step's statistics.
//
// Responsibilities below `least_resp` add nothing: the rows above it are compacted, and a rank-one
// update has columns in lanes. Sums of a tile are kept in the rows' type, totals in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coterie/row_tile.hpp"
#include "coterie/simd.hpp"

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

// One thread's scratch for adding tiles to the sums.
template <class Real>
class MomentAdder {
public:
    MomentAdder(std::int64_t width, std::int64_t stride, Products products)
        : stride_(stride),
          products_(products),
          active_(width),
          mass_(width),
          scaled_(products == Products::full ? width * stride : 0) {}

    // Add the tile's rows to component `id`; the pivot is padded with zeros.
    void add(const RowTile<Real>& tile, const Real* resp, const Real* weights, const Real* pivot,
             std::int64_t id, MomentSums& sums) {
        sums.counts[id] += compact(tile, resp, weights);
        if (n_active_ == 0) return;
        double* first = sums.first.data() + id * stride_;
        double* second = sums.second.data() + id * sums.second_size;
        switch (products_) {
            case Products::none:
                return add_first(tile, pivot, first, [](std::int64_t, std::int64_t, Vec<Real>) {});
            case Products::diagonal:
                return add_squares(tile, pivot, first, second);
            case Products::full:
                add_first(tile, pivot, first, [&](std::int64_t i, std::int64_t c, Vec<Real> x) {
                    store(scaled_.data() + i * stride_ + c, broadcast(std::sqrt(mass_[i])) * x);
                });
                add_outer(second);
        }
    }

private:
    static constexpr Real least_resp = 1e-20f;
    static constexpr int lanes = Simd<Real>::lanes;

    static void add_to(double* to, Vec<Real> v) {
        for (int l = 0; l < lanes; ++l) to[l] += static_cast<double>(v[l]);
    }

    double compact(const RowTile<Real>& tile, const Real* resp, const Real* weights) {
        double count = 0;
        n_active_ = 0;
        for (std::int64_t r = 0; r < tile.count; ++r) {
            const Real mass = weights[r] * resp[r];
            active_[n_active_] = tile.row(r);
            mass_[n_active_] = mass;
            n_active_ += resp[r] > least_resp;
        }
        for (std::int64_t i = 0; i < n_active_; ++i) count += static_cast<double>(mass_[i]);
        return count;
    }

    // visit(i, column, centred row) on the way.
    template <class Visit>
    void add_first(const RowTile<Real>&, const Real* pivot, double* first, const Visit& visit) {
        for (std::int64_t c = 0; c < stride_; c += lanes) {
            const Vec<Real> p = load(pivot + c);
            Vec<Real> sum{};
            for (std::int64_t i = 0; i < n_active_; ++i) {
                const Vec<Real> x = load(active_[i] + c) - p;
                sum += broadcast(mass_[i]) * x;
                visit(i, c, x);
            }
            add_to(first + c, sum);
        }
    }

    void add_squares(const RowTile<Real>&, const Real* pivot, double* first, double* second) {
        for (std::int64_t c = 0; c < stride_; c += lanes) {
            const Vec<Real> p = load(pivot + c);
            Vec<Real> sum{}, sq_sum{};
            for (std::int64_t i = 0; i < n_active_; ++i) {
                const Vec<Real> x = load(active_[i] + c) - p;
                const Vec<Real> weighted = broadcast(mass_[i]) * x;
                sum += weighted;
                sq_sum += weighted * x;
            }
            add_to(first + c, sum);
            add_to(second + c, sq_sum);
        }
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
        for (int p = 0; p < 4; ++p)
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
    std::vector<Real> mass_;
    AlignedVector<Real> scaled_;  // centred rows times the root of their mass
};

}  // namespace coterie
