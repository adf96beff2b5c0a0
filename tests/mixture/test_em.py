"""The EM loop itself: descent, stopping, and its hooks.

Covers coterie.mixture._mixing and coterie.mixture._task.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import coterie
from coterie._history import Recorder
from coterie.data import as_source
from coterie.errors import InvariantError
from coterie.mixture._covariance import SHAPES
from coterie.mixture._em import em
from coterie.mixture._family import Family, Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._mixing import Fixed, Shares, log_shares
from coterie.mixture._overview import look_over
from coterie.mixture._start import Rows, begin, by_kmeans
from coterie.mixture._task import Model, Task


def problem(covariance_type: str = "full", weights: Any = None, k: int = 3) -> Any:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2)) @ [[1, 0.4], [0, 0.7]] + rng.integers(0, 3, (300, 1)) * 2.0
    blocks = as_source(X, weights)
    overview = look_over(blocks, X[0])
    model = Model(GaussianFamily(SHAPES[covariance_type], 2, overview), Shares())
    blank = Mixture(log_shares(np.ones(k)), model.family.blank(k))
    start = begin(blocks, model, blank, by_kmeans(Rows(blocks), k, np.random.RandomState(0)))
    return blocks, model, start


def run(blocks: Any, model: Any, start: Any, **settings: Any) -> Any:
    recorder = Recorder(settings.get("max_iter", 50))
    return em(task_for(blocks, model, **settings), start, recorder), recorder


def task_for(blocks: Any, model: Any, **settings: Any) -> Task:
    settings = {"max_iter": 50, "tol": 1e-6, "shown": lambda mixture: mixture.weights, **settings}
    return Task(blocks, model, begin=lambda *_: None, solve=em, **settings)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("covariance_type", list(SHAPES))
def test_no_half_step_raises_the_free_energy(covariance_type: str) -> None:
    weights = np.random.default_rng(0).uniform(0, 2, 300)
    _, recorder = run(*problem(covariance_type, weights))
    steps = [
        value
        for entry in recorder.history
        for value in (entry["objective_assign"], entry["objective_update"])
    ]
    assert len(steps) > 6
    assert (np.diff(steps) <= 1e-9 * np.abs(steps[0])).all()
    for entry in recorder.history:
        free_energy = entry["energy"] + entry["neg_entropy"]
        assert free_energy == pytest.approx(entry["objective_assign"])
        assert free_energy == pytest.approx(-entry["log_likelihood"])


def test_after_the_m_step_the_free_energy_is_that_of_the_old_responsibilities() -> None:
    blocks, model, start = problem()
    expected = blocks.total(model.family.expect, start)
    moved = model.maximise(expected, start)
    resp = np.empty((300, 3))
    (block,) = blocks
    model.family.posterior(block, start, resp=resp)
    joint = model.family.log_joint(moved, block.rows)
    by_hand = (resp * (np.log(resp) - joint)).sum()
    assert model.free_energy(moved, expected, start) == pytest.approx(by_hand, rel=1e-12)


def test_the_fused_pass_and_the_plain_one_agree() -> None:
    for covariance_type in SHAPES:
        blocks, model, start = problem(covariance_type)
        (block,) = blocks
        fused = model.family.expect(block, start)
        plain = Family.expect(model.family, block, start)
        assert fused.log_lik == pytest.approx(plain.log_lik, rel=1e-12)
        assert fused.neg_entropy == pytest.approx(plain.neg_entropy, rel=1e-10)
        np.testing.assert_allclose(fused.counts, plain.counts, rtol=1e-12)
        moved = [model.maximise(expected, start).components for expected in (fused, plain)]
        np.testing.assert_allclose(moved[0].covariances, moved[1].covariances, rtol=1e-9)


def test_an_m_step_that_climbs_is_named_with_its_component() -> None:
    blocks, model, start = problem()

    class Clumsy(GaussianFamily):
        def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
            after = super().maximise(counts, summary, before)
            means = after.means.copy()
            means[1] += 9
            return replace(after, means=means)

    clumsy = Clumsy(model.family.shape, 2, model.family.overview)
    with (
        coterie.options(check_invariants=True),
        pytest.raises(InvariantError, match=r"M-step of iteration 1 .* component 1 lost most"),
    ):
        run(blocks, Model(clumsy, Shares()), start)


def test_an_e_step_that_climbs_is_named_with_its_component() -> None:
    blocks, model, start = problem()
    calls = []

    class Blind(GaussianFamily):
        def expect(self, block: Any, mixture: Any) -> Any:
            calls.append(block)
            means = mixture.components.means.copy()
            means[1] += 9 if len(calls) == 3 else 0
            moved = replace(mixture, components=replace(mixture.components, means=means))
            return super().expect(block, moved)

    blind = Blind(model.family.shape, 2, model.family.overview)
    with (
        coterie.options(check_invariants=True),
        pytest.raises(InvariantError, match=r"E-step of iteration 3 .* component 1 changed"),
    ):
        run(blocks, Model(blind, Shares()), start)


def test_fixed_weights_stay() -> None:
    blocks, model, start = problem()
    start = replace(start, log_weights=np.log([0.2, 0.3, 0.5]))
    result, _ = run(blocks, Model(model.family, Fixed()), start)
    np.testing.assert_array_equal(result.mixture.weights, np.exp(np.log([0.2, 0.3, 0.5])))


def test_a_bold_step_that_climbs_is_taken_back() -> None:
    blocks, model, start = problem()
    plain, _ = run(blocks, model, start, max_iter=10, tol=0)
    asked = []

    def overshoot(before: Mixture, after: Mixture) -> Mixture:
        asked.append(1)
        moved = replace(after.components, means=after.components.means + 50)
        return replace(after, components=moved)

    bold, recorder = run(blocks, model, start, max_iter=10, tol=0, accelerate=lambda _: overshoot)
    assert len(asked) == 10
    np.testing.assert_array_equal(bold.mixture.components.means, plain.mixture.components.means)
    steps = [entry["objective_assign"] for entry in recorder.history]
    assert (np.diff(steps) <= 1e-9).all()


def test_a_repair_is_a_new_start() -> None:
    blocks, model, start = problem()

    def repair(mixture: Any, expected: Any, recorder: Any, n_iter: int) -> Any:
        if n_iter != 2:
            return None
        recorder.event("re-seeded", "for the test", iteration=n_iter)
        return start

    with coterie.options(check_invariants=True):
        result, recorder = run(blocks, model, start, repair=lambda: repair, max_iter=60, tol=1e-3)
    assert [event["what"] for event in recorder.events] == ["re-seeded"]
    firsts = [entry["objective_assign"] for entry in recorder.history]
    assert firsts[2] == firsts[0]
    assert result.settled


def test_it_stops_when_told_and_keeps_what_it_has() -> None:
    blocks, model, start = problem()
    recorder = Recorder(50, callback=lambda progress: progress.iteration == 3)
    result = em(task_for(blocks, model, tol=0), start, recorder)
    assert (result.n_iter, result.settled, len(result.bounds)) == (3, False, 3)


def test_no_iterations_leave_the_start() -> None:
    blocks, model, start = problem()
    result, _ = run(blocks, model, start, max_iter=0)
    assert result.mixture is start
    assert result.n_iter == 0


def test_the_bound_is_a_choice() -> None:
    blocks, model, start = problem()
    result, recorder = run(blocks, model, start, bound=lambda expect, maximise, total: -maximise)
    assert result.bound == -recorder.history[-1]["objective_update"]


def test_blocks_on_disk_give_the_same_fit(tmp_path: Any) -> None:
    blocks, model, start = problem()
    np.save(tmp_path / "rows.npy", blocks.rows)
    on_disk = as_source(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    on_disk.block_bytes = 1000
    assert len(list(on_disk)) > 3
    one, _ = run(blocks, model, start)
    many, _ = run(on_disk, model, start)
    np.testing.assert_allclose(
        many.mixture.components.covariances, one.mixture.components.covariances, rtol=1e-9
    )
