// Every row against every query, a tile at a time: serves all metrics and any number of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "coterie/distance/metric.hpp"
#include "coterie/rows/matrix.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Adjacent rows packed for the lanes, in memory that is used again for the next ones.
template <class In>
class Tile {
public:
    explicit Tile(std::int64_t n_cols)
        : n_cols_(n_cols),
          capacity_(std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(n_cols, 1), 16, 128)),
          data_(capacity_ * n_cols + packed_slack) {}

    std::int64_t capacity() const { return capacity_; }

    Packed<In> pack(Matrix<const In> rows, std::int64_t begin, std::int64_t end) {
        const std::int64_t count = end - begin;
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t t = 0; t < n_cols_; ++t) data_[t * count + i] = rows.at(begin + i, t);
        return {data_.data(), count, count};
    }

private:
    std::int64_t n_cols_, capacity_;
    AlignedVector<In> data_;
};

// Rows of either precision that ask for others.
class Queries {
public:
    Queries(Matrix<const float> rows) : rows_(rows) {}
    Queries(Matrix<const double> rows) : rows_(rows) {}

    std::int64_t n_rows() const {
        return std::visit([](const auto& rows) { return rows.n_rows; }, rows_);
    }
    std::int64_t n_cols() const {
        return std::visit([](const auto& rows) { return rows.n_cols; }, rows_);
    }
    // As doubles, side by side.
    std::vector<double> read(std::int64_t begin, std::int64_t end) const {
        std::vector<double> out((end - begin) * n_cols());
        std::visit(
            [&](const auto& rows) {
                double* to = out.data();
                for (std::int64_t i = begin; i < end; ++i)
                    for (std::int64_t t = 0; t < rows.n_cols; ++t) *to++ = rows.at(i, t);
            },
            rows_);
        return out;
    }

private:
    std::variant<Matrix<const float>, Matrix<const double>> rows_;
};

// visit(query, first_row, reduced, count): distances of a query to `count` rows from `first_row`
// on. The queries of a chunk meet all rows, in order, on one thread.
template <class Sum, class In, class Visit>
void scan_tiles(const Sum& sum, const Queries& queries, Matrix<const In> rows, std::int64_t begin,
                std::int64_t end, const Visit& visit) {
    const std::vector<double> points = queries.read(begin, end);
    Tile<In> tile(rows.n_cols);
    std::vector<double> reduced(tile.capacity() + packed_slack);
    for (std::int64_t first = 0; first < rows.n_rows; first += tile.capacity()) {
        Pool::breathe();
        const Packed<In> packed =
            tile.pack(rows, first, std::min(rows.n_rows, first + tile.capacity()));
        for (std::int64_t q = begin; q < end; ++q) {
            reduced_to(sum, points.data() + (q - begin) * rows.n_cols, packed, rows.n_cols,
                       reduced.data());
            visit(q, first, reduced.data(), packed.count);
        }
    }
}

// Chunks of queries that scan all rows: small enough for Ctrl-C, large enough to pack for.
struct ScanChunks {
    std::int64_t n_queries, size;
    ScanChunks(std::int64_t n_queries, std::int64_t work_per_query)
        : n_queries(n_queries),
          size(std::clamp<std::int64_t>((1 << 28) / std::max<std::int64_t>(work_per_query, 1), 4,
                                        64)) {}
    std::int64_t count() const { return (n_queries + size - 1) / size; }
    std::int64_t begin(std::int64_t chunk) const { return chunk * size; }
    std::int64_t end(std::int64_t chunk) const { return std::min(n_queries, (chunk + 1) * size); }
};

// All distances, (n_queries, n_rows) in C order.
template <class In>
void all_lengths(const Metric& metric, const Queries& queries, Matrix<const In> rows,
                 double* lengths, const Crew& crew) {
    with_sum(metric, [&](const auto& sum) {
        const ScanChunks chunks(queries.n_rows(), rows.n_rows * rows.n_cols);
        crew.run(chunks.count(), [&](std::int64_t chunk, int) {
            scan_tiles(
                sum, queries, rows, chunks.begin(chunk), chunks.end(chunk),
                [&](std::int64_t q, std::int64_t first, const double* reduced, std::int64_t count) {
                    std::transform(reduced, reduced + count, lengths + q * rows.n_rows + first,
                                   [&](double r) { return metric.length_of(r); });
                });
        });
    });
}

}  // namespace coterie
