"""Searches and trees end for any bits in the rows, also for bits that change meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from apart import outcomes
from coterie.neighbors import knn, kth_distances, spanning_tree, within

SETUP = """
import threading, time, warnings
import numpy as np
import coterie
from coterie._kernels import kernels
from coterie.neighbors import count_within, knn, kth_distances, spanning_tree, within
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
EUCLIDEAN = ("euclidean", 2.0, None, None)

def strange(n, d, share):
    X = rng.normal(size=(n, d))
    for bits in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324):
        X[rng.random((n, d)) < share / 6] = bits
    return X

def edges(X, by_tree, cores=None):
    n = len(X)
    heads, tails, lengths = np.empty(n - 1, np.int32), np.empty(n - 1, np.int32), np.empty(n - 1)
    kernels.Index(X, EUCLIDEAN, by_tree, 2).spanning_tree(cores, heads, tails, lengths, 2)
    assert (0 <= heads).all() and (heads < tails).all() and (tails < n).all()
    coterie.neighbors.merge_tree(heads, tails, lengths)

def nearest(X, by_tree):
    lengths, ids = np.empty((len(X), 3)), np.empty((len(X), 3), np.int64)
    kernels.Index(X, EUCLIDEAN, by_tree, 2).knn(None, lengths, ids, 2)
    assert (0 <= ids).all() and (ids < len(X)).all()

def scribbled(X, work, seconds=1.5):
    stop = False
    def scribble():
        junk = [strange(*X.shape, share) for share in (0, 0.01, 1)] if X.ndim == 2 else [
            strange(len(X), 1, share)[:, 0] for share in (0, 0.01, 1)]
        while not stop:
            for other in junk:
                X[...] = other if X.min() < 0 else np.abs(other)
    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                work(X)
            except (ValueError, FloatingPointError, IndexError, MemoryError):
                pass
    finally:
        stop = True
        thread.join()
