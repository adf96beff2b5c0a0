// Bindings of search among codes in inverted lists.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "convert.hpp"
#include "records.hpp"
#include "search_args.hpp"

#include "coterie/search/certified_lists.hpp"
#include "coterie/search/row_terms.hpp"
#include "coterie/search/search_lists.hpp"

namespace coterie::bind {

namespace {

// Codes list by list, and where the blocks of every list begin.
struct ListArgs {
    Cube<const std::uint8_t> blocks;
    Column<const std::int64_t> row_starts, rows, ids;
    Table<const std::uint16_t> terms;
    Column<const double> term_lows, term_steps, origin;
    std::int64_t n_parts = 0;
    int bits = 0;
    std::vector<std::int64_t> block_starts;

    bool read(nb::handle from) {
        return read_attribute(from, "blocks", blocks) &&
               read_attribute(from, "row_starts", row_starts) &&
               read_attribute(from, "rows", rows) && read_attribute(from, "ids", ids) &&
               read_attribute(from, "terms", terms) &&
               read_attribute(from, "term_lows", term_lows) &&
               read_attribute(from, "term_steps", term_steps) &&
               read_attribute(from, "origin", origin) && read_attribute(from, "n_parts", n_parts) &&
               read_attribute(from, "bits", bits);
    }

    void check() {
        const auto n_rows = static_cast<std::int64_t>(ids.shape(0));
        const std::int64_t n_lists = static_cast<std::int64_t>(row_starts.shape(0)) - 1;
        require(bits == 4 || bits == 8, "codes have 4 or 8 bits");
        require(n_lists > 0 && n_parts > 0, "there must be lists and parts");
        require_starts(row_starts.data(), n_lists, n_rows, "lists must lie within the rows");
        require(row_starts(0) == 0 && row_starts(n_lists) == n_rows, "lists must hold all rows");
        require_length(rows, n_rows, "there must be a row for every place");
        require_indexes(rows.data(), n_rows, n_rows, "places must hold rows that there are");
        block_starts.assign(1, 0);
        for (std::int64_t l = 0; l < n_lists; ++l)
            block_starts.push_back(block_starts[l] +
                                   (row_starts(l + 1) - row_starts(l) + search::block_rows - 1) /
                                       search::block_rows);
        require(static_cast<std::int64_t>(blocks.shape(0)) == block_starts.back() &&
                    static_cast<std::int64_t>(blocks.shape(1)) == view().codes(0).n_bytes() &&
                    blocks.shape(2) == search::block_rows,
                "blocks must hold the rows of every list, 64 each");
        if (bits == 8) return;  // terms are of 4 bits
        require(static_cast<std::int64_t>(terms.shape(0)) == block_starts.back() &&
                    terms.shape(1) == search::block_rows,
                "there must be one term per row of the blocks");
        require_length(term_lows, n_lists, "there must be one least term per list");
        require_length(term_steps, n_lists, "there must be one step of terms per list");
    }

    search::Lists view() const {
        return {blocks.data(),
                row_starts.data(),
                block_starts.data(),
                rows.data(),
                ids.data(),
                n_parts,
                bits,
                {terms.data(), term_lows.data(), term_steps.data(),
                 static_cast<std::int64_t>(row_starts.shape(0)) - 1, origin.data()}};
    }
};

// Codebooks, centres of lists and queries in the space of the codes.
struct SpaceArgs {
    Table<const float> words;
    Column<const std::int64_t> starts;
    Table<const double> centers, queries;

    bool read(nb::handle from) {
        return read_attribute(from, "words", words) && read_attribute(from, "starts", starts) &&
               read_attribute(from, "centers", centers) && read_attribute(from, "queries", queries);
    }

