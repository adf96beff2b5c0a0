"""Mixtures as vectors, and the gradient by Fisher's identity.

Covers coterie.mixture._charts and coterie.mixture._coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from coterie import GaussianMixture
from coterie._history import Recorder
from coterie.data import as_source
from coterie.mixture._coordinates import WEIGHTS, Coordinates
from coterie.mixture._covariance import SHAPES
from coterie.mixture._gradient import Objective

N_ROWS, N_COMPONENTS = 120, 3


def rows() -> Any:
    rng = np.random.default_rng(1)
    mixed = rng.standard_normal((N_ROWS, 3)) @ [[1, 0.4, 0], [0, 0.7, -3], [0, 0, 5]]
    return mixed + rng.integers(0, 3, (N_ROWS, 1)) * [2.0, -1.0, 20.0] + 1000


def problem(X: Any, how: str = "softmax", weights: Any = None, **params: Any) -> Any:
    """A point of the search that is no optimum, and what is needed to look around there."""
    estimator = GaussianMixture(N_COMPONENTS, random_state=0, **params)
    blocks = as_source(X, weights)
    task = estimator._task(blocks, bool(np.isnan(X).any()))
    model, start = task.model, task.begin(np.random.RandomState(0), Recorder(0))
    coordinates = Coordinates(model.family, start, WEIGHTS[how], frozenset(params.get("fixed", ())))
    here = coordinates.pack(start)
    here = coordinates.project(here + 0.1 * np.random.default_rng(2).standard_normal(here.size))
    return here, coordinates, model, blocks


def largest_error(here: Any, coordinates: Any, model: Any, blocks: Any) -> float:
    objective = Objective(blocks, model, coordinates, N_ROWS)
    gradient = objective.at(here).gradient

    def height(vector: Any) -> float:
        return objective.at(vector).objective

    forward = approx_fprime(here, height, 1e-6)
    backward = approx_fprime(here, height, -1e-6)
    assert np.abs(gradient).max() > 1e-2
    return float(np.abs((forward + backward) / 2 - gradient).max())


@pytest.mark.parametrize("how", WEIGHTS)
@pytest.mark.parametrize("reg_covar", [0.5, "auto"])
@pytest.mark.parametrize("covariance_type", SHAPES)
def test_the_gradient_is_that_of_finite_differences(
    covariance_type: str, reg_covar: Any, how: str
) -> None:
    weights = np.random.default_rng(3).uniform(0, 2, N_ROWS)
    at = problem(rows(), how, weights, covariance_type=covariance_type, reg_covar=reg_covar)
    assert largest_error(*at) < 1e-7


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_also_with_a_prior_a_background_and_missing_values(covariance_type: str) -> None:
    X = rows()
    X[np.random.default_rng(4).random(X.shape) < 0.1] = np.nan
    prior = {"concentration": 2.0, "mean_precision": 3.0}
    at = problem(X, covariance_type=covariance_type, noise=True, prior=prior)
    assert largest_error(*at) < 1e-7


@pytest.mark.parametrize("fixed", [("weights",), ("means",), ("covariances",)])
def test_what_is_fixed_is_no_coordinate(fixed: tuple[str]) -> None:
    here, coordinates, model, blocks = problem(rows(), fixed=fixed)
    assert (
        here.size
        == problem(rows())[0].size - {"weights": 3, "means": 9, "covariances": 18}[fixed[0]]
    )
    assert largest_error(here, coordinates, model, blocks) < 1e-7


@pytest.mark.parametrize("how", WEIGHTS)
@pytest.mark.parametrize("covariance_type", SHAPES)
def test_unpacking_undoes_packing(covariance_type: str, how: str) -> None:
    here, coordinates, _, _ = problem(rows(), how, covariance_type=covariance_type)
    np.testing.assert_allclose(coordinates.unpack(here).weights.sum(), 1)
    again = coordinates.pack(coordinates.unpack(here))
    other = coordinates.unpack(again)
    np.testing.assert_allclose(other.weights, coordinates.unpack(here).weights)
    np.testing.assert_allclose(again[3:], here[3:], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_any_vector_is_a_valid_mixture(covariance_type: str) -> None:
    here, coordinates, _, _ = problem(rows(), covariance_type=covariance_type)
    rng = np.random.default_rng(5)
    for _ in range(20):
        mixture = coordinates.unpack(coordinates.project(10 * rng.standard_normal(here.size)))
        assert mixture.weights.sum() == pytest.approx(1)
        assert np.isfinite(mixture.components.factors).all()
