"""Lloyd's iterations: against the naive twin, and what must always be true of them.

Covers coterie.centroid._tally, coterie.centroid._kept and coterie.errors.
"""

from __future__ import annotations

from itertools import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import twins
from coterie import KMeans, options
from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._kept import KeptTally
from coterie.centroid._lloyd import lloyd, relocate_empty
from coterie.centroid._passes import choose_space, farthest_of
from coterie.centroid._space import Space
from coterie.centroid._steps import PlainStep
from coterie.data import as_source
from coterie.errors import InvariantError

pytestmark = pytest.mark.filterwarnings("ignore:Number of distinct clusters")


def step_on(X: Any, n_clusters: int, weights: Any = None) -> PlainStep:
    blocks = as_source(np.asarray(X), weights, 2)
    return PlainStep(KeptTally(blocks, choose_space(blocks)[1], n_clusters))


@st.composite
def problems(draw: st.DrawFn, *, whole: bool = False) -> tuple[Any, Any]:
    """Rows and a start among them; small whole numbers make duplicates, ties, empty clusters."""
    n_rows = draw(st.integers(1, 40))
    n_cols = draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    values = st.integers(-4, 4) if whole or draw(st.booleans()) else st.floats(-1e3, 1e3, width=32)
    X = draw(hnp.arrays(dtype, (n_rows, n_cols), elements=values.map(float)))
    n_clusters = draw(st.integers(1, n_rows))
    start = draw(st.permutations(range(n_rows)))[:n_clusters]
    return X, X[start]


def repeated(X: Any, counts: Any) -> Any:
    return np.repeat(X, counts, axis=0)


@given(problems(), st.sampled_from(["lloyd", "hamerly", "yinyang"]))
def test_the_objective_never_rises(problem: Any, algorithm: str) -> None:
    X, start = problem
    with options(check_invariants=True):
        model = KMeans(len(start), init=start, algorithm=algorithm, tol=0).fit(X)
    steps = [
        entry[key] for entry in model.history_ for key in ("objective_assign", "objective_update")
    ]
    slack = 1e-9 * (1 + np.square(X.astype(float)).sum())
    assert (np.diff(steps) <= slack).all()
    assert model.inertia_ <= steps[-1] * (1 + 1e-5) + slack


@given(problems())
def test_published_labels_and_inertia_belong_together(problem: Any) -> None:
    X, start = problem
    model = KMeans(len(start), init=start).fit(X)
    np.testing.assert_array_equal(model.labels_, twins.nearest(X, model.cluster_centers_))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    expected = twins.sse(X, model.cluster_centers_, model.labels_)
    assert model.inertia_ == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(problems(), st.data())