"""


@pytest.mark.parametrize("share", [0.001, 0.3, 1.0])
def test_kernels_end_for_any_bits(share: float) -> None:
    cases = {
        f"{what}, {road}, {d} columns": f"{what}(strange(5000, {d}, {share}), {road})"
        for what in ("edges", "nearest")
        for road in (True, False)
        for d in (1, 2, 3, 7)
    }
    cases |= {
        "all NaN": "edges(np.full((5000, 2), np.nan), True)",
        "all NaN by Prim": "edges(np.full((500, 2), np.nan), False)",
        "cores NaN": "edges(strange(5000, 2, 0.1), True, np.full(5000, np.nan))",
    }
    for method in ("single", "complete", "average", "weighted", "ward", "centroid", "median"):
        cases[f"link_triangle, {method}"] = (
            f"T = np.abs(strange(300 * 299 // 2, 1, {share})[:, 0]);"
            f"kernels.link_triangle({method!r}, T, 1.0, np.empty((299, 4)), 2)"
        )
    for method in ("ward", "centroid", "median"):
        cases[f"link_vectors, {method}"] = (
            f"kernels.link_vectors({method!r}, strange(500, 4, {share}), None, np.zeros(4), 1.0,"
            "None, np.empty((499, 4)), 2)"
        )
    for d in (2, 5):
        for kernel in ("dbscan_grid", "dbscan_tiles"):
            cases[f"{kernel}, {d} columns"] = (
                f"kernels.{kernel}(strange(5000, {d}, {share}), None, 0.1, 5.0, 'first',"
                "np.empty(5000, np.int64), np.empty(5000, np.uint8), 2)"
            )
    for case, said in outcomes(cases, SETUP).items():
        assert said == "done", (case, said)


SCRIBBLED = {
    "knn": "knn(X, 3)",
    "kth_distances": "kth_distances(X, 3)",
    "count_within": "count_within(X, 0.5)",
    "within": "within(X, 0.5)",
    "within, by tiles": "within(X[:800], 0.5, method='brute')",
    "spanning_tree": "spanning_tree(X)",
    "spanning_tree, by Prim": "spanning_tree(X[:800], method='brute')",
    "DBSCAN on a grid": "coterie.DBSCAN(0.3).fit(X)",
    "DBSCAN on tiles": "coterie.DBSCAN(0.8).fit(np.lib.stride_tricks.as_strided("
    "X, (2000, 5), X.strides))",
    "DBSCAN, manhattan": "coterie.DBSCAN(0.3, metric='manhattan').fit(X)",
    "DBSCAN, auto": "coterie.DBSCAN('auto').fit(X)",
    "HDBSCAN": "coterie.HDBSCAN().fit(X)",
    "ward": "coterie.linkage(X, 'ward')",
    "median": "coterie.linkage(X[:800], 'median')",
    "average": "coterie.linkage(X[:800], 'average')",
    "KMeans": "coterie.KMeans(5, n_init=1, max_iter=5).fit(X)",
    "KMeans, bounds": "coterie.KMeans(5, n_init=1, max_iter=5, algorithm='hamerly').fit(X)",
}


def test_rows_that_another_thread_changes_end_in_any_labels() -> None:
    cases = {
        name: f"scribbled(rng.normal(size=(4000, 3)), lambda X: {work})"
        for name, work in SCRIBBLED.items()
    }
    for method in ("single", "complete", "average", "ward", "centroid"):
        cases[f"triangle, {method}"] = (
            "scribbled(np.abs(rng.normal(size=400 * 399 // 2)), lambda X:"
            f"coterie.linkage(X, {method!r}, overwrite=True))"
        )
    for case, said in outcomes(cases, SETUP).items():
        assert said == "done", (case, said)


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@pytest.mark.parametrize("scale", [1.7e308, 1e200, 1e-200, 1e-308])
def test_directions_of_rows_of_any_size(metric: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    plain = rng.choice([-1.0, -0.5, 0.25, 1.0], size=(300, 5))
    plain[0], plain[1] = 1, 0
    found = knn(plain * scale, 3, metric=metric)
    expected = knn(plain, 3, metric=metric)
    np.testing.assert_allclose(found.dists, expected.dists, atol=1e-7 if scale < 1e-300 else 1e-14)


def test_correlation_at_the_limit_of_float64() -> None:
    X = np.where(np.random.default_rng(0).random((300, 3)) < 0.5, 1.7e308, -1.7e308)
    X = X[np.ptp(X / 1e308, axis=1) > 0]
    found = knn(X, 3, metric="correlation")
    expected = np.sort(cdist(X / 1e308, X / 1e308, "correlation"), axis=1)[:, :3]
    np.testing.assert_allclose(found.dists, expected, atol=1e-12)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_numbers_of_neighbours_of_any_type(kind: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    np.testing.assert_array_equal(knn(X, kind(2)).ids, knn(X, 2).ids)
    np.testing.assert_array_equal(kth_distances(X, kind(2))[0], kth_distances(X, 2)[0])
    with pytest.raises(ValueError, match="use a whole number from 1"):
        knn(X, np.bool_(True))


@pytest.mark.parametrize("n_rows", [50, 500])
@pytest.mark.parametrize("metric", ["euclidean", "minkowski"])
def test_a_tree_of_huge_rows_is_that_of_rows(metric: str, n_rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    params = {"p": 3} if metric == "minkowski" else {}
    plain, huge = (spanning_tree(x, metric=metric, **params) for x in (X, X * 1e200))
    np.testing.assert_array_equal(huge.heads, plain.heads)
    np.testing.assert_allclose(huge.lengths, plain.lengths * 1e200)


@pytest.mark.parametrize("n_rows", [50, 500])
def test_a_tree_of_infinite_lengths_is_refused(n_rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(n_rows, 2)) * 1e200
    with pytest.raises(
        ValueError, match=r"^spanning_tree: metric=.sqeuclidean. gives .* not finite.*scale the"
    ):
        spanning_tree(X, metric="sqeuclidean")


def test_a_function_that_changes_its_mind_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="always gives the same distance"):
        within(np.zeros((9, 1)), 0.5, metric=lambda x, y: rng.random())


def test_neighbours_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 1_000_000)
    with pytest.raises(MemoryError, match="lower radius, or use count_within"):
        within(np.zeros((2000, 2)), 1.0)
