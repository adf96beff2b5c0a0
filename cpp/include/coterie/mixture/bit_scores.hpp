// Scores and sums of linear mixtures for rows of bits, four columns at a time.
//
// Four columns take one of sixteen patterns. What a pattern adds to the score of every component is
// looked up; the masses of rows that share a pattern are added up first and given to its columns at
// the end (the trick of Arlazarov et al. 1970). That is a quarter of the additions, and rows stay
// small enough to be read from cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coterie/mixture/bit_rows.hpp"
#include "coterie/mixture/linear_scores.hpp"
#include "coterie/simd/constant.hpp"

namespace coterie {

class BitLinear {
public:
    using Data = WeightedBits;
    static constexpr int patterns = 16;
    static constexpr int group_vecs = 4;  // components are taken in groups of four vectors
    static constexpr int lanes = Simd<double>::lanes;

    // What all threads share: each group's table, [nibble][pattern][vectors].
    struct Model {
        LinearMixture mixture;
        std::int64_t stride, n_nibbles;
        AlignedVector<double> offsets, table;

        explicit Model(const LinearMixture& mixture)
            : mixture(mixture),
              stride(padded_cols<double>(mixture.n_components)),
              n_nibbles((mixture.n_cols + 7) / 8 * 2),
              offsets(stride),
              table(n_nibbles * patterns * stride) {
            std::copy_n(mixture.offsets, mixture.n_components, offsets.begin());
            each_group([&](std::int64_t first, auto vecs) {
                double* to = table.data() + first * n_nibbles * patterns;
                for (std::int64_t p = 0; p < n_nibbles; ++p)
                    for (int pattern = 0; pattern < patterns; ++pattern)
                        for (int i = 0; i < vecs * lanes; ++i) *to++ = added(p, pattern, first + i);
            });
        }
        std::int64_t width() const { return 96; }
        std::int64_t work_per_row(const Data&) const { return stride * (n_nibbles + 16); }
        MomentSums no_sums() const {
            return {std::max(mixture.n_cols, mixture.n_components), stride, Products::none};
        }
        void write(const MomentSums& sums, double* first) const {
            write_by_columns(mixture, sums, stride, first);
        }

        // visit(first component, number of vectors) for each group, the number a constant.
        template <class Visit>
        void each_group(const Visit& visit) const {
            std::int64_t first = 0;
            for (; first + group_vecs * lanes <= stride; first += group_vecs * lanes)
                visit(first, std::integral_constant<int, group_vecs>{});
            with_one_of<3, 2, 1, 0>((stride - first) / lanes, [&](auto n_vecs) {
                if constexpr (n_vecs > 0) visit(first, n_vecs);
            });
        }

    private:
        double added(std::int64_t nibble, int pattern, std::int64_t j) const {
            double sum = 0;
            for (int i = 0; i < 4; ++i) {
                const std::int64_t col = 4 * nibble + i;
                if (pattern >> i & 1 && col < mixture.n_cols && j < mixture.n_components)
                    sum += mixture.slopes[j * mixture.n_cols + col];
            }
            return sum;
        }
    };

    BitLinear(const Data& data, const Model& model)
        : data_(data),
          model_(model),
          rows_(model.width() * model.stride),
          buckets_(model.table.size()) {}

    void score(std::int64_t begin, std::int64_t count, double* scores) {
        begin_ = begin;
        const std::int64_t k = model_.mixture.n_components, width = model_.width();
        model_.each_group([&](std::int64_t first, auto vecs) {
            constexpr int size = vecs * lanes;
            for (std::int64_t r = 0; r < count; ++r)
                std::copy_n(model_.offsets.data() + first, size, rows_.data() + r * size);
            const double* table = model_.table.data() + first * model_.n_nibbles * patterns;
            each_strip(count, [&](const std::uint8_t* bytes, std::int64_t r, Strip strip) {
                look_up<vecs>(bytes, strip, table, rows_.data() + r * size);
            });
            for (std::int64_t j = first; j < std::min(k, first + size); ++j)
                for (std::int64_t r = 0; r < width; ++r)
                    scores[j * width + r] = rows_[std::min(r, count - 1) * size + j - first];
        });
    }

