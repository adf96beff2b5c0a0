// Search among rows, codes and lists against loops over everything, then a sort.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "coterie/search/certified.hpp"
#include "coterie/search/code_tables.hpp"
#include "coterie/search/finish.hpp"
#include "coterie/search/flat.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/search/nearest_codes.hpp"

using namespace coterie;
using namespace coterie::search;

namespace {

const auto as_it_is = [](double value) { return value; };

std::vector<float> noise(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> level(-20, 20);  // few levels: there are ties
    std::vector<float> values(count);
    for (auto& value : values) value = static_cast<float>(level(random));
    return values;
}

std::vector<std::int64_t> shuffled(std::int64_t count) {
    std::vector<std::int64_t> ids(count);
    for (std::int64_t i = 0; i < count; ++i) ids[i] = 3 * i;
    std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
    return ids;
}

template <class T>
Matrix<const T> matrix(const std::vector<T>& values, std::int64_t n_cols) {
    return {values.data(), static_cast<std::int64_t>(values.size()) / n_cols, n_cols, n_cols, 1};
}

// Room for answers that knows what should be in it.
struct Room {
    std::int64_t n_queries, k;
    std::vector<double> values;
    std::vector<std::int64_t> ids;

    Room(std::int64_t n_queries, std::int64_t k)
        : n_queries(n_queries), k(k), values(n_queries * k), ids(n_queries * k) {}

    auto answers() { return Answers{k, values.data(), ids.data(), as_it_is}; }

    void check(std::int64_t query, std::vector<Found> all) const {
        std::sort(all.begin(), all.end());
        for (std::int64_t i = 0; i < k; ++i) {
            const bool there = i < static_cast<std::int64_t>(all.size());
            CHECK(ids[query * k + i] == (there ? all[i].id : -1));
            if (there) CHECK(values[query * k + i] == all[i].value);
            if (!there) CHECK(std::isinf(values[query * k + i]));
        }
    }
};

// Random codes of rows, in blocks; those of a list may begin anywhere.
struct RandomCodes {
    std::int64_t n_rows, n_parts;
    int bits;
    std::vector<std::uint8_t> blocks;

    RandomCodes(std::int64_t n_rows, std::int64_t n_parts, int bits)
        : n_rows(n_rows), n_parts(n_parts), bits(bits) {
        blocks.resize((n_rows + 63) / 64 * 64 * view().n_bytes());
        std::mt19937 random(static_cast<unsigned>(n_rows * 100 + n_parts));
        for (auto& byte : blocks) byte = static_cast<std::uint8_t>(random());
    }
    Codes view() const { return {blocks.data(), n_rows, n_parts, bits}; }
};

float plain_value(const Codes& codes, const float* tables, std::int64_t row) {
    float sum = 0;
    for (std::int64_t m = 0; m < codes.n_parts; ++m) {
        const std::uint8_t byte =
            codes.block(row / 64)[(codes.bits == 8 ? m : m / 2) * 64 + row % 64];
        const int code = codes.bits == 8 ? byte : m % 2 ? byte >> 4 : byte & 15;
        sum += tables[m * codes.n_words() + code];
    }
    return sum;
}

double squared(const float* a, const float* b, std::int64_t n_cols) {
    double sum = 0;
    for (std::int64_t t = 0; t < n_cols; ++t)
        sum += (static_cast<double>(a[t]) - b[t]) * (static_cast<double>(a[t]) - b[t]);
    return sum;
}

}  // namespace

TEST(flat_search_finds_what_a_sort_finds) {
    for (const std::int64_t n : {1, 63, 64, 700})
        for (const std::int64_t d : {1, 7, 33})
            for (const std::int64_t k : {1, 9, 80}) {
                check::say("n", n, "d", d, "k", k);
                const std::vector<float> rows = noise(n * d, 1), asked = noise(5 * d, 2), shift(d);
                const std::vector<std::int64_t> ids = shuffled(n);
                Room room(5, k);
                const FlatRows<float> flat{
                    matrix(rows, d), ids.data(), {1.0f / 32, shift.data()}, Measure::squares};
                search_flat(flat, matrix(asked, d), k, room.values.data(), room.ids.data(),
                            as_it_is, Crew{2, {}});
                for (std::int64_t q = 0; q < 5; ++q) {
                    std::vector<Found> all;
                    for (std::int64_t i = 0; i < n; ++i)
                        all.push_back({squared(&rows[i * d], &asked[q * d], d), ids[i]});
                    room.check(q, all);
                }
            }
}

