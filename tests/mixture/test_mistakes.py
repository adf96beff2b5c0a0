"""What users get wrong: one sentence says what was asked, what was found and what to do.

Covers coterie.mixture._arrays and coterie.mixture._given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coterie
from coterie import (
    BayesianGaussianMixture,
    BernoulliMixture,
    CategoricalMixture,
    GaussianMixture,
    MixedMixture,
    PoissonMixture,
    StudentTMixture,
)

RNG = np.random.RandomState(0)
X = np.vstack([RNG.normal(size=(30, 3)), RNG.normal(5, 1, (30, 3))])
ROWS: dict[Any, Any] = {
    GaussianMixture: X,
    StudentTMixture: X,
    BayesianGaussianMixture: X,
    BernoulliMixture: (X > 2).astype(float),
    PoissonMixture: np.floor(np.abs(X)),
    CategoricalMixture: np.floor(np.abs(X)),
    MixedMixture: X,
}
every_model = pytest.mark.parametrize("kind", ROWS)


def refused(action: Any) -> str:
    with pytest.raises(ValueError) as error:  # noqa: PT011 the words are compared by the tests
        action()
    return str(error.value)


@every_model
@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "3", None, True])
def test_samples_are_whole_numbers_of_rows(kind: Any, n_samples: Any) -> None:
    model = kind(random_state=0).fit(ROWS[kind])
    words = refused(lambda: model.sample(n_samples))
    assert words == (
        f"{kind.__name__}: Invalid value for 'n_samples': {n_samples!r}; ask for a whole number "
        "of at least 1."
    )


@pytest.mark.parametrize(
    "kind", [StudentTMixture, BayesianGaussianMixture, BernoulliMixture, PoissonMixture]
)
def test_nan_is_named_with_its_place(kind: Any) -> None:
    holes = ROWS[kind].copy()
    holes[7, 2] = np.nan
    words = refused(lambda: kind().fit(holes))
    assert words.startswith(f"{kind.__name__}: Input X contains NaN in column 2 (row 7); leave")
    assert "GaussianMixture" in words


@pytest.mark.parametrize("kind", [kind for kind in ROWS if kind is not CategoricalMixture])
def test_infinity_is_named_with_its_place(kind: Any) -> None:
    far = ROWS[kind].copy()
    far[7, 2] = -np.inf
    words = refused(lambda: kind().fit(far))
    assert words.startswith(f"{kind.__name__}: ")
    assert "infinity" in words
    assert "row 7" in words


@every_model
def test_a_warm_start_keeps_the_size_of_the_model(kind: Any) -> None:
    rows = ROWS[kind]
    model = kind(2, warm_start=True, random_state=0).fit(rows)
    assert "has 2 features" in refused(lambda: model.fit(rows[:, :2]))
    assert "n_components=3 was set after a fit with another" in refused(
        lambda: model.set_params(n_components=3).fit(rows)
    )
    assert model.set_params(warm_start=False).fit(rows[:, :2]).weights_.size == 3


@pytest.mark.parametrize("kind", [GaussianMixture, StudentTMixture, BayesianGaussianMixture])
def test_a_fitted_model_knows_its_settings_were_changed(kind: Any) -> None:
    model = kind(2, warm_start=True, random_state=0).fit(X)
    model.set_params(covariance_type="diag")
    for action in (model.predict, model.fit):
        words = refused(lambda action=action: action(X))
        assert words == (
            f"{kind.__name__}: covariance_type='diag' was set after a fit with another; set it "
            "back, or fit anew with warm_start=False."
        )


@pytest.mark.parametrize("kind", [GaussianMixture, StudentTMixture])
def test_a_background_comes_and_goes_with_a_new_fit_only(kind: Any) -> None:
    model = kind(2, random_state=0).fit(X)
    assert "noise=True was set after" in refused(lambda: model.set_params(noise=True).predict(X))
    assert model.fit(X).noise_weight_ < 1
    assert "noise=False was set after" in refused(lambda: model.set_params(noise=False).predict(X))
    assert not hasattr(model.fit(X), "noise_weight_")


def test_another_kind_of_weights_needs_a_new_fit() -> None:
    model = BayesianGaussianMixture(2, warm_start=True, random_state=0).fit(X)
    model.set_params(weight_concentration_prior_type="dirichlet_distribution")
    assert "prior_type='dirichlet_distribution' was set after" in refused(lambda: model.fit(X))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"weights_init": ["a", "b"]}, "weights_init is no array of numbers"),
        ({"weights_init": [[1.0, 0.0], [2.0]]}, "weights_init is no array of numbers"),
        ({"means_init": np.full((2, 3), np.nan)}, "means_init contains NaN or infinity"),
        ({"means_init": np.zeros((3, 2))}, "(2, 3), but got (3, 2); give one entry per component"),
        (
            {"precisions_init": np.ones((2, 3, 3)), "covariance_type": "tied"},
            "(3, 3), but got (2, 3, 3); give one entry per pair of columns",
        ),
    ],
)
def test_a_wrong_start_is_named(params: Any, words: str) -> None:
    found = refused(lambda: GaussianMixture(2, **params).fit(X))
    assert found.startswith("GaussianMixture: ")
    assert words in found


def test_a_wrong_start_of_categories_is_named() -> None:
    rows = np.array([[0, 0], [1, 2], [0, 1]])
    even = [np.full((2, 2), 1 / 2), np.full((2, 3), 1 / 3)]
    for given, words in (
        (even[:1], "probabilities_init has 1 entries, but X has 2 columns"),
        ([even[0], even[0]], "'probabilities_init[1]' should have the shape of (2, 3)"),
        ([even[0], 2 * even[1]], "a row of probabilities_init[1] sums to 2.00000"),
    ):
        start = CategoricalMixture(2, probabilities_init=given)
        assert words in refused(lambda start=start: start.fit(rows))
    flat = CategoricalMixture(categories=[0, 1])
    assert "give a list of categories for every column" in refused(lambda: flat.fit(rows))


def test_unknown_categories_get_advice_that_can_be_followed() -> None:
    rows = np.array([["a", "x"], ["b", "y"]], dtype=object)
    stranger = np.array([["c", "x"]], dtype=object)
    knows = "'c', which is none of those the model knows ('a', 'b'); "
    model: Any = CategoricalMixture().fit(rows)
    assert knows + "list it in categories= when fitting" in refused(lambda: model.predict(stranger))
    mixed = MixedMixture().fit(rows)
    assert knows + "fit again with rows that have it" in refused(lambda: mixed.predict(stranger))


def test_rates_too_large_to_draw_from_are_named() -> None:
    model = PoissonMixture().fit(np.full((3, 1), 1e19))
    assert "a rate of 1e+19 is too large to draw from" in refused(model.sample)


@pytest.mark.parametrize("kind", [GaussianMixture, StudentTMixture])
@pytest.mark.parametrize("noise", [False, True])
def test_criteria_count_what_was_free(kind: Any, noise: bool) -> None:
    def n_free(*fixed: str) -> int:
        model = kind(2, fixed=fixed, noise=noise, random_state=0).fit(X)
        return round((model.aic(X) + 2 * model.score(X) * len(X)) / 2)

    assert n_free() - n_free("weights") == 1 + noise
    assert n_free() - n_free("means") == 6
    assert n_free() - n_free("covariances") == 12
    assert n_free("weights", "means", "covariances") == (2 if kind is StudentTMixture else 0)


@every_model
def test_a_model_of_a_file_goes_on_with_a_warm_start(kind: Any, tmp_path: Any) -> None:
    model = kind(2, warm_start=True, random_state=0).fit(ROWS[kind])
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model").fit(ROWS[kind])
    assert again.lower_bound_ >= model.lower_bound_ - 1e-6
