// DBSCAN of any number of columns, on tiles of pairs: no pair is remembered.
//
// Three sweeps over the pairs of blocks that come within eps: count the rows near each row until it
// is known to be core, join core rows, look for the core rows near border rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "coterie/density/dbscan.hpp"
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

    // body(item, tile, near): a tile and a list of blocks to work with.
    template <class Body>
    void for_each(std::int64_t n_items, const Body& body) {
        struct Desk {
            Tile tile;
            Places near;
        };
        std::vector<Desk> desks(crew_.n_threads, Desk{Tile(blocks_.n_cols(), density_.eps), {}});
        crew_.run(n_items, [&](std::int64_t item, int worker) {
            body(item, desks[worker].tile, desks[worker].near);
        });
    }

    void set_queries(Tile& tile, const Places& places) const {
        std::vector<const In*> rows;
        for (const std::uint32_t p : places) rows.push_back(blocks_.row(p));
        tile.set_queries(rows);
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
            for_each(blocks_.n_blocks(), [&](std::int64_t block, Tile& tile, Places& near) {
                mark_core_of(places_of(block, [](auto) { return true; }), first_look, tile, near);
            });
            for (std::uint32_t p = 0; p < core_.size(); ++p)
                if (!core_[p]) undecided.push_back(p);
        } else {
            undecided.resize(core_.size());
            std::iota(undecided.begin(), undecided.end(), 0u);
        }
        for_groups(undecided, [&](const Places& group, Tile& tile, Places& near) {
            mark_core_of(group, blocks_.n_blocks(), tile, near);
        });
    }

    // body(group, tile, near) for groups of consecutive places, each as many as a tile holds.
    template <class Body>
    void for_groups(const Places& places, const Body& body) {
        constexpr std::int64_t step = Tile::max_queries;
        const auto n = static_cast<std::int64_t>(places.size());
        for_each((n + step - 1) / step, [&](std::int64_t item, Tile& tile, Places& near) {
            body({places.begin() + item * step, places.begin() + std::min(n, (item + 1) * step)},
                 tile, near);
        });
    }

    // Mark which of these places are core by what the nearest `n_looks` blocks hold.
    void mark_core_of(const Places& places, std::int64_t n_looks, Tile& tile, Places& near) {
        set_queries(tile, places);
        blocks_.near(tile.box(), tile.sq_eps(), near);
        const auto home =
            static_cast<std::uint32_t>(places[places.size() / 2] / blocks_.block_rows);
        const auto look = [&](const auto& tally) {
            outwards(near, home, [&](std::uint32_t other) {
                tile.clear_candidates();
                for (std::int64_t p = blocks_.begin(other); p < blocks_.end(other); ++p)
                    tile.add_candidate(blocks_.row(p), static_cast<std::uint32_t>(p));
                return tally() || --n_looks == 0;
            });
        };
        density_.weights ? count_by_weight(tile, places, look) : count(tile, places, look);
    }

    template <class Look>
    void count(const Tile& tile, const Places& places, const Look& look) {
        constexpr int strip_rows = Tile::strip_rows;
        std::int32_t counts[Tile::max_queries] = {};
        look([&] {
            bool all = true;
            for (int strip = 0; strip < tile.n_strips(); ++strip) {
                const int first = strip * strip_rows;
                const int last = std::min(first + strip_rows, tile.n_queries());
                const auto enough = [&] {
                    return *std::min_element(counts + first, counts + last) >= density_.min_weight;
                };
                if (enough()) continue;
                tile.count(strip, counts + first);
                all &= enough();
            }
            return all;
        });
        for (int i = 0; i < tile.n_queries(); ++i)
            core_[places[i]] = counts[i] >= density_.min_weight;
    }

    template <class Look>
    void count_by_weight(const Tile& tile, const Places& places, const Look& look) {
        WeightSum sums[Tile::max_queries];
        look([&] {
            for (int strip = 0; strip < tile.n_strips(); ++strip)
                tile.each(strip, [&](int query, int candidate) {
                    sums[query].add(density_.weights[blocks_.row_id(tile.id(candidate))]);
                });
            return density_.may_stop &&
                   std::all_of(sums, sums + tile.n_queries(), [&](const WeightSum& sum) {
                       return sum.value() >= density_.min_weight;
                   });
        });
        for (int i = 0; i < tile.n_queries(); ++i)
            core_[places[i]] = sums[i].value() >= density_.min_weight;
    }

    std::int64_t join_core() {
        Components components(blocks_.n_rows());
        const auto is_core = [&](std::int64_t p) { return core_[p] != 0; };
        // Blocks by themselves first: then most are one component, and pairs of such are cheap.
        for (const bool by_themselves : {true, false})
            for_each(blocks_.n_blocks(), [&](std::int64_t block, Tile& tile, Places& near) {
                const Places mine = places_of(block, is_core);
                if (mine.empty()) return;
                set_queries(tile, mine);
                near.assign(1, static_cast<std::uint32_t>(block));
                if (!by_themselves) {
                    blocks_.near(tile.box(), tile.sq_eps(), near);
                    std::erase_if(near, [&](std::uint32_t other) { return other <= block; });
                }
                for (const std::uint32_t other : near) {
                    tile.clear_candidates();
                    const std::uint32_t root = common_root(components, mine);
                    for (const std::uint32_t p : places_of(other, is_core))
                        if (root == no_cluster || components.root(p) != root)
                            tile.add_candidate(blocks_.row(p), p);
                    for (int strip = 0; strip < tile.n_strips(); ++strip)
                        tile.each(strip, [&](int query, int candidate) {
                            components.join(mine[query], tile.id(candidate));
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
        for_each((n + step - 1) / step, [&](std::int64_t item, Tile& tile, Places& near) {
            const std::int64_t first = item * step, last = std::min(n, first + step);
            tile.set_queries({rows.begin() + first, rows.begin() + last});
            blocks_.near(tile.box(), tile.sq_eps(), near);
            NearestCore nearest[Tile::max_queries];
            for (const std::uint32_t block : near) {
                tile.clear_candidates();
                for (std::int64_t p = blocks_.begin(block); p < blocks_.end(block); ++p)
                    if (core_[p]) tile.add_candidate(blocks_.row(p), static_cast<std::uint32_t>(p));
                for (int strip = 0; strip < tile.n_strips(); ++strip)
                    tile.each(strip, [&](int query, int candidate) {
                        const std::uint32_t place = tile.id(candidate);
                        // "first": all are equally near, and the lowest cluster has the lowest row.
                        if (border == Border::first)
                            nearest[query].offer(0, clusters_[place], clusters_[place]);
                        else
                            nearest[query].offer(tile.sq_dist(query, candidate),
                                                 blocks_.row_id(place), clusters_[place]);
                    });
            }
            for (std::int64_t i = first; i < last; ++i) {
                const std::uint32_t cluster = nearest[i - first].cluster;
                labels[ids[i]] = cluster == no_cluster ? noise : std::int64_t{cluster};
            }
        });
    }

    RowBlocks<In> blocks_;
    Density density_;
    const Crew& crew_;
    std::vector<std::uint8_t> core_;
    std::vector<std::uint32_t> clusters_;  // of each core row
};

}  // namespace coterie