TEST(codes_are_found_by_plain_sums_and_compared_by_rows) {
    for (const int bits : {4, 8})
        for (const std::int64_t n : {1, 64, 65, 1500})
            for (const std::int64_t n_parts : {1, 2, 5, 16})
                for (const std::int64_t k : {1, 10, 70}) {
                    check::say("bits", bits, "n", n, "parts", n_parts, "k", k);
                    const RandomCodes made(n, n_parts, bits);
                    const Codes codes = made.view();
                    const std::int64_t size = n_parts * codes.n_words(), n_queries = 19, d = 6;
                    const std::vector<float> tables = noise(n_queries * size, 3);
                    const std::vector<float> rows = noise(n * d, 4),
                                             asked = noise(n_queries * d, 5);
                    const std::vector<std::int64_t> ids = shuffled(n);
                    Room coded(n_queries, k), compared(n_queries, 3);
                    search_codes(codes, ids.data(), tables.data(), n_queries, k,
                                 TellAsFound{coded.answers()}, Crew{2, {}});
                    search_codes(codes, ids.data(), tables.data(), n_queries, k,
                                 CompareExactly{compared.answers(), Measure::squares,
                                                matrix(rows, d), matrix(asked, d)},
                                 Crew{2, {}});
                    for (std::int64_t q = 0; q < n_queries; ++q) {
                        std::vector<Found> all, exactly;
                        for (std::int64_t i = 0; i < n; ++i)
                            all.push_back({plain_value(codes, &tables[q * size], i), ids[i], i});
                        coded.check(q, all);
                        std::sort(all.begin(), all.end());
                        all.resize(std::min(n, k));
                        for (const Found& found : all)
                            exactly.push_back(
                                {squared(&rows[found.row * d], &asked[q * d], d), found.id});
                        compared.check(q, exactly);
                    }
                }
}

TEST(lists_are_searched_where_they_are_probed) {
    for (const int bits : {4, 8})
        for (const Measure measure : {Measure::squares, Measure::product})
            for (const std::int64_t n_queries : {1, 3, 50})
                for (const std::int64_t n_probes : {1, 3, 6}) {
                    check::say("bits", bits, "queries", n_queries, "probes", n_probes);
                    // Whole blocks and others, and a list without rows.
                    const std::vector<std::int64_t> row_starts{0, 1, 65, 65, 129, 400, 1000};
                    const std::vector<std::int64_t> starts{0, 2, 3, 7};
                    const std::int64_t n_lists = 6, n = 1000, d = 7, k = 12;
                    std::vector<std::int64_t> block_starts{0};
                    for (std::int64_t l = 0; l < n_lists; ++l)
                        block_starts.push_back(block_starts[l] +
                                               (row_starts[l + 1] - row_starts[l] + 63) / 64);
                    const RandomCodes made(block_starts[n_lists] * 64, 3, bits);
                    const std::vector<std::int64_t> ids = shuffled(n);
                    std::vector<std::int64_t> rows(n), probes;
                    for (std::int64_t i = 0; i < n; ++i) rows[i] = n - 1 - i;
                    for (std::int64_t q = 0; q < n_queries; ++q)
                        for (std::int64_t j = 0; j < n_probes; ++j)
                            probes.push_back((q + j) % n_lists);
                    const std::int64_t n_words = std::int64_t{1} << bits;
                    const std::vector<float> words = noise(d * n_words, 6);
                    const std::vector<float> drawn = noise((n_lists + n_queries) * d, 8);
                    const std::vector<double> centers(drawn.begin(), drawn.begin() + n_lists * d),
                        asked(drawn.begin() + n_lists * d, drawn.end());
                    const Lists lists{made.blocks.data(),
                                      row_starts.data(),
                                      block_starts.data(),
                                      rows.data(),
                                      ids.data(),
                                      3,
                                      bits};
                    const ListSpace space{{words.data(), starts.data(), 3, n_words},
                                          measure,
                                          matrix(centers, d),
                                          matrix(asked, d)};
                    Room room(n_queries, k);
                    search_lists(lists, space, probes.data(), n_probes, k,
                                 TellAsFound{room.answers()}, Crew{2, {}});
                    for (std::int64_t q = 0; q < n_queries; ++q) {
                        std::vector<Found> all;
                        for (std::int64_t j = 0; j < n_probes; ++j) {
                            const std::int64_t l = probes[q * n_probes + j];
                            // Whole numbers, so that the order of sums does not matter.
                            std::vector<float> table(3 * n_words);
                            double base = 0;
                            for (std::int64_t t = 0; t < d; ++t) {
                                const double query = asked[q * d + t], center = centers[l * d + t];
                                if (measure == Measure::product) base -= query * center;
                                const std::int64_t m = t < 2 ? 0 : t < 3 ? 1 : 2;
                                for (std::int64_t c = 0; c < n_words; ++c) {
                                    const double word = words[t * n_words + c];
                                    table[m * n_words + c] += static_cast<float>(
                                        measure == Measure::squares
                                            ? (query - center - word) * (query - center - word)
                                            : -query * word);
                                }
                            }
                            const Codes codes = lists.codes(l);
                            for (std::int64_t i = 0; i < codes.n_rows; ++i)
                                all.push_back({base + plain_value(codes, table.data(), i),
                                               ids[row_starts[l] + i]});
                        }
                        room.check(q, all);
                    }
                }
}

