// Certified nearest centres: the fused kernel's answer where rounding cannot have changed it, first
// in 16-bit integers (where that settles most rows), then in float32, then in float64, and the
// direct form where even that is too close.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "coterie/centroid/coarse.hpp"
#include "coterie/centroid/few_centers.hpp"
#include "coterie/centroid/nearest.hpp"
#include "coterie/centroid/packed_bounds.hpp"
#include "coterie/rows/direct.hpp"

namespace coterie {

// What is known of a row once its nearest centre is found.
struct Sighting {
    std::int32_t label;  // exact
    float upper;         // its distance is at most this, in the frame's units
    float lower;         // the distance to any other centre looked at is at least this
    int lane;            // where in the tile, for Finder::group_lower; -1: in none
};

namespace detail {

// Distances from squared ones that may be off by `error`, rounded outwards.
template <class Real>
inline float dist_at_most(Real sq_dist, Real error) {
    const Real sq = sq_dist + error;
    return static_cast<float>(std::sqrt(sq > 0 ? sq : 0)) * (1 + 3e-7f) +
           std::numeric_limits<float>::min();
}
template <class Real>
inline float dist_at_least(Real sq_dist, Real error) {
    const Real sq = sq_dist - error;
    const float dist = static_cast<float>(std::sqrt(sq > 0 ? sq : 0)) * (1 - 3e-7f);
    return dist < longest ? dist : longest;
}

}  // namespace detail

// The centres of one pass, packed for each tier; shared by all threads.
template <class In>
class Centers {
public:
    // Panels follow `order` (null: by index) and are looked at in `n_groups` groups.
    Centers(const double* centers, std::int64_t n_centers, std::int64_t n_cols, Frame<In> frame,
            const std::int32_t* order = nullptr, std::int64_t n_groups = 1)
        : frame(frame),
          n_centers(n_centers),
          n_cols(n_cols),
          n_groups(n_groups),
          values(centers),
          fast(centers, n_cols, frame, order, n_centers),
          order_(order) {
        if (n_groups == 1 && FewCenters<In>::suit(n_centers, n_cols))
            few_.emplace(centers, n_centers, n_cols, frame);
    }

    PanelRange group(std::int64_t g) const {
        return {fast.n_panels() * g / n_groups, fast.n_panels() * (g + 1) / n_groups};
    }

    // The coarse tier comes first once it is made, for rows no longer than `reach`.
    void make_coarse(float reach) {
        coarse_.emplace(values, n_cols, frame, order_, n_centers, fast.max_norm(), reach);
    }
    void drop_coarse() { coarse_.reset(); }
    const CoarseCenters* coarse() const { return coarse_ ? &*coarse_ : nullptr; }

    // Where rows are better left as they lie.
    const FewCenters<In>* few() const { return few_ ? &*few_ : nullptr; }

    const Panels<double>& wide() {
        std::call_once(wide_once_,
                       [&] { wide_ = Panels<double>(values, n_cols, frame, nullptr, n_centers); });
        return wide_;
    }
    const DirectCenters& direct() {
        std::call_once(direct_once_, [&] {
            direct_ = DirectCenters(values, n_centers, n_cols, static_cast<double>(frame.scale));
        });
        return direct_;
    }

    const Frame<In> frame;
    const std::int64_t n_centers, n_cols, n_groups;
    const double* const values;  // row-major, original units
    const Panels<float> fast;

private:
    const std::int32_t* order_;
    std::optional<CoarseCenters> coarse_;
    std::optional<FewCenters<In>> few_;
    std::once_flag wide_once_, direct_once_;
    Panels<double> wide_;
    DirectCenters direct_;
};

// One thread's workspace for finding nearest centres.
template <class In>
class Finder {
public:
    Finder(Centers<In>& centers, Matrix<const In> rows)
        : centers_(centers),
          rows_(rows),
          tile_(rows.n_cols * tile_bytes),
          reader_(rows),
          groups_(centers.n_groups),
          looked_at_(centers.n_groups) {}

