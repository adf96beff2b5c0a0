"""Farthest rows by bounds that are brought up to date where they matter, against all distances.

Covers coterie.centroid._farthest.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.centroid._checked_space import checked_space
from coterie.centroid._farthest import farthest_rows
from coterie.data import ArraySource


def naive(X: Any, weights: Any, first: int, size: int) -> list[tuple[int, float]]:
    """The textbook's loop."""
    X = np.asarray(X, dtype=np.float64)
    nearest = np.square(X - X[first]).sum(axis=1)
    found: list[tuple[int, float]] = []
    while len(found) < size:
        far = nearest if weights is None else np.where(weights > 0, nearest, 0)
        row = int(np.argmax(far))
        if far[row] == 0:
            break
        found.append((row, float(np.sqrt(far[row]))))
        nearest = np.minimum(nearest, np.square(X - X[row]).sum(axis=1))
    return found


def ours(X: Any, weights: Any, first: int, size: int, n_threads: int = 2) -> Any:
    blocks = ArraySource(X, weights, n_threads)
    space = checked_space("test", blocks)[1]
    return [(far.row, far.distance) for far in islice(farthest_rows(blocks, space, first), size)]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_loop_over_all_distances(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 1200))
    d = data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.integers(-5, 6, (n, d)).astype(data.draw(st.sampled_from([np.float32, np.float64])))
    if data.draw(st.booleans()):
        X = np.asfortranarray(X)
    weights = rng.integers(0, 2, n).astype(float) if data.draw(st.booleans()) else None
    first = int(rng.integers(n))
    if weights is not None:
        weights[-1] = 1
    expected = naive(X, weights, first, 40)
    found = ours(X, weights, first, 40)
    assert [row for row, _ in found] == [row for row, _ in expected]
    np.testing.assert_allclose([r for _, r in found], [r for _, r in expected], rtol=1e-14)


@pytest.mark.parametrize("d", [2, 16, 33])
def test_many_rows_on_any_number_of_threads(d: int) -> None:
    X = np.random.default_rng(0).standard_normal((20_000, d)).astype(np.float32)
    expected = naive(X, None, 7, 60)
    alone = ours(X, None, 7, 60, n_threads=1)
    assert [row for row, _ in alone] == [row for row, _ in expected]
    assert ours(X, None, 7, 60, n_threads=3) == alone


def test_it_ends_where_all_rows_are_copies() -> None:
    X = np.repeat([[0.0, 0], [3, 4], [0, 1]], 200, axis=0)
    assert ours(X, None, 5, 10) == [(200, 5.0), (400, 1.0)]
    assert ours(np.zeros((300, 2)), None, 5, 10) == []
    assert ours(X, (np.arange(600) >= 201).astype(float), 5, 1) == [(201, 5.0)]
