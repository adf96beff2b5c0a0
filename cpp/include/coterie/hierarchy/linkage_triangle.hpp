// Agglomerative clustering on a triangle of distances, which it uses up.
//
// Every cluster knows its nearest. Under a reducible rule two clusters nearest to each other may be
// joined at once, wherever they stand in the order of heights (Bruynooghe 1978), so a round joins
// all such pairs: a pair joined early stays nearest to each other whatever else is joined first,
// and sorting the merges by height gives an order in which each joins a closest pair. That needs no
// strict order: "nearest" may be one of several. Under the other rules each round joins one closest
// pair (Anderberg 1973).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/hierarchy/linkage_merges.hpp"
#include "coterie/hierarchy/linkage_rules.hpp"
#include "coterie/hierarchy/triangle.hpp"
#include "coterie/hierarchy/triangle_nearest.hpp"
#include "coterie/threads/pool.hpp"

namespace coterie {

template <class Real>
class TriangleLinkage {
public:
    // The triangle holds distances times `scale`, squared where the rule is about squares.
    template <class Rule>
    TriangleLinkage(Rule, Triangle<Real> table, double scale, const Crew& crew)
        : rule_{Rule::squared, is_reducible<Rule>, &TriangleLinkage::join_slots<Rule>,
                &TriangleLinkage::write_row<Rule>},
          table_(table),
          scale_(scale),
          crew_(crew),
          patience_(crew),
          clusters_(table.n_rows) {
        for (std::int64_t i = 0; i < n_slots(); ++i) clusters_[i].row = static_cast<Slot>(i);
        n_alive_ = n_slots();
    }

    std::vector<Merge> run() {
        merges_.reserve(n_slots());
        if (n_alive_ > 1) find_all_nearest();
        while (n_alive_ > 1) {
            patience_.ask();
            if (rule_.reducible)
                join_all_mutual();
            else
                join_closest();
        }
        if (rule_.reducible) sort_merges(merges_);
        return std::move(merges_);
    }

private:
    using Slot = std::int32_t;
    using Neighbor = TriangleNeighbor<Real>;
    static constexpr Slot none = -1;
    static constexpr std::int64_t chunk_size = 2048;

    struct Cluster {
        Slot row = 0;  // one of its rows
        double size = 1;
        double height = 0;
        Neighbor nearest;  // where the slot is `none`, others are at least this far
        bool alive = true;
    };

    // Two clusters to be joined, or one that stays by itself.
    struct Group {
        Slot first, second;
        double apart;
    };

    struct Plan;

    // What differs between the rules: only these loops are compiled for each.
    struct OfRule {
        bool squared, reducible;
        Neighbor (TriangleLinkage::*join_slots)(const Group&, Slot begin, Slot end);
        void (TriangleLinkage::*write_row)(const Plan&, std::int64_t, Real*, Real*) const;
    };

    std::int64_t n_slots() const { return static_cast<std::int64_t>(clusters_.size()); }

    void join_all_mutual() {
        std::vector<Group> pairs = mutual_pairs();
        for (const Group& pair : pairs) record(pair);
        // Each pair by itself walks down two columns; many together are worth a pass over all.
        if (static_cast<std::int64_t>(pairs.size()) * 16 >= n_alive_) {
            rebuild(pairs);
            return;
        }
        for (const Group& pair : pairs) join(pair);
        find_lost_nearest();
        drop_dead();
    }

    void join_closest() {
        Slot closest = none;
        for (Slot i = 0; i < n_slots(); ++i)
            if (clusters_[i].alive &&
                (closest == none || clusters_[i].nearest.dist < clusters_[closest].nearest.dist))
                closest = i;
        if (clusters_[closest].nearest.slot == none) {
            clusters_[closest].nearest = nearest_of(closest);
            return;
        }
        const Group pair = has_nearest(closest) ? pair_of(closest) : any_pair();
        record(pair);
        join(pair);
        drop_dead();
    }

    // Whether the nearest is another cluster: where distances are NaN, or change under our eyes,
    // there may be none.
    bool has_nearest(Slot i) const {
        const Slot j = clusters_[i].nearest.slot;
        return 0 <= j && j < n_slots() && j != i && clusters_[j].alive;
    }

    // The first two clusters, infinitely far apart: for when no distance is a number.
    Group any_pair() const {
        const auto next = [&](Slot i) {
            while (!clusters_[i].alive) ++i;
            return i;
        };
        const Slot first = next(0);
        return {first, next(first + 1), std::numeric_limits<double>::infinity()};
    }

    Group pair_of(Slot i) const {
        const auto [low, high] = std::minmax(i, clusters_[i].nearest.slot);
        return {low, high, static_cast<double>(clusters_[i].nearest.dist)};
    }

    std::vector<Group> mutual_pairs() const {
        std::vector<Group> pairs;
        std::vector<bool> taken(n_slots());
        for (Slot i = 0; i < n_slots(); ++i) {
            if (!clusters_[i].alive || taken[i] || !has_nearest(i)) continue;
            const Slot j = clusters_[i].nearest.slot;
            if (taken[j] || clusters_[i].nearest.dist > clusters_[j].nearest.dist) continue;
            taken[i] = taken[j] = true;
            pairs.push_back(pair_of(i));
        }
        if (pairs.empty()) pairs.push_back(any_pair());
        return pairs;
    }