    search::ListSpace checked(const ListArgs& lists, Measure measure) const {
        const search::WordColumns books{words.data(), starts.data(), lists.n_parts,
                                        std::int64_t{1} << lists.bits};
        const search::ListSpace space{books, measure, bind::view(centers), bind::view(queries)};
        const std::int64_t n_cols = space.queries.n_cols;
        require_length(starts, books.n_parts + 1,
                       "starts must have one entry per part and one more");
        require_starts(starts.data(), books.n_parts, n_cols, "parts must lie within the columns");
        require_length(words, n_cols, "there must be codewords for every column");
        require(static_cast<std::int64_t>(words.shape(1)) == books.n_words,
                "there must be 2^bits codewords");
        require(space.centers.n_cols == n_cols, "queries and centres must have the same columns");
        require_length(lists.row_starts, space.centers.n_rows + 1,
                       "there must be one centre per list");
        if (lists.bits == 4) require_length(lists.origin, n_cols, "the origin must be a point");
        return space;
    }
};

// The lists that every query looks into.
using Probes = Table<const std::int64_t>;

void require_probes(const Probes& probes, const search::ListSpace& space) {
    require_length(probes, space.queries.n_rows, "there must be probes for every query");
    require(probes.shape(1) > 0, "there must be probes for every query");
    require_indexes(probes.data(), static_cast<std::int64_t>(probes.size()), space.centers.n_rows,
                    "probes must be of lists that there are");
}

// Rows, and how far they are from their codes and from the centres of their lists.
template <class In>
struct ProofArgs {
    Table<const In> rows;
    Column<const std::int64_t> ids;
    Column<const float> errors, radii, worst_errors;
    double longest = 0, longest_word = 0, stretch = 0;

    bool read(nb::handle from) {
        return read_attribute(from, "rows", rows) && read_attribute(from, "ids", ids) &&
               read_attribute(from, "errors", errors) && read_attribute(from, "radii", radii) &&
               read_attribute(from, "worst_errors", worst_errors) &&
               read_attribute(from, "longest", longest) &&
               read_attribute(from, "longest_word", longest_word) &&
               read_attribute(from, "stretch", stretch);
    }

