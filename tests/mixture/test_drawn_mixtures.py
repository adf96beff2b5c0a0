"""Any small table, with any weights: a valid result that keeps its invariants, or our words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import coterie

GAUSSIANS = ("BayesianGaussianMixture", "GaussianMixture", "StudentTMixture")
SHAPES = ("full", "tied", "diag", "spherical")
INITS = ("kmeans", "k-means++", "random", "random_from_data")


@st.composite
def tables(draw: Any, kind: str) -> Any:
    """Few rows: copies, constant columns, any scale and offset."""
    n = draw(st.integers(1, 12))
    d = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    if kind == "bits":
        rows = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == "counts":
        rows = rng.poisson(10.0 ** draw(st.integers(-2, 14)), (n, d)).astype(float)
    elif kind == "codes":
        rows = rng.integers(0, draw(st.integers(1, 4)), (n, d)).astype(float)
    else:
        rows = rng.standard_normal((n, d))
        if draw(st.booleans()):
            rows = np.round(rows)
        if draw(st.booleans()):
            rows[:, 0] = rows[0, 0]
        if draw(st.booleans()) and d > 1:
            rows[:, 1] = 2 * rows[:, 0]
        rows = rows * 10.0 ** draw(st.sampled_from([0, 0, 0, -150, -30, 3, 30, 150, 300]))
        rows = rows + draw(st.sampled_from([0.0, 0.0, 1.0, 1e4, 1e8]))
    if draw(st.booleans()):
        rows[rng.integers(0, n, n)] = rows[0]
    if draw(st.booleans()):
        with np.errstate(over="ignore"):
            rows = rows.astype(np.float32)
    return rows


weights = st.sampled_from(["none", "zeros", "uneven", "tiny", "large"])


def weigh(which: str, n: int) -> Any:
    uneven = np.linspace(0, 1, n) if n > 1 else np.ones(1)
    return {
        "none": None, "zeros": (np.arange(n) % 2 == 0).astype(float), "uneven": uneven,
        "tiny": uneven * 1e-12, "large": uneven * 1e9,
    }[which]  # fmt: skip


def attempt(model: Any, X: Any, sample_weight: Any) -> None:
    who = type(model).__name__
    with coterie.options(check_invariants=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, sample_weight=sample_weight)
        except ValueError as error:
            words = str(error)
            assert words.startswith(f"{who}: "), words
            assert ";" in words
            return
    assert np.isfinite(model.weights_).all()
    assert model.weights_.sum() + getattr(model, "noise_weight_", 0.0) == pytest.approx(1, rel=1e-5)
    assert np.isfinite(model.lower_bound_)
    proba = model.predict_proba(X)
    assert ((proba >= 0) & (proba <= 1 + 1e-6)).all()
    labels = model.predict(X)
    assert ((labels >= -1) & (labels < len(model.weights_))).all()
    for name in ("means_", "covariances_", "precisions_cholesky_", "rates_", "variances_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name


common = {
    "n_components": st.integers(1, 4),
    "init_params": st.sampled_from(INITS),
    "random_state": st.integers(0, 99),
    "max_iter": st.sampled_from([1, 3, 40]),
}


@pytest.mark.parametrize("name", GAUSSIANS)
@settings(max_examples=80)
@given(data=st.data())
def test_gaussians(name: str, data: Any) -> None:
    X = data.draw(tables("numbers"))
    params: dict[str, Any] = {key: data.draw(value) for key, value in common.items()}
    params["covariance_type"] = data.draw(st.sampled_from(SHAPES))
    params["reg_covar"] = data.draw(st.sampled_from([0, 1e-6]))
    if name != "BayesianGaussianMixture":
        params["reg_covar"] = data.draw(st.sampled_from([0, 1e-6, "auto"]))
        params["noise"] = data.draw(st.booleans())
    if name == "GaussianMixture" and data.draw(st.booleans()):
        holes = np.random.default_rng(params["random_state"]).random(X.shape) < 0.2
        X = np.where(holes, np.nan, X)
    attempt(getattr(coterie, name)(**params), X, weigh(data.draw(weights), len(X)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("BernoulliMixture", "bits"), ("PoissonMixture", "counts"), ("CategoricalMixture", "codes")],
)
@given(data=st.data())
def test_discrete(name: str, kind: str, data: Any) -> None:
    X = data.draw(tables(kind))
    params: dict[str, Any] = {key: data.draw(value) for key, value in common.items()}
    params["alpha"] = data.draw(st.sampled_from([0, 0.01, 1.0]))
    attempt(getattr(coterie, name)(**params), X, weigh(data.draw(weights), len(X)))


@settings(max_examples=80)
@given(data=st.data())
def test_mixed(data: Any) -> None:
    X = np.hstack([data.draw(tables("numbers"))])
    params: dict[str, Any] = {key: data.draw(value) for key, value in common.items()}
    params["min_variance"] = data.draw(st.sampled_from([0.0, 1e-6, 1e-3]))
    if data.draw(st.booleans()):
        holes = np.random.default_rng(params["random_state"]).random(X.shape) < 0.2
        X = np.where(holes, np.nan, X)
    attempt(coterie.MixedMixture(**params), X, weigh(data.draw(weights), len(X)))
