"""Leader clustering: a loop over rows as twin, streams, batches, files, mistakes.

Covers coterie.medoid._leaders.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie import LeaderClustering
from coterie.distance import pairwise
from coterie.medoid import _leaders
from streams import Stream


def naive(lengths: Any, threshold: float) -> tuple[list[int], list[int]]:
    """Labels and leaders, row after row."""
    labels, leaders = [], []
    for i in range(len(lengths)):
        near = [j for j, leader in enumerate(leaders) if lengths[i, leader] <= threshold]
        if not near:
            leaders.append(i)
        labels.append(near[0] if near else len(leaders) - 1)
    return labels, leaders


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60),
    st.sampled_from([0.0, 1.0, 2.0, 5.0]),
    st.integers(1, 9),
)
def test_the_loop_over_rows(points: list[Any], threshold: float, step: int) -> None:
    X = np.array(points, dtype=float)
    labels, leaders = naive(pairwise(X, metric="manhattan"), threshold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_leaders, "_ROWS", step)
        patch.setattr(_leaders, "_LEADERS", 3)
        model = LeaderClustering(threshold, metric="manhattan").fit(X)
        assert model.labels_.tolist() == labels
        assert model.leader_indices_.tolist() == leaders
        assert model.predict(X).tolist() == labels
    np.testing.assert_array_equal(model.cluster_centers_, X[leaders])
    np.testing.assert_array_equal(model.counts_, np.bincount(labels))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "chebyshev", "mahalanobis"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows(metric: str, dtype: type) -> None:
    X = np.random.default_rng(0).standard_normal((5000, 3)).astype(dtype)
    model = LeaderClustering(0.7, metric=metric).fit(X)
    lengths = model.transform(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert (lengths[np.arange(5000), model.labels_] <= 0.7 * (1 + 1e-6)).all()
    apart = pairwise(model.cluster_centers_, metric=metric) if metric != "mahalanobis" else None
    if apart is not None:
        np.fill_diagonal(apart, np.inf)
        assert apart.min() > 0.7


def test_batches_and_streams_are_one_pass() -> None:
    X = np.random.default_rng(1).standard_normal((700, 2))
    whole = LeaderClustering(0.5).fit(X)
    stream = Stream(X)
    streamed = LeaderClustering(0.5).fit(stream)
    assert stream.n_passes == 1
    batches, labels = LeaderClustering(0.5), []
    for part in np.array_split(X, 9):
        labels.append(batches.partial_fit(part).labels_)
    np.testing.assert_array_equal(np.concatenate(labels), whole.labels_)
    np.testing.assert_array_equal(streamed.labels_, whole.labels_)
    for other in (streamed, batches):
        np.testing.assert_array_equal(other.leader_indices_, whole.leader_indices_)
        np.testing.assert_array_equal(other.cluster_centers_, whole.cluster_centers_)
        np.testing.assert_array_equal(other.counts_, whole.counts_)


def test_the_order_of_rows_matters() -> None:
    assert LeaderClustering(1.0).fit([[0.0], [0.9], [1.8]]).counts_.tolist() == [2, 1]
    assert LeaderClustering(1.0).fit([[0.9], [0.0], [1.8]]).counts_.tolist() == [3]


def test_sparse_rows_and_far_rows() -> None:
    X = sp.random(90, 12, 0.2, format="csr", random_state=0)
    model, dense = (LeaderClustering(0.8).fit(rows) for rows in (X, X.toarray()))
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.predict(X), dense.labels_)
    assert model.predict(np.full((1, 12), 99.0)).tolist() == [-1]


def test_files_go_on_where_they_ended(tmp_path: Path) -> None:
    X = np.random.default_rng(2).standard_normal((300, 2))
    model = LeaderClustering(0.4, metric="seuclidean").fit(X)
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    more = X + 0.3
    np.testing.assert_array_equal(again.partial_fit(more).labels_, model.partial_fit(more).labels_)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"^LeaderClustering: threshold=-1 was given; use"):
        LeaderClustering(-1).fit([[0.0]])
    with pytest.raises(ValueError, match=r"^LeaderClustering: metric='gower' was given"):
        LeaderClustering(metric="gower").fit([[0.0]])
    model = LeaderClustering().fit([[0.0, 1.0]])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit([[0.0]])
