"""Worked examples of the textbooks, epoch by epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import KMeans

ALGORITHMS = ["auto", "lloyd", "hamerly", "yinyang", "elkan"]

#: Eight points in the plane, A1 to A8; the start is A1, A4, A7.
POINTS = np.array([[2.0, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]])
START = POINTS[[0, 3, 6]]
#: Of each epoch: labels, SSE after the assignment, centres, SSE after the update.
EPOCHS: list[tuple[list[int], float, list[list[float]], float]] = [
    ([0, 2, 1, 1, 1, 1, 2, 1], 67, [[2, 10], [6, 6], [1.5, 3.5]], 37),
    ([0, 2, 1, 1, 1, 1, 2, 0], 29, [[3, 9.5], [6.5, 5.25], [1.5, 3.5]], 23.25),
    ([0, 2, 1, 0, 1, 1, 2, 0], 19.6875, [[11 / 3, 9], [7, 13 / 3], [1.5, 3.5]], 43 / 3),
    ([0, 2, 1, 0, 1, 1, 2, 0], 43 / 3, [[11 / 3, 9], [7, 13 / 3], [1.5, 3.5]], 43 / 3),
]

#: Old Faithful in standard units from (-1, 1) and (1, -1): SSE after each assignment.
FAITHFUL_TRACE = [
    890.63427238, 516.27274719, 216.46282904, 80.12705202, 79.66576539, 79.60581076, 79.57595949,
]  # fmt: skip


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_eight_points_epoch_by_epoch(algorithm: str, dtype: type) -> None:
    X = POINTS.astype(dtype)
    model = KMeans(3, init=START, algorithm=algorithm, tol=0, keep="parameters").fit(X)
    assert model.n_iter_ == len(model.history_) == 4
    for number, (entry, epoch) in enumerate(zip(model.history_, EPOCHS, strict=True), start=1):
        _, sse_assigned, centers, sse_updated = epoch
        assert entry["iteration"] == number
        assert entry["objective_assign"] == pytest.approx(sse_assigned, rel=1e-12)
        assert entry["objective_update"] == pytest.approx(sse_updated, rel=1e-12)
        np.testing.assert_allclose(entry["parameters"], centers, rtol=1e-12)
    assert [entry["n_changed"] for entry in model.history_] == [8, 1, 1, 0]
    np.testing.assert_array_equal(model.labels_, EPOCHS[-1][0])
    np.testing.assert_allclose(model.cluster_centers_, EPOCHS[-1][2], rtol=1e-6)
    assert model.inertia_ == pytest.approx(43 / 3, rel=1e-6)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_epochs", [1, 2, 3, 4])
def test_eight_points_stopped_after_each_epoch(algorithm: str, n_epochs: int) -> None:
    """Published labels belong to the published centres, so they are the next epoch's."""
    model = KMeans(3, init=START, algorithm=algorithm, tol=0, max_iter=n_epochs).fit(POINTS)
    following = EPOCHS[min(n_epochs, 3)]
    np.testing.assert_allclose(model.cluster_centers_, EPOCHS[n_epochs - 1][2], rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, following[0])
    assert model.inertia_ == pytest.approx(following[1], rel=1e-12)
    unsettled = [event for event in model.events_ if event["what"] == "not settled"]
    assert len(unsettled) == (n_epochs < 4)


def test_eight_points_have_this_optimum() -> None:
    model = KMeans(3, n_init=50, random_state=0).fit(POINTS)
    assert model.inertia_ == pytest.approx(43 / 3, rel=1e-12)


def faithful() -> Any:
    """Old Faithful's eruptions and waiting times, as bundled with the demo."""
    path = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
    return np.loadtxt(path, delimiter=",", skiprows=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_old_faithful_in_standard_units(algorithm: str) -> None:
    raw = faithful()
    assert raw.shape == (272, 2)
    X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    model = KMeans(2, init=[[-1.0, 1], [1, -1]], algorithm=algorithm, tol=0).fit(X)
    trace = [entry["objective_assign"] for entry in model.history_]
    np.testing.assert_allclose(trace[: len(FAITHFUL_TRACE)], FAITHFUL_TRACE, rtol=1e-9)
    assert model.inertia_ == pytest.approx(79.57595949, rel=1e-9)
    np.testing.assert_allclose(
        model.cluster_centers_,
        [[0.70970327, 0.67674488], [-1.26008539, -1.20156744]],
        atol=1e-8,
    )
    np.testing.assert_array_equal(np.bincount(model.labels_), [174, 98])


def test_old_faithful_as_measured() -> None:
    model = KMeans(2, n_init=20, random_state=0).fit(faithful())
    assert model.inertia_ == pytest.approx(8901.76872095, rel=1e-9)
    ranked = np.argsort(model.cluster_centers_[:, 0])
    np.testing.assert_allclose(
        model.cluster_centers_[ranked], [[2.09433, 54.75], [4.29793023, 80.28488372]], rtol=1e-6
    )
    np.testing.assert_array_equal(np.bincount(model.labels_)[ranked], [100, 172])
