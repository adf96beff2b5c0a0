// Genie: single linkage that is held back from making clusters of very unequal sizes.
//
// Gagolewski, Bartoszuk and Cena (2016). Clusters are joined along the edges of the minimum
// spanning tree, the shortest first; but while the Gini index of the cluster sizes exceeds a
// threshold, the shortest of the edges that touch a cluster of the least size is taken instead.
//
// Each edge that is left joins two clusters, and a union is larger than its parts. So when s has
// become the least size no cluster of that size will be made any more: their shortest edges are
// looked up once, by going through their rows, and sorted. All of these clusters are joined before
// the next size has its turn, so a row is looked at again only in a cluster of twice the size: no
// more than log n times. O(n log n) time for n rows, O(n) memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "coterie/hierarchy/gini.hpp"
#include "coterie/neighbors/union_find.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// The edges of a tree at each row, the shortest first, without those that are used.
class EdgesOfRows {
public:
    static constexpr std::int32_t none = -1;

    EdgesOfRows(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails)
        : used_(heads.size()), next_(heads.size() + 1), end_(heads.size() + 1) {
        for (const auto& ends : {heads, tails})
            for (const std::int32_t row : ends) ++end_[row];
        std::partial_sum(end_.begin(), end_.end(), end_.begin());
        at_.resize(2 * heads.size());
        next_ = end_;  // filled from behind
        for (auto e = static_cast<std::int32_t>(heads.size()) - 1; e >= 0; --e)
            at_[--next_[heads[e]]] = at_[--next_[tails[e]]] = e;
    }

    bool is_used(std::int32_t edge) const { return used_[edge]; }
    void use(std::int32_t edge) { used_[edge] = true; }

    std::int32_t shortest_at(std::int32_t row) {
        std::int32_t& next = next_[row];
        while (next < end_[row] && used_[at_[next]]) ++next;
        return next < end_[row] ? at_[next] : none;
    }

private:
    std::vector<std::uint8_t> used_;
    std::vector<std::int32_t> at_, next_, end_;
};

class GenieLinkage {
public:
    GenieLinkage(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails)
        : heads_(heads.begin(), heads.end()),
          tails_(tails.begin(), tails.end()),
          edges_(heads_, tails_),
          sets_(n_rows()),
          clusters_(n_rows()),
          next_row_(n_rows()),
          last_of_size_(n_rows() + 1, none),
          listed_(2 * n_rows() - 1),
          gini_(n_rows()) {
        std::iota(next_row_.begin(), next_row_.end(), 0);
        for (std::int32_t row = n_edges(); row >= 0; --row) {
            clusters_[row] = {row, 1};
            list_by_size(clusters_[row], row);
        }
    }

    // Write (cluster, cluster, length, rows) for every merge, as in SciPy's tables.
    void run(const double* lengths, double threshold, double* table, const Crew& crew) {
        Patience patience(crew);
        for (std::int32_t i = 0; i < n_edges(); ++i, table += 4) {
            patience.tick();
            const std::int32_t edge =
                gini_.index() > threshold ? shortest_of_smallest() : shortest();
            edges_.use(edge);
            const auto [low, high, size] =
                join_along(edge, static_cast<std::int32_t>(n_rows()) + i);
            table[0] = low, table[1] = high, table[2] = lengths[edge], table[3] = size;
        }
    }

private:
    static constexpr std::int32_t none = -1;

    struct Cluster {
        std::int32_t number = 0, size = 1;  // the number is that in the table
    };
    struct Joined {
        std::int32_t low, high, size;
    };

    std::int32_t n_edges() const { return static_cast<std::int32_t>(heads_.size()); }
    std::int64_t n_rows() const { return std::int64_t{n_edges()} + 1; }

    std::int32_t shortest() {
        while (edges_.is_used(next_edge_)) ++next_edge_;
        return next_edge_;
    }

    std::int32_t shortest_of_smallest() {
        for (;; ++next_offer_) {
            while (next_offer_ == offers_.size()) {
                if (least_ == n_rows()) return shortest();  // of edges that are no tree
                collect_offers(++least_);
            }
            // Outdated where the cluster has grown; that at the other end may do as well.
            const std::int32_t edge = offers_[next_offer_];
            if (!edges_.is_used(edge) && (clusters_[sets_.find(heads_[edge])].size == least_ ||
                                          clusters_[sets_.find(tails_[edge])].size == least_))
                return edge;
        }
    }

    // The shortest edge of each cluster of a size, sorted.
    void collect_offers(std::int32_t size) {
        offers_.clear();
        next_offer_ = 0;
        for (std::int32_t c = last_of_size_[size]; c != none; c = listed_[c].before) {
            const std::int32_t first = listed_[c].row;
            if (clusters_[sets_.find(first)].number != c) continue;  // has been joined
            std::int32_t best = EdgesOfRows::none, row = first;
            do {
                const std::int32_t edge = edges_.shortest_at(row);
                if (edge != EdgesOfRows::none && (best == EdgesOfRows::none || edge < best))
                    best = edge;
                row = next_row_[row];
            } while (row != first);
            if (best != EdgesOfRows::none) offers_.push_back(best);
        }
        std::sort(offers_.begin(), offers_.end());
    }

    Joined join_along(std::int32_t edge, std::int32_t number) {
        const std::int32_t head = sets_.find(heads_[edge]), tail = sets_.find(tails_[edge]);
        const Cluster a = clusters_[head], b = clusters_[tail];
        const std::int32_t size = a.size + b.size;
        if (!sets_.unite(head, tail)) return {a.number, b.number, a.size};  // no tree
        gini_.join(a.size, b.size);
        std::swap(next_row_[head], next_row_[tail]);  // two rings become one
        const std::int32_t both = sets_.find(head);
        clusters_[both] = {number, size};
        list_by_size(clusters_[both], both);
        return {std::min(a.number, b.number), std::max(a.number, b.number), size};
    }

    void list_by_size(const Cluster& cluster, std::int32_t row) {
        listed_[cluster.number] = {std::exchange(last_of_size_[cluster.size], cluster.number), row};
    }

    std::vector<std::int32_t> heads_, tails_;
    EdgesOfRows edges_;
    UnionFind sets_;
    std::vector<Cluster> clusters_;       // by the name of their set
    std::vector<std::int32_t> next_row_;  // of the same cluster, in a ring
    // Clusters by their numbers, those of a size in a list, with a row of each.
    struct Listed {
        std::int32_t before = none, row = 0;
    };
    std::vector<std::int32_t> last_of_size_;
    std::vector<Listed> listed_;
    GiniOfSizes gini_;
    std::int32_t next_edge_ = 0;  // no shorter one is left
    std::int32_t least_ = 0;      // size of the clusters that offer an edge
    std::vector<std::int32_t> offers_;
    std::size_t next_offer_ = 0;
};

// The merges along the edges of a spanning tree, which come sorted by length.
inline void link_genie(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails,
                       const double* lengths, double threshold, double* table,
                       const Crew& crew = {}) {
    GenieLinkage(heads, tails).run(lengths, threshold, table, crew);
}

}  // namespace coterie
