"""Distances given, kept or measured anew: the same results, and no surprise memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coterie
from coterie import KMedoids
from coterie.distance import as_metric, pairwise
from coterie.errors import AdviceWarning
from coterie.medoid import _pairs
from coterie.medoid._pairs import GivenPairs, MeasuredPairs


def rows(n: int = 400, d: int = 4) -> Any:
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate", "onebatch"])
def test_what_is_kept_changes_no_bit(
    monkeypatch: pytest.MonkeyPatch, dtype: type, method: str
) -> None:
    X = rows().astype(dtype)
    model = KMedoids(6, method=method, random_state=0, batch_size=90)
    kept = model.fit(X).history_
    medoids = model.medoid_indices_
    monkeypatch.setattr(_pairs, "KEPT_BYTES", 0)
    again = model.fit(X).history_
    np.testing.assert_array_equal(model.medoid_indices_, medoids)
    assert [entry["objective_update"] for entry in again] == [
        entry["objective_update"] for entry in kept
    ]


def test_kept_distances_respect_the_option_of_memory() -> None:
    assert _pairs._may_be_kept((1000, 1000), np.float32)
    assert not _pairs._may_be_kept((20_000, 20_000), np.float32)
    with coterie.options(max_memory=1_000_000):
        assert not _pairs._may_be_kept((1000, 1000), np.float32)


def test_given_distances_are_not_copied() -> None:
    D = pairwise(rows()).astype(np.float32)
    D.flags.writeable = False
    pairs = GivenPairs("test", 1, D)
    assert np.shares_memory(pairs.matrix, D)
    model = KMedoids(3, metric="precomputed").fit(D)
    assert model._given_square(D) is D
    assert model.transform(D).dtype == np.float32


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_of_given_distances_does_not_matter(order: Any) -> None:
    D = np.asarray(pairwise(rows()), order=order)
    expected = KMedoids(5, metric="precomputed").fit(np.ascontiguousarray(D))
    model = KMedoids(5, metric="precomputed").fit(D)
    assert model.history_[-1]["objective_update"] == expected.history_[-1]["objective_update"]
    every_other = KMedoids(5, metric="precomputed").fit(D[::2, ::2])
    again = KMedoids(5, metric="precomputed").fit(D[::2, ::2].copy())
    np.testing.assert_array_equal(every_other.medoid_indices_, again.medoid_indices_)


def test_what_an_exact_search_may_cost() -> None:
    euclidean = as_metric("euclidean")

    def affordable(n: int, d: int, metric: Any = euclidean) -> bool:
        seen = np.broadcast_to(np.float32(0), (n, d))
        return MeasuredPairs("test", 1, seen, metric).affordable

    assert affordable(79_000, 16)
    assert not affordable(80_000, 16)
    assert affordable(100_000, 2)
    called = as_metric(lambda x, y: 0.0)
    assert affordable(11_180, 16, called)
    assert not affordable(11_181, 16, called)


def test_auto_says_when_it_is_approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows(3000)
    assert KMedoids(3).fit(X).method_ == "fasterpam"
    monkeypatch.setattr(_pairs, "MOST_WORK", 1000)
    with pytest.warns(AdviceWarning, match=r"^KMedoids: the medoids are approximate: they") as told:
        model = KMedoids(3, random_state=0).fit(X)
    assert told[0].filename == __file__
    assert model.method_ == "onebatch"
    assert model.events_[0]["what"] == "approximate"
    assert KMedoids(3, metric="precomputed").fit(pairwise(X)).method_ == "fasterpam"


def test_a_function_of_two_rows() -> None:
    X = rows(40)
    model = KMedoids(4, metric=lambda x, y: float(np.abs(x - y).sum())).fit(X)
    expected = KMedoids(4, metric="manhattan").fit(X)
    np.testing.assert_array_equal(model.medoid_indices_, expected.medoid_indices_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    for wrong in (-1.0, np.nan):
        with pytest.raises(ValueError, match=r"^KMedoids: metric='<lambda>' gave the distance "):
            KMedoids(4, metric=lambda x, y, wrong=wrong: wrong).fit(X)
    with coterie.options(max_memory=10_000), pytest.raises(MemoryError, match=r"1600 distances"):
        KMedoids(4, metric=lambda x, y: 0.0).fit(X)
