"""The level at which clusters last: against a naive twin, on shapes the knee alone fails on."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from coterie import DBSCAN
from coterie.density._condense import condense, single_linkage
from coterie.density._level import Level, lasting_level
from coterie.density._reach import Reachability
from coterie.distance import as_metric
from coterie.errors import AdviceWarning
from coterie.neighbors import SpanningTree
from coterie.select import suggest_eps

BENCHMARKS = Path(__file__).parents[3] / "shared" / "data" / "benchmarks"


def _reach_tree(X: Any, min_samples: int) -> SpanningTree:
    reach = Reachability(min_samples, 1.0, 1)
    return reach.of_rows(reach.index(X, as_metric("euclidean"))).tree


def level_of(X: Any, min_samples: int, min_size: int) -> Level | None:
    """The level of rows under the Euclidean distance."""
    tree = _reach_tree(X, min_samples)
    return lasting_level(condense(single_linkage(tree), min_size))


def naive_worths(X: Any, min_samples: int, min_size: int) -> tuple[Any, Any]:
    """Every length of mutual reachability, falling, and the worth of what is alive just below it.

    Components are found anew at each length. One goes on as long as only small parts fall off it;
    each of its rows counts log(its first length / the length at which the row is off).
    """
    dist = cdist(X, X)
    cores = np.sort(dist, axis=1)[:, min_samples - 1]
    reach = np.maximum(dist, np.maximum(cores[:, None], cores))
    np.fill_diagonal(reach, cores)  # a row alone is no longer there
    lengths = np.unique(reach)[::-1]
    alive: dict[frozenset[int], dict[str, Any]] = {}  # component now: its cluster
    clusters: list[dict[str, Any]] = []
    for step, length in enumerate(lengths):
        now = reach < length
        there = np.flatnonzero(np.diag(now))
        _, group = connected_components(now[np.ix_(there, there)], directed=False)
        parts = [frozenset(there[group == g].tolist()) for g in range(group.max(initial=-1) + 1)]
        parts = [part for part in parts if len(part) >= min_size]
        before, alive = alive, {}
        for whole, cluster in before.items() if step else [(frozenset(range(len(X))), None)]:
            inside = [part for part in parts if part <= whole]
            stays = inside[0] if len(inside) == 1 else frozenset()
            if cluster is not None:
                cluster["worth"] += len(whole - stays) * np.log(cluster["length"] / length)
                cluster["end"] = step
            for part in inside:
                if len(inside) == 1:
                    alive[part] = cluster
                else:
                    alive[part] = {"length": length, "start": step, "worth": 0.0, "end": step}
                    clusters.append(alive[part])
    worths = np.zeros(lengths.size)
    for cluster in clusters:
        worths[cluster["start"] : cluster["end"]] += cluster["worth"] / len(X)
    return lengths, worths


@pytest.mark.parametrize("seed", range(6))
def test_the_level_equals_the_naive_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 2.5 * rng.integers(3, size=(60, 1))
    min_samples, min_size = 3 + seed % 3, 5 + seed % 4
    lengths, worths = naive_worths(X, min_samples, min_size)
    found = level_of(X, min_samples, min_size)
    if worths.max() == 0:
        assert found is None
        return
    assert found is not None
    assert found.persistence == pytest.approx(worths.max(), rel=1e-9)
    inside = (lengths > found.low * (1 + 1e-6)) & (lengths <= found.high * (1 + 1e-6))
    assert (worths[inside] >= 0.98 * worths.max() - 1e-12).all()
    assert worths[inside].max() == pytest.approx(worths.max(), rel=1e-9)
    beside = np.flatnonzero(inside)[[0, -1]] + [-1, 1]
    assert all(worths[b] < 0.98 * worths.max() for b in beside if 0 <= b < worths.size - 1)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_scale_changes_nothing(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:100] += 6
    plain, scaled = level_of(X, 5, 10), level_of(X * scale, 5, 10)
    assert plain is not None
    assert scaled is not None
    assert scaled.persistence == pytest.approx(plain.persistence)
    assert scaled.low / scale == pytest.approx(plain.low)
    assert scaled.high / scale == pytest.approx(plain.high)


def test_rows_without_clusters_and_copies_have_no_level() -> None:
    assert level_of(np.ones((50, 2)), 5, 10) is None
    assert level_of(np.repeat([[0.0], [1.0]], 20, axis=0), 5, 10) is None
    assert level_of(np.linspace(0, 1, 30)[:, None] ** 2, 5, 20) is None


def ball(rng: Any, n_rows: int, radius: float = 1.0) -> Any:
    """Uniform rows in a ball of three columns."""
    rows = rng.normal(size=(n_rows, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * radius * rng.random((n_rows, 1)) ** (1 / 3)


def near_balls(rng: Any) -> list[Any]:
    """Four balls in the corners of a tetrahedron, a gap of 0.3 radii between them."""
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 1.15 / np.sqrt(2)
    return [corner + ball(rng, 100) for corner in corners]


def ring_and_blobs(rng: Any) -> list[Any]:
    """Two blobs inside an open ring."""
    turn, radius = rng.uniform(-0.2, 1.2, 110) * np.pi, rng.uniform(11, 13, 110)
    ring = np.c_[radius * np.cos(turn), radius * np.sin(turn)]
    return [ring, *(rng.normal([x, 1], 1.6, size=(95, 2)) for x in (-4.5, 4.5))]


def spreads(rng: Any) -> list[Any]:
    """Blobs whose spreads are as 1 : 5 : 15."""
    places, scales = [[0, 0], [6, 0], [0, 14]], [0.2, 1, 3]
    return [rng.normal(place, s, size=(300, 2)) for place, s in zip(places, scales, strict=True)]


@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")
@pytest.mark.parametrize(
    ("groups_of", "at_least"), [(near_balls, 0.9), (ring_and_blobs, 0.6), (spreads, 0.85)]
)
def test_shapes_that_run_together_or_differ(groups_of: Any, at_least: float) -> None:
    scores = []
    for seed in range(5):
        groups = groups_of(np.random.default_rng(seed))
        X = np.vstack(groups)
        labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        found = suggest_eps(X)
        assert found.level is not None
        assert found.level.low <= found.eps <= found.level.high
        model = DBSCAN(found.eps, min_samples=found.min_samples).fit(X)
        scores.append(adjusted_rand_score(labels, model.labels_))
    assert np.median(scores) > at_least, scores


def test_uniform_rows_rarely_have_a_level() -> None:
    tables = [
        np.random.default_rng([seed, n_rows, n_columns]).uniform(size=(n_rows, n_columns))
        for n_rows in (50, 200, 1000)
        for n_columns in (1, 2, 3, 5)
        for seed in range(15)
    ]
    assert sum(suggest_eps(X).has_level for X in tables) <= 2


def test_the_reason_names_the_level() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack(near_balls(rng))
    found = suggest_eps(X)
    assert "longest lasting clusters are apart for eps from" in found.reason
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        assert DBSCAN("auto", min_samples=6).fit(X).eps_ == suggest_eps(X, 6).eps


# The rule was found on every other set of the collection and confirmed on the rest.
@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark sets are not here")
@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")
@pytest.mark.parametrize(("half", "at_least"), [(0, 0.78), (1, 0.68)], ids=["found", "confirmed"])
def test_published_sets(half: int, at_least: float) -> None:
    scores = {}
    for path in sorted(BENCHMARKS.glob("*/*.data.gz"))[half::2]:
        X = np.loadtxt(path, ndmin=2)
        found = suggest_eps(X)
        labels = DBSCAN(found.eps, min_samples=found.min_samples).fit(X).labels_
        name = path.name.removesuffix(".data.gz")
        given = [np.loadtxt(p) for p in path.parent.glob(f"{name}.labels*.gz")]
        scores[name] = max(adjusted_rand_score(one, labels) for one in given)
    assert np.mean(list(scores.values())) > at_least, scores
