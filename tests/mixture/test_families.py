"""What holds for every family alike: descent, responsibilities, weights, threads, files.

Covers coterie.mixture._bits, coterie.mixture._categories, coterie.mixture._dead,
coterie.mixture._estimator, coterie.mixture._linear, coterie.mixture._plain, coterie.mixture._start,
coterie.mixture._stored_gaussians and coterie.mixture._values.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import coterie
from coterie import (
    BernoulliMixture,
    CategoricalMixture,
    MixedMixture,
    PoissonMixture,
    StudentTMixture,
)


@dataclass(frozen=True)
class Case:
    """A family with settings, and rows it can be fitted to."""

    make: Callable[..., Any]
    rows: Callable[[np.random.RandomState, int], Any]


def bits(rng: np.random.RandomState, n: int) -> Any:
    return (rng.uniform(size=(n, 4)) < rng.choice([0, 0.2, 0.8, 1], 4)).astype(float)


def counts(rng: np.random.RandomState, n: int) -> Any:
    return rng.poisson(rng.choice([0, 0.5, 5, 300], 3), (n, 3)).astype(float)


def codes(rng: np.random.RandomState, n: int) -> Any:
    return rng.randint(0, rng.choice([1, 2, 5], 3), (n, 3))


def table(rng: np.random.RandomState, n: int) -> Any:
    cells = np.empty((n, 4), dtype=object)
    cells[:, 0] = rng.normal(1e3, 5, n)
    cells[:, 1] = rng.choice(["a", "b", "c"], n)
    cells[:, 2] = rng.uniform(size=n) < 0.3
    cells[:, 3] = rng.choice([1.0, 2.0, 7.0], n)
    cells[1:][rng.uniform(size=(n - 1, 4)) < 0.25] = None
    return cells


def numbers(rng: np.random.RandomState, n: int) -> Any:
    return rng.standard_t(1.5, (n, 2)) + 4 * rng.randint(0, 3, (n, 1))


def student(*args: Any, **params: Any) -> Any:
    return StudentTMixture(*args, **{"reg_covar": "auto", **params})


CASES = {
    "bernoulli": Case(BernoulliMixture, bits),
    "bernoulli sparse": Case(BernoulliMixture, lambda rng, n: sp.csr_matrix(bits(rng, n))),
    "poisson": Case(PoissonMixture, counts),
    "poisson sparse": Case(PoissonMixture, lambda rng, n: sp.csr_matrix(counts(rng, n))),
    "categorical": Case(CategoricalMixture, codes),
    "mixed": Case(MixedMixture, table),
    "student": Case(student, numbers),
    "student noise": Case(lambda *a, **p: student(*a, noise=True, **p), numbers),
}
#: Those with a prior of strength alpha.
PLAIN = [name for name in CASES if "student" not in name]
every_case = pytest.mark.parametrize("name", CASES)


def quietly(model: Any, X: Any, **fit: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **fit)


def parameters(model: Any) -> list[Any]:
    """All fitted numbers."""
    values = [value for name, value in sorted(vars(model).items()) if name.endswith("_")]
    arrays = [own for value in values for own in (value if isinstance(value, list) else [value])]
    return [own for own in arrays if isinstance(own, np.ndarray) and own.dtype.kind == "f"]


def assert_sound(model: Any, X: Any) -> None:
    for own in parameters(model):
        assert np.isfinite(own).all()
    resp = model.predict_proba(X)
    assert np.isfinite(model.score_samples(X)).all()
    if getattr(model, "noise", False):
        assert (resp.sum(axis=1) < 1 + 1e-9).all()
    else:
        np.testing.assert_allclose(resp.sum(axis=1), 1, rtol=1e-9)
    seen = [v for entry in model.history_ for v in
            (entry["objective_assign"], entry["objective_update"])]  # fmt: skip
    if not model.events_ or all(event["what"] == "not settled" for event in model.events_):
        scale = 1e-9 * max(1.0, np.abs(seen).max(), resp.shape[0])
        assert (np.diff(seen) <= scale).all()


@every_case
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    k=st.integers(1, 5),
    weighted=st.booleans(),
    alpha=st.sampled_from([0.0, 0.01, 1.0]),
    init=st.sampled_from(["kmeans", "k-means++", "random"]),
)
def test_the_free_energy_never_rises(name, seed, n, k, weighted, alpha, init):
    case, rng = CASES[name], np.random.RandomState(seed)
    X = case.rows(rng, n)
    weights = rng.randint(0, 4, n).astype(float) if weighted else None
    if weights is not None:
        weights[0] = 1
    params = {"alpha": alpha} if name in PLAIN else {}
    model = case.make(min(k, n), random_state=seed, init_params=init, tol=0, max_iter=15, **params)
    coterie.set_options(check_invariants=True)
    assert_sound(quietly(model, X, sample_weight=weights), X)


@every_case
def test_after_the_e_step_it_is_minus_the_log_likelihood(name):
    case = CASES[name]
    X = case.rows(np.random.RandomState(0), 60)
    model = quietly(case.make(3, random_state=0, max_iter=5, tol=0), X)
    log_lik = model.score_samples(X).sum()
    assert model.free_energy(X) == pytest.approx(-log_lik)
    resp = model.predict_proba(X).astype(float)
    if not getattr(model, "noise", False):
        assert model.free_energy(X, resp) == pytest.approx(-log_lik)
        assert model.free_energy(X, np.full(resp.shape, 1 / 3)) >= -log_lik
        np.testing.assert_array_equal(model.predict(X), resp.argmax(axis=1))
    model.set_params(warm_start=True, max_iter=1)
    quietly(model, X)
    first = model.history_[0]
    assert first["log_likelihood"] == pytest.approx(log_lik, rel=1e-10)
    assert first["energy"] + first["neg_entropy"] == pytest.approx(-log_lik, rel=1e-10)


@every_case
def test_integer_weights_equal_repeated_rows(name):
    case, rng = CASES[name], np.random.RandomState(1)
    X = case.rows(rng, 50)
    weights = rng.randint(0, 4, 50)
    repeated = X[np.repeat(np.arange(50), weights)]
    begun = quietly(case.make(3, random_state=0, max_iter=2, warm_start=True, tol=0), X)
    begun.set_params(max_iter=10)
    one = quietly(copy.deepcopy(begun), X, sample_weight=weights)
    other = quietly(copy.deepcopy(begun), repeated)
    for mine, theirs in zip(parameters(one), parameters(other), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)
    assert one.lower_bound_ == pytest.approx(other.lower_bound_)


@every_case
def test_the_same_bits_on_any_number_of_threads(name):
    case = CASES[name]
    X = case.rows(np.random.RandomState(2), 3000)
    fits = [quietly(case.make(4, random_state=0, max_iter=4, n_threads=n), X) for n in (1, 2, 3, 4)]
    for other in fits[1:]:
        for mine, theirs in zip(parameters(fits[0]), parameters(other), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@every_case
def test_the_order_of_the_components_does_not_matter(name):
    case = CASES[name]
    X = case.rows(np.random.RandomState(3), 80)
    model = quietly(case.make(3, random_state=0, max_iter=3, tol=0), X)
    other, order = copy.deepcopy(model), [2, 0, 1]
    for attribute, value in vars(model).items():
        if attribute in ("weights_", "means_", "covariances_", "precisions_", "variances_",
                         "precisions_cholesky_", "degrees_of_freedom_", "rates_"):  # fmt: skip
            setattr(other, attribute, value[order])
        if attribute == "probabilities_":
            permuted = [own[order] for own in value] if isinstance(value, list) else value[order]
            setattr(other, attribute, permuted)
    np.testing.assert_allclose(other.score_samples(X), model.score_samples(X), atol=1e-12)
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X)[:, order], rtol=1e-9)
    model, other = (quietly(m.set_params(warm_start=True), X) for m in (model, other))
    assert other.lower_bound_ == pytest.approx(model.lower_bound_, rel=1e-10)
    np.testing.assert_allclose(other.weights_, model.weights_[order], rtol=1e-7)


@every_case
def test_a_saved_model_predicts_the_same(name, tmp_path):
    case = CASES[name]
    X = case.rows(np.random.RandomState(4), 60)
    model = quietly(case.make(3, random_state=0, max_iter=5), X)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    drawn, _ = again.sample(7)
    assert drawn.shape[0] == 7


@every_case
@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("init", ["kmeans", "random", "random_from_data"])
def test_degenerate_rows(name, alpha, init):
    case = CASES[name]
    X = case.rows(np.random.RandomState(5), 12)
    twins = X[np.zeros(12, dtype=int)]
    params = {"alpha": alpha} if name in PLAIN else {}
    coterie.set_options(check_invariants=True)
    for rows in (X, twins, X[:6][np.repeat(np.arange(6), 2)]):
        for k in (1, 11, 12):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # fewer distinct rows than components
                model = case.make(k, random_state=0, init_params=init, max_iter=20, **params)
                model.fit(rows)
            assert_sound(model, rows)
            assert_sound(model, X if rows is X else rows)


@pytest.mark.parametrize("estimator", [BernoulliMixture, PoissonMixture])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_what_dense_rows_give(estimator, dtype):
    X = CASES["poisson"].rows(np.random.RandomState(6), 200).astype(dtype)
    if estimator is BernoulliMixture:
        X = np.minimum(X, 1)
    dense = estimator(3, random_state=0, init_params="random").fit(X)
    sparse = estimator(3, random_state=0, init_params="random").fit(sp.csr_matrix(X))
    for mine, theirs in zip(parameters(dense), parameters(sparse), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    np.testing.assert_allclose(dense.score_samples(X), sparse.score_samples(sp.csr_matrix(X)))


class CountsOnly(PoissonMixture):
    """Says what scikit-learn's checks need to know to give it whole numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


