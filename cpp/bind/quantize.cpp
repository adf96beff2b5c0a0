// Bindings of product quantization.
#include "convert.hpp"

#include "coterie/quantize/cross.hpp"
#include "coterie/quantize/encode.hpp"
#include "coterie/quantize/part_means.hpp"
#include "coterie/quantize/part_seeds.hpp"
#include "coterie/quantize/rotate.hpp"
#include "coterie/quantize/tables.hpp"

namespace coterie::bind {
namespace {

using Starts = Column<const std::int64_t>;
using Codes = Table<const std::uint8_t>;

template <class T>
Matrix<T> in_order(const Table<T>& table) {
    const auto n_cols = static_cast<std::int64_t>(table.shape(1));
    return {table.data(), static_cast<std::int64_t>(table.shape(0)), n_cols, n_cols, 1};
}

// Every part has a column or more, and all columns are in one.
PartCuts as_cuts(const Starts& starts, std::int64_t n_cols) {
    const std::int64_t n_parts = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n_parts >= 1 && starts(0) == 0 && starts(n_parts) == n_cols,
            "starts must be those of parts of the columns");
    for (std::int64_t m = 0; m < n_parts; ++m)
        require(starts(m) < starts(m + 1), "starts must rise");
    return {starts.data(), n_parts};
}

template <class T>
void require_codewords(const Table<T>& codewords) {
    require(codewords.shape(0) == 16 || codewords.shape(0) == 256,
            "there must be 16 or 256 codewords a part");
}

void require_codes(const Codes& codes, PartCuts cuts, std::int64_t n_codes) {
    require(static_cast<std::int64_t>(codes.shape(1)) == cuts.n_parts,
            "codes must have one entry per part");
    const std::uint8_t* end = codes.data() + codes.size();
    require(n_codes > 255 ||
                std::all_of(codes.data(), end, [&](std::uint8_t code) { return code < n_codes; }),
            "codes must be those of codewords");
}

bool encode(Table<const float> rows, Table<const float> codewords, Starts starts,
            Column<const float> shift, Table<std::uint8_t> codes, int n_threads) {
    require_codewords(codewords);
    require(rows.shape(1) == codewords.shape(1), "codewords must have the columns of the rows");
    require_length(shift, codewords.shape(1), "shift must have one entry per column");
    const PartCuts cuts = as_cuts(starts, codewords.shape(1));
    require(codes.shape(0) == rows.shape(0) &&
                static_cast<std::int64_t>(codes.shape(1)) == cuts.n_parts,
            "codes must have a row per row and a column per part");
    return without_gil([&] {
        return encode_rows(in_order(rows), Codebooks(in_order(codewords), cuts, shift.data()),
                           codes.data(), crew_of(n_threads));
    });
}

void decode(Codes codes, Table<const float> codewords, Starts starts, Table<float> rows,
            int n_threads) {
    const PartCuts cuts = as_cuts(starts, codewords.shape(1));
    require_codes(codes, cuts, codewords.shape(0));
    require(rows.shape(0) == codes.shape(0) && rows.shape(1) == codewords.shape(1),
            "rows must have the columns of the codewords");
    without_gil([&] {
        decode_rows(codes.data(), codes.shape(0), in_order(codewords), cuts, rows.data(),
                    crew_of(n_threads));
    });
}

void code_errors(Table<const float> rows, Codes codes, Table<const float> codewords, Starts starts,
                 Column<double> errors, int n_threads) {
    const PartCuts cuts = as_cuts(starts, codewords.shape(1));
    require_codes(codes, cuts, codewords.shape(0));
    require(rows.shape(0) == codes.shape(0) && rows.shape(1) == codewords.shape(1),
            "rows must have the columns of the codewords");
    require_length(errors, cuts.n_parts, "errors must have one entry per part");
    without_gil([&] {
        sum_code_errors(in_order(rows), codes.data(), in_order(codewords), cuts, errors.data(),
                        crew_of(n_threads));
    });
}

void rotate(Table<const float> rows, Table<const float> matrix, Table<float> out, int n_threads) {
    const auto d = rows.shape(1);
    require(matrix.shape(0) == d && matrix.shape(1) == d, "the matrix must be square");
    require(out.shape(0) == rows.shape(0) && out.shape(1) == d, "out must be like the rows");
    without_gil(
        [&] { rotate_rows(in_order(rows), matrix.data(), out.data(), crew_of(n_threads)); });
}

void cross(Table<const float> x, Table<const float> y, Table<double> out, int n_threads) {
    require(x.shape(0) == y.shape(0) && x.shape(1) == y.shape(1), "tables must be of one shape");
    require(out.shape(0) == x.shape(1) && out.shape(1) == x.shape(1), "out must be square");
    without_gil([&] { cross_products(in_order(x), in_order(y), out.data(), crew_of(n_threads)); });
}

void distance_tables(Table<const float> queries, Table<const float> codewords, Starts starts,
                     Cube<float> tables, int n_threads) {
    require_codewords(codewords);
    require(queries.shape(1) == codewords.shape(1), "queries must have the columns of codewords");
    const PartCuts cuts = as_cuts(starts, codewords.shape(1));
    require(tables.shape(0) == queries.shape(0) &&
                static_cast<std::int64_t>(tables.shape(1)) == cuts.n_parts &&
                tables.shape(2) == codewords.shape(0),
            "tables must have an entry per query, part and codeword");
    without_gil([&] {
        fill_tables(in_order(queries), in_order(codewords), cuts, tables.data(),
                    crew_of(n_threads));
    });
}

void distances_by_tables(Cube<const float> tables, Codes codes, Table<float> distances,
                         int n_threads) {
    const auto n_parts = static_cast<std::int64_t>(tables.shape(1));
    require_codes(codes, {nullptr, n_parts}, tables.shape(2));
    require(distances.shape(0) == tables.shape(0) && distances.shape(1) == codes.shape(0),
            "distances must have a row per query and a column per code");
    without_gil([&] {
        sum_tables(tables.data(), tables.shape(0), tables.shape(2), codes.data(), codes.shape(0),
                   n_parts, distances.data(), crew_of(n_threads));
    });
}

void split_parts(Table<const float> rows, Starts starts, Column<const float> shift,
                 Column<float> out, Column<double> squares, int n_threads) {
    const PartCuts cuts = as_cuts(starts, rows.shape(1));
    require_length(shift, rows.shape(1), "shift must have one entry per column");
    require_length(out, rows.size(), "there must be room for all rows");
    require_length(squares, cuts.n_parts, "squares must have one entry per part");
    without_gil([&] {
        split_rows(in_order(rows), cuts, shift.data(), out.data(), squares.data(),
                   crew_of(n_threads));
    });
}

PartRows as_part_rows(const Column<const float>& data, const PartCuts& cuts) {
    const auto size = static_cast<std::int64_t>(data.shape(0));
    require(size > 0 && size % cuts.n_cols() == 0, "there must be whole rows");
    return {data.data(), size / cuts.n_cols(), cuts};
}

void seed_part_means(Column<const float> data, Starts starts, Column<const std::int64_t> row_ids,
                     Cube<const double> uniforms, Table<double> centers, int n_threads) {
    const PartCuts cuts = as_cuts(starts, centers.shape(1));
    const PartRows rows = as_part_rows(data, cuts);
    require(row_ids.shape(0) > 0, "there must be rows to choose from");
    require_indexes(row_ids.data(), row_ids.shape(0), rows.n_rows, "row_ids must be rows");
    require(static_cast<std::int64_t>(uniforms.shape(0)) == cuts.n_parts &&
                uniforms.shape(1) == centers.shape(0) && uniforms.shape(2) > 0,
            "uniforms must have an entry per part, centre and try");
    without_gil([&] {
        seed_parts(rows, row_ids.data(), row_ids.shape(0), uniforms.data(), uniforms.shape(2),
                   in_order(centers), crew_of(n_threads));
    });
}

void assign_part_means(Column<const float> data, Starts starts, Table<const double> centers,
                       Table<std::uint8_t> codes, Table<double> sums, Table<std::int64_t> counts,
                       Column<std::int64_t> changed, int n_threads) {
    require_codewords(centers);
    const PartCuts cuts = as_cuts(starts, centers.shape(1));
    const PartRows rows = as_part_rows(data, cuts);
    const auto n_parts = static_cast<std::size_t>(cuts.n_parts);
    require(codes.shape(0) == n_parts && static_cast<std::int64_t>(codes.shape(1)) == rows.n_rows,
            "codes must have a row per part and a column per row");
    require(sums.shape(0) == centers.shape(0) && sums.shape(1) == centers.shape(1),
            "sums must be like the centres");
    require(counts.shape(0) == n_parts && counts.shape(1) == centers.shape(0),
            "counts must have a row per part and a column a codeword");
    require_length(changed, cuts.n_parts, "changed must have one entry per part");
    without_gil([&] {
        assign_parts(rows, in_order(centers),
                     {codes.data(), sums.data(), counts.data(), changed.data()},
                     crew_of(n_threads));
    });
}

}  // namespace

