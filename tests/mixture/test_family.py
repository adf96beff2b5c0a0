"""Distributions of the user's own: `FamilyMixture`, `Family` and the guard in between.

Covers coterie.mixture._family, coterie.mixture._guarded and coterie.mixture.family.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import coterie
from coterie.errors import FileError
from coterie.mixture import Family, FamilyMixture, GaussianMixture


class Exponential(Family):
    """Independent exponential columns, by their rates."""

    def log_prob(self, components: Any, rows: Any) -> Any:
        rates = components["rates"]
        return np.log(rates).sum(axis=1) - rows @ rates.T

    def summarise(self, components: Any, rows: Any, mass: Any) -> Any:
        return mass.T @ rows

    def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
        return {"rates": counts[:, np.newaxis] / summary}


class Drawing(Exponential):
    """The same, which may be drawn from and starts by itself."""

    def draw(self, components: Any, component: int, size: int, rng: Any) -> Any:
        rates = components["rates"][component]
        return rng.exponential(1 / rates, (size, rates.size))

    def start(self, rows: Any, n_components: int, rng: Any) -> Any:
        return {"rates": 1 / rows[rng.choice(len(rows), n_components, replace=False)]}


class Normal(Family):
    """Independent normal columns with variances of at least 1e-6: the diagonal Gaussians."""

    def log_prob(self, components: Any, rows: Any) -> Any:
        means, variances = components["means"], components["variances"]
        away = np.square(rows[:, np.newaxis] - means) / variances
        return -0.5 * (away + np.log(2 * np.pi * variances)).sum(axis=2)

    def summarise(self, components: Any, rows: Any, mass: Any) -> Any:
        return {"first": mass.T @ rows, "second": mass.T @ np.square(rows)}

    def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
        means = summary["first"] / counts[:, np.newaxis]
        variances = summary["second"] / counts[:, np.newaxis] - np.square(means)
        return {"means": means, "variances": np.maximum(variances, 0) + 1e-6}

    def draw(self, components: Any, component: int, size: int, rng: Any) -> Any:
        means, variances = components["means"][component], components["variances"][component]
        return rng.normal(means, np.sqrt(variances), (size, means.size))


def waits(n: int = 4000) -> Any:
    """Two kinds of waiting times: 60 % with a mean of 1, the others with a mean of 20."""
    rng = np.random.default_rng(0)
    return rng.exponential(np.where(rng.random(n) < 0.6, 1.0, 20.0))[:, np.newaxis]


def em_by_hand(x: Any, weights: Any, rates: Any, n_iter: int, mass: Any = 1.0) -> Any:
    """EM for a mixture of exponentials in one column, as the textbooks have it."""
    lower_bounds = []
    for _ in range(n_iter):
        joint = weights * rates * np.exp(-x[:, np.newaxis] * rates)
        total = joint.sum(axis=1, keepdims=True)
        lower_bounds.append(np.average(np.log(total[:, 0]), weights=mass * np.ones(len(x))))
        resp = joint / total * np.reshape(mass * np.ones(len(x)), (-1, 1))
        weights = resp.sum(axis=0) / resp.sum()
        rates = resp.sum(axis=0) / (resp * x[:, np.newaxis]).sum(axis=0)
    return weights, rates, lower_bounds


@pytest.mark.parametrize("weighted", [False, True])
def test_an_exponential_mixture_is_that_of_em_by_hand(weighted: bool) -> None:
    X = waits()
    mass = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    start = np.array([0.5, 0.5]), np.array([2.0, 0.1])
    model = FamilyMixture(
        Exponential(), 2, weights_init=start[0], parameters_init={"rates": start[1][:, np.newaxis]},
        tol=0, max_iter=30,
    )  # fmt: skip
    with pytest.warns(coterie.mixture._estimator.ConvergenceWarning):
        model.fit(X, sample_weight=mass)
    weights, rates, bounds = em_by_hand(X[:, 0], *start, 30, 1.0 if mass is None else mass)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-10)
    np.testing.assert_allclose(model.parameters_["rates"][:, 0], rates, rtol=1e-10)
    np.testing.assert_allclose(model.lower_bounds_, bounds, rtol=1e-10)
    assert [entry["iteration"] for entry in model.history_] == list(range(1, 31))
    assert model.events_[0]["what"] == "not settled"


@pytest.mark.parametrize("init_params", ["kmeans", "random", "k-means++", "family"])
def test_what_made_the_rows_is_found_again(init_params: str) -> None:
    model = FamilyMixture(
        Drawing(), 2, init_params=init_params, n_init=3, tol=1e-7, max_iter=2000, random_state=0
    ).fit(waits(20000))
    order = np.argsort(model.parameters_["rates"][:, 0])
    np.testing.assert_allclose(model.weights_[order], [0.4, 0.6], atol=0.02)
    np.testing.assert_allclose(1 / model.parameters_["rates"][order, 0], [20, 1], rtol=0.06)
    assert model.converged_
    assert not [event for event in model.events_ if event["what"] != "start"]


def test_normal_columns_are_the_diagonal_gaussians() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((500, 3)) * [1, 2, 3] + rng.integers(0, 2, (500, 1)) * 6
    own = FamilyMixture(Normal(), 2, random_state=0, tol=1e-8).fit(X)
    twin = GaussianMixture(2, covariance_type="diag", random_state=0, tol=1e-8).fit(X)
    np.testing.assert_allclose(own.parameters_["means"], twin.means_, rtol=1e-7)
    np.testing.assert_allclose(own.predict_proba(X), twin.predict_proba(X), atol=1e-7)
    np.testing.assert_array_equal(own.predict(X), twin.predict(X))
    assert own.score(X) == pytest.approx(twin.score(X), rel=1e-9)
    for criterion in ("bic", "aic", "icl"):
        assert getattr(own, criterion)(X) == pytest.approx(getattr(twin, criterion)(X), rel=1e-8)
    assert own.free_energy(X) == pytest.approx(twin.free_energy(X), rel=1e-9)


def test_rows_on_disk_and_in_tiles_give_the_same(tmp_path: Path) -> None:
    X = waits()
    np.save(tmp_path / "rows.npy", X)
    whole = FamilyMixture(Exponential(), 2, random_state=0).fit(X)
    mapped = FamilyMixture(Exponential(), 2, random_state=0)
    mapped.fit(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    np.testing.assert_array_equal(mapped.parameters_["rates"], whole.parameters_["rates"])

    model, mixture = whole._fitted()
    (block,) = coterie.data.as_source(X)
    model.family.__dict__["tile_numbers"] = 200
    assert len(list(model.family.tiles(block, mixture))) > 10
    tiled = model.family.expect(block, mixture)
    del model.family.__dict__["tile_numbers"]
    np.testing.assert_allclose(
        tiled.summary.parts, model.family.expect(block, mixture).summary.parts, rtol=1e-12
    )


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    results = check_estimator(FamilyMixture(Normal()), on_fail=None, on_skip=None)
    failed = [result for result in results if result["status"] == "failed"]
    assert not failed, [(result["check_name"], result["exception"]) for result in failed]


def test_samples_are_drawn_where_the_family_can() -> None:
    model = FamilyMixture(Drawing(), 2, random_state=0).fit(waits())
    rows, labels = model.sample(2000)
    assert rows.shape == (2000, 1)
    assert np.mean(rows[labels == 0]) == pytest.approx(
        1 / model.parameters_["rates"][0, 0], rel=0.2
    )
    with pytest.raises(ValueError, match=r"FamilyMixture: Exponential.draw is not defined"):
        FamilyMixture(Exponential(), 2, random_state=0).fit(waits()).sample(3)


def test_a_prior_counts() -> None:
    class Gamma(Exponential):
        """Rates with a Gamma(1 + a, a) prior, whose mode is one."""

        a = 500.0

        def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
            return {"rates": (counts[:, np.newaxis] + self.a) / (summary + self.a)}

        def log_prior(self, components: Any) -> float:
            rates = components["rates"]
            return float((self.a * np.log(rates) - self.a * rates).sum())

    X = waits(300)
    plain = FamilyMixture(Exponential(), random_state=0).fit(X)
    drawn = FamilyMixture(Gamma(), random_state=0).fit(X)
    assert plain.parameters_["rates"][0, 0] == pytest.approx(1 / X.mean())
    assert drawn.parameters_["rates"][0, 0] == pytest.approx(800 / (X.sum() + 500))
    expected = drawn.score(X) + Gamma().log_prior(drawn.parameters_) / 300
    assert drawn.lower_bound_ == pytest.approx(expected)
    assert drawn.events_ == []


def test_the_free_energy_after_the_m_step_is_known_where_the_family_tells_it() -> None:
    class Telling(Exponential):
        def expected_log_prob(self, components: Any, counts: Any, summary: Any, before: Any) -> Any:
            rates = components["rates"]
            return counts * np.log(rates).sum(axis=1) - (summary * rates).sum(axis=1)

    for family, half_steps in ((Exponential(), False), (Telling(), True)):
        model = FamilyMixture(family, 2, random_state=0).fit(waits())
        steps = [
            value
            for entry in model.history_
            for value in (entry["objective_assign"], entry["objective_update"])
        ]
        assert (np.diff(steps) <= 1e-6).all()
        assert (model.history_[0]["objective_update"] < steps[0]) == half_steps


def test_a_family_that_does_not_raise_the_likelihood_is_told() -> None:
    class Clumsy(Exponential):
        def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
            moved = super().maximise(counts, summary, before)
            return moved if before is None else {"rates": moved["rates"] * 1.5}

    model = FamilyMixture(Clumsy(), 2, random_state=0).fit(waits())
    (event,) = [event for event in model.events_ if event["what"] == "fell"]
    assert event["iteration"] >= 1
    assert "maximise does not maximise" in event["detail"]


class _Odd(Exponential):
    """Does one thing wrong."""

    def __init__(self, what: str, value: Any) -> None:
        self.what, self.value = what, value

    def __getattribute__(self, name: str) -> Any:
        if name in ("log_prob", "summarise", "maximise") and self.what == name:
            value = self.value
            return lambda *arguments: value(*arguments) if callable(value) else value
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("what", "value", "message"),
    [
        ("log_prob", np.zeros(3), r"log_prob returned shape \(3,\) for 40 rows and 2 components; "
         r"return an array of shape \(40, 2\)"),
        ("log_prob", "no", r"log_prob returned no array of numbers"),
        ("log_prob", lambda c, rows: np.full((len(rows), 2), np.nan),
         r"log_prob is nan for the row \[.*\] under component 0 \(rates=\["),
        ("log_prob", lambda c, rows: np.full((len(rows), 2), -np.inf),
         r"log_prob is minus infinity for the row .* under every component"),
        ("summarise", (1, 2), r"summarise returned tuple .* return an array of sums"),
        ("summarise", np.array([np.nan]), r"summarise returned NaN or infinity; return sums"),
        ("maximise", np.ones((2, 1)), r"maximise returned ndarray; return a dict of arrays"),
        ("maximise", {"rates": np.ones((3, 1))},
         r"maximise returned 'rates' of shape \(3, 1\) for 2 components; give an entry per"),
        ("maximise", {"rates": np.array([[1], [np.nan]])},
         r"maximise returned NaN or infinity for 'rates' of component 1, which has a mass of"),
        ("maximise", {"rates": "no"}, r"maximise returned 'rates': str; return a dict of arrays"),
    ],
)  # fmt: skip
def test_what_a_family_says_wrongly_is_refused(what: str, value: Any, message: str) -> None:
    model = FamilyMixture(_Odd(what, value), 2, random_state=0)
    with pytest.raises(ValueError, match=rf"^FamilyMixture: _Odd\.{message}"):
        model.fit(waits(40))


def test_what_is_no_family_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^FamilyMixture: there is no family"):
        FamilyMixture().fit(waits(40))
    with pytest.raises(ValueError, match=r"^FamilyMixture: family=.* use None or an object of a"):
        FamilyMixture(Exponential).fit(waits(40))
    with pytest.raises(ValueError, match=r"init_params='family' was given, but Exponential has no"):
        FamilyMixture(Exponential(), init_params="family").fit(waits(40))
    with pytest.raises(ValueError, match=r"parameters_init returned 'rates' of shape \(1, 1\)"):
        FamilyMixture(Exponential(), 2, parameters_init={"rates": [[1.0]]}).fit(waits(40))


def test_a_component_without_rows_keeps_what_it_was() -> None:
    X = np.ones((50, 1))
    model = FamilyMixture(
        Exponential(), 2, weights_init=[1.0, 0.0], parameters_init={"rates": [[1.0], [7.0]]}
    ).fit(X)
    assert model.parameters_["rates"].tolist() == [[1.0], [7.0]]
    assert [event["what"] for event in model.events_] == ["dead"]


def test_going_on_and_clones() -> None:
    X = waits()
    model = FamilyMixture(Exponential(), 2, random_state=0, max_iter=2, tol=0, warm_start=True)
    with pytest.warns(coterie.mixture._estimator.ConvergenceWarning):
        first = model.fit(X).lower_bound_
    with pytest.warns(coterie.mixture._estimator.ConvergenceWarning):
        model.fit(X)
    assert model.lower_bound_ > first
    again = clone(model).set_params(max_iter=100, tol=1e-3).fit(X)
    assert isinstance(again.family, Exponential)


def test_a_file_holds_the_numbers_and_not_the_family(tmp_path: Path) -> None:
    X = waits()
    model = FamilyMixture(Drawing(), 2, random_state=0).fit(X)
    model.save(tmp_path / "model.coterie")
    loaded = coterie.load(tmp_path / "model.coterie")
    np.testing.assert_array_equal(loaded.parameters_["rates"], model.parameters_["rates"])
    with pytest.raises(
        ValueError, match=r"a model file holds no code.*set_params\(family=\.\.\.\)"
    ):
        loaded.predict(X)
    loaded.set_params(family=Drawing())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    model.parameters_["rates"] = model.parameters_["rates"][:1]
    model.save(tmp_path / "bad.coterie")
    with pytest.raises(FileError, match="is of other size"):
        coterie.load(tmp_path / "bad.coterie")