    // The first of the pair becomes their union, the second dies.
    void record(const Group& pair) {
        Cluster& a = clusters_[pair.first];
        Cluster& b = clusters_[pair.second];
        double height = (rule_.squared ? std::sqrt(pair.apart) : pair.apart) / scale_;
        if (!(height == height)) height = std::numeric_limits<double>::infinity();
        // Rounding must not put a union below its parts.
        if (rule_.reducible) height = std::max({height, a.height, b.height});
        merges_.push_back({height, a.row, b.row});
        a.height = height;
    }

    // Join one pair in place, and offer the union to all others as their nearest.
    void join(const Group& pair) {
        Cluster& joined = clusters_[pair.first];
        clusters_[pair.second].alive = false;
        std::vector<Neighbor> best((n_slots() + chunk_size - 1) / chunk_size);
        crew_.run(static_cast<std::int64_t>(best.size()), [&](std::int64_t c, int) {
            const auto end = static_cast<Slot>(std::min(n_slots(), (c + 1) * chunk_size));
            best[c] = (this->*rule_.join_slots)(pair, static_cast<Slot>(c * chunk_size), end);
        });
        joined.size += clusters_[pair.second].size;
        joined.nearest = {};
        for (const Neighbor& found : best) joined.nearest.take(found);
        --n_alive_;
    }

    // The same for some of the others; which of them is nearest to the union.
    template <class Rule>
    Neighbor join_slots(const Group& pair, Slot begin, Slot end) {
        const auto [a, b, apart] = pair;
        const double n_a = clusters_[a].size, n_b = clusters_[b].size;
        Neighbor best;
        for (Slot x = begin; x < end; ++x) {
            Cluster& other = clusters_[x];
            if (!other.alive || x == a) continue;
            const auto dist = static_cast<Real>(
                Rule::join({static_cast<double>(table_.at(a, x)),
                            static_cast<double>(table_.at(b, x)), apart, other.size, n_a, n_b}));
            table_.at(a, x) = dist;
            best.take({dist, x});
            if (dist <= other.nearest.dist)
                other.nearest = {dist, a};
            else if (other.nearest.slot == a || other.nearest.slot == b)
                other.nearest.slot = none;
        }
        return best;
    }

    Neighbor nearest_of(Slot i) const {
        Neighbor nearest;
        for (Slot j = 0; j < n_slots(); ++j)
            if (j != i && clusters_[j].alive) nearest.take({table_.at(i, j), j});
        return nearest;
    }

    void find_lost_nearest() {
        std::vector<Slot> lost;
        for (Slot i = 0; i < n_slots(); ++i)
            if (clusters_[i].alive && clusters_[i].nearest.slot == none) lost.push_back(i);
        crew_.run(static_cast<std::int64_t>(lost.size()),
                  [&](std::int64_t l, int) { clusters_[lost[l]].nearest = nearest_of(lost[l]); });
    }

    void drop_dead() {
        if (n_alive_ > 1 && n_alive_ * 4 < n_slots() * 3) rebuild({});
    }

    void find_all_nearest() {
        AllNearest<Real> nearest(n_slots(), crew_.n_threads);
        crew_.run(n_slots(), [&](std::int64_t i, int worker) {
            nearest.visit_row(i, table_.data + table_.start(i), worker);
        });
        for (std::int64_t i = 0; i < n_slots(); ++i) clusters_[i].nearest = nearest.of(i);
    }

    // What becomes of the clusters when the triangle is written anew.
    struct Plan {
        std::vector<Group> groups;   // in the order of their first
        std::vector<Slot> first;     // of each group
        std::vector<Slot> position;  // of each pair among the groups
    };

    Plan plan(const std::vector<Group>& pairs) const {
        std::vector<Slot> pair_at(n_slots(), none);
        std::vector<bool> is_second(n_slots());
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            pair_at[pairs[p].first] = static_cast<Slot>(p);
            is_second[pairs[p].second] = true;
        }
        Plan plan;
        for (Slot i = 0; i < n_slots(); ++i) {
            if (!clusters_[i].alive || is_second[i]) continue;
            if (pair_at[i] != none) plan.position.push_back(static_cast<Slot>(plan.first.size()));
            plan.first.push_back(i);
            plan.groups.push_back(pair_at[i] == none ? Group{i, none, 0} : pairs[pair_at[i]]);
        }
        return plan;
    }

