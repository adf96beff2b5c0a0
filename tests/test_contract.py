"""The contract of every estimator that coterie exports: scikit-learn's own checks, and ours.

Covers coterie._base.
"""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import coterie
import twins

ESTIMATORS = [
    getattr(coterie, name)
    for name in coterie.__all__
    if inspect.isclass(getattr(coterie, name)) and issubclass(getattr(coterie, name), BaseEstimator)
]

#: Those that make clusters of columns, and label no rows.
POOLING = [
    estimator
    for estimator in ESTIMATORS
    if not hasattr(estimator, "predict") and "n_clusters" in estimator().get_params()
]
#: Those that are told how many groups to find.
COUNTING = [
    estimator
    for estimator in ESTIMATORS
    if {"n_clusters", "n_components"} & set(estimator().get_params()) and estimator not in POOLING
]
CLUSTERERS = [estimator for estimator in COUNTING if issubclass(estimator, ClusterMixin)]
MIXTURES = [estimator for estimator in COUNTING if estimator not in CLUSTERERS]
#: Those whose clusters are their centres, by squared distances, and those that build them step by
#: step.
CENTROIDS = [
    estimator
    for estimator in CLUSTERERS
    if hasattr(estimator, "transform") and estimator not in (coterie.KMedoids, coterie.KCenter)
]
ITERATIVE = [estimator for estimator in ESTIMATORS if "verbose" in estimator().get_params()]

_SEEDED = "rows are drawn by index, so leaving one out is not giving it weight zero"
#: What scikit-learn expects its own estimator of that name to fail.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        "check_sample_weight_equivalence_on_dense_data": _SEEDED,
        "check_sample_weight_equivalence_on_sparse_data": _SEEDED,
    }
    for name in ("KMeans", "MiniBatchKMeans", "BisectingKMeans")
}
_SPARSE_PROBA = (
    "the check asks classifier_tags of whatever has predict_proba and takes sparse rows; only a "
    "classifier has them"
)
_FRACTIONS = "the check passes fractions whatever the tags say; they are no categories"
EXPECTED_FAILURES |= {
    name: {
        "check_estimator_sparse_array": _SPARSE_PROBA,
        "check_estimator_sparse_matrix": _SPARSE_PROBA,
    }
    for name in ("BernoulliMixture", "PoissonMixture")
}
EXPECTED_FAILURES["CategoricalMixture"] = {
    "check_positive_only_tag_during_fit": _FRACTIONS,
    "check_sample_weight_equivalence_on_dense_data": _FRACTIONS,
}

#: The checks feed any number: what makes of it a truth value or a count.
_ANY_NUMBER: dict[str, dict[str, Any]] = {
    "BernoulliMixture": {"threshold": 0.0},
    "PoissonMixture": {"fractions": True},
    "ProductQuantizer": {"n_subvectors": 1},  # the checks have rows of one column
}


#: What is counted, drawn or named cannot be any number: these take numbers made of such rows.
_KINDS: dict[str, Callable[[Any], Any]] = {
    "BernoulliMixture": lambda X: (X > 0).astype(X.dtype),
    "CategoricalMixture": lambda X: np.clip(np.round(X), -2, 2) + 2,
    "PoissonMixture": lambda X: np.round(np.abs(X)),
}


#: What makes those that are not told a number find the groups of `rows`.
_FITTING: dict[str, dict[str, Any]] = {
    "DBSCAN": {"eps": 1.5},
    "HDBSCAN": {"min_cluster_size": 10},
    "LeaderClustering": {"threshold": 5.0},
    "ProductQuantizer": {"n_subvectors": 2, "bits": 4, "random_state": 3},
}


