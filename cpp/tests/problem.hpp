// Small clustering problems of awkward shapes, and the naive answers to them.
//
// Every array is allocated to its exact size, so that a read past its end is seen by the address
// sanitizer.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/centroid/lloyd.hpp"
#include "coterie/centroid/sparse.hpp"

namespace problem {

using coterie::Crew;
using coterie::Csr;
using coterie::Frame;
using coterie::Grid;
using coterie::Matrix;
using coterie::SumsOut;
using coterie::Weighted;

// Around vector widths, tiles, panels and chunks; the last makes blocks of columns of few centres.
inline const std::vector<std::int64_t> col_counts{1,  2,  3,  4,  5,  7,  8,  9,
                                                  15, 16, 17, 31, 33, 65, 401};
inline const std::vector<std::int64_t> row_counts{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65, 530};
inline const std::vector<std::int64_t> center_counts{1, 2, 3, 5, 6, 7, 11, 12, 13, 25, 40};

enum class Layout { c, fortran, padded, every_other_column, upside_down };
inline constexpr Layout layouts[] = {Layout::c, Layout::fortran, Layout::padded,
                                     Layout::every_other_column, Layout::upside_down};

// What the values look like: well apart, full of exact ties, far from zero, mostly zeros.
enum class Kind { normal, integer, offset, sparse };
inline constexpr Kind kinds[] = {Kind::normal, Kind::integer, Kind::offset, Kind::sparse};

template <class In>
class Rows {
public:
    Rows(std::int64_t n, std::int64_t d, Layout layout, Kind kind, std::mt19937& random) {
        switch (layout) {
            case Layout::c:
                view_ = {nullptr, n, d, d, 1};
                break;
            case Layout::fortran:
                view_ = {nullptr, n, d, 1, n};
                break;
            case Layout::padded:
                view_ = {nullptr, n, d, d + 3, 1};
                break;
            case Layout::every_other_column:
                view_ = {nullptr, n, d, 2 * d, 2};
                break;
            case Layout::upside_down:
                view_ = {nullptr, n, d, -d, 1};
                break;
        }
        const std::int64_t last_row = (n - 1) * view_.row_stride;
        const std::int64_t first = last_row < 0 ? -last_row : 0;
        memory_.assign(std::abs(last_row) + (d - 1) * view_.col_stride + 1, In(NAN));
        view_.data = memory_.data() + first;
        std::normal_distribution<double> normal;
        std::vector<double> groups(4 * d);
        for (double& g : groups) g = 4 * normal(random);
        for (std::int64_t i = 0; i < n; ++i) {
            const double* group = groups.data() + random() % 4 * d;
            for (std::int64_t t = 0; t < d; ++t) {
                double x = group[t] + normal(random);
                if (kind == Kind::integer) x = std::round(x / 4);
                if (kind == Kind::offset) x = x * 0.01 + 1000;
                if (kind == Kind::sparse && random() % 4) x = 0;
                view_.at(i, t) = static_cast<In>(x);
            }
        }
    }
    Rows(const Rows&) = delete;

    Matrix<const In> view() const {
        return {view_.data, view_.n_rows, view_.n_cols, view_.row_stride, view_.col_stride};
    }

private:
    std::vector<In> memory_;
    Matrix<In> view_;
};

// The same rows compressed; zeros are left out.
template <class In, class Index>
struct Compressed {
    std::vector<In> values;
    std::vector<Index> columns, starts{0};
    std::int64_t n_cols;

    explicit Compressed(Matrix<const In> rows) : n_cols(rows.n_cols) {
        for (std::int64_t i = 0; i < rows.n_rows; ++i) {
            for (std::int64_t t = rows.n_cols - 1; t >= 0; --t)  // any order will do
                if (rows.at(i, t) != 0) {
                    values.push_back(rows.at(i, t));
                    columns.push_back(static_cast<Index>(t));
                }
            starts.push_back(static_cast<Index>(values.size()));
        }
        values.shrink_to_fit();
        columns.shrink_to_fit();
        starts.shrink_to_fit();
    }
    Csr<In, Index> view() const {
        return {values.data(), columns.data(), starts.data(),
                static_cast<std::int64_t>(starts.size()) - 1, n_cols};
    }
};

// Centres: copies of rows (exact ties when repeated), slightly moved unless the data is integer.
template <class In>
std::vector<double> centers_for(Matrix<const In> rows, std::int64_t k, Kind kind,
                                std::mt19937& random) {
    std::normal_distribution<double> normal(0, kind == Kind::offset ? 0.001 : 0.1);
    std::vector<double> centers;
    for (std::int64_t j = 0; j < k; ++j) {
        const std::int64_t i = static_cast<std::int64_t>(random() % rows.n_rows);
        for (std::int64_t t = 0; t < rows.n_cols; ++t)
            centers.push_back(static_cast<double>(rows.at(i, t)) +
                              (kind == Kind::integer ? 0 : normal(random)));
    }
    return centers;
}

// Frame and grid as a fit would choose them: about the first row, in units of a power of two.
template <class In>
struct Space {
    double scale = 1.0 / 16;
    std::vector<In> shift;
    std::vector<double> step_inverse, origin;
    int limbs;

