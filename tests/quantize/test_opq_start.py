"""Covers coterie.quantize._opq_start: by error, or by neighbours found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie._history import Recorder
from coterie.quantize._opq_start import (
    balanced_axes,
    better_start,
    cross,
    errors,
    missed_neighbors,
    turn,
)
from coterie.quantize._part_means import PartRows, part_means, start_part_means
from coterie.quantize._parts import part_starts

N_CODES, STARTS = 16, part_starts(32, 8)


def in_two_minds(n: int = 3000, seed: int = 0) -> NDArray[np.float32]:
    """Sparse rows plus something shared: columns lose less, balanced axes find more neighbours."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 32))
    X = (rng.gamma(0.05, size=(n, 32)) + 0.1 * shared).astype(np.float32)
    return X - X.mean(axis=0)


def both_starts(X: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    covariance = cross(X, X, 2) / len(X)
    return [np.eye(X.shape[1], dtype=np.float32), balanced_axes(covariance, STARTS)]


def start_by(wanted: str, X: NDArray[np.float32], n_threads: int = 2) -> NDArray[np.float32]:
    return better_start(wanted, X, STARTS, N_CODES, np.random.RandomState(0), n_threads)


@pytest.mark.parametrize("seed", range(3))
def test_the_start_that_loses_less_need_not_find_more_neighbors(seed: int) -> None:
    X = in_two_minds(seed=seed)
    as_they_are, axes = both_starts(X)
    np.testing.assert_array_equal(start_by("error", X), as_they_are)
    np.testing.assert_array_equal(start_by("neighbors", X), axes)


def test_neighbors_are_missed_as_often_as_by_comparing_all() -> None:
    X = in_two_minds(600)
    rotations = both_starts(X)
    losses = missed_neighbors(X, rotations, STARTS, N_CODES, np.random.RandomState(0), 2)
    asks = np.arange(600) % 16 == 0
    asked, others = X[asks].astype(np.float64), X[~asks]
    true = np.square(asked[:, None] - others).sum(axis=2).argsort(axis=1)[:, :10]
    rng = np.random.RandomState(0)
    for rotation, (n_missed, sse) in zip(rotations, losses, strict=True):
        split = PartRows.split(turn(others, rotation, 2), STARTS, np.zeros(32, np.float32), 2)
        run = part_means(split, start_part_means(split, N_CODES, rng), 4, rng, Recorder())
        parts = [
            run.centers[code, a:b]
            for code, a, b in zip(run.codes, STARTS, STARTS[1:], strict=False)
        ]
        values = np.square((asked @ rotation)[:, None] - np.hstack(parts)).sum(axis=2)
        found = values.argsort(axis=1)[:, :10]
        n_found = sum(np.isin(a, b).sum() for a, b in zip(true, found, strict=True))
        assert abs(n_missed - (true.size - n_found)) <= 2  # equals may be cut either way
        assert sse == run.sse


def test_few_rows_are_compared_by_their_error() -> None:
    X = in_two_minds(63)
    by = [loss(X, both_starts(X), STARTS, N_CODES, np.random.RandomState(0), 2)
          for loss in (errors, missed_neighbors)]  # fmt: skip
    assert by[0] == by[1]


def test_threads_do_not_change_the_start() -> None:
    X = in_two_minds()
    np.testing.assert_array_equal(start_by("neighbors", X, 1), start_by("neighbors", X, 3))


def test_axes_are_dealt_so_that_products_of_variances_are_alike() -> None:
    variances = 2.0 ** np.arange(8)
    axes = balanced_axes(np.diag(variances), part_starts(8, 4))
    np.testing.assert_allclose(axes.T @ axes, np.eye(8), atol=1e-6)
    shares = (np.square(axes).T @ variances).reshape(4, 2).prod(axis=1)
    np.testing.assert_allclose(shares, shares[0])


def test_axes_fill_parts_of_unequal_width() -> None:
    axes = balanced_axes(np.diag(np.arange(1.0, 8)), part_starts(7, 3))
    np.testing.assert_allclose(axes.T @ axes, np.eye(7), atol=1e-6)
