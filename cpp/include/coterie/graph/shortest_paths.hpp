// Shortest paths from one or several nodes: Dijkstra (1959) with a heap of four children a node,
// and breadth-first search where arcs have no lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/graph/csr_graph.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

// A node with its distance and the source it is reached from; nearer first, then the lower source,
// so that ties do not depend on the order of arcs.
struct Reached {
    double distance;
    std::int32_t source;
    std::int32_t node;

    bool operator<(const Reached& other) const {
        return distance < other.distance || (distance == other.distance && source < other.source);
    }
};

// A heap of four children a node; nodes that became nearer stand in it again, and the stale entries
// are passed over by who takes them out.
class ReachedHeap {
public:
    bool empty() const { return held_.empty(); }
    void clear() { held_.clear(); }

    void push(Reached one) {
        std::size_t at = held_.size();
        held_.push_back(one);
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (!(one < held_[parent])) break;
            held_[at] = held_[parent];
            at = parent;
        }
        held_[at] = one;
    }

    Reached pop() {
        const Reached top = held_.front(), last = held_.back();
        held_.pop_back();
        if (held_.empty()) return top;
        std::size_t at = 0;
        while (true) {
            const std::size_t first = 4 * at + 1;
            if (first >= held_.size()) break;
            const std::size_t end = std::min(first + 4, held_.size());
            std::size_t least = first;
            for (std::size_t child = first + 1; child < end; ++child)
                if (held_[child] < held_[least]) least = child;
            if (!(held_[least] < last)) break;
            held_[at] = held_[least];
            at = least;
        }
        held_[at] = last;
        return top;
    }

private:
    std::vector<Reached> held_;
};

// Distances from the nearest of some sources, within the nodes that `inside` allows. The caller has
// filled `distances` with infinity and `sources_of` with the number of sources; a node gets
// the number of its source, ties to the lower. settle(node, distance) sees nodes in rising
// distance and stops the search by returning false.
template <class Inside, class Settle>
void reach_from(const CsrGraph& graph, const std::int32_t* sources, std::int32_t n_sources,
                double* distances, std::int32_t* source_of, ReachedHeap& heap, const Inside& inside,
                const Settle& settle) {
    heap.clear();
    for (std::int32_t s = 0; s < n_sources; ++s) {
        const Reached one{0.0, s, sources[s]};
        if (distances[one.node] == 0.0) continue;  // the same node under a lower number
        distances[one.node] = 0.0;
        source_of[one.node] = s;
        heap.push(one);
    }
    std::uint32_t n_taken = 0;
    while (!heap.empty()) {
        const Reached one = heap.pop();
        if (one.distance != distances[one.node] || one.source != source_of[one.node]) continue;
        if (++n_taken % 4096 == 0) Pool::breathe();
        if (!settle(one.node, one.distance)) return;
        for (std::int64_t arc = graph.starts[one.node]; arc < graph.starts[one.node + 1]; ++arc) {
            const std::int32_t head = graph.heads[arc];
            if (!inside(head)) continue;
            const Reached next{one.distance + graph.length(arc), one.source, head};
            if (next < Reached{distances[head], source_of[head], head} &&
                next.distance < std::numeric_limits<double>::infinity()) {
                distances[head] = next.distance;
                source_of[head] = next.source;
                heap.push(next);
            }
        }
    }
}

// Hops instead of lengths: whole levels at a time, so nodes need no heap. Sources settle in their
// order, which hands every node to the lowest of those that reach it first.
template <class Inside, class Settle>
void hop_from(const CsrGraph& graph, const std::int32_t* sources, std::int32_t n_sources,
              double* distances, std::int32_t* source_of, std::vector<std::int32_t>& queue,
              const Inside& inside, const Settle& settle) {
    queue.clear();
    for (std::int32_t s = 0; s < n_sources; ++s) {
        if (distances[sources[s]] == 0.0) continue;
        distances[sources[s]] = 0.0;
        source_of[sources[s]] = s;
        queue.push_back(sources[s]);
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
        const std::int32_t node = queue[at];
        if ((at + 1) % 4096 == 0) Pool::breathe();
        if (!settle(node, distances[node])) return;
        for (std::int64_t arc = graph.starts[node]; arc < graph.starts[node + 1]; ++arc) {
            const std::int32_t head = graph.heads[arc];
            if (!inside(head)) continue;
            const double next = distances[node] + 1.0;
            if (next < distances[head]) {
                distances[head] = next;
                source_of[head] = source_of[node];
                queue.push_back(head);
            } else if (next == distances[head]) {  // of a level not yet begun
                source_of[head] = std::min(source_of[head], source_of[node]);
            }
        }
    }
}

// What a search needs beside its answer.
struct PathScratch {
    ReachedHeap heap;
    std::vector<std::int32_t> queue;
};

template <class Inside, class Settle>
void search_from(const CsrGraph& graph, const std::int32_t* sources, std::int32_t n_sources,
                 double* distances, std::int32_t* source_of, PathScratch& scratch,
                 const Inside& inside, const Settle& settle) {
    if (graph.lengths)
        reach_from(graph, sources, n_sources, distances, source_of, scratch.heap, inside, settle);
    else
        hop_from(graph, sources, n_sources, distances, source_of, scratch.queue, inside, settle);
}

}  // namespace coterie
