"""Metrics near the limits of float64: distances that are numbers, or what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie import linkage
from coterie.distance import pairwise
from coterie.neighbors import knn

LARGEST = np.random.default_rng(0).choice([-1.7e308, 0, 1.7e308], (9, 3))
USUAL = np.random.default_rng(1).normal(size=(9, 3))


@pytest.mark.parametrize("metric", ["canberra", "braycurtis"])
def test_ratios_are_those_of_smaller_rows(metric: str) -> None:
    X = np.random.default_rng(2).choice([-1.7, -1.5, 0.3, 1.0, 1.7], (20, 3))
    scaled = X * 2.0**1023
    np.testing.assert_array_equal(pairwise(scaled, metric=metric), pairwise(X, metric=metric))
    np.testing.assert_array_equal(
        pairwise(scaled[:5], scaled, metric=metric), pairwise(X[:5], X, metric=metric)
    )


def test_canberra_counts_small_columns_beside_huge_ones() -> None:
    X = np.array([[1.7e308, 1e-300], [-1.7e308, 3e-300], [1.7e308, 5e-324]])
    assert pairwise(X, metric="canberra")[0].tolist() == [0.0, 1.5, 1.0]


def test_braycurtis_beyond_all_numbers_is_infinite() -> None:
    # Rows to compare with that the metric was not made for.
    found = pairwise(np.array([[1.0, 2.0]]), np.array([[1.7e308, -1.7e308]]), metric="braycurtis")
    assert found.tolist() == [[np.inf]]


@pytest.mark.parametrize("ask", [pairwise, lambda X, metric: knn(X, 2, metric=metric)])
@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("seuclidean", "the variance of each column.*divide it by a constant"),
        ("mahalanobis", "squares overflow float64; divide X by a constant"),
        ("gower", "the range of each column.*column 0 overflows"),
    ],
)
def test_what_cannot_be_learned_is_refused(ask: Any, metric: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ask(LARGEST, metric=metric)


@pytest.mark.parametrize(
    ("metric", "given"), [("seuclidean", {"V": [1e-4] * 3}), ("mahalanobis", {"VI": np.eye(3) * 9})]
)
def test_rows_beyond_the_units_of_a_metric_are_refused(metric: str, given: Any) -> None:
    with pytest.raises(ValueError, match=f"in the units of metric='{metric}'.*scale X down"):
        pairwise(LARGEST, metric=metric, **given)


@pytest.mark.parametrize("n_rows", [1, 9])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_gower_refuses_infinite_cells(infinite: float, n_rows: int) -> None:
    X = USUAL[:n_rows].copy()
    X[-1, 1] = infinite
    for ask in (pairwise, lambda X, metric: linkage(X, "average", metric=metric)):
        with pytest.raises(ValueError, match=f"column 1 contains infinity in row {n_rows - 1};"):
            ask(X, metric="gower")
