"""Learning from a coarse start: where it ends, and how rows are drawn for it."""

from __future__ import annotations

import numpy as np
import pytest

import twins
from coterie.data import ArraySource
from coterie.quantize._learn import draw_by_weight, learn_from_coarse, nearest_codewords


def rng(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


def rows(n: int = 4000) -> np.ndarray:
    random = np.random.default_rng(0)
    return random.standard_normal((n, 3)) + 6 * random.integers(0, 3, (n, 3))


def test_the_end_is_a_fixed_point_of_lloyds_descent() -> None:
    X, weights = rows(), np.random.default_rng(1).integers(1, 9, 4000).astype(float)
    run = learn_from_coarse(
        "me", ArraySource(X, weights), 5, rng(), n_init=3, n_coarse=300, tol=0.0
    )
    labels = twins.nearest(X, run.centers)
    means = [np.average(X[labels == j], axis=0, weights=weights[labels == j]) for j in range(5)]
    np.testing.assert_allclose(run.centers, means, rtol=1e-9)
    assert run.settled


def test_all_rows_are_coarse_where_there_are_few() -> None:
    X = rows(200)
    few = learn_from_coarse("me", ArraySource(X), 4, rng(), n_init=2, n_coarse=200)
    assert few.recorder.n_init == 2
    many = learn_from_coarse("me", ArraySource(X), 4, rng(), n_init=2, n_coarse=199)
    assert many.recorder.n_init == 1


def test_restarts_help() -> None:
    X = rows()

    def sse(n_init: int) -> float:
        found = (
            learn_from_coarse("me", ArraySource(X), 27, rng(s), n_init=n_init, n_coarse=500)
            for s in range(5)
        )
        return sum(run.inertia for run in found)

    assert sse(8) < sse(1)


def test_rows_are_drawn_as_often_as_their_weight_says() -> None:
    weights = np.array([0.0, 1, 2, 0, 5, 0])
    for seed in range(20):
        drawn = draw_by_weight(ArraySource(np.zeros((6, 1)), weights), 80, rng(seed))
        times = np.bincount(drawn, minlength=6)
        np.testing.assert_allclose(times, 10 * weights, atol=1)
        assert times[weights == 0].sum() == 0
    assert draw_by_weight(ArraySource(np.zeros((9, 1))), 3, rng()).tolist() in (
        [0, 3, 6], [1, 4, 7], [2, 5, 8],
    )  # fmt: skip


def test_ties_go_to_the_lower_codeword() -> None:
    found = nearest_codewords("me", np.array([[1.0], [3.0]]), np.array([[0.0], [2.0], [4.0]]), 1)
    assert found.tolist() == [0, 1]


def test_rows_that_have_no_distances_are_refused() -> None:
    bad = ArraySource(np.full((9, 2), np.nan))
    with pytest.raises(ValueError, match="me: "):
        learn_from_coarse("me", bad, 2, rng(), n_init=1, n_coarse=9)
