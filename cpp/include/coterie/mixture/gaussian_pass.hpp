// One pass of EM over rows for a mixture of Gaussians: the E-step and the M-step's statistics, tile
// by tile, so that nothing of n x k is kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "coterie/mixture/far_rows.hpp"
#include "coterie/mixture/gaussians.hpp"
#include "coterie/mixture/moments.hpp"
#include "coterie/mixture/posterior.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/shares.hpp"

namespace coterie {

// Where the statistics about the means go; `second` is (k, d, d), (k, d) or absent.
struct MomentsOut {
    double* counts;  // (k + 1); the background's is the last
    double* first;   // (k, d)
    Products products;
    double* second;
};

// What all threads share during a pass.
template <class In>
struct GaussianTask {
    Weighted<In> data;
    GaussianMixture mixture;
    PosteriorOut out;
    bool with_moments;
    Products products;
    LiveComponents live;
    std::vector<double> pivots;
    std::int64_t stride;      // columns as padded, for tiles of float and of double alike
    double weight_scale = 1;  // a power of two that brings the largest weight to [1, 2)

    GaussianTask(Weighted<In> data, const GaussianMixture& mixture, const PosteriorOut& out,
                 const MomentsOut* moments)
        : data(data),
          mixture(mixture),
          out(out),
          with_moments(moments),
          products(moments ? moments->products : Products::none),
          live(mixture),
          pivots(pivots_of<In>(mixture)),
          stride(padded_cols<In>(mixture.n_cols)) {
        if (!data.weights || data.rows.n_rows == 0) return;
        const double most = *std::max_element(data.weights, data.weights + data.rows.n_rows);
        if (most > 0) weight_scale = std::ldexp(1.0, -std::ilogb(most));
    }

    // Whether float can hold every factor, and the products of rows as large as `reach`.
    static constexpr double reach = 1e15;
    bool suits_float() const {
        const std::int64_t d = mixture.n_cols;
        for (std::int64_t j = 0; j < live.n_gaussians; ++j) {
            const double* mean = mixture.mean(live.ids[j]);
            const double* factor = mixture.factor(live.ids[j]);
            const bool diagonal = mixture.kind == Factors::diagonal;
            for (std::int64_t t = 0; t < d; ++t)
                if (std::abs(mean[t]) > reach || factor[diagonal ? t : t * (d + 1)] < 1 / reach)
                    return false;
            for (std::int64_t t = 0; t < (diagonal ? d : d * d); ++t)
                if (std::abs(factor[t]) > 1e10) return false;
        }
        return true;
    }
};

// The result of one share of the rows.
struct GaussianSums {
    Likelihood likelihood;
    MomentSums moments;
};

// Rows of a tile: whole panels at every vector width, and few enough to sum products in float.
inline std::int64_t gaussian_tile_width(std::int64_t n_cols) { return n_cols <= 4 ? 192 : 96; }

// One thread's tile, computing in Real.
template <class In, class Real>
class GaussianTile {
public:
    GaussianTile(const GaussianTask<In>& task, const GaussianScores<Real>& scores)
        : task_(task),
          scores_(scores),
          tile_(gaussian_tile_width(task.mixture.n_cols), task.mixture.n_cols, task.stride),
          posterior_(task.live.ids, task.mixture.n_components, task.live.shift, tile_.width),
          adder_(tile_.width, task.stride, task.products),
          scratch_(scores.scratch_size(tile_.width)),
          weights_(tile_.width),
          pivots_(task.live.n_gaussians * task.stride),
          below_(task.live.ids.size()) {
        const std::int64_t d = tile_.n_cols;
        for (std::int64_t j = 0; j < task.live.n_gaussians; ++j)
            std::copy_n(task.pivots.data() + task.live.ids[j] * d, d,
                        pivots_.data() + j * task.stride);
    }

    // Add rows ids[0..count); refuse(id) those that Real cannot hold.
    template <class Refuse>
    void add(const std::int64_t* ids, std::int64_t count, GaussianSums& sums,
             const Refuse& refuse) {
        tile_.load(task_.data.rows, ids, count);
        scores_.score(tile_, scratch_.data(), posterior_.scores());
        posterior_.normalise(task_.out.labels);
        // Lanes past the last row repeat it; their scores may be infinite, and their shares NaN.
        for (std::int64_t r = count; r < tile_.width; ++r) posterior_.drop(r);
        for (std::int64_t r = 0; r < count; ++r) {
            const double weight = task_.data.weights ? task_.data.weights[ids[r]] : 1.0;
            weights_[r] = static_cast<Real>(weight * task_.weight_scale);
            if (out_of_reach(r)) {
                posterior_.drop(r);
                refuse(ids[r]);
                continue;
            }
            if constexpr (std::is_same_v<Real, double>)
                if (posterior_.doubtful(r)) {
                    const double top =
                        far_scores(task_.mixture, task_.live, tile_.row(r), below_.data());
                    posterior_.correct(r, top, below_.data());
                }
            posterior_.publish(r, ids[r], task_.out);
            sums.likelihood.add(posterior_.likelihood(r), weight);
        }
        if (task_.with_moments) add_moments(sums.moments);
    }

private:
    // In float, a row so far from every component that its scores are coarse or lost.
    bool out_of_reach(std::int64_t r) const {
        if constexpr (std::is_same_v<Real, double>) {
            return false;
        } else {
            constexpr Real reach = GaussianTask<In>::reach;
            return !(posterior_.top(r) > Real(-1e4)) ||
                   std::any_of(tile_.row(r), tile_.row(r) + tile_.n_cols,
                               [](Real x) { return std::abs(x) > reach; });
        }
    }

