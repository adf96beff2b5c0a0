// Bindings of k-medoids.
#include <nanobind/stl/vector.h>

#include <memory>
#include <numeric>
#include <variant>

#include "convert.hpp"
#include "metric_args.hpp"

#include "coterie/medoid/build.hpp"
#include "coterie/medoid/centers.hpp"
#include "coterie/medoid/distances.hpp"
#include "coterie/medoid/nearest_row.hpp"
#include "coterie/medoid/swap.hpp"

namespace coterie::bind {
namespace {

using Allowed = std::optional<Column<const bool>>;

// Distances with the search that goes on from call to call.
template <class Distances>
struct Searching {
    template <class... Args>
    explicit Searching(Args&&... args) : distances(std::forward<Args>(args)...) {}

    void open(const double* weights, const std::uint8_t* allowed) {
        search.emplace(distances, weights, allowed);
    }

    Distances distances;
    std::optional<SwapSearch<Distances>> search;
};

template <class... Kinds>
using OneOf = std::variant<std::unique_ptr<Searching<Kinds>>...>;
using AnySearching = OneOf<GivenDistances<float>, GivenDistances<double>, MeasuredDistances<float>,
                           MeasuredDistances<double>>;

// What a search over medoids needs, whatever its distances are: it holds on to the arrays it reads.
class Medoids {
    // The kind of distances, without the GIL.
    template <class Body>
    auto visit(const Body& body) const {
        return without_gil([&] {
            return std::visit([&](const auto& searching) { return body(*searching); }, searching_);
        });
    }

public:
    template <class Real>
    void give(Table<const Real> matrix, Weights weights, Allowed allowed) {
        kept_ = nb::cast(matrix);
        open(std::make_unique<Searching<GivenDistances<Real>>>(matrix.data(), matrix.shape(0),
                                                               matrix.shape(1)),
             weights, allowed);
    }

    template <class Real>
    void measure(Rows<Real> candidates, Rows<Real> rows, MetricArgs metric_args, Weights weights,
                 Allowed allowed) {
        require(candidates.shape(1) == rows.shape(1),
                "candidates must have the columns of the rows");
        kept_ = nb::make_tuple(candidates, metric_args);
        const Metric metric = as_metric(metric_args, rows.shape(1));
        auto made = without_gil([&] {
            return std::make_unique<Searching<MeasuredDistances<Real>>>(
                metric, as_matrix(candidates), as_matrix(rows));
        });
        open(std::move(made), weights, allowed);
    }

    std::vector<std::int64_t> build(std::int64_t n_medoids, int n_threads) {
        require(1 <= n_medoids && n_medoids <= n_allowed_, "there are not so many candidates");
        return visit([&](auto& searching) {
            return Builder(searching.distances, weights(), allowed())
                .build(n_medoids, crew_of(n_threads));
        });
    }

    double start(std::vector<std::int64_t> medoids, std::int64_t first, std::int64_t stride,
                 int n_threads) {
        require(medoids.size() >= 2, "there must be two medoids or more");
        require_candidates(medoids.data(), medoids.size());
        require_indexes(&first, 1, n_candidates_, "the first to visit must be a candidate");
        require(0 < stride && stride <= n_candidates_ && std::gcd(stride, n_candidates_) == 1,
                "the stride must lead to all candidates");
        return visit([&](auto& searching) {
            searching.search->start(std::move(medoids), first, stride, crew_of(n_threads));
            started_ = true;
            return searching.search->held().total();
        });
    }

    std::vector<double> swap_eagerly(std::int64_t max_swaps, std::int64_t max_visits,
                                     int n_threads) {
        require(started_, "start must be called first");
        return visit([&](auto& searching) {
            return searching.search->swap_eagerly(max_swaps, max_visits, crew_of(n_threads));
        });
    }

    bool swap_best(int n_threads) {
        require(started_, "start must be called first");
        return visit(
            [&](auto& searching) { return searching.search->swap_best(crew_of(n_threads)); });
    }

    std::vector<std::int64_t> medoids() const {
        return visit([](const auto& s) { return s.search->held().medoids(); });
    }
    double total() const {
        return visit([](const auto& s) { return s.search->held().total(); });
    }
    bool settled() const {
        return visit([](const auto& s) { return s.search->settled(); });
    }
    std::int64_t n_visited() const {
        return visit([](const auto& s) { return s.search->n_visited(); });
    }
    std::int64_t n_fruitless() const {
        return visit([](const auto& s) { return s.search->n_fruitless(); });
    }
    std::int64_t lost_row() const {
        return visit([](const auto& s) { return s.search->held().lost_row(); });
    }

    // Other weights of the rows; the search begins anew.
    void weigh(Column<const double> weights) {
        require_length(weights, n_rows_, "weights must have one entry per row");
        weights_.assign(weights.data(), weights.data() + n_rows_);
        started_ = false;
        visit([&](auto& searching) { searching.open(this->weights(), allowed()); });
    }

    // The row nearest to each candidate.
    void nearest_rows(Column<std::int64_t> out, int n_threads) {
        require_length(out, n_candidates_, "there must be room for each candidate");
        visit([&](auto& searching) {
            find_nearest_rows(searching.distances, out.data(), crew_of(n_threads));
        });
    }

