"""Near the limits of float64: a valid result, or a sentence that says what to do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import GaussianMixture, MixedMixture, PoissonMixture, StudentTMixture

RNG = np.random.default_rng(0)
BITS = (RNG.standard_normal((30, 2)) > 0).astype(float)
MIXTURES = [getattr(coterie, name) for name in coterie.__all__ if name.endswith("Mixture")]
GAUSSIANS = [cls for cls in MIXTURES if "covariance_type" in cls().get_params()]


@pytest.fixture(autouse=True)
def _strict() -> Any:
    with coterie.options(check_invariants=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("init_params", ["kmeans", "random", "random_from_data"])
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("estimator", GAUSSIANS)
def test_rows_too_far_out_are_refused(
    estimator: Any, covariance_type: str, init_params: str
) -> None:
    model = estimator(2, covariance_type=covariance_type, init_params=init_params, random_state=0)
    with pytest.raises(
        ValueError, match=f"^{estimator.__name__}: .* squares overflow float64; div"
    ):
        model.fit(np.full((20, 2), 1e300))


@pytest.mark.parametrize("estimator", MIXTURES)
def test_weights_without_a_sum_are_refused(estimator: Any) -> None:
    told = f"^{estimator.__name__}: the sum of sample_weight overflows float64; divide"
    with pytest.raises(ValueError, match=told):
        estimator(2, random_state=0).fit(BITS, sample_weight=np.full(30, 1e308))


@pytest.mark.parametrize("weight", [1e-300, 1e-100, 1e100])
@pytest.mark.parametrize("estimator", MIXTURES)
def test_weights_of_any_size_are_fine(estimator: Any, weight: float) -> None:
    model = estimator(2, random_state=0).fit(BITS, sample_weight=np.full(30, weight))
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.lower_bound_)
    assert np.isfinite(model.score_samples(BITS)).all()


@pytest.mark.parametrize("k", [1, 3, 9])
def test_no_least_variance(k: int) -> None:
    for rows in (RNG.standard_normal((30, 2)), np.round(RNG.standard_normal((30, 2)))):
        model = MixedMixture(k, min_variance=0.0, random_state=0).fit(rows)
        assert (model.variances_ > 0).all()
        assert np.isfinite(model.score_samples(rows)).all()


@pytest.mark.parametrize("seed", range(5))
def test_large_counts_keep_their_invariants(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for rates in (1e8, rng.choice([1e8, 1.001e8], size=(50, 1)), 1e12):
        counts = rng.poisson(rates, size=(50, 3))
        model = PoissonMixture(3, random_state=seed, max_iter=200, tol=1e-9).fit(counts)
        assert np.isfinite(model.lower_bound_)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reg_covar", [0, "auto"])
def test_tied_with_a_background_keeps_its_invariants(reg_covar: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for estimator in (GaussianMixture, StudentTMixture):
        for scale in (1.0, [1.0, 1e3, 1e-3]):
            rows = rng.standard_normal((40, 3)) * scale
            rows[:3] *= 30
            model = estimator(
                3, covariance_type="tied", noise=True, reg_covar=reg_covar, random_state=seed,
                max_iter=200, tol=0,
            ).fit(rows)  # fmt: skip
            assert np.isfinite(model.lower_bound_)


@pytest.mark.parametrize("scale", [1e200, 1.7e308])
def test_mixed_columns_beyond_squares_are_refused(scale: float) -> None:
    X = np.column_stack([RNG.standard_normal(9), scale * np.resize([-1.0, 0, 1], 9)])
    with pytest.raises(ValueError, match=r"column 1 has values so large.*divide the column"):
        MixedMixture(2, random_state=0).fit(X)


def test_bits_that_are_huge_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"only 0 and 1, but row 3, column 1 is 1\.7e\+308"):
        coterie.BernoulliMixture(2).fit(np.where(np.arange(60).reshape(30, 2) == 7, 1.7e308, BITS))


def test_huge_rows_with_missing_cells_are_refused() -> None:
    X = np.array([[1.7e308, 0.0], [1.7e308, np.nan], [0.0, -1.7e308], [1.0, 1.0]])
    with pytest.raises(ValueError, match="squares overflow float64; divide X by a constant"):
        GaussianMixture(2).fit(X)


@pytest.mark.parametrize("cls", [GaussianMixture, StudentTMixture])
def test_huge_rows_of_no_weight_are_refused(cls: Any) -> None:
    X = RNG.standard_normal((9, 2))
    X[4:6, 0] = -1.7e308, 1.7e308
    with pytest.raises(ValueError, match=f"{cls.__name__}: .*overflow.*divide X by a constant"):
        cls(2).fit(X, sample_weight=(np.abs(X[:, 0]) < 1e300).astype(float))


def test_mixed_columns_whose_squares_vanish_are_refused() -> None:
    X = np.column_stack([RNG.standard_normal(9), 1e-200 * RNG.standard_normal(9)])
    with pytest.raises(ValueError, match=r"column 1 has a standard deviation.*multiply the column"):
        MixedMixture(2, random_state=0).fit(X)


def test_a_huge_first_row_of_no_weight_is_refused() -> None:
    X = RNG.standard_normal((9, 2))
    X[0] = 1.7e308
    with pytest.raises(ValueError, match="overflow"):
        StudentTMixture(2).fit(X, sample_weight=np.arange(9.0))


@pytest.mark.parametrize("size", [1e141, 1e155, 1e200, 1.7e308])
def test_rows_far_beyond_those_of_a_mixed_fit_are_named(size):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) + np.repeat([[0.0], [8.0]], 30, axis=0)
    model = MixedMixture(2, random_state=0).fit(rows)
    far = np.array([[0.0, 0.0], [np.nan, -size]])
    for ask in (model.predict, model.predict_proba, model.score_samples, model.score, model.icl):
        with pytest.raises(ValueError, match=r"row 1, column 1 is -1.*; mark the cell as missing"):
            ask(far)


def test_rows_just_near_enough_to_a_mixed_fit_have_a_density():
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0], [8.0]], 30, axis=0) + 1e-9 * rng.normal(size=(60, 1))
    model = MixedMixture(2, min_variance=0.0, random_state=0).fit(rows)
    far = np.array([[1e139], [-1e139], [8.0]])
    assert np.isfinite(model.score_samples(far)).all()
    assert np.isfinite(model.predict_proba(far)).all()
