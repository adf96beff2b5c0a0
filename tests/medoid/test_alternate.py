"""Voronoi iteration against the plain loop."""

from __future__ import annotations

from typing import Any

import medoid_twins
import numpy as np
import pytest

from coterie import KMedoids
from coterie._history import Recorder
from coterie.distance import pairwise
from coterie.medoid._alternate import alternate
from coterie.medoid._pairs import GivenPairs


def run(D: Any, start: Any, weights: Any = None, max_iter: int = 100) -> Any:
    pairs, recorder = GivenPairs("test", 2, D), Recorder()
    allowed = None if weights is None else weights > 0
    search = pairs.search(weights, allowed)
    start = np.asarray(start, dtype=np.int64)
    found = alternate(pairs, search, start, weights, max_iter=max_iter, recorder=recorder)
    return found, recorder.history


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 150))
    D = pairwise(rng.standard_normal((n, 2)))
    start = rng.choice(n, 4, replace=False)
    found, history = run(D, start)
    assert found.medoids.tolist() == medoid_twins.alternate(D, start)
    assert found.settled
    assert not found.swap_optimal
    costs = [entry[key] for entry in history for key in ("objective_assign", "objective_update")]
    assert (np.diff(costs) <= 1e-12).all()
    assert costs[-1] == found.total == pytest.approx(medoid_twins.total_deviation(D, found.medoids))


def test_it_stops_after_max_iter() -> None:
    D = pairwise(np.random.default_rng(0).standard_normal((300, 2)))
    found, _ = run(D, [0, 1, 2, 3], max_iter=1)
    assert found.n_iter == 1
    assert not found.settled


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(2)
    X, weights = rng.standard_normal((50, 2)), rng.integers(0, 4, 50)
    weights[:3] = 1
    model = KMedoids(3, method="alternate", init=X[:3]).fit(X, sample_weight=weights)
    again = KMedoids(3, method="alternate", init=X[:3]).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    assert model.inertia_ == pytest.approx(again.inertia_)


def test_swaps_find_better_optima() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((40, 2)) + center for center in 6 * rng.random((12, 2)) * 3])
    gaps = []
    for seed in range(5):
        asked = {"init": "random", "random_state": seed}
        stuck = KMedoids(12, method="alternate", **asked).fit(X).inertia_
        gaps.append(stuck / KMedoids(12, method="fasterpam", **asked).fit(X).inertia_)
    assert min(gaps) > 1
    assert np.mean(gaps) > 1.02
