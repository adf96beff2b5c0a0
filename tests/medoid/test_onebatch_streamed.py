"""OneBatchPAM over rows that come by: the swaps of the same rows in memory, on every source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import KMedoids
from coterie.distance import pairwise
from coterie.errors import AdviceWarning
from coterie.medoid import _pairs
from streams import Stream


def blobs(n: int = 700, seed: int = 0, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(seed)
    centers = 3 * rng.standard_normal((6, 3))
    return (rng.standard_normal((n, 3)) + centers[rng.integers(0, 6, n)]).astype(dtype)


def assert_same(streamed: KMedoids, held: KMedoids) -> None:
    np.testing.assert_array_equal(streamed.medoid_indices_, held.medoid_indices_)
    np.testing.assert_array_equal(streamed.labels_, held.labels_)
    np.testing.assert_array_equal(streamed.cluster_centers_, held.cluster_centers_)
    assert streamed.inertia_ == pytest.approx(held.inertia_, rel=1e-12)
    assert streamed.n_iter_ == held.n_iter_
    assert streamed.swap_optimal_ == held.swap_optimal_
    totals = [[entry["objective_update"] for entry in model.history_] for model in (streamed, held)]
    np.testing.assert_array_equal(*totals)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev"])
@pytest.mark.parametrize("sizes", [(7, 0, 64, 1), (700,), (699, 1)])
def test_a_stream_is_the_rows_in_memory(sizes: Any, metric: str, dtype: Any) -> None:
    X = blobs(dtype=dtype)
    model = KMedoids(5, metric=metric, method="onebatch", batch_size=80, random_state=3)
    held = model.fit(X)
    streamed = KMedoids(**model.get_params()).fit(Stream(X, sizes))
    assert_same(streamed, held)
    assert len(held.history_) > 2  # or nothing was swapped
    np.testing.assert_array_equal(streamed.predict(X), streamed.labels_)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_rows_weights_and_cuts(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 60))
    seed = data.draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 2)).astype(float) + rng.choice([0.0, 0.3], (n, 1))
    weights = rng.integers(0, 3, n).astype(float) if data.draw(st.booleans()) else None
    n_possible = n if weights is None else int((weights > 0).sum())
    n_clusters = data.draw(st.integers(1, 6))
    if n_possible < n_clusters or np.unique(X, axis=0).shape[0] < 8:
        return
    model = KMedoids(
        n_clusters,
        method="onebatch",
        batch_size=data.draw(st.integers(1, n)),
        init=data.draw(st.sampled_from(["build", "k-medoids++", "random", "farthest-first"])),
        n_init=data.draw(st.integers(1, 2)),
        random_state=seed,
    )
    sizes = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=4))
    try:
        held = model.fit(X, sample_weight=weights)
    except Warning:  # of clusters without rows
        return
    streamed = KMedoids(**model.get_params()).fit(Stream(X, sizes), sample_weight=weights)
    assert_same(streamed, held)


def test_starts_that_are_given() -> None:
    X = blobs()
    rows = [3, 50, 170, 390]
    for init in (rows, X[rows], X[rows] + 1e-9):
        model = KMedoids(4, method="onebatch", init=init, batch_size=90, random_state=0)
        assert_same(KMedoids(**model.get_params()).fit(Stream(X)), model.fit(X))
    twice = KMedoids(2, method="onebatch", init=X[[3, 3]], max_iter=1, random_state=0)
    assert_same(KMedoids(**twice.get_params()).fit(Stream(X)), twice.fit(X))
    wrong = KMedoids(4, method="onebatch", init=np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"^KMedoids: init has shape \(4, 2\), and n_clusters=4"):
        wrong.fit(Stream(X))


def test_one_pass_for_each_round() -> None:
    X = blobs(2000)
    stream = Stream(X, (500,))
    model = KMedoids(5, method="onebatch", random_state=0).fit(stream)
    # The count of rows, the sample, its weights, the start, the rounds, the medoids, labels, total.
    assert stream.n_passes <= 7 + model.n_iter_ + 1


def test_files(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = blobs(3000)
    path = tmp_path / "rows.parquet"
    table = pa.table({f"x{column}": X[:, column] for column in range(3)})
    pq.write_table(table, path, row_group_size=400)
    model = KMedoids(6, method="onebatch", random_state=0).fit(path)
    held = KMedoids(6, method="onebatch", random_state=0).fit(X)
    assert_same(model, held)
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    D = pairwise(X, X[model.medoid_indices_])
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum())


def test_auto_streams_what_it_cannot_afford(monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(3000)
    few = KMedoids(3).fit(Stream(X))
    assert (few.method_, few.swap_optimal_) == ("fasterpam", True)
    monkeypatch.setattr(_pairs, "MOST_WORK", 1000)
    with pytest.warns(AdviceWarning, match=r"^KMedoids: the medoids are approximate: they") as told:
        model = KMedoids(3, random_state=0).fit(Stream(X))
    assert told[0].filename == __file__
    assert model.method_ == "onebatch"


def test_a_sample_of_all_rows_is_the_exact_search() -> None:
    X = blobs(120)
    model = KMedoids(4, method="onebatch", batch_size=120, random_state=0).fit(Stream(X))
    assert model.medoid_indices_.tolist() == KMedoids(4).fit(X).medoid_indices_.tolist()
    assert model.swap_optimal_
    assert model.events_ == []


def test_a_callback_stops_it() -> None:
    seen = []

    def stop(progress: Any) -> bool:
        seen.append(progress)
        return len(seen) == 3

    model = KMedoids(5, method="onebatch", init="random", random_state=0, callback=stop)
    model.fit(Stream(blobs()))
    assert len(model.history_) == len(seen) == 3
    np.testing.assert_array_equal(model.predict(blobs()), model.labels_)


def test_spoiled_rows_are_refused() -> None:
    X = blobs()
    X[333, 1] = np.nan
    model = KMedoids(3, method="onebatch", random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(Stream(X))
    X[333, 1] = 0
    with pytest.raises(ValueError, match=r"n_samples=700 should be >= n_clusters=701"):
        KMedoids(701, method="onebatch").fit(Stream(X))


def test_missing_cells_under_their_metric() -> None:
    X = blobs()
    X[::9, 1] = np.nan
    model = KMedoids(3, metric="nan_euclidean", method="onebatch", batch_size=99, random_state=0)
    assert_same(KMedoids(**model.get_params()).fit(Stream(X)), model.fit(X))
