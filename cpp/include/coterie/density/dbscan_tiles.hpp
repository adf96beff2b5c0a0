// DBSCAN of any number of columns, on tiles of pairs: no pair is remembered.
//
// Three sweeps over the pairs of blocks that come within eps: count the rows near each row until it
// is known to be core, join core rows, look for the core rows near border rows. Where a sketch
// leaves few pairs of two blocks, those are looked at one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "coterie/density/dbscan.hpp"
#include "coterie/density/near_pairs.hpp"
#include "coterie/density/within_tile.hpp"
#include "coterie/neighbors/row_blocks.hpp"

namespace coterie {

template <class In>
class TileDbscan {
public:
    TileDbscan(Matrix<const In> rows, const Density& density, const Crew& crew)
        : blocks_(rows, crew), density_(density), crew_(crew) {}

    std::int64_t run(Border border, const Clustering& out) {
        core_.assign(blocks_.n_rows(), 0);
        sketched_.emplace(blocks_, density_.eps, crew_);
        mark_core();
        const std::int64_t n_clusters = join_core();
        for (std::int64_t p = 0; p < blocks_.n_rows(); ++p) {
            out.core[blocks_.row_id(p)] = core_[p];
            out.labels[blocks_.row_id(p)] = core_[p] ? std::int64_t{clusters_[p]} : noise;
        }
        if (border != Border::noise) label_border(border, out);
        return n_clusters;
    }

    // The rows are the core rows of a clustering: labels[i] = the cluster that row i of `queries`
    // joins, or noise.
    void label_by_core(Border border, const std::int64_t* core_labels, Matrix<const In> queries,
                       std::int64_t* labels) {
        core_.assign(blocks_.n_rows(), 1);
        clusters_.resize(blocks_.n_rows());
        for (std::int64_t p = 0; p < blocks_.n_rows(); ++p)
            clusters_[p] = static_cast<std::uint32_t>(core_labels[blocks_.row_id(p)]);
        const RowBlocks<In> sorted(queries, crew_);
        std::vector<const In*> rows;
        Places ids;
        for (std::int64_t p = 0; p < sorted.n_rows(); ++p)
            rows.push_back(sorted.row(p)), ids.push_back(sorted.row_id(p));
        label_rows(border, rows, ids, labels);
    }

private:
    static_assert(RowBlocks<In>::block_rows <= WithinTile<In>::max_queries);
    using Tile = WithinTile<In>;
    using Places = std::vector<std::uint32_t>;
    static constexpr std::int64_t first_look = 16;  // blocks

    // What to work with: some queries, ways to hold them against a block, and the blocks near them.
    struct Desk {
        Tile tile;
        std::optional<NearPairs<In>> pairs;  // if the queries are rows of the blocks
        Places near;

        void set_queries(const std::vector<const In*>& queries) {
            tile.set_queries(queries);
            if (pairs) pairs->set_queries(queries);
        }
    };

    template <class Body>
    void for_each(std::int64_t n_items, const Body& body) {
        Desk desk{Tile(blocks_.n_cols(), density_.eps), {}, {}};
        if (sketched_) desk.pairs.emplace(*sketched_);
        std::vector<Desk> desks(crew_.n_threads, desk);
        crew_.run(n_items, [&](std::int64_t item, int worker) { body(item, desks[worker]); });
    }

    void set_queries(Desk& desk, const Places& places) const {
        std::vector<const In*> rows;
        for (const std::uint32_t p : places) rows.push_back(blocks_.row(p));
        desk.set_queries(rows);
    }

    // Hold the queries against the wanted rows of a block: one_by_one(query, place) for every pair
    // within eps, or whole(), with those rows as the tile's candidates.
    template <class Wanted, class OneByOne, class Whole>
    void compare(Desk& desk, std::int64_t block, const Wanted& wanted, const OneByOne& one_by_one,
                 const Whole& whole) const {
        const std::int64_t begin = blocks_.begin(block), end = blocks_.end(block);
        if (desk.pairs)
            if (const auto* pairs = desk.pairs->few(begin, end, wanted)) {
                for (const auto [query, place] : *pairs)
                    if (desk.tile.is_within(query, blocks_.row(place))) one_by_one(query, place);
                return;
            }
        desk.tile.clear_candidates();
        for (std::int64_t p = begin; p < end; ++p)
            if (wanted(p)) desk.tile.add_candidate(blocks_.row(p), static_cast<std::uint32_t>(p));
        whole();
    }

