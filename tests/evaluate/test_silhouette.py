"""Exact silhouettes. Covers coterie.evaluate._squares and coterie.evaluate._lengths_by_cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn.metrics as reference
from evaluate_twins import lengths_of, silhouettes_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from test_scatter_scores import drawn

import coterie.evaluate as ev
from coterie.distance import pairwise
from coterie.evaluate import silhouette_score
from coterie.evaluate._silhouette import silhouette_scores
from streams import Stream

SEEDS = st.integers(0, 10_000)


@given(SEEDS)
def test_they_are_those_of_the_definition(seed: int) -> None:
    X, labels = drawn(seed)
    expected = silhouettes_of(lengths_of(X), labels)
    np.testing.assert_allclose(ev.silhouette_samples(X, labels), expected, atol=1e-12)
    assert ev.silhouette_score(X, labels) == pytest.approx(expected.mean(), abs=1e-12)
    np.testing.assert_allclose(reference.silhouette_samples(X, labels), expected, atol=1e-6)


METRICS: list[tuple[Any, dict[str, Any]]] = [
    ("euclidean", {}),
    ("manhattan", {}),
    ("chebyshev", {}),
    ("minkowski", {"p": 3}),
    ("canberra", {}),
    ("sqeuclidean", {}),
    ("cosine", {}),
    (lambda x, y: float(np.abs(x - y).sum()), {}),
]


@pytest.mark.parametrize(("metric", "params"), METRICS)
def test_values_are_those_of_scikit_learn(metric: Any, params: Any) -> None:
    X, labels = drawn(1)
    expected = reference.silhouette_samples(X, labels, metric=metric, **params)
    found = ev.silhouette_samples(X, labels, metric=metric, **params)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@given(SEEDS, st.sampled_from(["sqeuclidean", "cosine", "correlation"]))
def test_squares_need_no_pairs(seed: int, metric: str) -> None:
    X, labels = drawn(seed)
    X = np.column_stack([X, X[:, 0] ** 2, np.cos(X[:, 0])])
    expected = silhouettes_of(pairwise(X, metric=metric), labels)
    np.testing.assert_allclose(ev.silhouette_samples(X, labels, metric=metric), expected, atol=1e-9)
    np.testing.assert_array_equal(
        ev.silhouette_samples(Stream(X), labels, metric=metric),
        ev.silhouette_samples(X, labels, metric=metric),
    )


def test_squares_of_rows_with_an_offset() -> None:
    X, labels = drawn(2)
    expected = ev.silhouette_samples(X, labels, metric="sqeuclidean")
    found = ev.silhouette_samples(X + 1e6, labels, metric="sqeuclidean")
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_cols", [1, 2, 16, 70, 200])
def test_every_instruction_set(isa_kernels: Any, dtype: Any, n_cols: int) -> None:
    # Sizes around those of blocks, panels and groups, and clusters that end in the midst of one.
    rng = np.random.default_rng(n_cols)
    for n_rows, n_clusters in ((3, 2), (64, 3), (131, 130), (257, 2), (530, 7)):
        X = rng.normal(size=(n_rows, n_cols)).astype(dtype) + 50
        labels = np.sort(
            np.r_[np.arange(n_clusters), rng.integers(0, n_clusters, n_rows - n_clusters)]
        )
        order = rng.permutation(n_rows)
        place = np.argsort(order)
        starts = np.searchsorted(labels, np.arange(n_clusters + 1))
        weights = rng.random(n_rows)
        for given_weights in (None, weights):
            w = np.ones(n_rows) if given_weights is None else weights
            totals = np.bincount(labels, w)
            for metric, name in (("euclidean", "euclidean"), ("manhattan", "cityblock")):
                within, nearest = np.empty(n_rows), np.empty(n_rows)
                isa_kernels.silhouette_parts(
                    X[order], place, starts, totals, given_weights, (metric, 2.0, None, None),
                    within, nearest, 2,
                )  # fmt: skip
                rows = X.astype(np.float64)
                sums = np.add.reduceat(cdist(rows, rows, name) * w, starts[:-1], axis=1)
                here = np.arange(n_rows)
                exact = 2e-6 if dtype == np.float32 else 1e-12
                np.testing.assert_allclose(within, sums[here, labels], rtol=exact, atol=1e-12)
                means = sums / totals
                means[here, labels] = np.inf
                np.testing.assert_allclose(nearest, means.min(axis=1), rtol=exact)


def test_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(1000, 5)).astype(np.float32), rng.integers(0, 9, 1000)
    for metric in ("euclidean", "manhattan", "cosine"):
        found = [
            ev.silhouette_samples(X, labels, metric=metric, n_threads=threads).tobytes()
            for threads in (1, 2, 5)
        ]
        assert len(set(found)) == 1


def test_float32_keeps_its_digits() -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(400, 150)) + 1000).astype(np.float32)
    labels = rng.integers(0, 3, 400)
    expected = ev.silhouette_samples(X.astype(np.float64), labels)
    np.testing.assert_allclose(ev.silhouette_samples(X, labels), expected, atol=1e-6)
    for scale in (np.float32(1e30), np.float32(1e-30)):  # whose squares are beyond float32
        found = ev.silhouette_samples((X - 1000) * scale, labels)
        np.testing.assert_allclose(
            found, ev.silhouette_samples((X - 1000).astype(np.float64), labels), atol=1e-6
        )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "sqeuclidean", "precomputed"])
def test_weights_are_repeated_rows(metric: str) -> None:
    X, labels = drawn(7)
    times = np.random.default_rng(0).integers(0, 4, labels.size)
    many, named = np.repeat(X, times, axis=0), np.repeat(labels, times)
    rows, copies = (pairwise(X), pairwise(many)) if metric == "precomputed" else (X, many)
    expected = ev.silhouette_samples(copies, named, metric=metric)
    found = ev.silhouette_samples(rows, labels, metric=metric, sample_weight=times)
    np.testing.assert_allclose(np.repeat(found, times), expected, atol=1e-12)
    score = ev.silhouette_score(rows, labels, metric=metric, sample_weight=times)
    assert score == pytest.approx(expected.mean(), abs=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "precomputed"])
def test_noise(metric: str) -> None:
    X, labels = drawn(8)
    labels, kept = labels - 1, labels > 0
    D = pairwise(X)
    rows, some = (D, D[np.ix_(kept, kept)]) if metric == "precomputed" else (X, X[kept])
    found = ev.silhouette_samples(rows, labels, metric=metric, noise="drop")
    assert np.isnan(found[~kept]).all()
    expected = ev.silhouette_samples(some, labels[kept], metric=metric)
    np.testing.assert_allclose(found[kept], expected, atol=1e-12)
    score = ev.silhouette_score(rows, labels, metric=metric, noise="drop")
    assert score == pytest.approx(expected.mean())
    alone = np.where(kept, labels, 10 + np.arange(labels.size))
    np.testing.assert_allclose(
        ev.silhouette_samples(rows, labels, metric=metric, noise="singletons"),
        ev.silhouette_samples(rows, alone, metric=metric),
        atol=1e-12,
    )


def test_given_distances() -> None:
    X, labels = drawn(9)
    D = pairwise(X)
    expected = silhouettes_of(D, labels)
    for given_distances in (D, sp.csr_matrix(D), np.asfortranarray(D), pd.DataFrame(D)):
        found = ev.silhouette_samples(given_distances, labels, metric="precomputed")
        np.testing.assert_allclose(found, expected, atol=1e-12)
    whole = np.rint(10 * D).astype(np.int64)
    np.testing.assert_allclose(
        ev.silhouette_samples(whole, labels, metric="precomputed"),
        silhouettes_of(whole.astype(float), labels),
        atol=1e-12,
    )
    spoiled = D.copy()
    spoiled[2, 2] = 1
    with pytest.raises(ValueError, match="contains non-zero elements on the diagonal"):
        ev.silhouette_samples(spoiled, labels, metric="precomputed")
    with pytest.raises(ValueError, match="should be square"):
        ev.silhouette_samples(D[:-1], labels, metric="precomputed")
    with pytest.raises(ValueError, match="inconsistent numbers"):
        ev.silhouette_samples(D, labels[:-1], metric="precomputed")
    with pytest.raises(ValueError, match="Negative values"):
        ev.silhouette_samples(-D, labels, metric="precomputed")


def test_samples_of_scikit_learn() -> None:
    X, labels = drawn(10)
    for rows, metric in ((X, "euclidean"), (pd.DataFrame(X), "euclidean"),
                         (pairwise(X), "precomputed")):  # fmt: skip
        found, expected = (
            score(rows, labels, metric=metric, sample_size=20, random_state=3)
            for score in (ev.silhouette_score, reference.silhouette_score)
        )
        assert found == pytest.approx(expected, abs=1e-7)
    names = [f"x{column}" for column in range(len(X))]
    for rows, metric in ((X, "euclidean"), (pairwise(X), "precomputed")):
        options = {"metric": metric, "sample_size": 20, "random_state": 3}
        expected = ev.silhouette_score(rows, labels, **options)
        columns = dict(zip(names, rows.T, strict=False))
        kinds = (pd.DataFrame(columns), pa.table(columns), sp.coo_matrix(rows), rows.tolist())
        for table in kinds:
            assert ev.silhouette_score(table, labels, **options) == pytest.approx(expected)
    streamed = ev.silhouette_score(Stream(X), labels, sample_size=20, random_state=3)
    assert streamed == ev.silhouette_score(X, labels, sample_size=20, random_state=3)


def test_edges() -> None:
    assert ev.silhouette_samples([[0.0], [1.0], [5.0]], [0, 0, 1]).tolist() == [0.8, 0.75, 0.0]
    assert ev.silhouette_score(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]) == 0
    for labels in ([0, 0, 0], [0, 1, 2]):
        with pytest.raises(ValueError, match="Number of labels is"):
            ev.silhouette_score([[0.0], [1.0], [5.0]], labels)
    with pytest.raises(ValueError, match="metric='nothing' was given"):
        ev.silhouette_score([[0.0], [1.0], [5.0]], [0, 0, 1], metric="nothing")
    X, labels = drawn(11)
    np.testing.assert_allclose(
        ev.silhouette_samples(sp.csr_matrix(X), labels), ev.silhouette_samples(X, labels)
    )
    np.testing.assert_allclose(ev.silhouette_samples(Stream(X), labels),
                               ev.silhouette_samples(X, labels))  # fmt: skip


def test_several_labelings_at_once_have_the_bits_of_each() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    labelings = [rng.integers(-1, k, size=300) for k in (2, 3, 7)]
    calls = 0

    def furthest(one: np.ndarray, other: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        return float(np.abs(one - other).max())

    for noise in ("drop", "cluster", "singletons"):
        one_by_one = [silhouette_score(X, own, metric=furthest, noise=noise) for own in labelings]
        calls = 0
        assert silhouette_scores(X, labelings, metric=furthest, noise=noise) == one_by_one
        assert calls <= 300 * 300 + 300
    square = np.abs(X[:, np.newaxis] - X).max(axis=2)
    for metric, rows in (("precomputed", square), ("euclidean", X), ("manhattan", X)):
        found = silhouette_scores(rows, labelings, metric=metric, noise="drop")
        alone = [silhouette_score(rows, own, metric=metric, noise="drop") for own in labelings]
        assert found == alone
    assert silhouette_scores(X, [], metric=furthest) == []