void add_quantize(nb::module_& m) {
    using namespace nb::literals;
    m.def("encode_parts", &encode, "rows"_a.noconvert(), "codewords"_a.noconvert(),
          "starts"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert(), "n_threads"_a);
    m.def("decode_parts", &decode, "codes"_a.noconvert(), "codewords"_a.noconvert(),
          "starts"_a.noconvert(), "rows"_a.noconvert(), "n_threads"_a);
    m.def("code_errors", &code_errors, "rows"_a.noconvert(), "codes"_a.noconvert(),
          "codewords"_a.noconvert(), "starts"_a.noconvert(), "errors"_a.noconvert(), "n_threads"_a);
    m.def("rotate_rows", &rotate, "rows"_a.noconvert(), "matrix"_a.noconvert(), "out"_a.noconvert(),
          "n_threads"_a);
    m.def("cross_products", &cross, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(),
          "n_threads"_a);
    m.def("distance_tables", &distance_tables, "queries"_a.noconvert(), "codewords"_a.noconvert(),
          "starts"_a.noconvert(), "tables"_a.noconvert(), "n_threads"_a);
    m.def("distances_by_tables", &distances_by_tables, "tables"_a.noconvert(),
          "codes"_a.noconvert(), "distances"_a.noconvert(), "n_threads"_a);
    m.def("split_parts", &split_parts, "rows"_a.noconvert(), "starts"_a.noconvert(),
          "shift"_a.noconvert(), "out"_a.noconvert(), "squares"_a.noconvert(), "n_threads"_a);
    m.def("seed_part_means", &seed_part_means, "data"_a.noconvert(), "starts"_a.noconvert(),
          "row_ids"_a.noconvert(), "uniforms"_a.noconvert(), "centers"_a.noconvert(),
          "n_threads"_a);
    m.def("assign_part_means", &assign_part_means, "data"_a.noconvert(), "starts"_a.noconvert(),
          "centers"_a.noconvert(), "codes"_a.noconvert(), "sums"_a.noconvert(),
          "counts"_a.noconvert(), "changed"_a.noconvert(), "n_threads"_a);
}

}  // namespace coterie::bind
