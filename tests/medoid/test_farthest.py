"""Farthest-first traversal: the textbook's numbers, a naive twin, the bound, every source.

Covers coterie.centroid._farthest and coterie.medoid._traversal.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from coterie import KMeans, farthest_first
from coterie.data import ArraySource
from coterie.distance import METRICS, pairwise
from coterie.medoid._traversal import optimum_at_least
from streams import Stream

#: The eight points A1, ..., A8 of a course on k-means.
EIGHT = np.array([[2.0, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]])
#: Centres and covering radius of k=3 from every start, ties to the lower point.
FROM_EACH = {
    0: ([0, 2, 6], 3.605551275464),
    1: ([1, 2, 0], 3.605551275464),
    2: ([2, 0, 6], 3.605551275464),
    3: ([3, 6, 2], 3.605551275464),
    4: ([4, 0, 6], 3.605551275464),
    5: ([5, 0, 6], 3.605551275464),
    6: ([6, 0, 2], 3.605551275464),
    7: ([7, 6, 2], 3.162277660168),
}
BEST_RADIUS = 3.162277660168


def naive(lengths: Any, k: int, start: int) -> tuple[list[int], list[float]]:
    """The traversal as a loop over a table of distances."""
    taken, radii = [start], []
    while True:
        nearest = [
            0.0 if i in taken else min(row[taken])
            for i, row in enumerate(np.asarray(lengths, dtype=float))
        ]
        radii.append(max(nearest))
        if len(taken) == k:
            return taken, radii
        far = int(np.argmax(nearest))
        if nearest[far] == 0:
            far = min(set(range(len(nearest))) - set(taken))
        taken.append(far)


def best_radius(lengths: Any, k: int) -> float:
    """The smallest covering radius of k rows, by trying all."""
    return min(
        float(lengths[:, list(some)].min(axis=1).max())
        for some in itertools.combinations(range(len(lengths)), k)
    )


@pytest.mark.parametrize("start", FROM_EACH)
def test_eight_points_of_the_textbook(start: int) -> None:
    found = farthest_first(EIGHT, 3, start=start)
    indices, radius = FROM_EACH[start]
    assert found.indices.tolist() == indices
    assert found.radius == pytest.approx(radius, abs=1e-11)
    assert best_radius(pairwise(EIGHT), 3) == pytest.approx(BEST_RADIUS, abs=1e-11)
    assert found.lower_bound == found.radius / 2 <= BEST_RADIUS


@pytest.mark.parametrize("metric", [m for m in METRICS if m not in ("gower", "haversine")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_metric_against_the_loop(metric: str, dtype: type) -> None:
    X = np.random.default_rng(1).uniform(0.5, 3, size=(40, 5)).astype(dtype)
    if metric in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        X = (X > 1.7).astype(dtype)
    lengths = pairwise(X, metric=metric)
    found = farthest_first(X, 7, metric, start=3)
    indices, radii = naive(lengths, 7, 3)
    assert found.indices.tolist() == indices
    np.testing.assert_allclose(found.radii, radii, rtol=1e-12)
    np.testing.assert_array_equal(found.labels, lengths[:, found.indices].argmin(axis=1))


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_twice_the_best_radius_at_most(points: list[Any], k: int, random: Any) -> None:
    X = np.array(points, dtype=float)
    k, start = min(k, len(X)), random.randrange(len(X))
    for metric in ("euclidean", "manhattan", "sqeuclidean"):
        lengths = pairwise(X, metric=metric)
        found = farthest_first(X, k, metric, start=start)
        indices, radii = naive(lengths, k, start)
        assert found.indices.tolist() == indices
        np.testing.assert_allclose(found.radii, radii)
        assert (np.diff(found.radii) <= 0).all()
        best = best_radius(lengths, k)
        assert found.lower_bound is not None
        assert found.lower_bound <= best * (1 + 1e-12)
        factor = 4 if metric == "sqeuclidean" else 2
        assert found.radius <= factor * best * (1 + 1e-12)


def test_what_is_known_of_the_optimum() -> None:
    assert optimum_at_least("manhattan", 3.0) == 1.5
    assert optimum_at_least("cosine", 1.0) == 0.25
    assert optimum_at_least("braycurtis", 1.0) is None
    assert farthest_first(EIGHT, 3, lambda x, y: abs(x - y).sum(), start=0).lower_bound is None


def test_it_is_the_seeding_of_k_means() -> None:
    X = np.random.default_rng(2).standard_normal((300, 4))
    for seed in range(5):
        found = farthest_first(X, 9, random_state=seed)
        model = KMeans(9, init="farthest-first", n_init=1, max_iter=1, random_state=seed)
        started: list[Any] = []
        model.set_params(callback=lambda p, seen=started: seen.append(p.parameters) or True)
        model.fit(X)
        near = np.square(X[:, None] - X[found.indices]).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(found.labels, near)
        means = np.array([X[near == j].mean(axis=0) for j in range(9)])
        np.testing.assert_allclose(model.cluster_centers_, means)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_streams_take_the_rows_of_memory_in_a_pass_a_centre(metric: str) -> None:
    X = np.random.default_rng(3).standard_normal((200, 3))
    stream = Stream(X)
    found, whole = farthest_first(stream, 6, metric, start=5), farthest_first(X, 6, metric, start=5)
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_allclose(found.radii, whole.radii, rtol=1e-12)
    np.testing.assert_array_equal(found.labels, whole.labels)
    assert stream.n_passes <= 6 + 5  # a pass a centre, and some to look, to count and to label


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_sparse_rows(metric: str) -> None:
    X = sp.random(120, 30, 0.1, format="csr", random_state=0)
    found, dense = (farthest_first(rows, 8, metric, start=0) for rows in (X, X.toarray()))
    np.testing.assert_array_equal(found.indices, dense.indices)
    np.testing.assert_allclose(found.radii, dense.radii, rtol=1e-9)


def test_given_distances() -> None:
    lengths = pairwise(EIGHT)
    found = farthest_first(lengths, 3, "precomputed", start=7)
    assert found.indices.tolist() == FROM_EACH[7][0]
    assert found.lower_bound is None


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("source", [np.asarray, Stream, ArraySource])
def test_copies_are_taken_last(metric: str, source: Any) -> None:
    X = np.repeat([[0.0, 0], [3, 4]], 3, axis=0)
    found = farthest_first(source(X), 4, metric, start=1)
    assert found.indices.tolist() == [1, 3, 0, 2]
    assert found.radii.tolist() == [5.0 if metric == "euclidean" else 7.0, 0, 0, 0]
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"^farthest_first: k=0 was given; use a whole"):
        farthest_first(EIGHT, 0)
    with pytest.raises(ValueError, match=r"^farthest_first: n_samples=8 should be"):
        farthest_first(EIGHT, 9)
    with pytest.raises(ValueError, match=r"^farthest_first: start=8 but X has 8 rows; pass"):
        farthest_first(EIGHT, 2, start=8)
    with pytest.raises(ValueError, match=r"^farthest_first: metric='far' was given"):
        farthest_first(EIGHT, 2, "far")
    gaps = np.array([[1.0, np.nan], [np.nan, 1.0], [2.0, 2.0]])
    with pytest.raises(ValueError, match=r"rows 0 and 1 have no finite distance"):
        farthest_first(gaps, 2, "nan_euclidean", start=0)
    with pytest.raises(ValueError, match="NaN"):
        farthest_first(gaps, 2)
