"""Scores by sums over rows that Dask has, which stay there, and over a million rows of a file."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd

import coterie.evaluate as ev
from clusters import in_force, small_cluster
from coterie import KMeans
from coterie.data import as_source
from coterie.evaluate._passes import packed, unpacked
from streams import Stream

rng = np.random.default_rng(0)
LABELS = rng.integers(-1, 5, 3000)
X = rng.uniform(-8, 8, size=(6, 3))[LABELS] + rng.normal(size=(3000, 3)) + 20
WEIGHTS = rng.integers(0, 4, 3000) * 0.5
#: Rows of each chunk: one of them empty, one a single row.
CUTS = (700, 0, 1, 2299)

#: Every score whose formula is sums over rows.
BY_SUMS: dict[str, Callable[..., Any]] = {
    "sse": ev.sum_of_squared_errors,
    "sse about given centres": lambda *a, **k: ev.sum_of_squared_errors(
        *a, centers=np.ones((5, 3)), **k
    ),
    "scatter within": lambda *a, **k: ev.scatter_matrices(*a, **k).within,
    "scatter between": lambda *a, **k: ev.scatter_matrices(*a, **k).between,
    "variance ratio": ev.variance_ratio,
    "calinski-harabasz": ev.calinski_harabasz_score,
    "davies-bouldin": ev.davies_bouldin_score,
    "squares": lambda *a, **k: ev.silhouette_score(*a, metric="sqeuclidean", **k),
    "cosine": lambda *a, **k: ev.silhouette_score(*a, metric="cosine", **k),
    "correlation": lambda *a, **k: ev.silhouette_score(*a, metric="correlation", **k),
    "centres": ev.simplified_silhouette_score,
    "centres, by columns": lambda *a, **k: ev.simplified_silhouette_score(
        *a, metric="manhattan", **k
    ),
    "dunn by means": lambda *a, **k: ev.dunn_score(
        *a, between="to_centroid", within="centroid", **k
    ),
}
BY_ROWS: dict[str, Callable[..., Any]] = {
    "squares": lambda *a, **k: ev.silhouette_samples(*a, metric="sqeuclidean", **k),
    "centres": ev.simplified_silhouette_samples,
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with small_cluster() as client:
        yield client


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each scheduler in turn is the one in force."""
    with in_force(request) as name:
        yield name