    search::CodedRows<In> checked(const ListArgs& lists, Measure measure) const {
        const auto n_rows = static_cast<std::int64_t>(rows.shape(0));
        const std::int64_t n_lists = static_cast<std::int64_t>(lists.row_starts.shape(0)) - 1;
        require_length(lists.ids, n_rows, "there must be one id per row");
        require_length(ids, n_rows, "there must be one id per row");
        require_length(errors, n_rows, "there must be one error per row");
        require_length(radii, n_lists, "there must be one radius per list");
        require_length(worst_errors, n_lists, "there must be one worst error per list");
        return {view(rows), ids.data(), errors.data(), longest, stretch, measure};
    }
};

// Angles are those of products of rows of length one.
Measure measure_of_codes(Measure measure) {
    return measure == Measure::squares ? Measure::squares : Measure::product;
}

void search_lists_of(ListArgs lists, const SpaceArgs& given, Probes probes,
                     const std::string& metric, Table<double> values, Table<std::int64_t> ids,
                     int n_threads) {
    lists.check();
    const Measure measure = measure_of(metric);
    require(measure != Measure::angle, "codes are compared by squares or products");
    const search::ListSpace space = given.checked(lists, measure);
    require_probes(probes, space);
    require_answers(values, ids, space.queries.n_rows);
    without_gil([&] {
        const search::TellAsFound tell{answers_to(values, ids, metric == "euclidean")};
        search::search_lists(lists.view(), space, probes.data(),
                             static_cast<std::int64_t>(probes.shape(1)), tell.answers.k, tell,
                             crew_of(n_threads));
    });
}

void row_terms_of(ListArgs lists, const SpaceArgs& given, Table<std::uint16_t> numbers,
                  Column<double> lows, Column<double> steps, int n_threads) {
    lists.check();
    require(lists.bits == 4, "terms are of codes of 4 bits");
    const search::ListSpace space = given.checked(lists, Measure::squares);
    require_length(numbers, lists.block_starts.back(), "there must be one number per row");
    require(numbers.shape(1) == search::block_rows, "there must be one number per row");
    require_length(lows, space.centers.n_rows, "there must be one least term per list");
    require_length(steps, space.centers.n_rows, "there must be one step per list");
    without_gil([&] {
        search::make_row_terms(lists.view(), space, numbers.data(), lows.data(), steps.data(),
                               crew_of(n_threads));
    });
}

template <class In>
void search_lists_and_compare_of(ListArgs lists, const SpaceArgs& given, Probes probes,
                                 std::int64_t n_found, Table<const In> rows,
                                 const std::string& metric, Table<const In> queries,
                                 Table<double> values, Table<std::int64_t> ids, int n_threads) {
    const search::CompareExactly compare{answers_to(values, ids, metric == "euclidean"),
                                         measure_of(metric), view(rows), view(queries)};
    lists.check();
    const search::ListSpace space = given.checked(lists, measure_of_codes(compare.measure));
    require_probes(probes, space);
    require(n_found > 0, "some rows must be found");
    require_length(lists.ids, compare.rows.n_rows, "there must be one id per row");
    require(compare.rows.n_cols == compare.queries.n_cols,
            "queries and rows must have the same columns");
    require_length(queries, space.queries.n_rows, "queries must be those of the space");
    require_answers(values, ids, space.queries.n_rows);
    without_gil([&] {
        search::search_lists(lists.view(), space, probes.data(),
                             static_cast<std::int64_t>(probes.shape(1)), n_found, compare,
                             crew_of(n_threads));
    });
}

template <class In>
void search_lists_certified_of(ListArgs lists, const SpaceArgs& given, const ProofArgs<In>& proof,
                               const std::string& metric, Table<const In> queries,
                               Table<double> values, Table<std::int64_t> ids,
                               Column<std::int64_t> n_compared, int n_threads) {
    lists.check();
    const Measure measure = measure_of(metric);
    const search::CodedRows<In> coded = proof.checked(lists, measure);
    const search::ListSpace space = given.checked(lists, measure_of_codes(measure));
    const search::ListReach reach{proof.radii.data(), proof.worst_errors.data(),
                                  proof.longest_word};
    const Matrix<const In> asked = view(queries);
    require(asked.n_cols == coded.rows.n_cols, "queries and rows must have the same columns");
    require_length(queries, space.queries.n_rows, "queries must be those of the space");
    require_length(n_compared, asked.n_rows, "there must be a count for every query");
    require_answers(values, ids, asked.n_rows);
    without_gil([&] {
        search::search_lists_certified(lists.view(), space, coded, reach, asked,
                                       answers_to(values, ids, metric == "euclidean"),
                                       n_compared.data(), crew_of(n_threads));
    });
}

}  // namespace

void add_search_lists(nb::module_& m) {
    using namespace nb::literals;
    m.def("search_lists", &search_lists_of, "lists"_a, "asked"_a, "probes"_a.noconvert(),
          "metric"_a, "values"_a.noconvert(), "ids"_a.noconvert(), "n_threads"_a);
    m.def("row_terms", &row_terms_of, "lists"_a, "asked"_a, "numbers"_a.noconvert(),
          "lows"_a.noconvert(), "steps"_a.noconvert(), "n_threads"_a);
    const auto add_comparing = [&]<class In>(In) {
        m.def("search_lists_and_compare", &search_lists_and_compare_of<In>, "lists"_a, "asked"_a,
              "probes"_a.noconvert(), "n_found"_a, "rows"_a.noconvert(), "metric"_a,
              "queries"_a.noconvert(), "values"_a.noconvert(), "ids"_a.noconvert(), "n_threads"_a);
        m.def("search_lists_certified", &search_lists_certified_of<In>, "lists"_a, "asked"_a,
              "proof"_a, "metric"_a, "queries"_a.noconvert(), "values"_a.noconvert(),
              "ids"_a.noconvert(), "n_compared"_a.noconvert(), "n_threads"_a);
    };
    add_comparing(float{});
    add_comparing(double{});
}

}  // namespace coterie::bind
