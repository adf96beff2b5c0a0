"""Accelerated EM: the same descent in fewer steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie import GaussianMixture
from coterie.mixture._covariance import SHAPES


def overlapping(n_rows: int = 1000, seed: int = 0, d: int = 2) -> Any:
    """Two clouds, hardly apart: EM crawls."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, d))
    X[: n_rows // 2, 0] += 1.5
    return X


def both(X: Any, **params: Any) -> tuple[GaussianMixture, GaussianMixture]:
    params = {"n_components": 2, "tol": 1e-9, "max_iter": 3000, "random_state": 0, **params}
    return (
        GaussianMixture(**params).fit(X),
        GaussianMixture(accelerate="anderson", **params).fit(X),
    )


@pytest.mark.parametrize("reg_covar", [1e-6, "auto"])
def test_it_needs_a_fraction_of_the_iterations(reg_covar: Any) -> None:
    plain, quick = both(overlapping(), covariance_type="tied", reg_covar=reg_covar)
    assert quick.converged_
    assert quick.n_iter_ < plain.n_iter_ / 3
    assert quick.lower_bound_ == pytest.approx(plain.lower_bound_, abs=1e-6)
    np.testing.assert_allclose(quick.means_, plain.means_, atol=2e-2)


@settings(max_examples=20)
@given(st.sampled_from(list(SHAPES)), st.integers(1, 3), st.integers(1, 4), st.integers(0, 50))
def test_the_free_energy_never_rises(covariance_type: str, d: int, k: int, seed: int) -> None:
    X = overlapping(60, seed, d)
    model = GaussianMixture(
        k,
        covariance_type=covariance_type,
        accelerate="anderson",
        reg_covar="auto",
        tol=1e-6,
        max_iter=500,
        random_state=seed,
        init_params="random",
    )
    with coterie.options(check_invariants=True):
        model.fit(X)
    repaired = [event for event in model.events_ if "re-seeded" in event["detail"]]
    steps = [e[half] for e in model.history_ for half in ("objective_assign", "objective_update")]
    if not repaired:
        assert (np.diff(steps) <= 1e-9 * np.abs(steps).max()).all()


def test_missing_values_a_background_and_a_prior() -> None:
    X = overlapping(300)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    plain, quick = both(X, noise=True, prior="auto", tol=1e-7, reg_covar=0)
    assert quick.n_iter_ < plain.n_iter_
    assert quick.lower_bound_ >= plain.lower_bound_ - 1e-5


def test_what_is_fixed_stays() -> None:
    X = overlapping(300)
    every = ("weights", "means", "covariances")
    for fixed in [("weights",), ("weights", "means"), every]:
        _, quick = both(X, fixed=fixed, means_init=X[:2], tol=1e-4)
        if "means" in fixed:
            np.testing.assert_array_equal(quick.means_, X[:2])


def test_it_is_for_em_only() -> None:
    with pytest.raises(ValueError, match="speeds up EM only"):
        GaussianMixture(2, accelerate="anderson", solver="lbfgs").fit(overlapping())