    // Write the triangle anew without the dead and with the pairs joined. Row by row it never
    // reaches past what was read: a new row ends before the old rows still needed begin.
    void rebuild(const std::vector<Group>& pairs) {
        const Plan plan = this->plan(pairs);
        const auto n = static_cast<std::int64_t>(plan.groups.size());
        const Triangle<Real> smaller{table_.data, n};
        AllNearest<Real> nearest(n, crew_.n_threads);
        const std::int64_t n_together = std::max<std::int64_t>(16, (1 << 19) / n);
        std::vector<Real>& rows = scratch_;
        if (rows.empty()) rows.resize(std::max<std::int64_t>(16 * n, 1 << 19));
        std::vector<std::vector<Real>> joined(crew_.n_threads, std::vector<Real>(n_slots()));
        for (std::int64_t first = 0; first < n; first += n_together) {
            patience_.ask();
            const std::int64_t count = std::min(n - first, n_together);
            crew_.run(count, [&](std::int64_t r, int worker) {
                (this->*rule_.write_row)(plan, first + r, joined[worker].data(),
                                         rows.data() + r * n);
                nearest.visit_row(first + r, rows.data() + r * n, worker);
            });
            crew_.run(count, [&](std::int64_t r, int) {
                std::copy_n(rows.data() + r * n, n - (first + r) - 1,
                            smaller.data + smaller.start(first + r));
            });
        }
        std::vector<Cluster> clusters;
        clusters.reserve(n);
        for (std::int64_t i = 0; i < n; ++i) {
            Cluster cluster = clusters_[plan.groups[i].first];
            if (plan.groups[i].second != none)
                cluster.size += clusters_[plan.groups[i].second].size;
            cluster.nearest = nearest.of(i);
            clusters.push_back(cluster);
        }
        clusters_ = std::move(clusters);
        table_ = smaller;
        n_alive_ = n;
    }

    // Distances of the union of a pair to all slots after its first.
    template <class Rule>
    void join_later(const Group& pair, double n_a, double n_b, Real* to) const {
        const auto [a, b, apart] = pair;
        const auto put = [&, apart = apart](std::int64_t x, Real xa, Real xb) {
            to[x] = static_cast<Real>(Rule::join({static_cast<double>(xa), static_cast<double>(xb),
                                                  apart, clusters_[x].size, n_a, n_b}));
        };
        // Down the column of b each entry is in another row; memory is asked well ahead.
        constexpr std::int64_t ahead = 24;
        const std::int64_t n = n_slots();
        const Real* row = table_.data + table_.start(a) - a - 1;
        const Real* column = table_.data + table_.start(a + 1) + b - a - 2;
        for (std::int64_t x = a + 1; x < b; ++x) {
            const std::int64_t step = n - x - 2;
            if (x + ahead < b) __builtin_prefetch(column + ahead * step - ahead * (ahead - 1) / 2);
            put(x, row[x], *column);
            column += step;
        }
        const Real* other = table_.data + table_.start(b) - b - 1;
        for (std::int64_t x = b + 1; x < n; ++x) put(x, row[x], other[x]);
    }

    // Distances of group i to all later groups; `joined` has room for one of every slot.
    template <class Rule>
    void write_row(const Plan& plan, std::int64_t i, Real* joined, Real* to) const {
        const auto [a, b, apart] = plan.groups[i];
        const double n_a = clusters_[a].size, n_b = b == none ? 0 : clusters_[b].size;
        const Real* from = table_.data + table_.start(a) - a - 1;
        if (b != none) {
            join_later<Rule>(plan.groups[i], n_a, n_b, joined);
            from = joined;
        }
        const auto n = static_cast<std::int64_t>(plan.groups.size());
        const Slot* first = plan.first.data();
        for (std::int64_t k = i + 1; k < n; ++k) to[k - i - 1] = from[first[k]];
        auto pair = std::upper_bound(plan.position.begin(), plan.position.end(), i);
        for (; pair != plan.position.end(); ++pair) {
            const auto [c, d, gap] = plan.groups[*pair];
            to[*pair - i - 1] = static_cast<Real>(
                Rule::join({static_cast<double>(from[c]), static_cast<double>(from[d]), gap,
                            n_a + n_b, clusters_[c].size, clusters_[d].size}));
        }
    }

    OfRule rule_;
    Triangle<Real> table_;
    double scale_;
    const Crew& crew_;
    Patience patience_;
    std::vector<Cluster> clusters_;  // by slot: its row of the triangle
    std::int64_t n_alive_ = 0;
    std::vector<Real> scratch_;  // some rows of a triangle that is written anew
    std::vector<Merge> merges_;
};

// Merges of the clusters of n rows, from the distances of all pairs, which are overwritten.
template <class Real>
std::vector<Merge> link_triangle(std::string_view method, Triangle<Real> table, double scale,
                                 const Crew& crew) {
    return with_rule(method, [&]<class Rule>(Rule rule) {
        if constexpr (Rule::squared) {
            crew.run(table.n_rows, [&](std::int64_t i, int) {
                Real* row = table.data + table.start(i);
                for (std::int64_t k = 0; k < table.n_rows - i - 1; ++k) {
                    const Real scaled = row[k] * static_cast<Real>(scale);
                    row[k] = scaled * scaled;
                }
            });
            return TriangleLinkage<Real>(rule, table, scale, crew).run();
        } else {
            return TriangleLinkage<Real>(rule, table, 1, crew).run();
        }
    });
}

}  // namespace coterie