    Space(Matrix<const In> rows, bool shifted, int limbs) : limbs(limbs) {
        for (std::int64_t t = 0; t < rows.n_cols; ++t) {
            const double middle = shifted ? static_cast<double>(rows.at(0, t)) : 0.0;
            shift.push_back(static_cast<In>(middle * scale));
            step_inverse.push_back(std::ldexp(1.0, 30 + static_cast<int>(t % 3)));
            origin.push_back(std::round(middle) * step_inverse.back());
        }
    }
    Frame<In> frame() const { return {static_cast<In>(scale), shift.data()}; }
    Grid grid(double weight_step_inverse) const {
        return {step_inverse.data(), origin.data(), limbs, weight_step_inverse};
    }
};

// Sums of clusters, starting at zero.
struct Sums {
    std::vector<std::int64_t> values, weights;
    Grid grid;
    Sums(Grid grid, std::int64_t k, std::int64_t d)
        : values(grid.limbs * k * d), weights(grid.limbs * k), grid(grid) {}
    SumsOut out() { return {grid, values.data(), weights.data()}; }
    bool operator==(const Sums& other) const {
        return values == other.values && weights == other.weights;
    }
};

template <class In>
long double naive_sq_dist(Matrix<const In> rows, std::int64_t i, const double* center) {
    long double sum = 0;
    for (std::int64_t t = 0; t < rows.n_cols; ++t) {
        const long double diff = static_cast<long double>(rows.at(i, t)) - center[t];
        sum += diff * diff;
    }
    return sum;
}

struct NaiveNearest {
    std::int32_t label;
    long double best, second;
};

template <class In>
NaiveNearest naive_nearest(Matrix<const In> rows, std::int64_t i,
                           const std::vector<double>& centers) {
    NaiveNearest found{-1, INFINITY, INFINITY};
    const std::int64_t d = rows.n_cols, k = static_cast<std::int64_t>(centers.size()) / d;
    for (std::int64_t j = 0; j < k; ++j) {
        const long double sq_dist = naive_sq_dist(rows, i, centers.data() + j * d);
        if (sq_dist < found.best) {
            found = {static_cast<std::int32_t>(j), sq_dist, found.best};
        } else if (sq_dist < found.second) {
            found.second = sq_dist;
        }
    }
    return found;
}

template <class In>
std::vector<std::int32_t> naive_labels(Matrix<const In> rows, const std::vector<double>& centers) {
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < rows.n_rows; ++i)
        labels.push_back(naive_nearest(rows, i, centers).label);
    return labels;
}

// Integer sums, value by value; `weights` may be null.
template <class In>
Sums naive_sums(Matrix<const In> rows, const double* weights,
                const std::vector<std::int32_t>& labels, Grid grid, std::int64_t k) {
    const std::int64_t d = rows.n_cols;
    Sums sums(grid, k, d);
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        const double w = weights ? weights[i] : 1.0;
        const auto add = [&](std::vector<std::int64_t>& to, std::int64_t at, std::int64_t stride,
                             double rest) {
            for (int limb = 0; limb < grid.limbs; ++limb, at += stride) {
                const std::int64_t whole = std::llrint(rest);
                to[at] += whole;
                rest = std::ldexp(rest - static_cast<double>(whole), coterie::limb_bits);
            }
        };
        add(sums.weights, labels[i], k, w * grid.weight_step_inverse);
        for (std::int64_t t = 0; t < d; ++t) {
            const double steps = static_cast<double>(rows.at(i, t)) * grid.step_inverse[t];
            add(sums.values, labels[i] * d + t, k * d, (steps - grid.origin[t]) * w);
        }
    }
    return sums;
}

inline std::vector<double> some_weights(std::int64_t n, std::mt19937& random) {
    std::vector<double> weights;
    for (std::int64_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(random() % 9) / 8);
    return weights;
}

inline bool close(long double a, long double b, long double relative = 1e-12L) {
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

inline std::vector<std::int64_t> counting(std::int64_t n) {
    std::vector<std::int64_t> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

// visit(rows, n_centers, kind, random) for every column count x row count, in both types; layouts,
// kinds and centre counts take turns so that all of them meet.
template <class Visit>
void each_problem(const Visit& visit) {
    std::mt19937 random(7);
    std::size_t turn = 0;
    for (const std::int64_t d : col_counts)
        for (const std::int64_t n : row_counts)
            for (const Layout layout : layouts) {
                const Kind kind = kinds[turn % std::size(kinds)];
                const std::int64_t k = center_counts[turn % center_counts.size()];
                check::say("n", n, "d", d, "k", k, "layout", int(layout), "kind", int(kind));
                if (turn / 4 % 2)
                    visit(Rows<float>(n, d, layout, kind, random), k, kind, random);
                else
                    visit(Rows<double>(n, d, layout, kind, random), k, kind, random);
                ++turn;
            }
}

}  // namespace problem
