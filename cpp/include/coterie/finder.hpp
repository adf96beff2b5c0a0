// Certified nearest centres: the fused kernel's answer where rounding cannot have changed it, the
// same kernel in float64 where it might have, and the direct form where even that is too close.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "coterie/direct.hpp"
#include "coterie/nearest.hpp"

namespace coterie {

namespace detail {

inline float sqrt_up(double sq) {
    const float root = static_cast<float>(std::sqrt(sq > 0 ? sq : 0));
    return root * (1 + 3e-7f) + std::numeric_limits<float>::min();
}
inline float sqrt_down(double sq) {
    const float root = static_cast<float>(std::sqrt(sq > 0 ? sq : 0));
    return root * (1 - 3e-7f);
}

}  // namespace detail

// The centres of one pass, packed for each tier; shared by all threads.
template <class In>
class Centers {
public:
    Centers(const double* centers, std::int64_t n_centers, std::int64_t n_cols, Frame<In> frame,
            const std::int32_t* order = nullptr)
        : frame(frame),
          n_centers(n_centers),
          n_cols(n_cols),
          values(centers),
          fast(centers, n_cols, frame, order, n_centers) {}

    const Panels<double>& wide() {
        std::call_once(wide_once_, [&] { wide_ = Panels<double>(values, n_cols, frame, nullptr, n_centers); });
        return wide_;
    }
    const DirectCenters& direct() {
        std::call_once(direct_once_, [&] {
            direct_ = DirectCenters(values, n_centers, n_cols, static_cast<double>(frame.scale));
        });
        return direct_;
    }

    const Frame<In> frame;
    const std::int64_t n_centers, n_cols;
    const double* const values;  // row-major, original units
    const Panels<float> fast;

private:
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
          fast_tile_(rows.n_cols * tile_rows<float>),
          row_(rows.n_cols) {}

    // visit(row, label, sq_dist, second_sq_dist, error) for each row, in no particular order: the
    // label is exact, the squared distances (frame's units) are within `error`.
    // wanted(row_ids, count) tells the panels that can hold a tile's nearest centres, null for all.
    template <class Wanted, class Visit>
    void find(const std::int64_t* row_ids, std::int64_t count, const Wanted& wanted,
              const Visit& visit) {
        constexpr int width = tile_rows<float>;
        for (std::int64_t first = 0; first < count; first += width) {
            const int here = static_cast<int>(std::min<std::int64_t>(width, count - first));
            if (skip_fast()) {
                for (int r = 0; r < here; ++r) doubtful_.push_back(row_ids[first + r]);
            } else {
                find_fast(row_ids + first, here, wanted(row_ids + first, here), visit);
            }
            if (doubtful_.size() >= 256) settle(visit);
        }
        settle(visit);
    }
    template <class Visit>
    void find(const std::int64_t* row_ids, std::int64_t count, const Visit& visit) {
        find(row_ids, count, [](const std::int64_t*, int) { return nullptr; }, visit);
    }

private:
    // Most rows fail the certificate in float32: go straight to float64. No label depends on it.
    bool skip_fast() const { return n_tried_ >= 512 && n_doubtful_ > n_tried_ / 2; }
    bool skip_wide() const { return n_settled_ >= 512 && n_direct_ > n_settled_ / 2; }

    template <class Visit>
    void find_fast(const std::int64_t* row_ids, int count, const std::uint64_t* wanted,
                   const Visit& visit) {
        load_tile<In, float>(rows_, centers_.frame, row_ids, count, fast_tile_.data(), sq_norms_);
        fast_.clear();
        scan(fast_tile_.data(), centers_.fast, wanted, fast_);
        n_tried_ += count;
        for (int r = 0; r < count; ++r) {
            const float error =
                margin(rows_.n_cols, std::sqrt(sq_norms_[r]), centers_.fast.max_norm());
            // Written so that a NaN or infinity also counts as doubtful.
            if (fast_.second[r] - fast_.best[r] > error) {
                const float best = fast_.best[r] + sq_norms_[r];
                const float second = fast_.second[r] + sq_norms_[r];
                visit(row_ids[r], static_cast<std::int32_t>(fast_.label[r]), best, second, error);
            } else {
                doubtful_.push_back(row_ids[r]);
                ++n_doubtful_;
            }
        }
    }

    template <class Visit>
    void settle(const Visit& visit) {
        constexpr int width = tile_rows<double>;
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
            wide_tile_.resize(rows_.n_cols * width);
            load_tile<In, double>(rows_, centers_.frame, row_ids, here, wide_tile_.data(),
                                  wide_sq_norms_);
            wide_.clear();
            scan(wide_tile_.data(), wide, nullptr, wide_);
            n_settled_ += here;
            for (int r = 0; r < here; ++r) {
                const double error =
                    margin(rows_.n_cols, std::sqrt(wide_sq_norms_[r]), wide.max_norm());
                if (wide_.second[r] - wide_.best[r] > error) {
                    visit(row_ids[r], static_cast<std::int32_t>(wide_.label[r]),
                          wide_.best[r] + wide_sq_norms_[r], wide_.second[r] + wide_sq_norms_[r],
                          error);
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
        const auto found = centers_.direct().nearest(contiguous_row(rows_, row_id, row_.data()));
        const double error = 1e-15 * (rows_.n_cols + 4) * found.second;
        visit(row_id, found.label, found.best, found.second, error);
    }

    Centers<In>& centers_;
    Matrix<const In> rows_;
    std::vector<float> fast_tile_;
    std::vector<double> wide_tile_;
    std::vector<In> row_;
    std::vector<std::int64_t> doubtful_;
    alignas(64) float sq_norms_[tile_rows<float>];
    alignas(64) double wide_sq_norms_[tile_rows<double>];
    Nearest<float> fast_;
    Nearest<double> wide_;
    std::int64_t n_tried_ = 0, n_doubtful_ = 0, n_settled_ = 0, n_direct_ = 0;
};

}  // namespace coterie
