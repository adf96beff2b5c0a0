// The records of k-means: the space it computes in, and where it keeps cluster sums.
#pragma once

#include "convert.hpp"
#include "records.hpp"

#include "coterie/centroid/sums.hpp"
#include "coterie/rows/frame.hpp"

namespace coterie::bind {

// Of `Space` in centroid/_space.py: where distances are computed. CSR rows are not shifted.
template <class T>
struct FrameArgs {
    double scale = 1;
    Column<const T> shift;

    bool read(nb::handle from) {
        return read_attribute(from, "scale", scale) && read_attribute(from, "shift", shift);
    }
    Frame<T> frame(std::int64_t n_cols) const {
        require_length(shift, n_cols, "shift must have one entry per column");
        return {static_cast<T>(scale), shift.data()};
    }
};

// Where sums are kept.
struct GridArgs {
    Column<const double> step_inverse, origin;
    double weight_step_inverse = 1;

    bool read(nb::handle from) {
        return read_attribute(from, "step_inverse", step_inverse) &&
               read_attribute(from, "origin", origin) &&
               read_attribute(from, "weight_step_inverse", weight_step_inverse);
    }
    Grid grid(std::int64_t n_cols, std::size_t limbs) const {
        require_length(step_inverse, n_cols, "step_inverse must have one entry per column");
        require_length(origin, n_cols, "origin must have one entry per column");
        return {step_inverse.data(), origin.data(), static_cast<int>(limbs), weight_step_inverse};
    }
};

// Both.
template <class T>
struct SpaceArgs : FrameArgs<T>, GridArgs {
    bool read(nb::handle from) { return FrameArgs<T>::read(from) && GridArgs::read(from); }
};

// Of `Tally` in centroid/_tally.py: the sums of the clusters, which are written to.
struct TallyArgs {
    Cube<std::int64_t> sums;
    Table<std::int64_t> weight_sums;

    bool read(nb::handle from) {
        return read_attribute(from, "sums", sums) &&
               read_attribute(from, "weight_sums", weight_sums);
    }
    // The grid has as many limbs as the sums.
    SumsOut out(const GridArgs& space, std::int64_t n_centers, std::int64_t n_cols) const {
        require(weight_sums.shape(0) == sums.shape(0) &&
                    static_cast<std::int64_t>(weight_sums.shape(1)) == n_centers,
                "weight sums must have the limbs of the sums and one entry per centre");
        require(static_cast<std::int64_t>(sums.shape(1)) == n_centers &&
                    static_cast<std::int64_t>(sums.shape(2)) == n_cols,
                "sums must have the shape of the centers");
        return {space.grid(n_cols, sums.shape(0)), sums.data(), weight_sums.data()};
    }
};

}  // namespace coterie::bind
