"""The starts: BUILD against the plain loop, and what the drawn ones promise."""

from __future__ import annotations

from typing import Any

import medoid_twins
import numpy as np
import pytest

from coterie.distance import pairwise
from coterie.medoid._pairs import GivenPairs
from coterie.medoid._starts import STARTS, Field

DRAWN = ["k-medoids++", "random", "farthest-first"]


def field_of(D: Any, weights: Any = None) -> Field:
    allowed = None if weights is None else weights > 0
    search = GivenPairs("test", 2, D).search(weights, allowed)
    return Field(search, len(D), weights, allowed, 2)


def started(name: str, D: Any, n_clusters: int, seed: int = 0, weights: Any = None) -> Any:
    return STARTS[name](field_of(D, weights), n_clusters, np.random.RandomState(seed))


@pytest.mark.parametrize("seed", range(10))
def test_build_is_the_greedy_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 80))
    D = pairwise(rng.standard_normal((n, 2)))
    weights = rng.integers(1, 4, n).astype(float) if seed % 2 else None
    n_clusters = min(n, 12)
    found = started("build", D, n_clusters, weights=weights).tolist()
    assert found == medoid_twins.build(D, n_clusters, weights)


def test_build_breaks_ties_to_the_lower_row() -> None:
    X = np.array([[0.0], [1], [2], [10], [11], [12], [20], [21], [22]])
    assert started("build", pairwise(X), 4).tolist() == medoid_twins.build(pairwise(X), 4)
    same = np.zeros((5, 5))
    assert started("build", same, 5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", STARTS)
def test_starts_are_different_rows_that_count(name: str) -> None:
    rng = np.random.default_rng(0)
    D = pairwise(np.repeat(rng.standard_normal((10, 2)), 3, axis=0))
    weights = np.tile([0.0, 1, 2], 10)
    for seed in range(10):
        found = started(name, D, 20, seed, weights)
        assert np.unique(found).size == 20
        assert (weights[found] > 0).all()


@pytest.mark.parametrize("name", DRAWN)
def test_the_seed_decides(name: str) -> None:
    D = pairwise(np.random.default_rng(0).standard_normal((200, 2)))
    assert started(name, D, 5, 1).tolist() == started(name, D, 5, 1).tolist()
    assert len({tuple(started(name, D, 5, seed)) for seed in range(8)}) > 1


def test_farthest_first_takes_the_farthest() -> None:
    D = pairwise(np.random.default_rng(0).standard_normal((60, 2)))
    found = started("farthest-first", D, 6, 3)
    for step in range(1, 6):
        assert D[found[:step]].min(axis=0).argmax() == found[step]


def test_plus_plus_draws_by_distance() -> None:
    # After any of the ten rows at 0, the row at 3 is drawn three times as often as the one at 1.
    X = np.array([0.0] * 10 + [1, 3])[:, np.newaxis]
    seconds = [started("k-medoids++", pairwise(X), 2, seed)[1] for seed in range(4000)]
    counts = np.bincount(seconds, minlength=12)
    assert counts[11] / counts[10] == pytest.approx(3, rel=0.15)