def rows(estimator: Any = None, n: int = 90, d: int = 3) -> Any:
    """Three groups of rows, of the kind that the estimator takes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + np.repeat([[-5.0], [0], [5]], n // 3, axis=0)
    return _KINDS.get(getattr(estimator, "__name__", ""), lambda X: X)(X)


def of_size(estimator: Any, size: int, **params: Any) -> Any:
    """An estimator that looks for so many groups."""
    if estimator in POOLING:
        return estimator(**{"n_clusters": 2, **params})
    if estimator not in COUNTING:  # such that the groups of `rows` are found
        return estimator(**_FITTING[estimator.__name__], **params)
    name = "n_clusters" if estimator in CLUSTERERS else "n_components"
    return estimator(**{name: size}, random_state=3, **params)


def answer(model: Any, X: Any) -> Any:
    """What a model says about rows: their labels, or what it makes of them."""
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def result(model: Any, X: Any) -> list[Any]:
    """Everything a fit published that is a number or an array of them, and its labels."""
    values = [value for name, value in sorted(vars(model).items()) if name.endswith("_")]
    return [answer(model, X), *(v for v in values if isinstance(v, (np.ndarray, float)))]


def test_there_is_something_to_check() -> None:
    names = {estimator.__name__ for estimator in ESTIMATORS}
    assert {"KMeans", "GaussianMixture"} <= names


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator: Any) -> None:
    name = estimator.__name__
    expected = EXPECTED_FAILURES.get(name, {})
    results = check_estimator(
        estimator(**_ANY_NUMBER.get(name, {})),
        expected_failed_checks=expected,
        on_fail=None,
        on_skip=None,
    )
    failures = {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] == "failed"
    }
    assert not failures
    assert len(results) > 30


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_has_a_rule_and_is_kept_as_given(estimator: Any) -> None:
    params = estimator().get_params()
    assert set(params) == set(estimator._rules)
    for name in params:
        marker = object()
        assert getattr(estimator(**{name: marker}), name) is marker


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_wrong_parameter_is_named_with_what_to_use(estimator: Any) -> None:
    for name in estimator().get_params():
        if name in ("random_state", "callback"):
            continue
        with pytest.raises(ValueError, match=rf"^{estimator.__name__}: {name}=.* use "):
            estimator(**{name: b"no"}).fit(rows(estimator))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fit_leaves_only_fitted_attributes(estimator: Any) -> None:
    model = of_size(estimator, 3)
    before = set(vars(model))
    model.fit(rows(estimator))
    left = {name for name in set(vars(model)) - before if not name.endswith("_")}
    if not hasattr(model, "partial_fit"):  # which goes on where `fit` ended
        assert left <= {"_n_features_out"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_are_not_changed(estimator: Any) -> None:
    X, weights = rows(estimator), np.linspace(0, 1, 90)
    X_before, weights_before = X.copy(), weights.copy()
    X.flags.writeable = weights.flags.writeable = False
    model = of_size(estimator, 3)
    if "copy_x" in model.get_params():
        model.set_params(copy_x=False)
    if "sample_weight" in inspect.signature(model.fit).parameters:
        model.fit(X, sample_weight=weights)
    else:
        model.fit(X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(weights, weights_before)


@pytest.mark.parametrize("estimator", CENTROIDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_published_results_agree_with_each_other(estimator: Any, dtype: type) -> None:
    X = rows().astype(dtype)
    model = estimator(n_clusters=3, random_state=0).fit(X)
    assert model.labels_.dtype == np.int32
    assert model.cluster_centers_.dtype == dtype
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    own = np.square(X.astype(float) - model.cluster_centers_.astype(float)[model.labels_]).sum()
    assert model.inertia_ == pytest.approx(own, rel=1e-9)
    # A tree of clusters may put a row elsewhere than to its nearest centre, which scores it.
    nearest = twins.sse(X, model.cluster_centers_, twins.nearest(X, model.cluster_centers_))
    assert model.score(X) == pytest.approx(-nearest, rel=1e-9)
    assert isinstance(model.inertia_, float)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(estimator: Any) -> None:
    X = rows(estimator, 6000, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one = result(of_size(estimator, 7, n_threads=1).fit(X), X)
        for n_threads in (1, 2, 3, 4):
            other = result(of_size(estimator, 7, n_threads=n_threads).fit(X), X)
            for mine, theirs in zip(one, other, strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clones_and_pickles(estimator: Any) -> None:
    X = rows(estimator)
    model = of_size(estimator, 3).fit(X)
    again = clone(model).fit(X)
    np.testing.assert_array_equal(answer(again, X), answer(model, X))
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answer(thawed, X), answer(model, X))
    assert thawed.get_params() == model.get_params()


@pytest.mark.parametrize("estimator", MIXTURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mixture_agrees_with_itself(estimator: Any, dtype: type) -> None:
    X = rows(estimator).astype(dtype)
    model = of_size(estimator, 3).fit(X)
    resp = model.predict_proba(X)
    np.testing.assert_allclose(resp.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), resp.argmax(axis=1))
    np.testing.assert_array_equal(of_size(estimator, 3).fit_predict(X), model.predict(X))
    log_lik = model.score_samples(X).sum()
    assert model.score(X) * 90 == pytest.approx(log_lik)
    # A distribution over the parameters costs something too: what it is away from the prior.
    bayesian = "Bayesian" in estimator.__name__
    least = model.free_energy(X)
    assert least > -log_lik if bayesian else least == pytest.approx(-log_lik)
    assert model.free_energy(X, resp.astype(float)) == pytest.approx(least, abs=1e-3)
    assert model.free_energy(X, np.full((90, 3), 1 / 3)) > least
    if not bayesian:
        assert model.bic(X) > model.aic(X)
        assert model.icl(X) >= model.bic(X)
    assert model.weights_.sum() == pytest.approx(1)
    drawn, labels = model.sample(40)
    assert drawn.shape == (40, 3)
    assert set(labels) <= {0, 1, 2}
    bounds = [entry["objective_assign"] for entry in model.history_]
    assert bayesian or -bounds[-1] / 90 == pytest.approx(model.lower_bound_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_unfitted_model_says_so(estimator: Any) -> None:
    for method in ("predict", "transform", "score", "predict_proba", "sample"):
        if not hasattr(estimator, method):
            continue
        arguments = () if method == "sample" else (rows(estimator),)
        with pytest.raises(NotFittedError):
            getattr(estimator(), method)(*arguments)


@pytest.mark.parametrize("estimator", COUNTING)
def test_nothing_is_printed(estimator: Any, capfd: pytest.CaptureFixture[str]) -> None:
    of_size(estimator, 3).fit(rows(estimator))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", ITERATIVE)
def test_progress_goes_to_stderr(estimator: Any, capfd: pytest.CaptureFixture[str]) -> None:
    of_size(estimator, 3, verbose=True).fit(rows(estimator))
    out, err = capfd.readouterr()
    assert out == ""
    assert estimator.__name__ in err


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_failing_fit_leaves_options_and_the_random_state_of_numpy_alone(estimator: Any) -> None:
    options, state = coterie.get_options(), np.random.get_state()[1].copy()
    bad = (
        np.empty((0, 2)) if estimator.__name__ == "CategoricalMixture" else np.full((5, 2), np.inf)
    )
    with pytest.raises(ValueError, match=r"infinity|inf|0 sample"):
        of_size(estimator, 3).fit(bad)
    assert coterie.get_options() == options
    np.testing.assert_array_equal(np.random.get_state()[1], state)
