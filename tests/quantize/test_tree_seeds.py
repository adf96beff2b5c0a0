"""Coresets of nodes drawn in one pass, and k-means++ in many small sets, against twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.centroid._passes import choose_space
from coterie.data import ArraySource, Block
from coterie.data.chance import Chance
from coterie.quantize._tree import Tree
from coterie.quantize._tree_level import Grouped, Growing
from coterie.quantize._tree_seeds import Scatter, first_of_each, race_block


def naive_seeds(X: Any, weights: Any, draws: Any) -> list[int]:
    """k-means++ with the best of some draws, in the order of the draws given."""
    closest = np.ones(len(X))
    seeds: list[int] = []
    for row in draws:
        mass = weights * closest
        if mass.sum() <= 0:
            break
        tried = []
        for quantile in row if seeds else row[:1]:
            at = min(
                int(np.searchsorted(np.cumsum(mass), quantile * mass.sum(), "right")), len(X) - 1
            )
            dists = np.square(X - X[at]).sum(axis=1)
            tried.append((at, np.minimum(closest, dists) if seeds else dists))
        at, closest = min(tried, key=lambda one: (weights * one[1]).sum())
        seeds.append(at)
    return seeds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 10_000), n_threads=st.sampled_from([1, 2]))
def test_seeds_are_those_of_the_twin(
    isa_kernels: Any, dtype: Any, seed: int, n_threads: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, size=4)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    # Multiples of 1/8: sums of squares are exact, and there are copies and ties.
    X = (np.round(8 * rng.normal(size=(starts[-1], 3))) / 8).astype(dtype)
    X[starts[2] : starts[3]] = X[starts[2]]
    weights = rng.integers(1, 5, size=len(X)) / 4
    draws = rng.uniform(size=(4, 6, 3))
    seeds, found, left = np.full((4, 6), -1), np.empty(4, dtype=np.int64), np.empty(4)
    isa_kernels.seed_sets(X, weights, starts, 1.0, draws, seeds, found, left, n_threads)
    for node in range(4):
        own = slice(starts[node], starts[node + 1])
        rows = X[own].astype(float)
        expected = naive_seeds(rows, weights[own], draws[node])
        assert (seeds[node, : found[node]] - starts[node]).tolist() == expected
        n_distinct = len(np.unique(rows, axis=0))
        assert found[node] == min(6, n_distinct)
        assert (left[node] == 0) == (n_distinct <= 6)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=40), st.integers(1, 6))
def test_the_first_of_each_node(entries: list[tuple[int, int]], n_wanted: int) -> None:
    nodes, times = (np.array([e[at] for e in entries], dtype=float) for at in (0, 1))
    rows = np.arange(len(entries))
    kept = first_of_each(nodes.astype(np.int64), times, rows, n_wanted)
    expected: list[int] = []
    for node in range(4):
        own = sorted((times[i], i) for i in rows if nodes[i] == node)
        expected += [i for _, i in own[:n_wanted]]
    assert kept.tolist() == expected


def one_node(X: Any, weights: Any = None) -> tuple[Block, Growing, Scatter]:
    """All rows in one node at their mean."""
    source = ArraySource(X, weights)
    _, space = choose_space(source)
    (block,) = source
    heavy = np.ones(len(X)) if weights is None else weights / space.weight_unit
    mean = np.average(X, axis=0, weights=heavy)[np.newaxis]
    tree = Tree(mean, np.array([1, 1], np.int32), np.zeros(1, np.int32))
    dists = np.square((X - mean) * space.scale).sum(axis=1)
    scatter = Scatter(np.array([heavy.sum()]), np.array([(heavy * dists).sum()]))
    return block, Growing(tree, mean, space), scatter


def test_rows_are_drawn_half_evenly_and_half_by_squared_distance() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [10.0]])
    block, growing, scatter = one_node(X)
    grouped = Grouped.by(np.zeros(5, np.int32), 1)
    chance, first = Chance(7), np.zeros(5)
    for _ in range(4000):
        drawn = race_block(block, grouped, growing, scatter, chance, 1)
        first[drawn.rows[0]] += 1
        chance = chance.again()
    dists = np.square(X - X.mean()).ravel()
    expected = 0.5 / 5 + 0.5 * dists / dists.sum()
    np.testing.assert_allclose(first / 4000, expected, atol=0.03)
    # Each counts for the inverse of that, so sums over a coreset are right on average.
    np.testing.assert_allclose(drawn.weights, 1 / expected[drawn.rows] / 1, rtol=1e-9)


def test_cuts_do_not_matter_and_small_nodes_come_whole() -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(500, 2)), rng.integers(0, 3, size=500).astype(float)
    block, growing, scatter = one_node(X, weights)
    whole = race_block(
        block, Grouped.by(np.zeros(500, np.int32), 1), growing, scatter, Chance(1), 40
    )
    parts = None
    for part in block.parts(37):
        grouped = Grouped.by(np.zeros(part.n_rows, np.int32), 1)
        drawn = race_block(part, grouped, growing, scatter, Chance(1), 40)
        parts = drawn if parts is None else parts + drawn
    assert parts is not None
    for name in ("times", "rows", "nodes", "values", "weights"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert (weights[whole.rows] > 0).all()
    everything = race_block(
        block, Grouped.by(np.zeros(500, np.int32), 1), growing, scatter, Chance(1), 600
    )
    assert sorted(everything.rows.tolist()) == np.flatnonzero(weights).tolist()