    // visit(query, place) for every pair of a query and a wanted row of a block within eps.
    template <class Wanted, class Visit>
    void each_within(Desk& desk, std::int64_t block, const Wanted& wanted,
                     const Visit& visit) const {
        compare(desk, block, wanted, visit, [&] {
            for (int strip = 0; strip < desk.tile.n_strips(); ++strip)
                desk.tile.each(strip, [&](int query, int candidate) {
                    visit(query, desk.tile.id(candidate));
                });
        });
    }

    // The places of a block that `wanted` holds for.
    template <class Wanted>
    Places places_of(std::int64_t block, const Wanted& wanted) const {
        Places places;
        for (std::int64_t p = blocks_.begin(block); p < blocks_.end(block); ++p)
            if (wanted(p)) places.push_back(static_cast<std::uint32_t>(p));
        return places;
    }

    // The blocks of a sorted list from the nearest in number to the farthest: mostly in space, too.
    template <class Visit>
    static void outwards(const Places& blocks, std::uint32_t from, const Visit& visit) {
        auto up = std::lower_bound(blocks.begin(), blocks.end(), from);
        auto down = up;
        while (down != blocks.begin() || up != blocks.end()) {
            const bool go_up =
                down == blocks.begin() || (up != blocks.end() && *up - from <= from - *(down - 1));
            if (visit(go_up ? *up++ : *--down)) return;
        }
    }

    // Most core rows are known after a look at the nearest blocks. The others, noise and borders
    // among them, are gathered: next to decided rows they would keep whole tiles from stopping.
    void mark_core() {
        Places undecided;
        if (density_.may_stop && blocks_.n_blocks() > 2 * first_look) {
            for_each(blocks_.n_blocks(), [&](std::int64_t block, Desk& desk) {
                mark_core_of(places_of(block, [](auto) { return true; }), first_look, desk);
            });
            for (std::uint32_t p = 0; p < core_.size(); ++p)
                if (!core_[p]) undecided.push_back(p);
        } else {
            undecided.resize(core_.size());
            std::iota(undecided.begin(), undecided.end(), 0u);
        }
        for_groups(undecided, [&](const Places& group, Desk& desk) {
            mark_core_of(group, blocks_.n_blocks(), desk);
        });
    }

    // body(group, desk) for groups of consecutive places, each as many as a tile holds.
    template <class Body>
    void for_groups(const Places& places, const Body& body) {
        constexpr std::int64_t step = Tile::max_queries;
        const auto n = static_cast<std::int64_t>(places.size());
        for_each((n + step - 1) / step, [&](std::int64_t item, Desk& desk) {
            body({places.begin() + item * step, places.begin() + std::min(n, (item + 1) * step)},
                 desk);
        });
    }

    // Mark which of these places are core by what the nearest `n_looks` blocks hold.
    void mark_core_of(const Places& places, std::int64_t n_looks, Desk& desk) {
        set_queries(desk, places);
        blocks_.near(desk.tile.box(), desk.tile.sq_eps(), desk.near);
        const auto home =
            static_cast<std::uint32_t>(places[places.size() / 2] / blocks_.block_rows);
        const auto look = [&](const auto& tally) {
            outwards(desk.near, home,
                     [&](std::uint32_t other) { return tally(other) || --n_looks == 0; });
        };
        density_.weights ? count_by_weight(desk, places, look) : count(desk, places, look);
    }

    template <class Look>
    void count(Desk& desk, const Places& places, const Look& look) {
        constexpr int strip_rows = Tile::strip_rows;
        const Tile& tile = desk.tile;
        std::int32_t counts[Tile::max_queries] = {};
        // Whether each query of a strip has enough.
        const auto enough = [&](int strip) {
            const int first = strip * strip_rows;
            const int last = std::min(first + strip_rows, tile.n_queries());
            return *std::min_element(counts + first, counts + last) >= density_.min_weight;
        };
        look([&](std::uint32_t other) {
            compare(
                desk, other, [](auto) { return true; },
                [&](int query, std::int64_t) { ++counts[query]; },
                [&] {
                    for (int strip = 0; strip < tile.n_strips(); ++strip)
                        if (!enough(strip)) tile.count(strip, counts + strip * strip_rows);
                });
            bool all = true;
            for (int strip = 0; strip < tile.n_strips(); ++strip) all &= enough(strip);
            return all;
        });
        for (int i = 0; i < tile.n_queries(); ++i)
            core_[places[i]] = counts[i] >= density_.min_weight;
    }

