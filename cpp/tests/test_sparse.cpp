// Sparse kernels against naive labels, and against the dense kernels on the same rows.
#include "coterie/rows/columns.hpp"
#include "problem.hpp"

using namespace coterie;
using namespace problem;

namespace {

// The problems with their rows compressed; each type of index goes with one type of value.
template <class Visit>
void each_sparse_problem(const Visit& visit) {
    each_problem(
        [&]<class In>(const Rows<In>& rows, std::int64_t k, Kind kind, std::mt19937& random) {
            using Index = std::conditional_t<sizeof(In) == 4, std::int32_t, std::int64_t>;
            visit(rows, Compressed<In, Index>(rows.view()), k, kind, random);
        });
}

}  // namespace

TEST(sparse_labels_and_sums_match_naive_ones) {
    each_sparse_problem([]<class In, class Index>(const Rows<In>& rows,
                                                  const Compressed<In, Index>& csr, std::int64_t k,
                                                  Kind kind, std::mt19937& random) {
        const auto x = rows.view();
        const Space<In> space(x, false, random() % 4 ? 1 : 3);
        const auto weights = some_weights(x.n_rows, random);
        const double* weigh = random() % 2 ? weights.data() : nullptr;
        const Grid grid = space.grid(weigh ? 1024 : 1);
        std::vector<std::int32_t> labels(x.n_rows, -1);
        Sums sums(grid, k, x.n_cols);
        for (int pass = 0; pass < 2; ++pass) {
            const auto centers = centers_for(x, k, kind, random);
            const auto expected = naive_labels(x, centers);
            SparseCenters packed(centers.data(), k, x.n_cols, space.scale);
            assign_and_sum(WeightedCsr<In, Index>{csr.view(), weigh}, packed, labels.data(),
                           sums.out(), Crew{2, {}});
            CHECK(labels == expected);
            CHECK(sums == naive_sums(x, weigh, expected, grid, k));
            std::vector<std::int32_t> again(x.n_rows);
            assign(WeightedCsr<In, Index>{csr.view(), nullptr}, packed, again.data(), Crew{1, {}});
            CHECK(again == expected);
        }
    });
}

TEST(sparse_distances_have_the_bits_of_dense_ones) {
    each_sparse_problem([]<class In, class Index>(const Rows<In>& rows,
                                                  const Compressed<In, Index>& csr, std::int64_t k,
                                                  Kind kind, std::mt19937& random) {
        const auto x = rows.view();
        const auto centers = centers_for(x, k, kind, random);
        const auto labels = naive_labels(x, centers);
        const double scale = 1.0 / 8;
        const Crew crew{2, {}};
        std::vector<double> dense_sq(x.n_rows), sparse_sq(x.n_rows);
        const double dense_total = sum_sq_dists(Weighted<In>{x, nullptr}, centers.data(),
                                                labels.data(), scale, dense_sq.data(), crew);
        const double sparse_total =
            sum_sq_dists(WeightedCsr<In, Index>{csr.view(), nullptr}, centers.data(), labels.data(),
                         scale, sparse_sq.data(), crew);
        CHECK(dense_sq == sparse_sq);
        CHECK(dense_total == sparse_total);
        std::vector<In> dense(x.n_rows * k), sparse(x.n_rows * k);
        all_dists(Weighted<In>{x, nullptr}, centers.data(), k, scale, dense.data(), crew);
        all_dists(WeightedCsr<In, Index>{csr.view(), nullptr}, centers.data(), k, scale,
                  sparse.data(), crew);
        CHECK(dense == sparse);
    });
}

TEST(sparse_column_stats_match_dense_ones) {
    each_sparse_problem([]<class In, class Index>(const Rows<In>& rows,
                                                  const Compressed<In, Index>& csr, std::int64_t,
                                                  Kind, std::mt19937&) {
        const ColumnStats dense = column_stats(rows.view(), Crew{1, {}});
        const ColumnStats sparse = column_stats(csr.view(), Crew{2, {}});
        CHECK(dense.n_rows == sparse.n_rows);
        CHECK(dense.min == sparse.min);
        CHECK(dense.max == sparse.max);
        for (std::size_t t = 0; t < dense.mean.size(); ++t) {
            const double reach = std::max(std::abs(dense.min[t]), std::abs(dense.max[t]));
            CHECK(std::abs(dense.mean[t] - sparse.mean[t]) <= 1e-13 * reach);
            CHECK(std::abs(dense.sq_dev[t] - sparse.sq_dev[t]) <=
                  1e-10 * dense.sq_dev[t] + 1e-13 * reach * reach);
        }
    });
}