TEST(certified_search_is_exact) {
    for (const int bits : {4, 8}) {
        check::say("bits", bits);
        // Rows near the codewords of two parts of two columns each.
        const std::int64_t n = 500, d = 4, k = 8, n_queries = 7, n_words = std::int64_t{1} << bits;
        const std::vector<std::int64_t> starts{0, 2, 4}, ids = shuffled(n);
        const std::vector<float> words = noise(d * n_words, 9);
        const RandomCodes made(n, 2, bits);
        const std::vector<float> off = noise(n * d, 10), asked = noise(n_queries * d, 11);
        std::vector<float> rows(n * d), errors(n);
        double longest = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            double error = 0, length = 0;
            for (std::int64_t t = 0; t < d; ++t) {
                const std::int64_t m = t / 2;
                const std::uint8_t byte =
                    made.view().block(i / 64)[(bits == 8 ? m : 0) * 64 + i % 64];
                const int code = bits == 8 ? byte : m ? byte >> 4 : byte & 15;
                rows[i * d + t] = words[(m * n_words + code) * 2 + t % 2] + off[i * d + t] / 64;
                error += std::pow(off[i * d + t] / 64, 2);
                length += std::pow(rows[i * d + t], 2);
            }
            errors[i] = static_cast<float>(std::sqrt(error) * 1.001);
            longest = std::max(longest, std::sqrt(length) * 1.001);
        }
        const std::vector<double> wide(asked.begin(), asked.end());
        std::vector<double> norms(n_queries);
        std::vector<float> tables(n_queries * 2 * n_words);
        make_tables({words.data(), starts.data(), 2, n_words}, Measure::squares, matrix(wide, d),
                    tables.data(), Crew{2, {}});
        for (std::int64_t q = 0; q < n_queries; ++q)
            norms[q] =
                std::sqrt(std::inner_product(&wide[q * d], &wide[q * d] + d, &wide[q * d], 0.0));
        const CodedRows<float> coded{matrix(rows, d), ids.data(), errors.data(),
                                     longest,         1e-12,      Measure::squares};
        Room room(n_queries, k);
        std::vector<std::int64_t> n_compared(n_queries);
        search_certified(made.view(), coded, *std::max_element(errors.begin(), errors.end()),
                         tables.data(), matrix(asked, d), norms.data(), room.answers(),
                         n_compared.data(), Crew{2, {}});
        for (std::int64_t q = 0; q < n_queries; ++q) {
            CHECK(n_compared[q] >= k && n_compared[q] <= n);
            std::vector<Found> all;
            for (std::int64_t i = 0; i < n; ++i)
                all.push_back({squared(&rows[i * d], &asked[q * d], d), ids[i]});
            room.check(q, all);
        }
    }
}
