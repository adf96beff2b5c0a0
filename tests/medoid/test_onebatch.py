"""OneBatchPAM: a weighted sample that stands for all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie import KMedoids
from coterie.distance import as_metric, pairwise
from coterie.medoid._onebatch import batch_size, draw_batch
from coterie.medoid._pairs import GivenPairs, MeasuredPairs


def rows(n: int = 2000, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) + 4 * rng.standard_normal((8, 3))[rng.integers(0, 8, n)]


def test_the_batch_has_the_size_of_the_paper() -> None:
    assert batch_size(10**6, 3) == np.ceil(100 * np.log(3e6))
    assert batch_size(10**6, 50) == 3200
    assert batch_size(10**6, 50, 70) == 70
    assert batch_size(10**6, 50, 7) == 50
    assert batch_size(40, 3) == 40


@pytest.mark.parametrize("weighted", [False, True])
def test_each_sampled_row_weighs_as_much_as_those_it_is_nearest_to(weighted: bool) -> None:
    X = rows(500)
    weights = np.arange(500.0) % 3 if weighted else None
    allowed = None if weights is None else weights > 0
    D = pairwise(X)
    found = []
    for pairs in (
        GivenPairs("test", 2, D),
        MeasuredPairs("test", 2, X, as_metric("euclidean")),
    ):
        batch = draw_batch(pairs, weights, allowed, 60, np.random.RandomState(0))
        owners = D[:, batch.rows].argmin(axis=1)
        np.testing.assert_array_equal(batch.weights, np.bincount(owners, weights, 60))
        assert np.unique(batch.rows).size == 60
        assert weights is None or (weights[batch.rows] > 0).all()
        found.append(batch.rows.tolist())
    assert found[0] == found[1]


def test_labels_and_cost_are_exact_for_all_rows() -> None:
    X = rows()
    model = KMedoids(8, method="onebatch", batch_size=100, random_state=0).fit(X)
    D = pairwise(X, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.labels_, D.argmin(axis=1))
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum())
    assert not model.swap_optimal_
    assert [event["what"] for event in model.events_] == ["approximate"]
    assert "100 sampled rows that stand for all 2000" in model.events_[0]["detail"]


def test_it_comes_close_to_all_distances() -> None:
    X = rows(4000)
    exact = KMedoids(8, method="fasterpam").fit(X).inertia_
    close = [KMedoids(8, method="onebatch", random_state=seed).fit(X).inertia_ for seed in range(5)]
    assert max(close) < 1.02 * exact


def test_a_sample_of_all_rows_is_the_exact_search() -> None:
    X = rows(150)
    exact = KMedoids(4, method="fasterpam").fit(X)
    model = KMedoids(4, method="onebatch", batch_size=150, random_state=0).fit(X)
    assert model.medoid_indices_.tolist() == exact.medoid_indices_.tolist()
    assert model.swap_optimal_
    assert model.events_ == []


def test_a_batch_is_never_smaller_than_the_clusters() -> None:
    model = KMedoids(20, method="onebatch", batch_size=3, init="random", random_state=0)
    model.fit(rows(200))
    assert np.unique(model.medoid_indices_).size == 20
