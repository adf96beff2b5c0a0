"""FasterPAM and PAM against loops that try every swap."""

from __future__ import annotations

import itertools
from typing import Any

import medoid_twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.distance import pairwise
from coterie.medoid._pairs import GivenPairs
from coterie.medoid._swap import fasterpam, pam

EUCLIDEAN = ("euclidean", 2.0, None, None, 1.0)


def rows(seed: int, n: int, d: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 3 * rng.standard_normal((5, d))[rng.integers(0, 5, n)]


def run(method: Any, D: Any, start: Any, weights: Any = None, **options: Any) -> Any:
    pairs = GivenPairs("test", 2, D)
    search = pairs.search(weights, None)
    recorder = Recorder(**options.pop("recorder", {}))
    start = np.asarray(start, dtype=np.int64)
    found = method(pairs, search, start, **{"max_iter": 100, **options}, recorder=recorder)
    return found, [entry["objective_update"] for entry in recorder.history], recorder


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", [fasterpam, pam])
def test_the_swaps_are_those_of_the_plain_loop(seed: int, method: Any) -> None:
    rng = np.random.default_rng(seed)
    n, n_clusters = int(rng.integers(10, 60)), int(rng.integers(2, 8))
    D = pairwise(rows(seed, n))
    weights = rng.integers(1, 5, n).astype(float) if seed % 2 else None
    start = rng.choice(n, n_clusters, replace=False)
    found, totals, _ = run(method, D, start, weights)
    medoids, expected = getattr(medoid_twins, method.__name__)(D, start, weights)
    assert found.medoids.tolist() == medoids
    assert totals[0] == pytest.approx(medoid_twins.total_deviation(D, start, weights))
    np.testing.assert_allclose(totals[1:], expected, rtol=1e-12)
    assert found.settled
    assert found.swap_optimal
    assert medoid_twins.is_swap_optimal(D, found.medoids, weights)


def measured(isa_kernels: Any, X: Any, start: Any, n_threads: int, kept: bool) -> Any:
    if kept:
        D = np.empty((len(X), len(X)), dtype=X.dtype)
        isa_kernels.fill_lengths(X, X, EUCLIDEAN, D, n_threads)
        search = isa_kernels.medoids_given(D, None, None)
    else:
        search = isa_kernels.medoids_measured(X, X, EUCLIDEAN, None, None)
    totals = [search.start(start, 0, 1, n_threads)]
    while not search.settled:
        totals += search.swap_eagerly(7, 10**9, n_threads)
    built = search.build(9, n_threads)
    return totals, search.medoids, built


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_on_every_instruction_set_and_any_number_of_threads(
    isa_kernels: Any, dtype: type
) -> None:
    X = rows(4, 1500, 5).astype(dtype)
    start = np.random.default_rng(0).choice(1500, 9, replace=False).tolist()
    expected = measured(kernels, X, start, 1, True)
    assert len(expected[0]) > 10
    for n_threads in (1, 2, 3):
        for kept in (True, False):
            assert measured(isa_kernels, X, start, n_threads, kept) == expected


@pytest.mark.parametrize("n_cols", [1, 2, 3, 7, 40, 700])
def test_measured_distances_are_the_kept_ones(n_cols: int) -> None:
    X = rows(n_cols, 333, n_cols)
    start = list(range(6))
    assert measured(kernels, X, start, 2, False) == measured(kernels, X, start, 2, True)


def test_it_can_be_left_and_gone_on_with() -> None:
    D = pairwise(rows(1, 200))
    whole = kernels.medoids_given(D, None, None)
    whole.start([0, 1, 2, 3], 0, 1, 2)
    totals = whole.swap_eagerly(10**9, 10**9, 2)
    parts = kernels.medoids_given(D, None, None)
    parts.start([0, 1, 2, 3], 0, 1, 2)
    found: list[float] = []
    while not parts.settled:
        found += parts.swap_eagerly(1, 37, 2)
    assert found == totals
    assert parts.medoids == whole.medoids
    assert parts.n_visited == whole.n_visited


def test_a_round_is_as_many_visits_as_there_are_rows() -> None:
    D = pairwise(rows(1, 200))
    found, totals, _ = run(fasterpam, D, [0, 1, 2, 3], max_iter=1)
    assert found.n_iter == 1
    assert not found.settled
    assert not found.swap_optimal
    assert len(totals) > 2


def test_a_callback_stops_after_the_swap_it_saw() -> None:
    D = pairwise(rows(1, 200))
    _, expected, _ = run(fasterpam, D, [0, 1, 2, 3])
    seen = []

    def callback(progress: Any) -> bool:
        seen.append((progress.iteration, progress.objective))
        return progress.iteration == 3

    found, totals, recorder = run(fasterpam, D, [0, 1, 2, 3], recorder={"callback": callback})
    assert recorder.stopped
    assert totals == expected[:4] == [objective for _, objective in seen]
    assert found.total == expected[3]
    assert not found.settled


def test_copies_of_rows_end_the_search() -> None:
    X = np.repeat(np.arange(4.0), 30)[:, np.newaxis] + 0.1
    found, totals, _ = run(fasterpam, pairwise(X), [0, 1, 2, 3])
    assert found.total == 0
    assert found.settled
    assert all(after < before for before, after in itertools.pairwise(totals))


def test_every_row_may_be_a_medoid() -> None:
    D = pairwise(rows(0, 12))
    for method in (fasterpam, pam):
        found, _, _ = run(method, D, np.arange(12))
        assert found.total == 0
        assert found.settled


def test_far_apart_scales_are_still_told_apart() -> None:
    # Removal losses are 1e12 times what a swap within the small cluster changes.
    near = np.random.default_rng(0).standard_normal((40, 1))
    X = np.vstack([near, near + 1e12])
    found, _, _ = run(fasterpam, pairwise(X), [0, 41])
    assert medoid_twins.is_swap_optimal(pairwise(X), found.medoids, rel=1e-3)


def test_rows_without_a_finite_distance_are_named() -> None:
    D = pairwise(rows(0, 10))
    D[7, [0, 1, 2]] = D[[0, 1, 2], 7] = np.inf
    with pytest.raises(ValueError, match=r"^test: row 7 has no finite distance to two of"):
        run(fasterpam, D, [0, 1, 2])


@given(st.data())
def test_totals_fall_and_are_those_of_the_medoids(data: Any) -> None:
    n = data.draw(st.integers(2, 25))
    n_clusters = data.draw(st.integers(2, n))
    cells = st.lists(st.integers(0, 6), min_size=n, max_size=n)  # ties and copies abound
    X = np.array([data.draw(cells), data.draw(cells)], dtype=float).T
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    D = pairwise(X, metric="manhattan").astype(data.draw(st.sampled_from([np.float32, np.float64])))
    start = data.draw(st.permutations(range(n)))[:n_clusters]
    for method in (fasterpam, pam):
        found, totals, _ = run(method, D, start, weights)
        assert len(set(found.medoids.tolist())) == n_clusters
        assert all(after < before for before, after in itertools.pairwise(totals))
        assert found.total == totals[-1]
        assert found.total == medoid_twins.total_deviation(D, found.medoids, weights)
        assert medoid_twins.is_swap_optimal(D, found.medoids, weights)


def test_the_kernels_refuse_what_is_out_of_range() -> None:
    search = kernels.medoids_given(np.zeros((4, 4)), None, None)
    with pytest.raises(ValueError, match="start must be called"):
        search.swap_eagerly(1, 1, 1)
    with pytest.raises(ValueError, match="a medoid must be a candidate"):
        search.start([0, 4], 0, 1, 1)
    with pytest.raises(ValueError, match="two medoids"):
        search.start([0], 0, 1, 1)
    with pytest.raises(ValueError, match="not so many candidates"):
        search.build(5, 1)
    with pytest.raises(ValueError, match="weights must have"):
        kernels.medoids_given(np.zeros((4, 4)), np.ones(3), None)
    with pytest.raises(ValueError, match="allowed must have"):
        kernels.medoids_given(np.zeros((4, 4)), None, np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match="labels must be clusters"):
        search.cluster_medoids(np.full(4, 2, np.int32), np.zeros(2, np.int64), 1)
