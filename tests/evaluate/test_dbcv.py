"""DBCV against its definition, and what it should prefer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evaluate_twins import lengths_of
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from test_scatter_scores import drawn

import coterie.evaluate as ev
from coterie import KMeans


def dbcv_of(X: Any, labels: Any, weights: Any = None) -> float:
    """Step by step as in the paper; no copies among the rows, three rows or more a cluster."""
    d, found = X.shape[1], []
    weights = np.ones(len(X)) if weights is None else weights
    for c in range(labels.max() + 1):
        rows, w = X[labels == c], weights[labels == c]
        D = lengths_of(rows)
        np.fill_diagonal(D, np.inf)
        cores = ((D**-d * w).sum(axis=1) / (w.sum() - w)) ** (-1 / d)
        np.fill_diagonal(D, 0)
        reach = np.maximum(D, np.maximum.outer(cores, cores))
        np.fill_diagonal(reach, 0)
        tree = minimum_spanning_tree(reach).tocoo()
        inner = np.bincount(np.r_[tree.row, tree.col], minlength=len(rows)) > 1
        edges = tree.data[inner[tree.row] & inner[tree.col]]
        found.append((rows[inner], cores[inner], max(edges if edges.size else tree.data), w.sum()))
    total = 0.0
    for i, (rows, cores, sparseness, size) in enumerate(found):
        separation = min(
            np.maximum(cdist(rows, other[0]), np.maximum.outer(cores, other[1])).min()
            for j, other in enumerate(found)
            if j != i
        )
        total += size * (separation - sparseness) / max(separation, sparseness)
    return float(total / weights.sum())


def test_definition() -> None:
    n_compared = 0
    for seed in range(40):
        X, labels = drawn(seed)
        if np.bincount(labels).min() < 3:
            continue
        assert ev.dbcv_score(X, labels) == pytest.approx(dbcv_of(X, labels), rel=1e-9)
        n_compared += 1
    assert n_compared > 10


def test_shapes_are_preferred_to_halves() -> None:
    X, moons = make_moons(400, noise=0.04, random_state=0)
    halves = KMeans(2, n_init=1, random_state=0).fit_predict(X)
    assert ev.dbcv_score(X, moons) > 0.5 > 0 > ev.dbcv_score(X, halves)
    assert ev.silhouette_score(X, moons) < ev.silhouette_score(X, halves)


def test_noise_counts_in_the_whole() -> None:
    X, labels = make_moons(200, noise=0.04, random_state=0)
    far = np.r_[X, np.full((50, 2), 30.0) + np.arange(50)[:, np.newaxis]]
    named = np.r_[labels, np.full(50, -1)]
    expected = ev.dbcv_score(X, labels) * 200 / 250
    assert ev.dbcv_score(far, named) == pytest.approx(expected)
    assert ev.dbcv_score(far, named, noise="singletons") <= expected + 1e-12


def test_edges() -> None:
    # One row: validity 0. Two rows: their one edge. Copies: core distances of 0.
    X = np.array([[0.0], [0.0], [0.0], [8.0], [9.0], [50.0]])
    expected = (3 * 1 + 2 * (8 - 1) / 8) / 6
    assert ev.dbcv_score(X, [0, 0, 0, 1, 1, 2]) == pytest.approx(expected)
    assert ev.dbcv_score(np.ones((4, 2)), [0, 0, 1, 1]) == 0
    wide = np.random.default_rng(0).normal(size=(60, 300))  # powers of 300 overflow if left alone
    assert -1 <= ev.dbcv_score(wide, np.arange(60) % 2) <= 1
    with pytest.raises(ValueError, match="Number of labels is 1"):
        ev.dbcv_score(X, [0, 0, 0, 0, 0, -1])
    threads = {ev.dbcv_score(wide, np.arange(60) % 3, n_threads=n) for n in (1, 3)}
    assert len(threads) == 1


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_metrics(metric: str) -> None:
    X, labels = drawn(5)
    X = np.column_stack([X, X[:, 0] + 1])
    same = ev.dbcv_score(
        X, labels, metric=lambda x, y: float(cdist([x], [y], _NAMES[metric])[0, 0])
    )
    assert ev.dbcv_score(X, labels, metric=metric) == pytest.approx(same, rel=1e-8)


_NAMES = {"manhattan": "cityblock", "cosine": "cosine"}


def test_weights_count_in_means_and_shares() -> None:
    for seed in range(40):
        X, labels = drawn(seed)
        if np.bincount(labels).min() < 3:
            continue
        weights = np.random.default_rng(seed).uniform(0.1, 5, len(X))
        found = ev.dbcv_score(X, labels, sample_weight=weights)
        assert found == pytest.approx(dbcv_of(X, labels, weights), rel=1e-9)
        assert ev.dbcv_score(X, labels, sample_weight=weights / weights.sum()) == pytest.approx(
            found
        )


def test_noise_weighs_in_the_whole() -> None:
    X, labels = make_moons(200, noise=0.04, random_state=0)
    far, named = np.r_[X, [[30.0, 30.0]]], np.r_[labels, -1]
    weights = np.r_[np.ones(200), 50.0]
    expected = ev.dbcv_score(X, labels) * 200 / 250
    assert ev.dbcv_score(far, named, sample_weight=weights) == pytest.approx(expected)


def test_rows_without_weight_are_not_there() -> None:
    X, labels = drawn(3)
    labels = labels.copy()
    labels[::7] = -1
    weights = np.where(np.arange(len(X)) % 5 == 2, 0.0, 1.0)
    kept = weights == 1
    expected = ev.dbcv_score(X[kept], labels[kept])
    assert ev.dbcv_score(X, labels, sample_weight=weights) == expected
    assert ev.dbcv_score(X, labels, sample_weight=np.ones(len(X))) == ev.dbcv_score(X, labels)
