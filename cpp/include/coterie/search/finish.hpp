// What becomes of the rows that were found by their codes: they are told as they are, or first
// compared exactly by the rows behind the codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "coterie/search/exact.hpp"
#include "coterie/search/loose_top_k.hpp"
#include "coterie/search/top_k.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie::search {

// Where answers go: (n_queries, k) in C order; where there are fewer, id -1 infinitely far away.
// length_of(value) is what is told of a value.
template <class Length>
struct Answers {
    std::int64_t k;
    double* values;
    std::int64_t* ids;
    Length length_of;

    template <class Top>
    void write(std::int64_t query, Top& best) const {
        best.write(values + query * k, ids + query * k, length_of);
    }
};

// The k nearest by code.
template <class Length>
struct TellAsFound {
    static constexpr bool reads_values = true;
    Answers<Length> answers;

    void operator()(std::int64_t query, LooseTopK& found) const { answers.write(query, found); }
};

// The k nearest rows among those that were found, ties by id.
template <class In, class Length>
struct CompareExactly {
    static constexpr bool reads_values = false;  // which rows were found is enough
    Answers<Length> answers;
    Measure measure;
    Matrix<const In> rows, queries;

    void operator()(std::int64_t query, LooseTopK& found) const {
        const ExactQuery exact(measure, queries.row(query), queries.n_cols);
        const std::span<const Found> candidates = found.all();
        constexpr std::size_t at_once = 16;
        std::int64_t idx[at_once];
        double values[at_once];
        TopK best(answers.k);
        std::size_t n_fetched = 0;
        const auto fetch_to = [&](std::size_t end) {
            for (; n_fetched < std::min(end, candidates.size()); ++n_fetched)
                fetch(candidates[n_fetched].row);
        };
        fetch_to(at_once);
        for (std::size_t i = 0; i < candidates.size(); i += at_once) {
            Pool::breathe();
            const std::size_t count = std::min(at_once, candidates.size() - i);
            fetch_to(i + 3 * at_once);
            for (std::size_t j = 0; j < count; ++j) idx[j] = candidates[i + j].row;
            exact.values(rows, idx, static_cast<std::int64_t>(count), values);
            for (std::size_t j = 0; j < count; ++j) best.take({values[j], candidates[i + j].id});
        }
        answers.write(query, best);
    }

    // Have a row brought from memory while others are compared.
    void fetch(std::int64_t row) const {
        const auto* begin = reinterpret_cast<const char*>(rows.row(row));
        const auto* end = reinterpret_cast<const char*>(rows.row(row) + rows.n_cols);
        for (; begin < end; begin += 64) prefetch(begin);
    }
};

// What follows from the members, said for clang before 17.
template <class Length>
Answers(std::int64_t, double*, std::int64_t*, Length) -> Answers<Length>;
template <class Length>
TellAsFound(Answers<Length>) -> TellAsFound<Length>;
template <class In, class Length>
CompareExactly(Answers<Length>, Measure, Matrix<const In>, Matrix<const In>)
    -> CompareExactly<In, Length>;

}  // namespace coterie::search