    // visit(row, sighting) for each row, in no particular order.
    // wanted(row_ids, count) tells the panels that can hold a tile's nearest centres, null for all.
    template <class Wanted, class Visit>
    void find(const std::int64_t* row_ids, std::int64_t count, const Wanted& wanted,
              const Visit& visit) {
        start_afresh();
        for (std::int64_t first = 0; first < count; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, count - first));
            look(row_ids + first, here, next_tile(row_ids, first, count), centers_.coarse(), wanted,
                 visit);
            if (unsure_.size() >= 256) look_closer(wanted, visit);
        }
        look_closer(wanted, visit);
        settle(visit);
    }

    template <class Visit>
    void find(const std::int64_t* row_ids, std::int64_t count, const Visit& visit) {
        find(row_ids, count, all_panels, visit);
    }

    // change(row, label) for each row of [begin, end) whose nearest centre is not labels[row].
    template <class Change>
    void find_changed(std::int64_t begin, std::int64_t end, const std::int32_t* labels,
                      const Change& change) {
        start_afresh();
        const auto visit = [&](std::int64_t i, const Sighting& seen) {
            if (seen.label != labels[i]) change(i, seen.label);
        };
        const CoarseCenters* coarse = centers_.coarse();
        std::int64_t ids[2 * width];  // of a tile and the next
        const std::int64_t* next = ids + width;
        for (std::int64_t first = begin; first < end; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, end - first));
            std::iota(ids, ids + 2 * width, first);
            if (!coarse && skip_fast()) {
                doubtful_.insert(doubtful_.end(), ids, ids + here);
            } else {
                if (here == width && is_narrow<1>())
                    scan_narrow_rows<1>(first);
                else if (here == width && is_narrow<2>())
                    scan_narrow_rows<2>(first);
                else
                    scan_tile(ids, here, first + 2 * width <= end ? next : nullptr, nullptr,
                              coarse);
                for (unsigned rest = restless(labels + first, here); rest; rest &= rest - 1) {
                    const int r = std::countr_zero(rest);
                    if (certain(r))
                        change(ids[r], fast_.label[r]);
                    else
                        put_aside(ids[r], coarse);
                }
            }
            if (unsure_.size() >= 256) look_closer(all_panels, visit);
            if (doubtful_.size() >= 256) settle(visit);
        }
        look_closer(all_panels, visit);
        settle(visit);
    }

    // The length of all of these rows but the `n_longer` longest, in the frame.
    float norm_of_most(const std::int64_t* row_ids, std::int64_t count, std::int64_t n_longer) {
        std::vector<float> norms;
        for (std::int64_t first = 0; first < count; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, count - first));
            load_tile<In, float>(rows_, centers_.frame, row_ids + first, here, fast_tile(),
                                 sq_norms_);
            for (int r = 0; r < here; ++r)  // a NaN has no place in an order
                norms.push_back(sq_norms_[r] >= 0 ? std::sqrt(sq_norms_[r])
                                                  : std::numeric_limits<float>::infinity());
        }
        const auto longest = norms.end() - 1 - n_longer;
        std::nth_element(norms.begin(), longest, norms.end());
        return *longest;
    }

    // A bit for each row of the tile that is no clear case, or not of its cluster: late in a fit,
    // few rows and mostly none.
    unsigned restless(const std::int32_t* labels, int count) const {
        unsigned rest = 0;
        if (count == width) {
            constexpr int lanes = Simd<float>::lanes;
            for (int r = 0; r < width; r += lanes) {
                const auto settled =
                    (load(gap_ + r) > Vec<float>{}) & (load(fast_.label + r) == load(labels + r));
                rest |= static_cast<unsigned>(lane_bits(~settled)) << r;
            }
        } else {
            for (int r = 0; r < count; ++r)
                rest |= static_cast<unsigned>(!certain(r) || fast_.label[r] != labels[r]) << r;
        }
        return rest;
    }

    // How many of these rows the coarse tier leaves to the others.
    std::int64_t n_unsure(const std::int64_t* row_ids, std::int64_t count) {
        std::int64_t n = 0;
        for (std::int64_t first = 0; first < count; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, count - first));
            scan_tile(row_ids + first, here, nullptr, nullptr, centers_.coarse());
            for (int r = 0; r < here; ++r) n += !certain(r);
        }
        return n;
    }

    // Whether any panel of group g was looked at for the row just visited (of lane >= 0).
    bool looked_at(std::int64_t g) const { return looked_at_[g]; }

    // A lower bound on its distance to the centres of group g that were, but for its own.
    float group_lower(std::int64_t g, const Sighting& seen) const {
        const Nearest<float>& group = centers_.n_groups == 1 ? fast_ : groups_[g];
        const int r = seen.lane;
        const float value = group.label[r] == seen.label ? group.second[r] : group.best[r];
        return detail::dist_at_least(value + sq_norms_[r], error_[r]);
    }