    void add(std::int64_t count, const Posterior<double>& posterior, const double* weights,
             MomentSums& sums) {
        const std::int64_t k = model_.mixture.n_components;
        model_.each_group([&](std::int64_t first, auto vecs) {
            constexpr int size = vecs * lanes;
            std::fill(rows_.begin(), rows_.end(), 0.0);
            for (std::int64_t j = first; j < std::min(k, first + size); ++j)
                for (std::int64_t r = 0; r < count; ++r) {
                    const double mass = weights[r] * posterior.resp(j)[r];
                    rows_[r * size + j - first] = mass;
                    sums.counts[j] += mass;
                }
            double* buckets = buckets_.data() + first * model_.n_nibbles * patterns;
            each_strip(count, [&](const std::uint8_t* bytes, std::int64_t r, Strip strip) {
                collect<vecs>(bytes, strip, rows_.data() + r * size, buckets);
            });
        });
    }

    // Give the masses of the patterns to their columns.
    void finish(MomentSums& sums) {
        model_.each_group([&](std::int64_t first, auto vecs) {
            const double* bucket = buckets_.data() + first * model_.n_nibbles * patterns;
            for (std::int64_t p = 0; p < model_.n_nibbles; ++p)
                for (int pattern = 0; pattern < patterns; ++pattern, bucket += vecs * lanes)
                    for (int i = 0; i < 4 && 4 * p + i < model_.mixture.n_cols; ++i)
                        if (pattern >> i & 1) {
                            double* to = sums.first.data() + (4 * p + i) * model_.stride + first;
                            for (int v = 0; v < vecs * lanes; v += lanes)
                                store(to + v, load(to + v) + load(bucket + v));
                        }
        });
        std::fill(buckets_.begin(), buckets_.end(), 0.0);
    }

private:
    struct Strip {
        std::int64_t from, to;  // bytes
    };

    // visit(a row's bytes, row of the tile, strip): strips of columns whose part of a table stays
    // in the nearest cache, and the rows of each in turn.
    template <class Visit>
    void each_strip(std::int64_t count, const Visit& visit) const {
        constexpr std::int64_t strip_bytes = 12;
        const std::int64_t n_bytes = data_.rows.n_bytes();
        for (std::int64_t from = 0; from < n_bytes; from += strip_bytes)
            for (std::int64_t r = 0; r < count; ++r)
                visit(data_.rows.row(begin_ + r), r,
                      Strip{from, std::min(from + strip_bytes, n_bytes)});
    }

    template <int vecs>
    static void look_up(const std::uint8_t* bytes, Strip strip, const double* table, double* row) {
        Vec<double> sums[vecs];
        for (int v = 0; v < vecs; ++v) sums[v] = load(row + v * lanes);
        for (std::int64_t b = strip.from; b < strip.to; ++b) {
            const double* low = table + (2 * b * patterns + (bytes[b] & 15)) * vecs * lanes;
            const double* high = table + ((2 * b + 1) * patterns + (bytes[b] >> 4)) * vecs * lanes;
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v)
                sums[v] += load(low + v * lanes) + load(high + v * lanes);
        }
        for (int v = 0; v < vecs; ++v) store(row + v * lanes, sums[v]);
    }

    template <int vecs>
    static void collect(const std::uint8_t* bytes, Strip strip, const double* row,
                        double* buckets) {
        Vec<double> masses[vecs];
        for (int v = 0; v < vecs; ++v) masses[v] = load(row + v * lanes);
        for (std::int64_t b = strip.from; b < strip.to; ++b) {
            double* low = buckets + (2 * b * patterns + (bytes[b] & 15)) * vecs * lanes;
            double* high = buckets + ((2 * b + 1) * patterns + (bytes[b] >> 4)) * vecs * lanes;
#pragma GCC unroll 4
            for (int v = 0; v < vecs; ++v) {
                store(low + v * lanes, load(low + v * lanes) + masses[v]);
                store(high + v * lanes, load(high + v * lanes) + masses[v]);
            }
        }
    }

    Data data_;
    const Model& model_;
    AlignedVector<double> rows_;  // scores, then masses, of a group of components for each row
    AlignedVector<double> buckets_;
    std::int64_t begin_ = 0;
};

}  // namespace coterie