    template <class Look>
    void count_by_weight(Desk& desk, const Places& places, const Look& look) {
        WeightSum sums[Tile::max_queries];
        const int n_queries = desk.tile.n_queries();
        look([&](std::uint32_t other) {
            each_within(
                desk, other, [](auto) { return true; },
                [&](int query, std::int64_t place) {
                    sums[query].add(density_.weights[blocks_.row_id(place)]);
                });
            return density_.may_stop &&
                   std::all_of(sums, sums + n_queries, [&](const WeightSum& sum) {
                       return sum.value() >= density_.min_weight;
                   });
        });
        for (int i = 0; i < n_queries; ++i)
            core_[places[i]] = sums[i].value() >= density_.min_weight;
    }

    std::int64_t join_core() {
        Components components(blocks_.n_rows());
        const auto is_core = [&](std::int64_t p) { return core_[p] != 0; };
        // Blocks by themselves first: then most are one component, and pairs of such are cheap.
        for (const bool by_themselves : {true, false})
            for_each(blocks_.n_blocks(), [&](std::int64_t block, Desk& desk) {
                const Places mine = places_of(block, is_core);
                if (mine.empty()) return;
                set_queries(desk, mine);
                desk.near.assign(1, static_cast<std::uint32_t>(block));
                if (!by_themselves) {
                    blocks_.near(desk.tile.box(), desk.tile.sq_eps(), desk.near);
                    std::erase_if(desk.near, [&](std::uint32_t other) { return other <= block; });
                }
                for (const std::uint32_t other : desk.near) {
                    const std::uint32_t root = common_root(components, mine);
                    each_within(
                        desk, other,
                        [&](std::int64_t p) {
                            return is_core(p) &&
                                   (root == no_cluster ||
                                    components.root(static_cast<std::uint32_t>(p)) != root);
                        },
                        [&](int query, std::int64_t place) {
                            components.join(mine[query], static_cast<std::uint32_t>(place));
                        });
                }
            });
        clusters_.assign(blocks_.n_rows(), no_cluster);
        for (std::int64_t p = 0; p < blocks_.n_rows(); ++p)
            if (core_[p]) clusters_[p] = blocks_.row_id(p);
        return number_clusters(components, clusters_);
    }

    // The root that all places share, or none.
    static std::uint32_t common_root(Components& components, const Places& places) {
        const std::uint32_t root = components.root(places[0]);
        for (const std::uint32_t p : places)
            if (components.root(p) != root) return no_cluster;
        return root;
    }

    void label_border(Border border, const Clustering& out) {
        std::vector<const In*> rows;
        Places ids;
        for (std::int64_t p = 0; p < blocks_.n_rows(); ++p)
            if (!core_[p]) rows.push_back(blocks_.row(p)), ids.push_back(blocks_.row_id(p));
        label_rows(border, rows, ids, out.labels);
    }

    // labels[ids[i]] = the cluster that rows[i] joins, or noise.
    void label_rows(Border border, const std::vector<const In*>& rows, const Places& ids,
                    std::int64_t* labels) {
        constexpr std::int64_t step = Tile::max_queries;
        const auto n = static_cast<std::int64_t>(rows.size());
        for_each((n + step - 1) / step, [&](std::int64_t item, Desk& desk) {
            const std::int64_t first = item * step, last = std::min(n, first + step);
            desk.set_queries({rows.begin() + first, rows.begin() + last});
            blocks_.near(desk.tile.box(), desk.tile.sq_eps(), desk.near);
            NearestCore nearest[Tile::max_queries];
            for (const std::uint32_t block : desk.near)
                each_within(
                    desk, block, [&](std::int64_t p) { return core_[p] != 0; },
                    [&](int query, std::int64_t place) {
                        // "first": all are equally near, and the lowest cluster has the lowest row.
                        if (border == Border::first)
                            nearest[query].offer(0, clusters_[place], clusters_[place]);
                        else
                            nearest[query].offer(desk.tile.sq_dist(query, blocks_.row(place)),
                                                 blocks_.row_id(place), clusters_[place]);
                    });
            for (std::int64_t i = first; i < last; ++i) {
                const std::uint32_t cluster = nearest[i - first].cluster;
                labels[ids[i]] = cluster == no_cluster ? noise : std::int64_t{cluster};
            }
        });
    }

    RowBlocks<In> blocks_;
    std::optional<SketchedBlocks<In>> sketched_;  // while the queries are rows of the blocks
    Density density_;
    const Crew& crew_;
    std::vector<std::uint8_t> core_;
    std::vector<std::uint32_t> clusters_;  // of each core row
};

}  // namespace coterie
