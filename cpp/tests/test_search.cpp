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
#include "coterie/search/nearest_codes.hpp"
#include "coterie/search/row_terms.hpp"
#include "coterie/search/search_lists.hpp"

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

namespace {

// Random lists of whole numbers, and queries that look into them.
struct RandomLists {
    // Whole blocks and others, and a list without rows.
    static constexpr std::int64_t n_lists = 6, n = 1000, d = 7;
    const std::vector<std::int64_t> row_starts{0, 1, 65, 65, 129, 400, 1000}, starts{0, 2, 3, 7};
    std::int64_t n_words, n_queries, n_probes;
    std::vector<std::int64_t> block_starts{0}, ids = shuffled(n), rows, probes;
    RandomCodes made;
    std::vector<float> words;
    std::vector<double> centers, asked, origin = std::vector<double>(d);
    std::vector<std::uint16_t> numbers;
    std::vector<double> lows = std::vector<double>(n_lists), steps = lows;
    Lists lists;
    ListSpace space;

    RandomLists(int bits, Measure measure, std::int64_t n_queries, std::int64_t n_probes,
                double far = 0, bool close = false)
        : n_words(std::int64_t{1} << bits),
          n_queries(n_queries),
          n_probes(n_probes),
          rows(n),
          made(20 * 64, 3, bits),
          words(noise(d * n_words, 6)) {
        // One codeword far away makes steps so long that all others are within a few.
        for (std::size_t i = 0; close && i < words.size(); ++i)
            words[i] = i % n_words == 15 ? 1000 : words[i] / 777;
        for (std::int64_t l = 0; l < n_lists; ++l)
            block_starts.push_back(block_starts[l] + (row_starts[l + 1] - row_starts[l] + 63) / 64);
        for (std::int64_t i = 0; i < n; ++i) rows[i] = n - 1 - i;
        for (std::int64_t q = 0; q < n_queries; ++q)
            for (std::int64_t j = 0; j < n_probes; ++j) probes.push_back((q + j) % n_lists);
        const std::vector<float> drawn = noise((n_lists + n_queries) * d, 8);
        for (const float value : drawn)
            (centers.size() < n_lists * d ? centers : asked).push_back(far + value);
        if (measure == Measure::squares) origin.assign(d, far);
        numbers.resize(block_starts.back() * 64);
        lists = {made.blocks.data(),
                 row_starts.data(),
                 block_starts.data(),
                 rows.data(),
                 ids.data(),
                 3,
                 bits,
                 {numbers.data(), lows.data(), steps.data(), n_lists, origin.data()}};
        space = {{words.data(), starts.data(), 3, n_words},
                 measure,
                 matrix(centers, d),
                 matrix(asked, d)};
        if (bits == 4 && measure == Measure::squares)
            make_row_terms(lists, space, numbers.data(), lows.data(), steps.data(), Crew{2, {}});
    }

    // What a query may find, by the sums that it is held to.
    std::vector<Found> all(std::int64_t q) const {
        const bool squares = space.measure == Measure::squares;
        std::vector<Found> found;
        for (std::int64_t j = 0; j < n_probes; ++j) {
            const std::int64_t l = probes[q * n_probes + j];
            std::vector<float> table(3 * n_words);
            double base = 0;
            for (std::int64_t t = 0; t < d; ++t) {
                const double query = asked[q * d + t], center = centers[l * d + t];
                const auto r = static_cast<float>(squares ? query - center : query);
                if (!squares) base -= rounded(query * center);
                const std::int64_t m = t < 2 ? 0 : t < 3 ? 1 : 2;
                for (std::int64_t c = 0; c < n_words; ++c) {
                    const float word = words[t * n_words + c];
                    table[m * n_words + c] +=
                        squares ? rounded((r - word) * (r - word)) : rounded(-r * word);
                }
            }
            const Codes codes = lists.codes(l);
            for (std::int64_t i = 0; i < codes.n_rows; ++i)
                found.push_back({base + plain_value(codes, table.data(), i), ids[row_starts[l] + i],
                                 rows[row_starts[l] + i]});
        }
        return found;
    }
};

}  // namespace

