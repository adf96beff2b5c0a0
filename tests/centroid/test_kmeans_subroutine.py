"""k-means as a subroutine: what KMeans publishes, without the estimator.

Covers coterie.centroid._kmeans.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from coterie import KMeans
from coterie._restarts import recorders
from coterie.centroid._kmeans import improves, kmeans, seeded
from coterie.centroid._passes import choose_space
from coterie.centroid._steps import PlainStep
from coterie.data import as_source

X, _ = make_blobs(400, 3, centers=6, cluster_std=2.0, random_state=0)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("n_init", [1, 4])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_it_is_the_fit_of_the_estimator(init: str, n_init: int, make: Any) -> None:
    rows = make(X)
    model = KMeans(6, init=init, n_init=n_init, tol=0, random_state=1).fit(rows)
    blocks = as_source(rows)
    space = choose_space(blocks)[1]
    rng = np.random.RandomState(1)
    run = kmeans(blocks, space, 6, rng, start=seeded(init), runs=recorders(n_init, 300))
    np.testing.assert_array_equal(run.centers, model.cluster_centers_)
    np.testing.assert_array_equal(run.relabel(run.centers)[0], model.labels_)
    assert (run.n_iter, run.settled) == (model.n_iter_, True)
    assert len(run.recorder.history) == len(model.history_)
    assert run.inertia == pytest.approx(model.inertia_, rel=1e-12)


def test_the_centres_are_the_means_of_the_labels_and_the_inertia_is_theirs() -> None:
    blocks = as_source(X)
    space = choose_space(blocks)[1]
    run = kmeans(blocks, space, 6, np.random.RandomState(0), max_iter=2)
    labels = run.step.tally.labels_now()
    means = [X[labels == cluster].mean(axis=0) for cluster in range(6)]
    np.testing.assert_allclose(run.centers, means, rtol=1e-12)
    sse = np.square(X - run.centers[labels]).sum()
    assert run.inertia == pytest.approx(sse, rel=1e-12)
    assert (run.n_iter, run.settled) == (2, False)


def test_only_the_last_run_keeps_its_bounds() -> None:
    """What a run knows of every row is not in memory beside that of the next one."""
    blocks = as_source(X)
    space = choose_space(blocks)[1]
    kept = []
    for n_runs in (1, 2):
        starts = iter([X[:6], X[:6] + 100])  # the first is the better one

        def start(*_: Any, starts: Any = starts) -> Any:
            return next(starts)

        rng = np.random.RandomState(0)
        runs = recorders(n_runs, 300)
        run = kmeans(blocks, space, 6, rng, start=start, algorithm="hamerly", runs=runs)
        kept.append(type(run.step))
    assert kept[0] is not PlainStep
    assert kept[1] is PlainStep


class Found(NamedTuple):
    centers: Any
    inertia: float


def test_of_equal_clusterings_the_first_is_kept() -> None:
    """The same clusters have the same means, in any order, whatever rounding says of the SSE."""
    first, other = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.5], [3.0, 4.0]])
    lower = np.nextafter(1.0, 0.0)
    assert not improves(Found(first[::-1], lower), Found(first, 1.0))
    assert improves(Found(other, lower), Found(first, 1.0))
    assert not improves(Found(other, 1.0), Found(first, 1.0))
