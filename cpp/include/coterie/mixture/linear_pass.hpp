// One pass of EM over rows for mixtures whose log densities are linear in the row (Bernoulli,
// Poisson, categorical): the E-step and the M-step's statistics, tile by tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "coterie/mixture/bit_scores.hpp"
#include "coterie/mixture/linear_scores.hpp"
#include "coterie/mixture/posterior.hpp"
#include "coterie/threads/per_thread.hpp"
#include "coterie/threads/shares.hpp"

namespace coterie {

// Where sums of w r and w r x go.
struct LinearOut {
    double* counts;  // (k)
    double* first;   // (k, d)
};

// The result of one share of the rows; `moments` as the tile keeps them.
struct LinearSums {
    Likelihood likelihood;
    MomentSums moments;
};

namespace detail {

// One thread's walk over rows.
template <class Tile>
class LinearWalk {
public:
    LinearWalk(const typename Tile::Data& data, const typename Tile::Model& model,
               const PosteriorOut& out, bool with_sums, const std::vector<std::int32_t>& ids)
        : weights_(data.weights),
          out_(out),
          with_sums_(with_sums),
          width_(model.width()),
          tile_(data, model),
          posterior_(ids, model.mixture.n_components, 0.0, width_),
          tile_weights_(width_) {}

    void add(std::int64_t begin, std::int64_t end, LinearSums& sums) {
        for (; begin < end; begin += width_) {
            const std::int64_t count = std::min(width_, end - begin);
            tile_.score(begin, count, posterior_.scores());
            posterior_.normalise(out_.labels);
            std::fill(tile_weights_.begin(), tile_weights_.end(), 0.0);  // past the count too
            if (weights_)
                std::copy_n(weights_ + begin, count, tile_weights_.begin());
            else
                std::fill_n(tile_weights_.begin(), count, 1.0);
            for (std::int64_t r = 0; r < count; ++r) {
                posterior_.publish(r, begin + r, out_);
                sums.likelihood.add(posterior_.likelihood(r), tile_weights_[r]);
            }
            if (with_sums_) tile_.add(count, posterior_, tile_weights_.data(), sums.moments);
        }
        if constexpr (requires { tile_.finish(sums.moments); })
            if (with_sums_) tile_.finish(sums.moments);
    }

private:
    const double* weights_;
    PosteriorOut out_;
    bool with_sums_;
    std::int64_t width_;
    Tile tile_;
    Posterior<double> posterior_;
    std::vector<double> tile_weights_;
};

template <class Tile>
Likelihood linear_pass(const typename Tile::Data& data, const LinearMixture& mixture,
                       const PosteriorOut& out, const LinearOut* sums, const Crew& crew) {
    const typename Tile::Model model(mixture);
    const MomentSums none = sums ? model.no_sums() : MomentSums(0, 0, Products::none);
    const Shares shares(data.rows.n_rows, model.work_per_row(data), 8 * none.first.size(),
                        model.width());
    std::vector<std::int32_t> ids(mixture.n_components);
    std::iota(ids.begin(), ids.end(), 0);

    std::vector<LinearSums> parts(shares.count(), LinearSums{{}, none});
    PerThread<LinearWalk<Tile>> walks(crew.n_at_work(shares.count()), data, model, out,
                                      sums != nullptr, ids);
    shares.run(crew, [&](std::int64_t share, std::int64_t begin, std::int64_t end, int worker) {
        walks[worker].add(begin, end, parts[share]);
    });

    LinearSums total{{}, none};
    for (const LinearSums& part : parts) {
        total.likelihood.add(part.likelihood);
        total.moments.add(part.moments);
    }
    if (sums) {
        std::copy_n(total.moments.counts.data(), mixture.n_components, sums->counts);
        model.write(total.moments, sums->first);
    }
    return total.likelihood;
}

}  // namespace detail

// One pass; `sums` may be null. At least one offset is finite.
template <class In>
Likelihood linear_pass(const Weighted<In>& data, const LinearMixture& mixture,
                       const PosteriorOut& out, const LinearOut* sums, const Crew& crew) {
    return detail::linear_pass<DenseLinear<In>>(data, mixture, out, sums, crew);
}

template <class In, class Index>
Likelihood linear_pass(const WeightedCsr<In, Index>& data, const LinearMixture& mixture,
                       const PosteriorOut& out, const LinearOut* sums, const Crew& crew) {
    return detail::linear_pass<SparseLinear<In, Index>>(data, mixture, out, sums, crew);
}

inline Likelihood linear_pass(const WeightedBits& data, const LinearMixture& mixture,
                              const PosteriorOut& out, const LinearOut* sums, const Crew& crew) {
    return detail::linear_pass<BitLinear>(data, mixture, out, sums, crew);
}

}  // namespace coterie