TEST(lists_are_searched_where_they_are_probed) {
    for (const int bits : {4, 8})
        for (const Measure measure : {Measure::squares, Measure::product})
            for (const std::int64_t n_queries : {1, 3, 50})
                for (const std::int64_t n_probes : {1, 3, 6})
                    for (const double far : {0.0, 4096.0}) {
                        if (far > 0 && measure == Measure::product) continue;  // rounds
                        check::say("bits", bits, "queries", n_queries, "probes", n_probes);
                        const RandomLists made(bits, measure, n_queries, n_probes, far);
                        Room room(n_queries, 12);
                        search_lists(made.lists, made.space, made.probes.data(), n_probes, 12,
                                     TellAsFound{room.answers()}, Crew{2, {}});
                        for (std::int64_t q = 0; q < n_queries; ++q) room.check(q, made.all(q));
                    }
}

TEST(rows_within_a_step_are_told_apart) {
    for (const Measure measure : {Measure::squares, Measure::product})
        for (const std::int64_t k : {1, 12, 100}) {
            check::say("k", k);
            const RandomLists made(4, measure, 50, 6, 0, true);
            Room room(50, k);
            search_lists(made.lists, made.space, made.probes.data(), 6, k,
                         TellAsFound{room.answers()}, Crew{2, {}});
            for (std::int64_t q = 0; q < 50; ++q) room.check(q, made.all(q));
        }
}

TEST(rows_of_lists_are_compared_exactly) {
    for (const int bits : {4, 8})
        for (const std::int64_t n_found : {5, 40, 1000}) {
            check::say("bits", bits, "found", n_found);
            const RandomLists made(bits, Measure::squares, 20, 6);
            const std::vector<float> rows = noise(made.n * 3, 12), asked = noise(20 * 3, 13);
            Room room(20, 5);
            search_lists(
                made.lists, made.space, made.probes.data(), 6, n_found,
                CompareExactly{room.answers(), Measure::squares, matrix(rows, 3), matrix(asked, 3)},
                Crew{2, {}});
            for (std::int64_t q = 0; q < 20; ++q) {
                std::vector<Found> all = made.all(q), exactly;
                std::sort(all.begin(), all.end());
                all.resize(std::min<std::size_t>(all.size(), n_found));
                for (const Found& found : all)
                    exactly.push_back({squared(&rows[found.row * 3], &asked[q * 3], 3), found.id});
                room.check(q, exactly);
            }
        }
}

TEST(many_rows_alike_do_not_crowd_a_shortlist) {
    // More equals than a shortlist keeps: the lowest ids win.
    const std::int64_t n = 9000;
    const std::vector<std::int64_t> row_starts{0, n}, block_starts{0, (n + 63) / 64},
        starts{0, 1, 2};
    const std::vector<std::int64_t> ids = shuffled(n), probes{0};
    std::vector<std::int64_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<std::uint8_t> blocks(block_starts[1] * 64, 0x21);
    const std::vector<float> words = noise(2 * 16, 6);
    const std::vector<double> center{1, 2}, query{3, 5}, origin{1, 2};
    std::vector<std::uint16_t> numbers(block_starts[1] * 64);
    std::vector<double> lows(1), steps(1);
    const Lists lists{blocks.data(),
                      row_starts.data(),
                      block_starts.data(),
                      rows.data(),
                      ids.data(),
                      2,
                      4,
                      {numbers.data(), lows.data(), steps.data(), 1, origin.data()}};
    const ListSpace space{{words.data(), starts.data(), 2, 16},
                          Measure::squares,
                          matrix(center, 2),
                          matrix(query, 2)};
    make_row_terms(lists, space, numbers.data(), lows.data(), steps.data(), Crew{1, {}});
    Room room(1, 7);
    search_lists(lists, space, probes.data(), 1, 7, TellAsFound{room.answers()}, Crew{1, {}});
    for (std::int64_t i = 0; i < 7; ++i) CHECK(room.ids[i] == 3 * i);
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