@pytest.fixture
def came_back(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of everything that a pass has brought here."""
    from coterie.data import dask as module

    sizes: list[int] = []
    compute = module.computed

    def counting(graph: Any, keys: list[Any]) -> list[Any]:
        found = compute(graph, keys)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(module, "computed", counting)
    return sizes


def lazy() -> Any:
    return da.from_array(X, chunks=(CUTS, (2, 1)))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", BY_SUMS)
def test_rows_stay_where_they_are(
    scheduler: str, came_back: list[int], name: str, weighted: bool
) -> None:
    score, options = (
        BY_SUMS[name],
        {"noise": "drop", "sample_weight": WEIGHTS if weighted else None},
    )
    wanted = score(X, LABELS, **options)
    found = score(lazy(), LABELS, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
    assert came_back
    assert sum(came_back) < 4000  # all rows are 72000 bytes


@pytest.mark.parametrize("name", BY_ROWS)
def test_a_number_a_row_is_all_that_comes_back(
    scheduler: str, came_back: list[int], name: str
) -> None:
    wanted = BY_ROWS[name](X, LABELS, noise="drop")
    found = BY_ROWS[name](lazy(), LABELS, noise="drop")
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)
    assert np.isnan(found).any()
    assert sum(came_back) < 8 * 3000 + 4000


def test_labels_and_weights_may_be_with_dask_too(scheduler: str) -> None:
    labels, weights = da.from_array(LABELS, chunks=640), da.from_array(WEIGHTS, chunks=999)
    for name in ("davies-bouldin", "squares", "centres"):
        wanted = BY_SUMS[name](X, LABELS, sample_weight=WEIGHTS)
        found = BY_SUMS[name](lazy(), labels, sample_weight=weights)
        assert found == pytest.approx(wanted, rel=1e-11)
    words = np.array(list("abcdef"))[LABELS]
    found = ev.davies_bouldin_score(lazy(), da.from_array(words, chunks=500))
    assert found == pytest.approx(ev.davies_bouldin_score(X, LABELS), rel=1e-11)


def test_what_a_fit_leaves_can_be_scored(scheduler: str) -> None:
    rows = lazy()
    model = KMeans(4, init=X[:4]).fit(rows)
    found = ev.sum_of_squared_errors(rows, model.labels_, centers=model.cluster_centers_)
    assert found == pytest.approx(model.inertia_, rel=1e-9)


def test_a_sample_and_medoids_are_compared_with_rows_where_they_are(
    scheduler: str, came_back: list[int]
) -> None:
    for options in ({}, {"sample_weight": WEIGHTS}):
        wanted = ev.sampled_silhouette_score(
            X, LABELS, sample_size=50, random_state=0, noise="drop", **options
        )
        found = ev.sampled_silhouette_score(
            lazy(), LABELS, sample_size=50, random_state=0, noise="drop", **options
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-11)
        wanted_by_medoids = ev.medoid_silhouette_score(X, [3, 5, 8], **options)
        found_by_medoids = ev.medoid_silhouette_score(lazy(), [3, 5, 8], **options)
        assert found_by_medoids == pytest.approx(wanted_by_medoids, rel=1e-11)
    assert sum(came_back) < 2 * 10_000


def test_frames_of_unknown_lengths(scheduler: str) -> None:
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=5)
    frame = frame[frame.a > -1e9]
    wanted = ev.davies_bouldin_score(X, LABELS)
    assert ev.davies_bouldin_score(frame, LABELS) == pytest.approx(wanted, rel=1e-11)


def test_the_metric_of_rows_that_are_needed_whole(scheduler: str) -> None:
    some = slice(0, 300)
    rows = da.from_array(X[some], chunks=(100, 3))
    wanted = ev.silhouette_score(X[some], LABELS[some])
    assert ev.silhouette_score(rows, LABELS[some]) == pytest.approx(wanted, rel=1e-12)


def test_complaints_are_those_of_rows_in_memory(scheduler: str) -> None:
    bad = X.copy()
    bad[2500, 2] = np.nan
    rows = da.from_array(bad, chunks=(1000, 3))
    with pytest.raises(ValueError, match=r"davies_bouldin_score: .*NaN in column .*\(row 2500\)"):
        ev.davies_bouldin_score(rows, LABELS)
    with pytest.raises(ValueError, match=r"silhouette_score: .*NaN in column .*\(row 2500\)"):
        ev.silhouette_score(rows, LABELS, metric="cosine")
    for n_labels in (2999, 3001):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            ev.davies_bouldin_score(lazy(), np.arange(n_labels) % 3)
    with pytest.raises(ValueError, match="overflow float64; divide X by a constant"):
        ev.davies_bouldin_score(lazy() * 1e200, LABELS)


def test_no_rows_at_all() -> None:
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[0, 4\]"):
        ev.davies_bouldin_score(Stream(np.zeros((0, 2))), [0, 0, 1, 1])


def test_weights_of_a_dask_source_count() -> None:
    with dask.config.set(scheduler="synchronous"):
        source = as_source(lazy(), WEIGHTS)
        for name in ("davies-bouldin", "squares", "centres"):
            wanted = BY_SUMS[name](X, LABELS, sample_weight=WEIGHTS)
            assert BY_SUMS[name](source, LABELS) == pytest.approx(wanted, rel=1e-11)


def test_weights_of_a_source_count_in_means() -> None:
    for score in (ev.silhouette_score, ev.simplified_silhouette_score):
        wanted = score(X[:400], LABELS[:400], sample_weight=WEIGHTS[:400])
        found = score(Stream(X[:400], weights=WEIGHTS[:400]), LABELS[:400])
        assert found == pytest.approx(wanted, rel=1e-12)


def test_codes_travel_as_weights_do() -> None:
    codes = np.array([3, -1, 0], dtype=np.int32)
    for weights in (None, np.array([0.5, 1.0, 2.0])):
        found, found_weights = unpacked(packed(codes, weights))
        np.testing.assert_array_equal(found, codes)
        assert found.dtype == np.int32
        if weights is None:
            assert found_weights is None
        else:
            np.testing.assert_array_equal(found_weights, weights)


def test_a_million_rows_of_a_file(tmp_path: Path) -> None:
    n_rows, k = 1_000_000, 7
    draws = np.random.default_rng(1)
    labels = draws.integers(0, k, n_rows).astype(np.int8)
    middles = draws.normal(size=(k, 4)) * 4
    rows = (middles[labels] + draws.normal(size=(n_rows, 4))).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    path, wide = tmp_path / "rows.npy", rows.astype(np.float64)
    means = np.stack([wide[labels == c].mean(axis=0) for c in range(k)])
    squares = np.square(wide - means[labels]).sum(axis=1)
    assert ev.sum_of_squared_errors(path, labels) == pytest.approx(squares.sum(), rel=1e-10)
    sizes = np.bincount(labels)
    reach = np.bincount(labels, np.sqrt(squares)) / sizes
    apart = np.linalg.norm(means[:, np.newaxis] - means, axis=2)
    with np.errstate(divide="ignore"):
        alike = (reach[:, np.newaxis] + reach) / apart
    np.fill_diagonal(alike, 0)
    assert ev.davies_bouldin_score(path, labels) == pytest.approx(alike.max(axis=1).mean())
    for name in ("calinski-harabasz", "squares", "centres", "scatter within"):
        score = BY_SUMS[name]  # the same bits, wherever the rows are
        np.testing.assert_array_equal(score(path, labels), score(rows, labels))