def test_whole_weights_equal_repeated_rows(problem: Any, data: st.DataObject) -> None:
    X, start = problem
    counts = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X))))
    if counts.sum() < len(start):
        counts[:] = 1
    arguments: dict[str, Any] = {"init": start, "tol": 0, "max_iter": 20}
    weighted = KMeans(len(start), **arguments).fit(X, sample_weight=counts)
    copied = KMeans(len(start), **arguments).fit(repeated(X, counts))
    if any(e["what"] == "relocated" for e in weighted.events_ + copied.events_):
        return  # one copy of a row is moved there, and the whole row here
    np.testing.assert_allclose(
        weighted.cluster_centers_, copied.cluster_centers_, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(repeated(weighted.labels_, counts), copied.labels_)
    assert weighted.inertia_ == pytest.approx(copied.inertia_, rel=1e-9, abs=1e-9)


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(problem: Any, random: Any) -> None:
    X, start = problem
    columns = list(range(X.shape[1]))
    random.shuffle(columns)
    plain = KMeans(len(start), init=start, max_iter=1).fit(X)
    shuffled = KMeans(len(start), init=start[:, columns], max_iter=1).fit(X[:, columns])
    dists = np.sort(twins.sq_dists(X, plain.cluster_centers_), axis=1)
    clear = np.ones(len(X), bool) if len(start) == 1 else dists[:, 1] - dists[:, 0] > 1e-6
    np.testing.assert_allclose(
        shuffled.cluster_centers_, plain.cluster_centers_[:, columns], rtol=1e-6, atol=1e-6
    )
    np.testing.assert_array_equal(shuffled.labels_[clear], plain.labels_[clear])


@given(problems(whole=True), st.integers(-60, 60))
def test_a_power_of_two_changes_no_bit_but_the_exponent(problem: Any, power: int) -> None:
    X, start = problem
    X, start = X.astype(np.float64), start.astype(np.float64)
    plain = KMeans(len(start), init=start).fit(X)
    scaled = KMeans(len(start), init=start * 2.0**power).fit(X * 2.0**power)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_array_equal(scaled.cluster_centers_, plain.cluster_centers_ * 2.0**power)
    assert scaled.n_iter_ == plain.n_iter_


@pytest.mark.parametrize("offset", [1.0, -3e3, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moving_the_origin_keeps_the_labels(offset: float, dtype: type) -> None:
    rng = np.random.default_rng(0)
    # Quarters stay exact under these offsets, so that the moved rows are the same rows.
    X = np.round(rng.standard_normal((400, 3)) * 40) / 4
    if dtype == np.float32 and offset > 1e6:
        offset = 2.0**20
    start = X[:6]
    plain = KMeans(6, init=start, tol=0, max_iter=3).fit(X.astype(dtype))
    moved = KMeans(6, init=start + offset, tol=0, max_iter=3).fit((X + offset).astype(dtype))
    np.testing.assert_allclose(
        moved.cluster_centers_ - offset,
        plain.cluster_centers_,
        atol=2 * np.spacing(np.array(abs(offset) + 30, dtype)),
    )
    np.testing.assert_array_equal(moved.history_[0]["n_changed"], plain.history_[0]["n_changed"])
    np.testing.assert_array_equal(
        moved.labels_, twins.nearest((X + offset).astype(dtype), moved.cluster_centers_)
    )
    assert (moved.labels_ == plain.labels_).mean() > 0.99


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_the_run_is_that_of_the_naive_twin(weighted: bool, n_clusters: int) -> None:
    rng = np.random.default_rng(n_clusters)
    X = rng.standard_normal((300, 4))
    weights = rng.uniform(0.5, 3, 300) if weighted else None
    step = step_on(X, n_clusters, weights)
    recorder = Recorder(300)
    run = lloyd(X[:n_clusters], repeat(step), max_iter=300, tol=0, recorder=recorder)
    twin = twins.lloyd(X, X[:n_clusters], weights=weights)
    assert run.settled
    assert run.n_iter == twin.n_iter
    np.testing.assert_allclose(run.centers, twin.centers, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(step.tally.labels, twin.labels)
    ours = [
        entry[key] for entry in recorder.history for key in ("objective_assign", "objective_update")
    ]
    np.testing.assert_allclose(ours, twin.objectives, rtol=1e-11)
    assert run.inertia == ours[-1]


def test_the_start_is_not_modified() -> None:
    X = np.random.default_rng(0).standard_normal((50, 2))
    start = X[:3].copy()
    lloyd(start, repeat(step_on(X, 3)), max_iter=5, tol=0, recorder=Recorder(5))
    np.testing.assert_array_equal(start, X[:3])


def test_a_run_settles_by_tolerance_or_is_cut_short() -> None:
    X = np.random.default_rng(0).standard_normal((500, 2))
    exact = lloyd(X[:5], repeat(step_on(X, 5)), max_iter=300, tol=0, recorder=Recorder(300))
    loose = lloyd(X[:5], repeat(step_on(X, 5)), max_iter=300, tol=0.01, recorder=Recorder(300))
    cut = lloyd(X[:5], repeat(step_on(X, 5)), max_iter=2, tol=0, recorder=Recorder(2))
    assert exact.settled
    assert loose.settled
    assert loose.n_iter < exact.n_iter
    assert not cut.settled
    assert cut.n_iter == 2


@pytest.mark.parametrize("spread", [1.0, 1e-5])
def test_the_objective_is_the_sum_of_squared_errors(spread: float) -> None:
    """Also where clusters are so tight that taking it from the sums would cancel."""
    rng = np.random.default_rng(0)
    X = spread * rng.standard_normal((200, 3))
    X[100:] += 100
    weights = rng.random(200)
    step = step_on(X, 2, weights)
    centers = X[[0, 100]]
    step.assign(centers)
    moved = step.tally.means(centers)
    for at in (centers, moved):
        expected = twins.sse(X, at, step.tally.labels, weights)
        assert step.tally.objective(at) == pytest.approx(expected, rel=1e-9)


def test_moving_a_row_by_hand_keeps_sums_and_labels_in_step() -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((60, 3)), rng.random(60)
    step = step_on(X, 4, weights)
    step.assign(X[:4])
    tally = step.tally
    for row, cluster in ((10, 3), (11, 0), (12, 2)):
        tally.move_row(row, cluster)
        assert tally.labels[row] == cluster
    expected = twins.means(X, tally.labels, X[:4], weights)
    np.testing.assert_allclose(tally.means(X[:4]), expected, rtol=1e-12, atol=1e-13)


def test_an_empty_cluster_gets_the_farthest_row() -> None:
    X = np.array([[0.0], [1], [2], [10], [11], [17]])
    centers = np.array([[1.0], [11], [1000]])
    step = step_on(X, 3)
    step.assign(centers)
    recorder = Recorder(1)
    relocate_empty(step, centers, recorder, 4)
    np.testing.assert_array_equal(step.tally.labels, [0, 0, 0, 1, 1, 2])
    np.testing.assert_allclose(step.tally.means(centers).ravel(), [1, 10.5, 17])
    (event,) = recorder.events
    assert (event["what"], event["where"], event["iteration"]) == ("relocated", 2, 4)
    assert "row 5" in event["detail"]


def test_several_empty_clusters_get_the_farthest_rows_in_order() -> None:
    X = np.array([[0.0], [1], [-3], [4], [9], [-7]])
    centers = np.array([[0.0], [1000], [2000], [3000]])
    step = step_on(X, 4)
    step.assign(centers)
    relocate_empty(step, centers, Recorder(1), 1)
    np.testing.assert_array_equal(step.tally.labels, [0, 0, 0, 3, 1, 2])


def test_equally_far_rows_are_taken_from_the_lower_index() -> None:
    X = np.array([[0.0], [5], [-5], [5]])
    centers = np.array([[0.0], [1000]])
    step = step_on(X, 2)
    step.assign(centers)
    relocate_empty(step, centers, Recorder(1), 1)
    np.testing.assert_array_equal(step.tally.labels, [0, 1, 0, 0])


def test_farthest_rows_of_many_parts_are_those_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, size=(20_000, 2)).astype(float)  # with many equals, in every part
    weights = rng.integers(0, 3, size=20_000).astype(float)
    centers = np.array([[0.0, 0], [3, 3]])
    step = step_on(X, 2, weights)
    step.assign(centers)
    tally = step.tally
    sq_dists = np.square(X - centers[tally.labels]).sum(axis=1) * (weights > 0)
    expected = np.lexsort((np.arange(20_000), -sq_dists))[:700]
    found, _ = farthest_of(tally.block, centers, tally.space, tally.labels, 700)
    np.testing.assert_array_equal(found, expected)


def test_rows_without_weight_are_not_relocated() -> None:
    X = np.array([[0.0], [1], [50], [3]])
    centers = np.array([[0.0], [1000]])
    step = step_on(X, 2, np.array([1.0, 1, 0, 1]))
    step.assign(centers)
    relocate_empty(step, centers, Recorder(1), 1)
    np.testing.assert_array_equal(step.tally.labels, [0, 0, 0, 1])


def test_nothing_is_relocated_when_all_rows_are_on_their_centres() -> None:
    X = np.array([[0.0], [0], [5]])
    centers = np.array([[0.0], [5], [7]])
    step = step_on(X, 3)
    step.assign(centers)
    recorder = Recorder(1)
    relocate_empty(step, centers, recorder, 1)
    np.testing.assert_array_equal(step.tally.labels, [0, 0, 1])
    assert recorder.events == []


class WrongStep(PlainStep):
    """Puts a row into the wrong cluster in the second pass."""

    n_passes = 0

    def assign(self, centers: Any) -> int:
        n_changed = super().assign(centers)
        self.n_passes += 1
        if self.n_passes == 2:
            self.tally.move_row(0, 1 - int(self.tally.labels[0]))
        return n_changed


def test_the_invariant_check_names_the_step_that_broke_it() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2)) + np.repeat([[-9.0], [9]], 20, axis=0)
    blocks = as_source(X)

    def run() -> Any:
        step = WrongStep(KeptTally(blocks, choose_space(blocks)[1], 2))
        return lloyd(X[[0, 39]], repeat(step), max_iter=9, tol=-1, recorder=Recorder(9))

    run()
    with (
        options(check_invariants=True),
        pytest.raises(InvariantError, match="assignment of iteration 2 raised the objective"),
    ):
        run()


@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_means_and_errors_from_sums_are_those_of_the_formula(limbs: int) -> None:
    rng = np.random.default_rng(limbs)
    k, d = 4, 3
    space = Space(
        scale=1.0, shift=np.zeros(d), step_inverse=2.0 ** rng.integers(20, 30, d),
        origin=rng.integers(-9, 9, d) * 2.0**20, limbs=limbs, sum_unit=1.0, weight_unit=2.0,
        weight_step_inverse=2.0**10, wild=False, total_scatter=1e9,
    )  # fmt: skip
    tally = SimpleNamespace(
        sums=rng.integers(-(2**40), 2**40, (limbs, k, d)),
        weight_sums=rng.integers(2**10, 2**20, (limbs, k)),
    )
    tally.sums[:, 2], tally.weight_sums[:, 2] = 0, 0
    centers = rng.standard_normal((k, d))
    means, few = np.empty((k, d)), np.ones(k, dtype=bool)
    n_rows = np.array([5, 9, 0, 6])
    assert kernels.means_from_sums(tally, space, centers, n_rows, 6, few, means) == 2
    assert few.tolist() == [True, False, False, True]  # one without weight is not among the few
    np.testing.assert_array_equal(means[2], centers[2])
    heavy = [0, 1, 3]
    expected = space.means(tally.sums, tally.weight_sums)
    np.testing.assert_array_equal(means[heavy], expected[heavy])
    weights = 2.0 * space.weights(tally.weight_sums)[:, np.newaxis]
    at, own = centers - space.origin / space.step_inverse, expected - centers
    cost = weights * at * (at - 2 * (own + at))
    np.testing.assert_allclose(
        kernels.sse_from_sums(tally, space, centers, 2.0, 1e9), 1e9 + cost[heavy].sum(), rtol=1e-12
    )


def test_moves_are_summed_in_order() -> None:
    before, after = np.random.default_rng(0).standard_normal((2, 7, 3))
    total = 0.0
    for square in np.square(after - before).ravel():
        total += square
    assert kernels.sum_sq_moves(before, after) == total
    assert kernels.sum_sq_moves(before, np.full((7, 3), 1e300)) == np.inf  # in silence