_NO_CLASSIFIER = "the check takes whatever has predict_proba and sparse rows for a classifier"
_FRACTIONS = "the check's rows are fractions, whatever the tags say; see the test of weights above"
CHECKED = {
    "bernoulli": (
        BernoulliMixture(threshold=0.0),
        {
            "check_estimator_sparse_array": _NO_CLASSIFIER,
            "check_estimator_sparse_matrix": _NO_CLASSIFIER,
        },
    ),
    "poisson": (
        CountsOnly(),
        {
            "check_estimator_sparse_array": _NO_CLASSIFIER,
            "check_estimator_sparse_matrix": _NO_CLASSIFIER,
            "check_sample_weight_equivalence_on_dense_data": _FRACTIONS,
            "check_sample_weight_equivalence_on_sparse_data": _FRACTIONS,
        },
    ),
    "categorical": (
        CategoricalMixture(),
        {
            "check_positive_only_tag_during_fit": _FRACTIONS,
            "check_sample_weight_equivalence_on_dense_data": _FRACTIONS,
        },
    ),
    "mixed": (MixedMixture(), {}),
    "student": (StudentTMixture(), {}),
}


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(name):
    estimator, expected = CHECKED[name]
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
    )
    failures = {r["check_name"]: repr(r["exception"]) for r in results if r["status"] == "failed"}
    assert not failures
    assert len(results) > 30
