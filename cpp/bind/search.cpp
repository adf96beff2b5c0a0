// Bindings of search: exact search among rows, and search among codes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "convert.hpp"
#include "search_args.hpp"

#include "coterie/search/certified.hpp"
#include "coterie/search/code_tables.hpp"
#include "coterie/search/finish.hpp"
#include "coterie/search/flat.hpp"
#include "coterie/search/nearest_codes.hpp"

namespace coterie::bind {

namespace {

template <class In>
void search_flat_of(Table<const In> rows, Column<const std::int64_t> row_ids,
                    Column<const In> shift, double scale, const std::string& metric,
                    Table<const In> queries, Table<double> values, Table<std::int64_t> ids,
                    int n_threads) {
    const search::FlatRows<In> flat{
        view(rows), row_ids.data(), {static_cast<In>(scale), shift.data()}, measure_of(metric)};
    const Matrix<const In> asked = view(queries);
    require(flat.rows.n_rows > 0 && flat.rows.n_cols > 0, "there must be rows and columns");
    require_length(row_ids, flat.rows.n_rows, "there must be one id per row");
    require_length(shift, flat.rows.n_cols, "there must be one shift per column");
    require(asked.n_cols == flat.rows.n_cols, "queries and rows must have the same columns");
    require_answers(values, ids, asked.n_rows);
    without_gil([&] {
        search::search_flat(flat, asked, static_cast<std::int64_t>(ids.shape(1)), values.data(),
                            ids.data(), length_by(metric == "euclidean"), crew_of(n_threads));
    });
}

// The blocks of `n_rows` codes, whose every value stands for a codeword.
search::Codes codes_of(const Cube<const std::uint8_t>& blocks, std::int64_t n_rows,
                       std::int64_t n_parts, int bits) {
    const search::Codes codes{blocks.data(), n_rows, n_parts, bits};
    require(bits == 4 || bits == 8, "codes have 4 or 8 bits");
    require(n_rows > 0 && n_parts > 0, "there must be rows and parts");
    require(static_cast<std::int64_t>(blocks.shape(0)) ==
                    (n_rows + search::block_rows - 1) / search::block_rows &&
                static_cast<std::int64_t>(blocks.shape(1)) == codes.n_bytes() &&
                blocks.shape(2) == search::block_rows,
            "blocks must hold all rows, 64 each");
    return codes;
}

void require_tables(const Cube<const float>& tables, const search::Codes& codes) {
    require(static_cast<std::int64_t>(tables.shape(1)) == codes.n_parts &&
                static_cast<std::int64_t>(tables.shape(2)) == codes.n_words(),
            "there must be a table for every part");
}

void search_codes_of(Cube<const std::uint8_t> blocks, Column<const std::int64_t> row_ids,
                     std::int64_t n_parts, int bits, Cube<const float> tables, bool root,
                     Table<double> values, Table<std::int64_t> ids, int n_threads) {
    const auto n_rows = static_cast<std::int64_t>(row_ids.shape(0));
    const search::Codes codes = codes_of(blocks, n_rows, n_parts, bits);
    const auto n_queries = static_cast<std::int64_t>(tables.shape(0));
    require_tables(tables, codes);
    require_answers(values, ids, n_queries);
    without_gil([&] {
        const search::TellAsFound tell{answers_to(values, ids, root)};
        search::search_codes(codes, row_ids.data(), tables.data(), n_queries, tell.answers.k, tell,
                             crew_of(n_threads));
    });
}

template <class In>
void search_codes_and_compare_of(Cube<const std::uint8_t> blocks,
                                 Column<const std::int64_t> row_ids, std::int64_t n_parts, int bits,
                                 Cube<const float> tables, std::int64_t n_found,
                                 Table<const In> rows, const std::string& metric,
                                 Table<const In> queries, Table<double> values,
                                 Table<std::int64_t> ids, int n_threads) {
    const search::CompareExactly compare{answers_to(values, ids, metric == "euclidean"),
                                         measure_of(metric), view(rows), view(queries)};
    const search::Codes codes = codes_of(blocks, compare.rows.n_rows, n_parts, bits);
    require(n_found > 0, "some rows must be found");
    require_length(row_ids, codes.n_rows, "there must be one id per row");
    require(compare.rows.n_cols == compare.queries.n_cols,
            "queries and rows must have the same columns");
    require_length(tables, compare.queries.n_rows, "there must be tables for every query");
    require_tables(tables, codes);
    require_answers(values, ids, compare.queries.n_rows);
    without_gil([&] {
        search::search_codes(codes, row_ids.data(), tables.data(), compare.queries.n_rows, n_found,
                             compare, crew_of(n_threads));
    });
}

template <class In>
void search_certified_of(Cube<const std::uint8_t> blocks, Column<const std::int64_t> row_ids,
                         std::int64_t n_parts, int bits, Cube<const float> tables,
                         Table<const In> rows, Column<const float> errors, double worst_error,
                         double longest, double stretch, const std::string& metric,
                         Table<const In> queries, Column<const double> query_norms,
                         Table<double> values, Table<std::int64_t> ids,
                         Column<std::int64_t> n_compared, int n_threads) {
    const search::CodedRows<In> coded{view(rows), row_ids.data(), errors.data(),
                                      longest,    stretch,        measure_of(metric)};
    const search::Codes codes = codes_of(blocks, coded.rows.n_rows, n_parts, bits);
    const Matrix<const In> asked = view(queries);
    require_length(row_ids, coded.rows.n_rows, "there must be one id per row");
    require_length(errors, coded.rows.n_rows, "there must be one error per row");
    require(asked.n_cols == coded.rows.n_cols, "queries and rows must have the same columns");
    require_length(tables, asked.n_rows, "there must be tables for every query");
    require_tables(tables, codes);
    require_length(query_norms, asked.n_rows, "there must be a norm for every query");
    require_length(n_compared, asked.n_rows, "there must be a count for every query");
    require_answers(values, ids, asked.n_rows);
    without_gil([&] {
        search::search_certified(codes, coded, worst_error, tables.data(), asked,
                                 query_norms.data(), answers_to(values, ids, metric == "euclidean"),
                                 n_compared.data(), crew_of(n_threads));
    });
}

void code_tables_of(Column<const float> words, Column<const std::int64_t> starts,
                    const std::string& metric, Table<const double> queries, Cube<float> tables,
                    int n_threads) {
    const search::Codebooks books{words.data(), starts.data(),
                                  static_cast<std::int64_t>(tables.shape(1)),
                                  static_cast<std::int64_t>(tables.shape(2))};
    const auto n_cols = static_cast<std::int64_t>(queries.shape(1));
    const auto n_queries = static_cast<std::int64_t>(queries.shape(0));
    require_length(starts, books.n_parts + 1, "starts must have one entry per part and one more");
    require_starts(starts.data(), books.n_parts, n_cols, "parts must lie within the columns");
    require_length(words, (starts(books.n_parts) - starts(0)) * books.n_words,
                   "there must be codewords for every part");
    require_length(tables, n_queries, "there must be tables for every query");
    const Measure measure = measure_of(metric);
    without_gil([&] {
        search::make_tables(books, measure, {queries.data(), n_queries, n_cols, n_cols, 1},
                            tables.data(), crew_of(n_threads));
    });
}

}  // namespace

void add_search(nb::module_& m) {
    using namespace nb::literals;
    const auto add_exact = [&]<class In>(In) {
        m.def("search_flat", &search_flat_of<In>, "rows"_a.noconvert(), "row_ids"_a.noconvert(),
              "shift"_a.noconvert(), "scale"_a, "metric"_a, "queries"_a.noconvert(),
              "values"_a.noconvert(), "ids"_a.noconvert(), "n_threads"_a);
        m.def("search_codes_and_compare", &search_codes_and_compare_of<In>, "blocks"_a.noconvert(),
              "row_ids"_a.noconvert(), "n_parts"_a, "bits"_a, "tables"_a.noconvert(), "n_found"_a,
              "rows"_a.noconvert(), "metric"_a, "queries"_a.noconvert(), "values"_a.noconvert(),
              "ids"_a.noconvert(), "n_threads"_a);
        m.def("search_certified", &search_certified_of<In>, "blocks"_a.noconvert(),
              "row_ids"_a.noconvert(), "n_parts"_a, "bits"_a, "tables"_a.noconvert(),
              "rows"_a.noconvert(), "errors"_a.noconvert(), "worst_error"_a, "longest"_a,
              "stretch"_a, "metric"_a, "queries"_a.noconvert(), "query_norms"_a.noconvert(),
              "values"_a.noconvert(), "ids"_a.noconvert(), "n_compared"_a.noconvert(),
              "n_threads"_a);
    };
    add_exact(float{});
    add_exact(double{});
    m.def("search_codes", &search_codes_of, "blocks"_a.noconvert(), "row_ids"_a.noconvert(),
          "n_parts"_a, "bits"_a, "tables"_a.noconvert(), "root"_a, "values"_a.noconvert(),
          "ids"_a.noconvert(), "n_threads"_a);
    m.def("code_tables", &code_tables_of, "words"_a.noconvert(), "starts"_a.noconvert(), "metric"_a,
          "queries"_a.noconvert(), "tables"_a.noconvert(), "n_threads"_a);
}

}  // namespace coterie::bind
