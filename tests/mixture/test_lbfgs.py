"""L-BFGS against EM from the same start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from coterie import GaussianMixture
from coterie.mixture._coordinates import WEIGHTS
from coterie.mixture._covariance import SHAPES

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


def data(name: str) -> Any:
    if name == "iris":
        return load_iris().data
    return np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)


def both(name: str, **params: Any) -> tuple[GaussianMixture, GaussianMixture]:
    X = data(name)
    params = {"random_state": 0, "max_iter": 3000, **params}
    return (
        GaussianMixture(3, tol=1e-13, **params).fit(X),
        GaussianMixture(3, tol=1e-13, solver="lbfgs", **params).fit(X),
    )


@pytest.mark.parametrize("name", ["faithful", "iris"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("reg_covar", [1e-6, 0, "auto"])
def test_it_ends_no_higher_than_em(name: str, weights: str, reg_covar: Any) -> None:
    plain, quick = both(name, weights=weights, reg_covar=reg_covar)
    n_rows = len(data(name))
    assert quick.converged_
    assert -quick.lower_bound_ * n_rows <= -plain.lower_bound_ * n_rows + 1e-6


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_it_finds_the_same_optimum_for_every_shape(covariance_type: str) -> None:
    plain, quick = both("faithful", covariance_type=covariance_type, reg_covar="auto")
    assert quick.lower_bound_ == pytest.approx(plain.lower_bound_, abs=1e-9)
    np.testing.assert_allclose(quick.means_, plain.means_, rtol=1e-3)
    assert quick.n_iter_ < plain.n_iter_


def test_history_and_callback_are_as_for_em() -> None:
    X, seen = data("iris"), []

    def stop_at_five(progress: Any) -> bool:
        seen.append(progress.objective)
        return len(seen) == 5

    model = GaussianMixture(3, solver="lbfgs", tol=0, random_state=0, callback=stop_at_five).fit(X)
    assert model.n_iter_ == len(model.history_) == len(model.lower_bounds_) == 5
    assert model.events_[-1]["what"] == "stopped"
    assert (np.diff(seen) <= 0).all()
    last = model.history_[-1]
    assert last["energy"] + last["neg_entropy"] == pytest.approx(last["objective_update"])
    assert model.lower_bound_ == pytest.approx(model.score(X))


def test_max_iter_and_what_is_fixed_are_kept() -> None:
    X = data("iris")
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        assert GaussianMixture(3, solver="lbfgs", max_iter=3, random_state=0).fit(X).n_iter_ == 3
    given = {"means_init": X[[0, 70, 140]], "random_state": 0, "solver": "lbfgs"}
    every = GaussianMixture(3, fixed=("weights", "means", "covariances"), **given).fit(X)
    np.testing.assert_array_equal(every.means_, given["means_init"])
    some = GaussianMixture(3, fixed=("means",), **given).fit(X)
    np.testing.assert_array_equal(some.means_, given["means_init"])
    assert some.lower_bound_ > every.lower_bound_


def test_units_do_not_matter() -> None:
    X = data("faithful")
    params = {"solver": "lbfgs", "reg_covar": "auto", "random_state": 0}
    model = GaussianMixture(2, **params).fit(X)
    scaled = GaussianMixture(2, **params).fit(X * [1e-20, 1e20])
    np.testing.assert_allclose(scaled.means_, model.means_ * [1e-20, 1e20], rtol=1e-6)


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_a_floor_far_wider_than_a_column_is_the_unit(covariance_type: str) -> None:
    X = data("iris")[:, :2] * [1e-100, 1e100]  # the default reg_covar is 1e194 times its variance
    settings: dict[str, Any] = {"covariance_type": covariance_type, "random_state": 0, "tol": 1e-4}
    em = GaussianMixture(2, **settings).fit(X)
    mine = GaussianMixture(2, **settings, solver="lbfgs").fit(X)
    assert np.isfinite(mine.covariances_).all()
    assert mine.lower_bound_ > em.lower_bound_ - 1e-3


def test_missing_values_prior_and_background() -> None:
    X = data("iris").copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    params: dict[str, Any] = {
        "noise": True, "prior": "auto", "random_state": 0, "tol": 1e-7, "max_iter": 300,
        "reg_covar": 0,
    }  # fmt: skip
    plain = GaussianMixture(3, **params).fit(X)
    quick = GaussianMixture(3, solver="lbfgs", **params).fit(X)
    assert quick.lower_bound_ >= plain.lower_bound_ - 1e-4


def degenerate() -> dict[str, Any]:
    rows = np.random.default_rng(0).standard_normal((40, 3))
    return {
        "duplicates": np.repeat(rows[:5], 8, axis=0),
        "constant column": np.column_stack([rows, np.ones(40)]),
        "collinear": np.column_stack([rows, rows @ [1.0, 2.0, 3.0]]),
        "equal rows": np.ones((20, 2)),
        "few rows": rows[:5],
        "outlier": np.vstack([rows, [[1e6] * 3]]),
        "tiny": rows * 1e-150,
        "far": rows + 1e8,
        "float32": rows.astype(np.float32),
    }


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
@pytest.mark.parametrize("covariance_type", SHAPES)
@pytest.mark.parametrize("name", degenerate())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_degenerate_rows_end_in_a_valid_mixture(
    name: str, covariance_type: str, solver: str
) -> None:
    X = degenerate()[name]
    for reg_covar in (0, "auto"):
        model = GaussianMixture(
            4, covariance_type=covariance_type, reg_covar=reg_covar, solver=solver, random_state=0,
            max_iter=20,
        ).fit(X)  # fmt: skip
        for values in (model.weights_, model.means_, model.covariances_, model.precisions_):
            assert np.isfinite(values).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


def test_a_covariance_at_the_floor_is_an_event() -> None:
    X = degenerate()["duplicates"]
    model = GaussianMixture(4, solver="lbfgs", reg_covar="auto", random_state=0).fit(X)
    assert "floored" in {event["what"] for event in model.events_}


def test_threads_change_nothing() -> None:
    X = np.random.default_rng(0).standard_normal((6000, 4))
    fits = [
        GaussianMixture(4, solver="lbfgs", random_state=0, tol=1e-2, n_threads=n_threads).fit(X)
        for n_threads in (1, 2, 3)
    ]
    assert len({model.means_.tobytes() for model in fits}) == 1
