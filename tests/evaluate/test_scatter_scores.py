"""Scores by scatter. Covers coterie.evaluate._scatter and coterie.evaluate._davies_bouldin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as reference
from evaluate_twins import davies_bouldin_of, scatter_of
from hypothesis import given
from hypothesis import strategies as st

import coterie.evaluate as ev
from coterie import KMeans

SEEDS = st.integers(0, 10_000)


def drawn(seed: int) -> tuple[Any, Any]:
    """Some labelled rows with two clusters or more, fewer than rows."""
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 6))
    n_rows = int(rng.integers(2 * n_clusters, 60))
    labels = rng.permutation(np.r_[np.arange(n_clusters), rng.integers(0, n_clusters, n_rows)])
    return rng.normal(size=(labels.size, rng.integers(1, 6))) * 3 + labels[:, np.newaxis], labels


@given(SEEDS)
def test_scatter_is_that_of_the_definition(seed: int) -> None:
    X, labels = drawn(seed)
    found = ev.scatter_matrices(X, labels)
    within, between, total = scatter_of(X, labels)
    np.testing.assert_allclose(found.within, within, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.between, between, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.total, total, rtol=1e-10, atol=1e-10)
    assert found.trace_within == pytest.approx(np.trace(within))
    assert found.trace_between == pytest.approx(np.trace(between))
    assert found.det_within == pytest.approx(np.linalg.det(within))
    expected = np.trace(np.linalg.inv(within) @ between)
    assert found.trace_ratio == pytest.approx(expected, rel=1e-6)
    assert ev.sum_of_squared_errors(X, labels) == pytest.approx(np.trace(within))
    ratio = np.trace(between) / np.trace(within)
    assert ev.variance_ratio(X, labels) == pytest.approx(ratio, rel=1e-12)


@given(SEEDS, st.sampled_from([1e-3, 1.0, 1e4]))
def test_values_are_those_of_scikit_learn(seed: int, scale: float) -> None:
    X, labels = drawn(seed)
    X = X * scale
    for name in ("calinski_harabasz_score", "davies_bouldin_score"):
        expected = getattr(reference, name)(X, labels)
        assert getattr(ev, name)(X, labels) == pytest.approx(expected, rel=1e-10)


@given(SEEDS)
def test_davies_bouldin_with_an_offset(seed: int) -> None:
    # scikit-learn measures the centres in the expanded form, which loses digits here.
    X, labels = drawn(seed)
    found = ev.davies_bouldin_score(X + 1e6, labels)
    assert found == pytest.approx(davies_bouldin_of(X + 1e6, labels), rel=1e-7)


SCORES = ["calinski_harabasz_score", "davies_bouldin_score", "variance_ratio",
          "sum_of_squared_errors"]  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
@given(seed=SEEDS)
def test_weights_are_repeated_rows(name: str, seed: int) -> None:
    X, labels = drawn(seed)
    times = np.random.default_rng(seed).integers(1, 4, labels.size)
    score = getattr(ev, name)
    expected = score(np.repeat(X, times, axis=0), np.repeat(labels, times))
    assert score(X, labels, sample_weight=times) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", SCORES)
@given(seed=SEEDS)
def test_numbering_and_order_do_not_matter(name: str, seed: int) -> None:
    X, labels = drawn(seed)
    score = getattr(ev, name)
    expected = score(X, labels)
    words = np.array(list("hgfedcba"))[labels]
    order = np.random.default_rng(seed).permutation(labels.size)
    assert score(X[order], words[order]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", SCORES)
def test_noise(name: str) -> None:
    X, labels = drawn(3)
    labels = labels - 1
    score = getattr(ev, name)
    kept = labels >= 0
    assert score(X, labels, noise="drop") == pytest.approx(score(X[kept], labels[kept]))
    alone = np.where(kept, labels, 10 + np.arange(labels.size))
    assert score(X, labels, noise="singletons") == pytest.approx(score(X, alone))


def test_edges() -> None:
    equal, halves = np.ones((10, 2)), [0] * 5 + [1] * 5
    assert ev.davies_bouldin_score(equal, halves) == 0
    assert ev.calinski_harabasz_score(equal, halves) == 1
    points = [[0.0], [0.0], [1.0], [1.0]]
    assert ev.calinski_harabasz_score(points, [0, 0, 1, 1]) == 1  # as scikit-learn has it
    assert ev.variance_ratio(points, [0, 0, 1, 1]) == np.inf
    assert ev.davies_bouldin_score(points, [0, 0, 1, 1]) == 0
    # Two clusters with one mean are the worst case, where scikit-learn gives its best score.
    assert ev.davies_bouldin_score([[-1.0], [1.0], [-1.0], [1.0]], [0, 0, 1, 1]) == np.inf
    tiny = 1e-12 * np.array([[0.0], [1.0], [8.0], [9.0]])
    assert ev.davies_bouldin_score(tiny, [0, 0, 1, 1]) == pytest.approx(0.125)


def test_given_centres() -> None:
    X, labels = drawn(5)
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    found = ev.sum_of_squared_errors(X, model.labels_, centers=model.cluster_centers_)
    assert found == pytest.approx(model.inertia_, rel=1e-12)
    with pytest.raises(ValueError, match="one centre a label"):
        ev.sum_of_squared_errors(X, labels, centers=[[0.0]])


def test_a_singular_scatter_is_told() -> None:
    X, labels = drawn(6)
    found = ev.scatter_matrices(np.column_stack([X, labels]), labels)
    with pytest.raises(ValueError, match="S_W has rank"):
        _ = found.trace_ratio


def test_squares_that_overflow_are_told() -> None:
    X, labels = drawn(6)
    with pytest.raises(ValueError, match="scatter_matrices: squared distances"):
        ev.scatter_matrices(X * 1e200, labels)


def test_many_centres_in_tiles() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(1500, 2)), np.r_[np.arange(600), rng.integers(0, 600, 900)]
    expected = davies_bouldin_of(X, labels)
    assert ev.davies_bouldin_score(X, labels) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "score", [ev.calinski_harabasz_score, ev.variance_ratio, ev.davies_bouldin_score]
)
def test_squares_that_vanish_are_told(score: Any) -> None:
    rows, labels = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3
    whole = score(rows, labels)
    tiny, least = 2.0**-400, 2.0**-600
    assert score(rows * tiny, labels) == pytest.approx(whole, rel=1e-12)
    assert score(rows, labels, sample_weight=np.full(40, 2.0)) == pytest.approx(
        score(np.tile(rows, (2, 1)), np.tile(labels, 2)), rel=1e-12
    )
    with pytest.raises(ValueError, match=f"^{score.__name__}: .* underflow float64; multiply X"):
        score(rows * least, labels)
    # Rows that do not differ have no squares either, at any scale.
    alike = np.full((40, 3), 3.0)
    assert score(alike * least, labels) == score(alike, labels)
