// Genie: single linkage that is held back from making clusters of very unequal sizes.
//
// Gagolewski, Bartoszuk and Cena (2016). Clusters are joined along the edges of the minimum
// spanning tree, the shortest first; but while the Gini index of the cluster sizes exceeds a
// threshold, the shortest of the edges that touch a cluster of the least size is taken instead.
//
// Each edge of the tree that is left joins two clusters, so the edges of a cluster change only when
// it is joined. They are kept in a heap a cluster, which is melded with that of the partner. The
// shortest edge of a new cluster goes into one queue under the size of the cluster: its front is
// what is taken while sizes are unequal. O(n log n) time for n rows, 50 bytes a row.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "coterie/hierarchy/gini.hpp"
#include "coterie/neighbors/union_find.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// Heaps of edges, the shortest on top: skew heaps (Sleator and Tarjan 1986). Edge e is two nodes,
// 2 e in the heap of its head's cluster and 2 e + 1 in that of its tail's.
class EdgeHeaps {
public:
    using Node = std::int32_t;
    static constexpr Node none = -1;

    explicit EdgeHeaps(std::int64_t n_edges) : below_(2 * n_edges) {}

    static std::int32_t edge_of(Node node) { return node / 2; }

    // The heap of both; O(log n) in the mean over many calls.
    Node meld(Node a, Node b) {
        Node top = none;
        Node* hole = &top;
        while (a != none && b != none) {
            if (b < a) std::swap(a, b);
            *hole = a;
            // What is left goes to the other side, which keeps the sides alike.
            const Node rest = std::exchange(below_[a].right, below_[a].left);
            hole = &below_[a].left;
            a = rest;
        }
        *hole = a == none ? b : a;
        return top;
    }

    Node without_top(Node top) { return meld(below_[top].left, below_[top].right); }

private:
    struct Sides {
        Node left = none, right = none;
    };
    std::vector<Sides> below_;
};

class GenieLinkage {
public:
    GenieLinkage(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails)
        : heads_(heads.begin(), heads.end()),
          tails_(tails.begin(), tails.end()),
          used_(heads.size()),
          sets_(n_rows()),
          clusters_(n_rows()),
          edges_(n_edges()),
          gini_(n_rows()) {
        for (std::int32_t e = n_edges() - 1; e >= 0; --e) {  // each goes on top, O(1)
            Cluster &head = clusters_[heads_[e]], &tail = clusters_[tails_[e]];
            head.edges = edges_.meld(head.edges, 2 * e);
            tail.edges = edges_.meld(tail.edges, 2 * e + 1);
        }
        std::vector<std::uint64_t> offers;
        for (const Cluster& row : clusters_)
            if (row.edges != EdgeHeaps::none) offers.push_back(offer_of(row));
        queue_ = Queue(std::greater<std::uint64_t>(), std::move(offers));
    }

    // Write the edges in the order in which they join clusters.
    void run(double threshold, std::int32_t* order, const Crew& crew) {
        Patience patience(crew);
        for (std::int32_t i = 0; i < n_edges(); ++i) {
            patience.tick();
            order[i] = gini_.index() > threshold ? shortest_of_smallest() : shortest();
            join_along(order[i]);
        }
    }

private:
    struct Cluster {
        std::int32_t size = 1;
        EdgeHeaps::Node edges = EdgeHeaps::none;
    };
    // Sizes above, edges below: the smallest cluster, then the shortest edge.
    using Queue =
        std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<std::uint64_t>>;

    std::int32_t n_edges() const { return static_cast<std::int32_t>(heads_.size()); }
    std::int64_t n_rows() const { return std::int64_t{n_edges()} + 1; }

    static std::uint64_t offer_of(const Cluster& cluster) {
        const auto edge = static_cast<std::uint64_t>(EdgeHeaps::edge_of(cluster.edges));
        return static_cast<std::uint64_t>(cluster.size) << 32 | edge;
    }

    std::int32_t shortest() {
        while (used_[next_]) ++next_;
        return next_;
    }

    std::int32_t shortest_of_smallest() {
        for (; !queue_.empty(); queue_.pop()) {
            const auto edge = static_cast<std::int32_t>(queue_.top() & 0xffffffffu);
            const auto size = static_cast<std::int32_t>(queue_.top() >> 32);
            // Outdated where the cluster has grown; that at the other end may do as well.
            if (!used_[edge] && (clusters_[sets_.find(heads_[edge])].size == size ||
                                 clusters_[sets_.find(tails_[edge])].size == size))
                return edge;
        }
        return shortest();  // of edges that are no tree
    }

    void join_along(std::int32_t edge) {
        used_[edge] = true;
        const std::int32_t head = sets_.find(heads_[edge]), tail = sets_.find(tails_[edge]);
        if (!sets_.unite(head, tail)) return;  // of edges that are no tree
        const Cluster a = clusters_[head], b = clusters_[tail];
        gini_.join(a.size, b.size);
        Cluster& both = clusters_[sets_.find(head)];
        both = {a.size + b.size, edges_.meld(a.edges, b.edges)};
        while (both.edges != EdgeHeaps::none && used_[EdgeHeaps::edge_of(both.edges)])
            both.edges = edges_.without_top(both.edges);
        if (both.edges != EdgeHeaps::none) queue_.push(offer_of(both));
    }

    std::vector<std::int32_t> heads_, tails_;
    std::vector<std::uint8_t> used_;
    UnionFind sets_;
    std::vector<Cluster> clusters_;  // by the name of their set
    EdgeHeaps edges_;
    GiniOfSizes gini_;
    Queue queue_;
    std::int32_t next_ = 0;  // no shorter edge is left
};

// The order in which Genie takes the edges of a spanning tree, which come sorted by length.
inline void genie_order(std::span<const std::int32_t> heads, std::span<const std::int32_t> tails,
                        double threshold, std::int32_t* order, const Crew& crew = {}) {
    GenieLinkage(heads, tails).run(threshold, order, crew);
}

}  // namespace coterie