    void add_moments(MomentSums& sums) {
        const LiveComponents& live = task_.live;
        for (std::int64_t j = 0; j < live.n_gaussians; ++j)
            adder_.add(tile_, posterior_.resp(j), weights_.data(),
                       pivots_.data() + j * task_.stride, live.ids[j], sums);
        if (live.ids.back() >= 0) return;
        const Real* resp = posterior_.resp(live.n_gaussians);
        for (std::int64_t r = 0; r < tile_.width; ++r)
            sums.counts.back() += static_cast<double>(weights_[r] * resp[r]);
    }

    const GaussianTask<In>& task_;
    const GaussianScores<Real>& scores_;
    RowTile<Real> tile_;
    Posterior<Real> posterior_;
    MomentAdder<Real> adder_;
    AlignedVector<Real> scratch_, weights_, pivots_;
    std::vector<double> below_;
};

// One thread's walk over rows: in float where that suits, and in double for the rows it refuses.
template <class In>
class GaussianWalk {
public:
    GaussianWalk(const GaussianTask<In>& task, const GaussianScores<In>* narrow,
                 const GaussianScores<double>& wide)
        : width_(gaussian_tile_width(task.mixture.n_cols)), wide_(task, wide) {
        if (narrow) narrow_.emplace(task, *narrow);
    }

    void add(std::int64_t begin, std::int64_t end, GaussianSums& sums) {
        ids_.resize(end - begin);
        std::iota(ids_.begin(), ids_.end(), begin);
        refused_.clear();
        if (narrow_)
            each_tile(ids_, [&](const std::int64_t* ids, std::int64_t count) {
                narrow_->add(ids, count, sums, [&](std::int64_t id) { refused_.push_back(id); });
            });
        each_tile(narrow_ ? refused_ : ids_, [&](const std::int64_t* ids, std::int64_t count) {
            wide_.add(ids, count, sums, [](std::int64_t) {});
        });
    }

private:
    template <class Visit>
    void each_tile(const std::vector<std::int64_t>& ids, const Visit& visit) const {
        const auto n = static_cast<std::int64_t>(ids.size());
        for (std::int64_t i = 0; i < n; i += width_) visit(ids.data() + i, std::min(width_, n - i));
    }

    std::int64_t width_;
    std::optional<GaussianTile<In, In>> narrow_;
    GaussianTile<In, double> wide_;
    std::vector<std::int64_t> ids_, refused_;
};

namespace detail {

// Sums about the pivots become sums about the means, in the caller's units and layout.
template <class In>
void write_moments(const GaussianTask<In>& task, const MomentSums& sums, std::int64_t j,
                   const MomentsOut& out) {
    const std::int64_t d = task.mixture.n_cols;
    const double count = sums.counts[j], unit = 1 / task.weight_scale;
    const double* first = sums.first.data() + j * sums.stride;
    const double* second = sums.second.data() + j * sums.second_size;
    std::vector<double> rest(d);
    for (std::int64_t t = 0; t < d; ++t) rest[t] = task.mixture.mean(j)[t] - task.pivots[j * d + t];
    const auto about_mean = [&](double product, std::int64_t a, std::int64_t b) {
        return unit *
               (product - rest[a] * first[b] - first[a] * rest[b] + count * rest[a] * rest[b]);
    };
    out.counts[j] = unit * count;
    for (std::int64_t a = 0; a < d; ++a) {
        out.first[j * d + a] = unit * (first[a] - count * rest[a]);
        if (out.products == Products::diagonal) out.second[j * d + a] = about_mean(second[a], a, a);
        if (out.products == Products::full)
            for (std::int64_t b = a; b < d; ++b)
                out.second[(j * d + a) * d + b] = out.second[(j * d + b) * d + a] =
                    about_mean(second[a * sums.stride + b], a, b);
    }
}

}  // namespace detail

// One pass; `moments` may be null. At least one component, or the background, is alive.
template <class In>
Likelihood gaussian_pass(Weighted<In> data, const GaussianMixture& mixture, const PosteriorOut& out,
                         const MomentsOut* moments, const Crew& crew) {
    const GaussianTask<In> task(data, mixture, out, moments);
    const std::int64_t k = mixture.n_components, d = mixture.n_cols;
    const std::int64_t width = gaussian_tile_width(d);
    const MomentSums none(moments ? k : 0, task.stride, task.products);
    const std::int64_t size = d * (mixture.kind == Factors::diagonal ? 1 : d);
    const Shares shares(data.rows.n_rows, k * (size + 16), 8 * (none.second.size() + k * d), width);

    std::optional<GaussianScores<In>> narrow;
    if (!std::is_same_v<In, double> && task.suits_float())
        narrow.emplace(mixture, task.live, task.pivots);
    const GaussianScores<double> wide(mixture, task.live, task.pivots);

    std::vector<GaussianSums> parts(shares.count(), GaussianSums{{}, none});
    PerThread<GaussianWalk<In>> walks(crew.n_at_work(shares.count()), task,
                                      narrow ? &*narrow : nullptr, wide);
    shares.run(crew, [&](std::int64_t share, std::int64_t begin, std::int64_t end, int worker) {
        walks[worker].add(begin, end, parts[share]);
    });

    GaussianSums total{{}, none};
    for (const GaussianSums& part : parts) {
        total.likelihood.add(part.likelihood);
        total.moments.add(part.moments);
    }
    if (moments) {
        for (std::int64_t j = 0; j < k; ++j)
            detail::write_moments(task, total.moments, j, *moments);
        moments->counts[k] = total.moments.counts[k] / task.weight_scale;
    }
    return total.likelihood;
}

}  // namespace coterie
