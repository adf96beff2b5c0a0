"""Dunn's index and its generalisations against their definitions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from evaluate_twins import lengths_of
from test_scatter_scores import drawn

import coterie.evaluate as ev
from coterie.distance import pairwise
from coterie.evaluate._dunn import BETWEEN, WITHIN
from streams import Stream


def apart(S: Any, T: Any, kind: str) -> float:
    D = pairwise(S, T)
    s, t = S.mean(axis=0), T.mean(axis=0)
    if kind == "centroid":
        return float(np.linalg.norm(s - t))
    if kind == "to_centroid":
        to_t, to_s = np.linalg.norm(S - t, axis=1), np.linalg.norm(T - s, axis=1)
        return float((to_t.sum() + to_s.sum()) / (len(S) + len(T)))
    if kind == "hausdorff":
        return max(float(D.min(axis=1).max()), float(D.min(axis=0).max()))
    return float({"single": np.min, "complete": np.max, "average": np.mean}[kind](D))


def width(S: Any, kind: str) -> float:
    D = lengths_of(S)
    if kind == "diameter":
        return float(D.max())
    if kind == "average":
        return float(D.sum() / (len(S) * (len(S) - 1))) if len(S) > 1 else 0.0
    return float(2 * np.linalg.norm(S - S.mean(axis=0), axis=1).mean())


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("between", BETWEEN)
def test_definitions(between: str, within: str) -> None:
    for seed in range(12):
        X, labels = drawn(seed)
        clusters = [X[labels == c] for c in range(labels.max() + 1)]
        least = min(apart(S, T, between) for S, T in combinations(clusters, 2))
        expected = least / max(width(S, within) for S in clusters)
        found = ev.dunn_score(X, labels, between=between, within=within)
        assert found == pytest.approx(expected, rel=1e-10)
        if {between, within} & {"centroid", "to_centroid"}:
            continue
        given = ev.dunn_score(
            lengths_of(X), labels, between=between, within=within, metric="precomputed"
        )
        assert given == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("between", BETWEEN)
def test_weights_are_repeated_rows(between: str, within: str) -> None:
    X, labels = drawn(3)
    times = np.random.default_rng(0).integers(1, 4, labels.size)
    kinds = {"between": between, "within": within}
    expected = ev.dunn_score(np.repeat(X, times, axis=0), np.repeat(labels, times), **kinds)
    found = ev.dunn_score(X, labels, sample_weight=times, **kinds)
    assert found == pytest.approx(expected, rel=1e-10)
    assert ev.dunn_score(Stream(X), labels, **kinds) == pytest.approx(
        ev.dunn_score(X, labels, **kinds), rel=1e-12
    )


def test_edges() -> None:
    assert ev.dunn_score([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1]) == 3.5
    assert ev.dunn_score([[0.0], [0.0], [9.0], [9.0]], [0, 0, 1, 1]) == np.inf
    assert ev.dunn_score(np.ones((4, 2)), [0, 0, 1, 1]) == 0  # the worst, not the best
    with pytest.raises(ValueError, match="need means of rows"):
        ev.dunn_score(np.zeros((4, 4)), [0, 0, 1, 1], within="centroid", metric="precomputed")
    with pytest.raises(ValueError, match="between='far' was given"):
        ev.dunn_score([[0.0], [1.0]], [0, 1], between="far")
