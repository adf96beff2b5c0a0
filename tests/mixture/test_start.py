"""Where EM begins: guesses, what the user gave in their place, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie import GaussianMixture
from coterie._history import Recorder
from coterie.data import as_source
from coterie.mixture._start import GAUSSIAN_STARTS, GUESSES, ByLabel, Rows, at_random


def rows() -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 2)) + np.repeat([[-9.0], [0], [9]], 20, axis=0)


def begun(X: Any, weights: Any = None, **params: Any) -> tuple[Any, Recorder]:
    recorder = Recorder(0)
    task = GaussianMixture(3, **params)._task(as_source(X, weights), bool(np.isnan(X).any()))
    return task.begin(np.random.RandomState(0), recorder), recorder


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_gives_each_row_at_most_once(name: str) -> None:
    blocks = as_source(rows())
    resp = GUESSES[name](Rows(blocks), 3, np.random.RandomState(0))(next(iter(blocks)))
    assert resp.shape == (60, 3)
    assert (resp >= 0).all()
    assert (resp.sum(axis=1) <= 1 + 1e-12).all()
    assert (resp.sum(axis=0) > 0).all()


def test_k_means_finds_the_groups() -> None:
    start, _ = begun(rows(), init_params="kmeans")
    np.testing.assert_allclose(np.sort(start.components.means[:, 0]), [-9, 0, 9], atol=1)
    np.testing.assert_allclose(start.weights, 1 / 3)


@pytest.mark.parametrize("name", GAUSSIAN_STARTS)
def test_the_background_begins_with_its_share(name: str) -> None:
    start, _ = begun(rows(), init_params=name, noise=True)
    assert start.weights[-1] == pytest.approx(0.1)
    assert start.weights.sum() == pytest.approx(1)
    fixed, _ = begun(rows(), init_params=name, noise=True, fixed=("weights",))
    np.testing.assert_allclose(fixed.weights, [0.3, 0.3, 0.3, 0.1])


def test_what_is_given_takes_the_place_of_what_was_drawn() -> None:
    means = [[1.0, 1], [2, 2], [3, 3]]
    start, _ = begun(rows(), means_init=means, weights_init=[0.5, 0.25, 0.25])
    drawn, _ = begun(rows())
    np.testing.assert_array_equal(start.components.means, means)
    np.testing.assert_array_equal(start.components.covariances, drawn.components.covariances)
    np.testing.assert_allclose(start.weights, [0.5, 0.25, 0.25])


def test_a_whole_start_draws_nothing() -> None:
    given = {"means_init": rows()[:3], "weights_init": [0.5, 0.25, 0.25]}
    task = GaussianMixture(3, precisions_init=[np.eye(2)] * 3, **given)._task(
        as_source(rows()), False
    )
    rng = np.random.RandomState(0)
    start = task.begin(rng, Recorder(0))
    np.testing.assert_allclose(start.components.covariances, [np.eye(2)] * 3)
    assert rng.randint(1 << 30) == np.random.RandomState(0).randint(1 << 30)


def test_holes_are_filled_for_the_start_alone() -> None:
    X = rows()
    X[::9, 1] = np.nan
    start, _ = begun(X)
    assert np.isfinite(start.components.covariances).all()


def test_alike_starts_are_told() -> None:
    _, recorder = begun(np.repeat([[0.0, 0], [1, 1]], 5, axis=0), init_params="rows")
    (event,) = recorder.events
    assert event["what"] == "start"
    assert "of 3 components begin at different points" in event["detail"]


def test_random_responsibilities_are_drawn_by_row() -> None:
    blocks = as_source(rows())
    (block,) = blocks
    responsible = at_random(Rows(blocks), 3, np.random.RandomState(0))
    whole = responsible(block)
    parts = [responsible(part) for part in block.parts(7)][::-1]  # in any order
    np.testing.assert_array_equal(np.vstack(parts[::-1]), whole)
    other = at_random(Rows(blocks), 3, np.random.RandomState(1))(block)
    assert not np.array_equal(other, whole)


def test_a_label_of_minus_one_is_nobodys() -> None:
    (block,) = as_source(np.zeros((3, 1)))
    resp = ByLabel(np.array([1, -1, 0], dtype=np.int32), 2)(block)
    assert resp.tolist() == [[0, 1], [0, 0], [1, 0]]