private:
    static constexpr int width = tile_rows<float>;

    // Of a column of a tile, fast or wide alike.
    static constexpr std::int64_t tile_bytes = tile_rows<float> * sizeof(float);
    static_assert(tile_bytes == tile_rows<double> * sizeof(double));
    float* fast_tile() { return reinterpret_cast<float*>(tile_.data()); }
    double* wide_tile() { return reinterpret_cast<double*>(tile_.data()); }

    // Where most rows fail the certificate in float32, go straight to float64, and from there to
    // the direct form. No label depends on it; counted per call, so that no bound depends on which
    // thread took which rows.
    void start_afresh() { n_tried_ = n_doubtful_ = n_settled_ = n_direct_ = 0; }
    bool skip_fast() const { return n_tried_ >= 64 && n_doubtful_ > n_tried_ / 2; }
    bool skip_wide() const { return n_settled_ >= 64 && n_direct_ > n_settled_ / 2; }

    // Written so that a NaN or infinity is not certain.
    bool certain(int r) const { return gap_[r] > 0; }
    void put_aside(std::int64_t row_id, const CoarseCenters* coarse) {
        (coarse ? unsure_ : doubtful_).push_back(row_id);
        n_doubtful_ += !coarse;
    }

    static const std::uint64_t* all_panels(const std::int64_t*, int) { return nullptr; }

    // The tile after the one at `first`; null unless it is whole.
    static const std::int64_t* next_tile(const std::int64_t* row_ids, std::int64_t first,
                                         std::int64_t count) {
        return first + 2 * width <= count ? row_ids + first + width : nullptr;
    }

    // Visit the rows of a tile that are certain, put the others aside for the next tier.
    template <class Wanted, class Visit>
    void look(const std::int64_t* ids, int count, const std::int64_t* next,
              const CoarseCenters* coarse, const Wanted& wanted, const Visit& visit) {
        if (!coarse && skip_fast()) {
            doubtful_.insert(doubtful_.end(), ids, ids + count);
        } else {
            scan_tile(ids, count, next, wanted(ids, count), coarse);
            // Whole tiles at a time, so that the square roots are vectors.
            alignas(64) float upper[width], lower[width];
            for (int r = 0; r < width; ++r) {
                upper[r] = detail::dist_at_most(fast_.best[r] + sq_norms_[r], error_[r]);
                lower[r] = detail::dist_at_least(fast_.second[r] + sq_norms_[r], error_[r]);
            }
            for (int r = 0; r < count; ++r) {
                if (certain(r))
                    visit(ids[r], Sighting{fast_.label[r], upper[r], lower[r], r});
                else
                    put_aside(ids[r], coarse);
            }
        }
        if (doubtful_.size() >= 256) settle(visit);
    }

    // The rows that the coarse tier left.
    template <class Wanted, class Visit>
    void look_closer(const Wanted& wanted, const Visit& visit) {
        const auto n = static_cast<std::int64_t>(unsure_.size());
        for (std::int64_t first = 0; first < n; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, n - first));
            look(unsure_.data() + first, here, next_tile(unsure_.data(), first, n), nullptr, wanted,
                 visit);
        }
        unsure_.clear();
    }

    static bool any_wanted(PanelRange range, const std::uint64_t* wanted) {
        if (!wanted) return true;
        for (std::int64_t i = range.begin; i < range.end; ++i)
            if (wanted[i / 64] >> (i % 64) & 1) return true;
        return false;
    }

    void scan_tile(const std::int64_t* row_ids, int count, const std::int64_t* next_ids,
                   const std::uint64_t* wanted, const CoarseCenters* coarse) {
        if (centers_.few() && !coarse && rows_.col_stride == 1) {
            looked_at_[0] = true;
            centers_.few()->scan_rows(rows_, row_ids, count, next_ids ? 2 * width : count, fast_,
                                      sq_norms_);
            return weigh_up(count, nullptr);
        }
        load_tile<In, float>(rows_, centers_.frame, row_ids, count, fast_tile(), sq_norms_,
                             next_ids);
        if (coarse) {
            coarse_tile_.resize(coarse->n_pairs() * width);
            coarse->round_tile(fast_tile(), coarse_tile_.data());
        }
        if (centers_.n_groups == 1) {
            looked_at_[0] = true;
            scan_range({0, centers_.fast.n_panels()}, wanted, coarse, fast_);
        } else {
            fast_.clear();
            for (std::int64_t g = 0; g < centers_.n_groups; ++g) {
                const PanelRange range = centers_.group(g);
                looked_at_[g] = any_wanted(range, wanted);
                if (!looked_at_[g]) continue;
                scan_range(range, wanted, coarse, groups_[g]);
                fast_.merge(groups_[g]);
            }
        }
        weigh_up(count, coarse);
    }

    // Whether rows are so narrow, and lie so, that a tile of them need not be stored.
    template <int n_cols>
    bool is_narrow() const {
        return std::is_same_v<In, float> && rows_.n_cols == n_cols && rows_.col_stride == 1 &&
               rows_.row_stride == n_cols && centers_.n_groups == 1 && !centers_.coarse();
    }

    // As scan_tile for all panels and as many rows as a tile has, from `first` on.
    template <int n_cols>
    void scan_narrow_rows(std::int64_t first) {
        if constexpr (std::is_same_v<In, float>) {
            constexpr int lanes = Simd<float>::lanes;
            fast_.clear();
            Vec<float> x[2][n_cols];
            for (int half = 0; half < 2; ++half) {
                detail::load_narrow<n_cols>(rows_.row(first + half * lanes), centers_.frame,
                                            x[half]);
                Vec<float> sq_norm = {};
                for (int t = 0; t < n_cols; ++t) sq_norm += x[half][t] * x[half][t];
                store(sq_norms_ + half * lanes, sq_norm);
            }
            detail::scan_narrow(x, centers_.fast, {0, centers_.fast.n_panels()}, nullptr, fast_);
            weigh_up(width, nullptr);
        }
    }

    // How far a tile's two nearest are apart, beside what rounding can have done.
    void weigh_up(int count, const CoarseCenters* coarse) {
        n_tried_ += coarse ? 0 : count;
        const float max_norm = centers_.fast.max_norm();
        for (int r = 0; r < width; ++r) {
            norms_[r] = std::sqrt(sq_norms_[r]);
            error_[r] = margin(rows_.n_cols, norms_[r], max_norm);
        }
        if (coarse)
            for (int r = 0; r < width; ++r) error_[r] += coarse->error(norms_[r], fast_.label[r]);
        for (int r = 0; r < width; ++r) gap_[r] = fast_.second[r] - fast_.best[r] - error_[r];
    }

    void scan_range(PanelRange range, const std::uint64_t* wanted, const CoarseCenters* coarse,
                    Nearest<float>& nearest) {
        if (coarse) {
            coarse_.clear();
            scan(coarse_tile_.data(), coarse->panels(), range, wanted, coarse_);
            coarse->widen(coarse_, nearest);
        } else {
            nearest.clear();
            scan(fast_tile(), centers_.fast, range, wanted, nearest);
        }
    }

    template <class Visit>
    void settle(const Visit& visit) {
        constexpr int width = tile_rows<double>;  // narrower than the fast tile
        if (doubtful_.empty()) return;
        const auto n = static_cast<std::int64_t>(doubtful_.size());
        for (std::int64_t first = 0; first < n; first += width) {
            const std::int64_t* row_ids = doubtful_.data() + first;
            const int here = static_cast<int>(std::min<std::int64_t>(width, n - first));
            if (skip_wide()) {
                for (int r = 0; r < here; ++r) find_direct(row_ids[r], visit);
                continue;
            }
            const Panels<double>& wide = centers_.wide();
            load_tile<In, double>(rows_, centers_.frame, row_ids, here, wide_tile(),
                                  wide_sq_norms_);
            wide_.clear();
            scan(wide_tile(), wide, {0, wide.n_panels()}, nullptr, wide_);
            n_settled_ += here;
            for (int r = 0; r < here; ++r) {
                const double error =
                    margin(rows_.n_cols, std::sqrt(wide_sq_norms_[r]), wide.max_norm());
                if (wide_.second[r] - wide_.best[r] > error) {
                    visit(
                        row_ids[r],
                        Sighting{static_cast<std::int32_t>(wide_.label[r]),
                                 detail::dist_at_most(wide_.best[r] + wide_sq_norms_[r], error),
                                 detail::dist_at_least(wide_.second[r] + wide_sq_norms_[r], error),
                                 -1});
                } else {
                    find_direct(row_ids[r], visit);
                    ++n_direct_;
                }
            }
        }
        doubtful_.clear();
    }

    template <class Visit>
    void find_direct(std::int64_t row_id, const Visit& visit) {
        const auto found = centers_.direct().nearest(reader_.read(row_id));
        const double error = 1e-15 * (rows_.n_cols + 4) * found.second;
        visit(row_id, Sighting{found.label, detail::dist_at_most(found.best, error),
                               detail::dist_at_least(found.second, error), -1});
    }

    Centers<In>& centers_;
    Matrix<const In> rows_;
    AlignedVector<std::int32_t> coarse_tile_;
    AlignedVector<std::byte> tile_;  // one at a time: fast or wide
    RowReader<In> reader_;
    std::vector<std::int64_t> unsure_, doubtful_;
    alignas(64) float sq_norms_[tile_rows<float>];
    alignas(64) double wide_sq_norms_[tile_rows<double>];
    alignas(64) float norms_[tile_rows<float>];
    alignas(64) float error_[tile_rows<float>];
    alignas(64) float gap_[tile_rows<float>];
    std::vector<Nearest<float>> groups_;
    std::vector<char> looked_at_;
    Nearest<std::int32_t> coarse_;
    Nearest<float> fast_;
    Nearest<double> wide_;
    std::int64_t n_tried_ = 0, n_doubtful_ = 0, n_settled_ = 0, n_direct_ = 0;
};

// Have a pass over all rows look coarsely first, if that is quick and settles most rows: judged on
// some evenly spaced ones.
template <class In>
void consider_coarse(Centers<In>& centers, Matrix<const In> rows) {
    constexpr std::int64_t n_judged = 128;
    const bool worth_rounding = centers.n_centers >= 32 && rows.n_cols >= 8;
    if (!quick_pairs() || !worth_rounding || rows.n_rows < 32 * n_judged ||
        rows.n_cols > CoarseCenters::max_cols)
        return;
    std::int64_t ids[n_judged];
    for (std::int64_t s = 0; s < n_judged; ++s) ids[s] = rows.n_rows * s / n_judged;
    Finder<In> finder(centers, rows);
    centers.make_coarse(1.25f * finder.norm_of_most(ids, n_judged, n_judged / 32));
    if (finder.n_unsure(ids, n_judged) > n_judged / 4) centers.drop_coarse();
}

}  // namespace coterie
