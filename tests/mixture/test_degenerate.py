"""Degenerate rows: a valid result and an account of what was mended, never an exception.

Covers coterie.mixture._dead, coterie.mixture._overview and coterie.mixture._repair.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import GaussianMixture, StudentTMixture
from coterie.data import as_source
from coterie.mixture import _repair
from coterie.mixture._covariance import SHAPES
from coterie.mixture._overview import look_over
from coterie.mixture._repair import nearest_row

RNG = np.random.default_rng(0)
CLOUDS = RNG.standard_normal((60, 3)) + np.repeat([[0.0], [6.0], [12.0]], 20, axis=0)


def with_column(values: Any) -> np.ndarray:
    rows = CLOUDS.copy()
    rows[:, 2] = values
    return rows


def with_outlier(far: float) -> np.ndarray:
    rows = CLOUDS.copy()
    rows[17] = far
    return rows


SETS = {
    "duplicates": (np.repeat(CLOUDS[::10], 10, axis=0), 4),
    "spike": (np.vstack([CLOUDS, np.repeat(CLOUDS[:1], 30, axis=0)]), 4),
    "fewer distinct rows than components": (np.repeat(CLOUDS[::20], 10, axis=0), 5),
    "constant column": (with_column(7.0), 3),
    "constant column far away": (with_column(1e8), 3),
    "collinear columns": (with_column(2 * CLOUDS[:, 0] - CLOUDS[:, 1]), 3),
    "equal columns": (CLOUDS[:, [0, 0, 0]], 3),
    "a row a component": (CLOUDS[:8], 8),
    "k near n": (CLOUDS[::8], 7),
    "two rows": (CLOUDS[:2], 2),
    "outlier": (with_outlier(1e6), 3),
    "all rows equal": (np.full((20, 3), 3.7), 3),
    "all zero": (np.zeros((20, 3)), 3),
    "offset 1e8": (CLOUDS + 1e8, 3),
    "tiny": (CLOUDS * 1e-30, 3),
    "huge": (CLOUDS * 1e17, 3),
}
ONLY_FLOAT64 = {
    "scale 1e-150": (CLOUDS * 1e-150, 3),
    "scale 1e150": (CLOUDS * 1e150, 3),
    "columns of all scales": (CLOUDS * [1e-150, 1, 1e150], 3),
    "extreme outlier": (with_outlier(1e30), 3),
}


#: Where no covariance of this type has an inverse.
REPAIRED = {
    "duplicates": ("full",),
    "equal columns": ("full", "tied"),
    "collinear columns": ("full", "tied"),
    "constant column": ("full", "tied", "diag"),
    "constant column far away": ("full", "tied", "diag"),
    "two rows": tuple(SHAPES),
    "a row a component": tuple(SHAPES),
    "all rows equal": tuple(SHAPES),
    "all zero": tuple(SHAPES),
}


def fit(X: np.ndarray, k: int, **settings: Any) -> GaussianMixture:
    settings = {"random_state": 1, "max_iter": 40, **settings}
    weights = settings.pop("sample_weight", None)
    with coterie.options(check_invariants=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(k, **settings).fit(X, sample_weight=weights)


def assert_sound(model: GaussianMixture, X: np.ndarray) -> None:
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert np.isfinite(getattr(model, name)).all(), name
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert (proba >= 0).all()
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.lower_bound_)
    assert np.isfinite(model.sample(3)[0]).all()


@pytest.mark.parametrize("reg_covar", ["auto", 0, 1e-6])
@pytest.mark.parametrize("covariance_type", list(SHAPES))
@pytest.mark.parametrize("name", [*SETS, *ONLY_FLOAT64])
def test_the_battery(name: str, covariance_type: str, reg_covar: Any) -> None:
    X, k = SETS[name] if name in SETS else ONLY_FLOAT64[name]
    for dtype in [np.float64] if name in ONLY_FLOAT64 else [np.float64, np.float32]:
        rows = X.astype(dtype)
        weights = np.tile([0.5, 2.0, 1.0], len(X))[: len(X)] if dtype is np.float32 else None
        for init in ("kmeans", "k-means++", "rows"):
            model = fit(
                rows, k, covariance_type=covariance_type, reg_covar=reg_covar, init_params=init,
                sample_weight=weights,
            )  # fmt: skip
            assert_sound(model, rows)
            if reg_covar == 0 and covariance_type in REPAIRED.get(name, ()):
                assert any(event["what"] in ("collapsed", "floored") for event in model.events_)


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("covariance_type", list(SHAPES))
@pytest.mark.parametrize("name", [*SETS, *ONLY_FLOAT64])
def test_heavy_tails_too(name: str, covariance_type: str, noise: bool) -> None:
    X, k = SETS[name] if name in SETS else ONLY_FLOAT64[name]
    model = StudentTMixture(
        k, covariance_type=covariance_type, reg_covar=0, noise=noise, random_state=1,
        init_params="k-means++", max_iter=120,
    )  # fmt: skip
    with coterie.options(check_invariants=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    assert np.isfinite(model.degrees_of_freedom_).all()
    if noise:
        assert (model.predict_proba(X).sum(axis=1) <= 1 + 1e-9).all()
    else:
        assert_sound(model, X)


def test_a_collapse_is_told_and_mended() -> None:
    X = np.vstack([CLOUDS, [[500.0, 500, 500]]])
    model = fit(X, 4, reg_covar=0)
    stories = [event["detail"] for event in model.events_]
    told = re.compile(r"component \d collapsed onto row 60 at iteration \d+: re-seeded")
    assert any(told.fullmatch(story) for story in stories)
    event = next(event for event in model.events_ if event["what"] == "collapsed")
    assert event["where"] in range(4)
    assert event["iteration"] >= 1
    assert_sound(model, X)


def test_what_collapses_again_and_again_is_kept() -> None:
    model = fit(np.full((20, 3), 3.7), 3, reg_covar="auto", max_iter=100)
    stories = [event["detail"] for event in model.events_]
    assert 1 <= sum("re-seeded" in story for story in stories) <= 9
    assert any(story.endswith("kept at the floor") for story in stories)
    assert model.converged_


def test_what_needs_the_floor_is_not_let_go_by_turns() -> None:
    # Four of iris' rows span three directions: without a floor, a covariance about to be singular.
    X = load_iris().data
    model = fit(X, 3, reg_covar=0, init_params="rows", n_init=20, max_iter=2000, tol=1e-9)
    assert model.converged_
    assert model.lower_bound_ == pytest.approx(model.score(X), abs=1e-6)


def test_a_dead_component_begins_anew() -> None:
    model = fit(CLOUDS, 3, weights_init=[0.5, 0.5, 0], means_init=CLOUDS[[0, 25, 50]], max_iter=100)
    assert [event["what"] for event in model.events_] == ["dead"]
    assert model.events_[0]["detail"] == "component 2 lost all rows at iteration 1: re-seeded"
    assert model.weights_.min() > 0.01


def test_without_leave_to_move_nothing_is_mended() -> None:
    model = fit(
        CLOUDS, 2, weights_init=[1, 0], means_init=CLOUDS[[0, 25]], fixed=("means",), max_iter=5
    )
    assert model.events_[0]["detail"].endswith("left without weight")
    np.testing.assert_array_equal(model.means_, CLOUDS[[0, 25]])


def test_repairs_are_the_same_every_time() -> None:
    X = np.vstack([CLOUDS, [[500.0, 500, 500]]])
    runs = [fit(X, 4, reg_covar=0, n_threads=n_threads) for n_threads in (1, 2, 3)]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.means_, runs[0].means_)
        assert other.events_ == runs[0].events_


def detail(model: GaussianMixture) -> str:
    return str(model.events_[0]["detail"])


def test_more_components_than_distinct_rows_is_told() -> None:
    model = fit(np.repeat(CLOUDS[:2], 10, axis=0), 4)
    assert model.events_[0]["what"] == "start"
    told = re.match(r"only (\d) of 4 components begin at different points", detail(model))
    assert told
    assert int(told[1]) < 4


def test_squares_that_overflow_are_refused_before_the_fit() -> None:
    with pytest.raises(ValueError, match=r"^GaussianMixture: .* squares overflow float64; divide"):
        fit(CLOUDS * 1e160, 2, init_params="random")
    holes = CLOUDS * 1e160
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="squares overflow"):
        fit(holes, 2)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_the_floor_is_free_of_units(covariance_type: str) -> None:
    X = np.vstack([CLOUDS, np.repeat(CLOUDS[:1], 30, axis=0)])
    units = np.array([1e-4, 1.0, 1e9])
    settings = {
        "covariance_type": covariance_type, "reg_covar": "auto", "init_params": "random",
    }  # fmt: skip
    plain = fit(X, 3, **settings)
    other = fit(X * units, 3, **settings)
    np.testing.assert_allclose(other.means_, plain.means_ * units, rtol=1e-5)


def test_the_floor_of_correlated_columns_is_narrow_along_them() -> None:
    x = RNG.standard_normal(4000)
    X = np.column_stack([x, x + 0.2 * RNG.standard_normal(4000)])
    overview = look_over(as_source(X), X[0])
    np.testing.assert_allclose(overview.floor, 1e-6 * np.cov(X.T, bias=True), rtol=1e-6)
    flat = look_over(as_source(np.column_stack([x, x])), np.zeros(2))
    assert np.linalg.eigvalsh(flat.floor)[0] == pytest.approx(1e-8 * x.var(), rel=0.01)


def test_the_nearest_row_has_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.ones(60)
    weights[17] = 0
    holes = CLOUDS.copy()
    holes[3, 0] = np.nan
    assert nearest_row(as_source(holes), CLOUDS[17]) == 17
    assert nearest_row(as_source(holes, weights), CLOUDS[17]) != 17
    monkeypatch.setattr(_repair, "_TILE_ROWS", 7)
    assert nearest_row(as_source(holes), CLOUDS[3]) == 3
