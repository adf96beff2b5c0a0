"""The contract of every estimator that coterie exports: scikit-learn's own checks, and ours."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import coterie
import twins

ESTIMATORS = [
    getattr(coterie, name)
    for name in coterie.__all__
    if inspect.isclass(getattr(coterie, name)) and issubclass(getattr(coterie, name), BaseEstimator)
]

#: Those that are told how many clusters to find.
COUNTING = [estimator for estimator in ESTIMATORS if "n_clusters" in estimator().get_params()]

_SEEDED = "rows are drawn by index, so leaving one out is not giving it weight zero"
#: What scikit-learn expects its own estimator of that name to fail.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        "check_sample_weight_equivalence_on_dense_data": _SEEDED,
        "check_sample_weight_equivalence_on_sparse_data": _SEEDED,
    }
    for name in ("KMeans", "MiniBatchKMeans", "BisectingKMeans")
}


def rows() -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((90, 3)) + np.repeat([[-5.0], [0], [5]], 30, axis=0)


def test_there_is_something_to_check() -> None:
    assert "KMeans" in {estimator.__name__ for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator: Any) -> None:
    name = estimator.__name__
    results = check_estimator(
        estimator(), expected_failed_checks=EXPECTED_FAILURES.get(name), on_fail=None, on_skip=None
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
            estimator(**{name: b"no"}).fit(rows())


@pytest.mark.parametrize("estimator", COUNTING)
def test_fit_leaves_only_fitted_attributes(estimator: Any) -> None:
    model = estimator(n_clusters=3, random_state=0)
    before = set(vars(model))
    model.fit(rows())
    left = {name for name in set(vars(model)) - before if not name.endswith("_")}
    if not hasattr(model, "partial_fit"):  # which goes on where `fit` ended
        assert left <= {"_n_features_out"}


@pytest.mark.parametrize("estimator", COUNTING)
def test_rows_are_not_changed(estimator: Any) -> None:
    X, weights = rows(), np.linspace(0, 1, 90)
    X_before, weights_before = X.copy(), weights.copy()
    X.flags.writeable = weights.flags.writeable = False
    model = estimator(n_clusters=3, random_state=0)
    if "copy_x" in model.get_params():
        model.set_params(copy_x=False)
    model.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(weights, weights_before)


@pytest.mark.parametrize("estimator", COUNTING)
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


@pytest.mark.parametrize("estimator", COUNTING)
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(estimator: Any) -> None:
    X = np.random.default_rng(0).standard_normal((6000, 4))
    one = estimator(n_clusters=7, random_state=3, n_threads=1).fit(X)
    for n_threads in (1, 2, 3, 4):
        other = estimator(n_clusters=7, random_state=3, n_threads=n_threads).fit(X)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        assert other.inertia_ == one.inertia_


@pytest.mark.parametrize("estimator", COUNTING)
def test_clones_and_pickles(estimator: Any) -> None:
    X = rows()
    model = estimator(n_clusters=3, random_state=0).fit(X)
    again = clone(model).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.predict(X), model.labels_)
    assert thawed.get_params() == model.get_params()


@pytest.mark.parametrize("estimator", COUNTING)
def test_an_unfitted_model_says_so(estimator: Any) -> None:
    for method in ("predict", "transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(estimator(), method)(rows())


@pytest.mark.parametrize("estimator", COUNTING)
def test_nothing_is_printed(estimator: Any, capfd: pytest.CaptureFixture[str]) -> None:
    estimator(n_clusters=3, random_state=0).fit(rows())
    assert capfd.readouterr() == ("", "")
    estimator(n_clusters=3, random_state=0, verbose=True).fit(rows())
    out, err = capfd.readouterr()
    assert out == ""
    assert estimator.__name__ in err


@pytest.mark.parametrize("estimator", COUNTING)
def test_a_failing_fit_leaves_options_and_the_random_state_of_numpy_alone(estimator: Any) -> None:
    options, state = coterie.get_options(), np.random.get_state()[1].copy()
    with pytest.raises(ValueError, match="NaN"):
        estimator(n_clusters=3).fit(np.full((5, 2), np.nan))
    assert coterie.get_options() == options
    np.testing.assert_array_equal(np.random.get_state()[1], state)
