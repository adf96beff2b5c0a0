"""Labels and distances of rows by their medoids, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.data import ArraySource
from coterie.distance import as_metric, pairwise
from coterie.medoid import _nearest
from coterie.medoid._nearest import (
    KnownMedoids,
    deviation_of_block,
    label_block,
    measure_block,
    nearest_medoids,
)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 21])
def test_tiles_change_nothing(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    X = np.random.default_rng(0).standard_normal((50, 3))
    D = pairwise(X, X[:4])
    monkeypatch.setattr(_nearest, "_TILE_NUMBERS", at_once)
    known = KnownMedoids(as_metric("euclidean"), X[:4])
    labels, nearest = nearest_medoids(known, X, 2)
    np.testing.assert_array_equal(labels, D.argmin(axis=1))
    np.testing.assert_array_equal(nearest, D.min(axis=1))
    source: Any = ArraySource(X, np.arange(50.0), 2)
    (block,) = source
    again, dists = np.empty(50, dtype=np.int32), np.empty((50, 4))
    label_block(block, known, again)
    measure_block(block, known, dists)
    np.testing.assert_array_equal(again, labels)
    np.testing.assert_array_equal(dists, D)
    assert deviation_of_block(block, known) == pytest.approx((np.arange(50) * nearest).sum())


def test_ties_go_to_the_lower_medoid() -> None:
    X = np.array([[0.0], [2], [1], [1]])
    labels, _ = nearest_medoids(KnownMedoids(as_metric("euclidean"), X[[1, 0, 1]]), X, 1)
    assert labels.tolist() == [1, 0, 0, 0]
