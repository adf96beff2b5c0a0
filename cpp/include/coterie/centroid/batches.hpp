// Sources of batches for mini-batch k-means: dense and compressed sparse rows.
//
// A source packs the centres, labels a part of a batch and gives every thread a reader of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "coterie/centroid/finder.hpp"
#include "coterie/centroid/sparse.hpp"

namespace coterie {

// Dense rows as a source of batches: a batch is copied together, so that both halves of a step
// read adjacent rows.
template <class In>
class DenseBatches {
public:
    using Packed = Centers<In>;
    using Value = In;

    DenseBatches(Matrix<const In> rows, Frame<In> frame, std::int64_t batch_size)
        : rows_(rows),
          frame_(frame),
          buffer_(batch_size * rows.n_cols),
          batch_{buffer_.data(), batch_size, rows.n_cols, rows.n_cols, 1},
          positions_(batch_size) {
        for (std::int64_t i = 0; i < batch_size; ++i) positions_[i] = i;
    }

    std::int64_t n_cols() const { return rows_.n_cols; }
    void pack(const double* centers, std::int64_t n_centers, std::optional<Packed>& packed) const {
        packed.emplace(centers, n_centers, rows_.n_cols, frame_);
    }

    // Label rows [begin, end) of the batch `row_ids`; after it, up to `all_ids_end`, come those
    // that will be asked for next.
    void label(Packed& packed, const std::int64_t* row_ids, const std::int64_t* all_ids_end,
               std::int64_t begin, std::int64_t end, std::int32_t* labels) {
        constexpr std::int64_t some = 64;
        Finder<In> finder(packed, batch_);
        for (std::int64_t first = begin; first < end; first += some) {
            const std::int64_t last = std::min(first + some, end);
            for (std::int64_t i = first; i < last; ++i)
                copy(row_ids[i], buffer_.data() + i * n_cols());
            // A few rows ahead, so that memory works while the kernel does.
            const std::int64_t ahead = std::min(last + some, all_ids_end - row_ids);
            for (std::int64_t i = last; i < ahead; ++i) prefetch(row_ids[i]);
            finder.find(positions_.data() + first, last - first,
                        [&](std::int64_t i, const Sighting& seen) { labels[i] = seen.label; });
        }
    }

    // How one thread reads rows of the batch that was labelled last, so many at a time.
    class Reader {
    public:
        static constexpr int most_rows = 16;
        explicit Reader(const DenseBatches& batches) : batches_(batches) {}
        const In* row(const std::int64_t*, std::int64_t position) {
            return batches_.batch_.row(position);
        }

    private:
        const DenseBatches& batches_;
    };

private:
    void copy(std::int64_t row_id, In* to) const {
        const In* from = contiguous_row(rows_, row_id, to);
        if (from != to) std::copy_n(from, rows_.n_cols, to);
    }
    void prefetch(std::int64_t row_id) const {
        constexpr std::int64_t line = 64 / sizeof(In), most = 16 * line;
        const In* from = rows_.row(row_id);
        if (rows_.col_stride == 1)
            for (std::int64_t t = 0; t < std::min(rows_.n_cols, most); t += line)
                __builtin_prefetch(from + t);
    }

    Matrix<const In> rows_;
    Frame<In> frame_;
    std::vector<In> buffer_;
    Matrix<const In> batch_;
    std::vector<std::int64_t> positions_;
};

// Compressed sparse rows as a source of batches; nothing is copied.
template <class In, class Index>
class SparseBatches {
public:
    using Packed = SparseCenters;
    using Value = In;

    SparseBatches(Csr<In, Index> rows, double scale) : rows_(rows), scale_(scale) {}

    std::int64_t n_cols() const { return rows_.n_cols; }
    void pack(const double* centers, std::int64_t n_centers, std::optional<Packed>& packed) const {
        packed.emplace(centers, n_centers, rows_.n_cols, scale_);
    }
    void label(Packed& packed, const std::int64_t* row_ids, const std::int64_t*, std::int64_t begin,
               std::int64_t end, std::int32_t* labels) {
        SparseFinder<In, Index> finder(packed, rows_);
        for (std::int64_t i = begin; i < end; ++i) labels[i] = finder.nearest(row_ids[i]);
    }

    class Reader {
    public:
        static constexpr int most_rows = 1;
        explicit Reader(const SparseBatches& batches) : dense_(batches.rows_) {}
        const In* row(const std::int64_t* row_ids, std::int64_t position) {
            return dense_.read(row_ids[position]);
        }

    private:
        DenseRow<In, Index> dense_;
    };

private:
    Csr<In, Index> rows_;
    double scale_;
};

}  // namespace coterie
