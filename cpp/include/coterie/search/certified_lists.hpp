// The nearest rows by codes in inverted lists, with a proof: a list is passed over where its centre
// is farther than its rows are from the centre and the k-th nearest row is from the query.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/search/finish.hpp"
#include "coterie/search/list_tables.hpp"
#include "coterie/search/lists.hpp"
#include "coterie/search/prover.hpp"
#include "coterie/search/scan_codes.hpp"

namespace coterie::search {

// How far the rows of every list are at most from its centre, and from their codes; and how long
// what a code stands for may be.
struct ListReach {
    const float *radii, *worst_errors;  // n_lists
    double longest_word;
};

namespace detail {

// Looks into lists for one query.
template <class In>
class ListProof {
public:
    ListProof(const Lists& lists, const ListSpace& space, const CodedRows<In>& coded,
              const ListReach& reach)
        : lists_(lists),
          space_(space),
          coded_(coded),
          reach_(reach),
          maker_(space),
          scanner_(lists.n_parts, lists.bits),
          table_(space.books.table_size()) {
        const WordColumns& books = space.books;
        for (std::int64_t m = 0; m < books.n_parts; ++m)
            widest_ = std::max(widest_, books.starts[m + 1] - books.starts[m]);
    }

    // Nearest centres first, as they say soonest how far is too far. What is found is compared
    // after 1, 2, 4, ... lists.
    void prove(std::int64_t query, Prover<In>& prover) {
        query_norm_ = norm_of(space_.queries.row(query));
        const Slack exact = exact_slack(coded_, query_norm_);
        order_.clear();
        for (std::int64_t l = 0; l < space_.centers.n_rows; ++l)
            if (lists_.row_starts[l] < lists_.row_starts[l + 1])
                order_.push_back({center_value(query, l), l});
        std::sort(order_.begin(), order_.end());
        std::int64_t n_seen = 0, next_proof = 1;
        for (const Center& center : order_) {
            Pool::breathe();
            const double radius = static_cast<double>(reach_.radii[center.list]);
            const CodeBounds bounds(coded_.measure, query_norm_, radius, exact);
            if (bounds.lower(center.value, radius) > prover.longest()) continue;
            look(query, center, prover);
            if (++n_seen < next_proof) continue;
            prover.prove();
            next_proof *= 2;
        }
        prover.prove();
    }

private:
    struct Center {
        double value;  // |q - c|^2 or -q.c
        std::int64_t list;
        friend bool operator<(const Center& a, const Center& b) {
            return a.value < b.value || (a.value == b.value && a.list < b.list);
        }
    };

    void look(std::int64_t query, const Center& center, Prover<In>& prover) {
        const double base = maker_.make(query, center.list, table_.data());
        const CodeBounds bounds(coded_.measure, query_norm_,
                                static_cast<double>(reach_.worst_errors[center.list]),
                                slack_of(center), base);
        tables_.assign(1, {table_.data(), space_.books.n_parts, space_.books.n_words});
        watchers_.clear();
        watchers_.emplace_back(prover, coded_, bounds,
                               lists_.rows + lists_.row_starts[center.list]);
        const Codes codes = lists_.codes(center.list);
        scanner_.scan(codes, tables_, watchers_, 0, codes.n_blocks());
    }

    // Of sums of table entries: what is left of the query is rounded to float32, and so is every
    // step from there.
    Slack slack_of(const Center& center) const {
        const double unit = static_cast<double>(space_.books.n_parts + widest_ + 6) *
                            static_cast<double>(std::numeric_limits<float>::epsilon());
        Slack slack = exact_slack(coded_, query_norm_);
        slack.relative += unit;
        slack.absolute += coded_.measure == Measure::squares
                              ? std::sqrt(center.value) * 0x1p-23
                              : query_norm_ * reach_.longest_word * unit;
        return slack;
    }

    double norm_of(const double* query) const {
        double sum = 0;
        for (std::int64_t t = 0; t < space_.queries.n_cols; ++t)
            sum += rounded(query[t] * query[t]);
        return std::sqrt(sum) * (1 + 1e-9);
    }
    double center_value(std::int64_t query, std::int64_t list) const {
        const double *q = space_.queries.row(query), *c = space_.centers.row(list);
        double sum = 0;
        for (std::int64_t t = 0; t < space_.queries.n_cols; ++t)
            sum += space_.measure == Measure::squares ? rounded((q[t] - c[t]) * (q[t] - c[t]))
                                                      : rounded(-q[t] * c[t]);
        return sum;
    }

    const Lists& lists_;
    const ListSpace& space_;
    const CodedRows<In>& coded_;
    const ListReach& reach_;
    ListTables maker_;
    CodeScanner scanner_;
    AlignedVector<float> table_;
    std::int64_t widest_ = 0;
    double query_norm_ = 0;
    std::vector<Center> order_;
    std::vector<Tables> tables_;
    std::vector<ProvingWatcher<In>> watchers_;
};

}  // namespace detail

// The k nearest rows of every query, exactly, ties by id, and how many rows were compared exactly.
// `queries` are as given, those of the space in the space of the codes.
template <class In, class Length>
void search_lists_certified(const Lists& lists, const ListSpace& space, const CodedRows<In>& coded,
                            const ListReach& reach, Matrix<const In> queries,
                            const Answers<Length>& answers, std::int64_t* n_compared,
                            const Crew& crew) {
    constexpr std::int64_t group = 4;
    crew.run((queries.n_rows + group - 1) / group, [&](std::int64_t task, int) {
        detail::ListProof<In> proof(lists, space, coded, reach);
        const std::int64_t last = std::min(queries.n_rows, (task + 1) * group);
        for (std::int64_t q = task * group; q < last; ++q) {
            Prover<In> prover(coded, queries.row(q), answers.k);
            proof.prove(q, prover);
            n_compared[q] = prover.n_compared();
            answers.write(q, prover.best());
        }
    });
}

}  // namespace coterie::search