    // Distances of one candidate to all rows.
    void lengths(std::int64_t candidate, Column<double> out, int n_threads) {
        require_candidates(&candidate, 1);
        require_length(out, n_rows_, "lengths must have an entry per row");
        visit([&](auto& searching) {
            const std::int64_t n_pieces = (n_rows_ + medoid_piece - 1) / medoid_piece;
            crew_of(n_threads).run(n_pieces, [&](std::int64_t piece, int) {
                const std::int64_t first = piece * medoid_piece;
                std::vector<std::int64_t> ids(std::min(medoid_piece, n_rows_ - first));
                std::iota(ids.begin(), ids.end(), first);
                searching.distances.to_some(ids.data(), ids.size(), &candidate, 1,
                                            [&](std::int64_t, const auto* found) {
                                                std::copy_n(found, ids.size(), out.data() + first);
                                            });
            });
        });
    }

    void cluster_medoids(Column<const std::int32_t> labels, Column<std::int64_t> medoids,
                         int n_threads) {
        require(n_rows_ == n_candidates_, "the rows must be the candidates");
        const auto n_clusters = static_cast<std::int64_t>(medoids.shape(0));
        require_length(labels, n_rows_, "labels must have an entry per row");
        require_indexes(labels.data(), n_rows_, n_clusters, "labels must be clusters");
        visit([&](auto& searching) {
            find_cluster_medoids(searching.distances, weights(), allowed(), labels.data(),
                                 n_clusters, medoids.data(), crew_of(n_threads));
        });
    }

private:
    template <class Made>
    void open(Made made, const Weights& weights, const Allowed& allowed) {
        n_candidates_ = made->distances.n_candidates();
        n_rows_ = made->distances.n_rows();
        require(n_candidates_ > 0 && n_rows_ > 0, "there must be candidates and rows");
        if (weights) {
            require_length(*weights, n_rows_, "weights must have one entry per row");
            weights_.assign(weights->data(), weights->data() + n_rows_);
        }
        n_allowed_ = n_candidates_;
        if (allowed) {
            require_length(*allowed, n_candidates_, "allowed must have one entry per candidate");
            allowed_.assign(allowed->data(), allowed->data() + n_candidates_);
            n_allowed_ = std::count(allowed_.begin(), allowed_.end(), 1);
        }
        made->open(this->weights(), this->allowed());
        searching_ = std::move(made);
    }

    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
    const std::uint8_t* allowed() const { return allowed_.empty() ? nullptr : allowed_.data(); }

    void require_candidates(const std::int64_t* ids, std::int64_t count) const {
        require_indexes(ids, count, n_candidates_, "a medoid must be a candidate");
    }

    AnySearching searching_;
    nb::object kept_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> allowed_;
    std::int64_t n_candidates_ = 0, n_rows_ = 0, n_allowed_ = 0;
    bool started_ = false;
};

template <class Real>
Medoids medoids_given(Table<const Real> matrix, Weights weights, Allowed allowed) {
    Medoids made;
    made.give<Real>(matrix, weights, allowed);
    return made;
}

template <class Real>
Medoids medoids_measured(Rows<Real> candidates, Rows<Real> rows, MetricArgs metric, Weights weights,
                         Allowed allowed) {
    Medoids made;
    made.measure<Real>(candidates, rows, metric, weights, allowed);
    return made;
}

// All lengths between candidates and rows, in the precision of the rows.
template <class Real>
void fill_lengths(Rows<Real> candidates, Rows<Real> rows, MetricArgs metric_args, Table<Real> out,
                  int n_threads) {
    require(candidates.shape(1) == rows.shape(1), "candidates must have the columns of the rows");
    require(out.shape(0) == candidates.shape(0) && out.shape(1) == rows.shape(0),
            "lengths must have a row per candidate and a column per row");
    const Metric metric = as_metric(metric_args, rows.shape(1));
    without_gil([&] {
        const MeasuredDistances<Real> distances(metric, as_matrix(candidates), as_matrix(rows));
        fill_matrix(distances, out.data(), crew_of(n_threads));
    });
}

template <class Real>
void add_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("medoids_given", &medoids_given<Real>, "matrix"_a.noconvert(), "weights"_a.none(),
          "allowed"_a.none());
    m.def("medoids_measured", &medoids_measured<Real>, "candidates"_a.noconvert(),
          "rows"_a.noconvert(), "metric"_a, "weights"_a.none(), "allowed"_a.none());
    m.def("fill_lengths", &fill_lengths<Real>, "candidates"_a.noconvert(), "rows"_a.noconvert(),
          "metric"_a, "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_medoid(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Medoids>(m, "Medoids")
        .def("build", &Medoids::build, "n_medoids"_a, "n_threads"_a)
        .def("start", &Medoids::start, "medoids"_a, "first"_a, "stride"_a, "n_threads"_a)
        .def("swap_eagerly", &Medoids::swap_eagerly, "max_swaps"_a, "max_visits"_a, "n_threads"_a)
        .def("swap_best", &Medoids::swap_best, "n_threads"_a)
        .def("weigh", &Medoids::weigh, "weights"_a.noconvert())
        .def("nearest_rows", &Medoids::nearest_rows, "out"_a.noconvert(), "n_threads"_a)
        .def("lengths", &Medoids::lengths, "candidate"_a, "out"_a.noconvert(), "n_threads"_a)
        .def("cluster_medoids", &Medoids::cluster_medoids, "labels"_a.noconvert(),
             "medoids"_a.noconvert(), "n_threads"_a)
        .def_prop_ro("medoids", &Medoids::medoids)
        .def_prop_ro("total", &Medoids::total)
        .def_prop_ro("settled", &Medoids::settled)
        .def_prop_ro("n_visited", &Medoids::n_visited)
        .def_prop_ro("n_fruitless", &Medoids::n_fruitless)
        .def_prop_ro("lost_row", &Medoids::lost_row);
    add_for<float>(m);
    add_for<double>(m);
}

}  // namespace coterie::bind
