"""Mixtures of mixed columns: against the definition, kinds, missing cells, tables.

Covers coterie.mixture._kinds, coterie.mixture._layout, coterie.mixture._normal and
coterie.mixture._product.
"""

from __future__ import annotations

from pathlib import Path

import mixture_twins as twins
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from coterie import GaussianMixture, MixedMixture


def sheet(rng, n=300, missing=0.0):
    """Three groups in a table of a float, an integer, a word and a truth value."""
    truth = rng.randint(0, 3, n)
    table = pd.DataFrame(
        {
            "length": rng.normal(3.0 * truth, 1),
            "count": 100 + 10 * truth + rng.randint(0, 8, n),
            "color": np.array(["red", "green", "blue", "grey"])[
                truth + (rng.uniform(size=n) < 0.2)
            ],
            "wet": rng.uniform(size=n) < np.array([0.1, 0.5, 0.9])[truth],
        }
    )
    if missing:
        table = table.astype({"count": float, "wet": object})
        table = table.mask(rng.uniform(size=table.shape) < missing)
    return table, truth


def naive_log_probs(model, table):
    """log w_j plus the log-density of every cell that is there."""
    log_probs = np.tile(np.log(model.weights_), (len(table), 1))
    numeric = other = 0
    for c, kind in enumerate(model.kinds_):
        cells = table.iloc[:, c].to_numpy(dtype=object)
        here = ~pd.isna(cells)
        if kind == "numeric":
            mean, deviation = model.means_[:, numeric], np.sqrt(model.variances_[:, numeric])
            values = cells[here].astype(float)[:, np.newaxis]
            log_probs[here] += norm.logpdf(values, mean, deviation)
            numeric += 1
        else:
            place = {value: code for code, value in enumerate(model.categories_[other].tolist())}
            codes = [place[value] for value in cells[here]]
            log_probs[here] += np.log(model.probabilities_[other][:, codes].T)
            other += 1
    return log_probs


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_densities_and_a_step_are_those_of_the_definition(missing):
    table, _ = sheet(np.random.RandomState(0), missing=missing)
    model = MixedMixture(3, random_state=0, max_iter=3, tol=0, alpha=0.2)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(table)
    expected = twins.posterior(naive_log_probs(model, table))
    np.testing.assert_allclose(
        model.score_samples(table), expected.row_log_prob, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(model.predict_proba(table), expected.resp, rtol=1e-6, atol=1e-12)
    model.set_params(warm_start=True, max_iter=1)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(table)
    resp = expected.resp
    np.testing.assert_allclose(model.weights_, resp.mean(axis=0), rtol=1e-9)
    for place, name in enumerate(["length", "count"]):
        values = table[name].to_numpy(dtype=float)
        here = ~np.isnan(values)
        mass = resp[here] / resp[here].sum(axis=0)
        means = mass.T @ values[here]
        np.testing.assert_allclose(model.means_[:, place], means, rtol=1e-9)
        spread = np.square(values[here][:, np.newaxis] - means)
        np.testing.assert_allclose(
            model.variances_[:, place], (mass * spread).sum(axis=0), rtol=1e-7
        )
    seen = np.stack(
        [resp[(table["color"] == word).to_numpy()].sum(axis=0) + 0.2 for word in
         ("blue", "green", "grey", "red")], axis=1,
    )  # fmt: skip
    np.testing.assert_allclose(model.probabilities_[0], seen / seen.sum(axis=1, keepdims=True))


def test_kinds_are_told_by_type_or_given():
    table, _ = sheet(np.random.RandomState(0))
    table["bit"] = np.arange(300) % 2
    told = MixedMixture(random_state=0).fit(table)
    assert told.kinds_ == ["numeric", "numeric", "categorical", "binary", "binary"]
    given = MixedMixture(kinds={"count": "categorical", 4: "numeric"}).fit(table)
    assert given.kinds_ == ["numeric", "categorical", "categorical", "binary", "numeric"]
    some = MixedMixture(kinds=["auto", "categorical", *["auto"] * 3]).fit(table)
    assert some.kinds_ == ["numeric", "categorical", "categorical", "binary", "binary"]
    listed = MixedMixture(kinds=["categorical"]).fit(np.array([[1], [5], [5]]))
    assert listed.categories_[0].tolist() == [1, 5]
    cells = np.array([[1.5, "a", True], [None, "b", False], [2, "a", None]], dtype=object)
    assert MixedMixture().fit(cells).kinds_ == ["numeric", "categorical", "binary"]


def test_all_tables_give_the_same():
    table, truth = sheet(np.random.RandomState(0))
    fits = [
        MixedMixture(3, random_state=0).fit(own)
        for own in (
            table,
            pl.from_pandas(table),
            table.astype(object),
            table.to_numpy(dtype=object),
        )
    ]
    for model in fits[1:]:
        assert model.kinds_ == fits[0].kinds_
        np.testing.assert_allclose(model.means_, fits[0].means_)
    np.testing.assert_array_equal(fits[1].predict(pl.from_pandas(table)), fits[0].predict(table))
    assert adjusted_rand_score(truth, fits[0].predict(table)) > 0.9
    drawn, labels = fits[0].sample(300)
    frame = pd.DataFrame(drawn, columns=table.columns)
    assert adjusted_rand_score(labels, fits[0].predict(frame)) > 0.9
    assert {type(cell) for cell in frame["wet"]} == {bool}


def test_missing_cells_cost_little():
    table, truth = sheet(np.random.RandomState(0), missing=0.3)
    model = MixedMixture(3, random_state=0).fit(table)
    assert adjusted_rand_score(truth, model.predict(table)) > 0.6
    full = MixedMixture(3, random_state=0).fit(sheet(np.random.RandomState(0))[0])
    order = [np.argsort(m.means_[:, 0]) for m in (model, full)]
    np.testing.assert_allclose(model.means_[order[0], 0], full.means_[order[1], 0], atol=0.4)


def test_a_row_without_cells_gets_the_weights():
    table, _ = sheet(np.random.RandomState(0), missing=0.2)
    table.iloc[5] = None
    model = MixedMixture(3, random_state=0).fit(table)
    np.testing.assert_allclose(model.predict_proba(table)[5], model.weights_)
    assert model.score_samples(table)[5] == pytest.approx(0, abs=1e-12)


def test_numbers_alone_are_a_diagonal_gaussian():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(5, 2, (60, 3))]) + 1e6
    params = {"tol": 1e-10, "max_iter": 1000, "random_state": 0}
    gauss = GaussianMixture(2, covariance_type="diag", reg_covar=0, **params).fit(X)
    mixed = MixedMixture(2, **params).fit(X)
    order = [np.argsort(m.weights_) for m in (gauss, mixed)]
    np.testing.assert_allclose(mixed.means_[order[1]], gauss.means_[order[0]], rtol=1e-9)
    np.testing.assert_allclose(mixed.variances_[order[1]], gauss.covariances_[order[0]], rtol=1e-4)
    assert mixed.score(X) == pytest.approx(gauss.score(X), rel=1e-8)
    assert mixed.bic(X) == pytest.approx(gauss.bic(X), rel=1e-8)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_units_do_not_matter(scale):
    table, _ = sheet(np.random.RandomState(0))
    model = MixedMixture(3, random_state=0).fit(table)
    table["length"] *= scale
    other = MixedMixture(3, random_state=0).fit(table)
    np.testing.assert_allclose(other.weights_, model.weights_, rtol=1e-12)
    np.testing.assert_allclose(other.means_[:, 0], model.means_[:, 0] * scale)


def test_a_constant_column_and_two_equal_values():
    X = np.array([[1.0, 3], [1, 3], [1, 9], [1, 9]])
    model = MixedMixture(2, random_state=0).fit(X)
    assert np.isfinite(model.variances_).all()
    assert adjusted_rand_score([0, 0, 1, 1], model.predict(X)) == 1


@pytest.mark.parametrize(
    ("params", "cells", "words"),
    [
        ({"kinds": ["numeric"]}, [["a"], ["b"]], "holds 'a'; call it categorical"),
        ({"kinds": ["binary"]}, [["a"], ["b"], ["c"]], "should be binary but has 3"),
        ({"kinds": ["numeric", "binary"]}, [[1], [2]], "kinds has 2 entries, but X has 1"),
        ({"kinds": {"x": "numeric"}}, [[1], [2]], "names the column 'x'"),
        ({"kinds": ["round"]}, [[1], [2]], "'round'; use one of numeric, binary, categorical"),
        ({}, [[None], [None]], "has no value at all"),
        ({}, [[np.inf], [1.0]], "infinity"),
    ],
)
def test_what_does_not_fit_is_refused(params, cells, words):
    with pytest.raises((ValueError, TypeError), match=words):
        MixedMixture(**params).fit(np.array(cells, dtype=object))


def test_an_unseen_category_is_refused():
    table, _ = sheet(np.random.RandomState(0))
    model = MixedMixture(2, random_state=0).fit(table)
    table.loc[3, "color"] = "pink"
    with pytest.raises(ValueError, match="column 'color' holds the category 'pink'"):
        model.predict(table)


PENGUINS = Path(__file__).parents[3] / "shared/data/mixed/penguins.csv"


@pytest.mark.skipif(not PENGUINS.exists(), reason="the shared data are not here")
def test_penguins_of_three_species():
    table = pd.read_csv(PENGUINS)
    rows = table.drop(columns=["species", "year", "sex"])
    assert rows.isna().any(axis=None)
    model = MixedMixture(3, n_init=5, random_state=0).fit(rows)
    assert model.kinds_ == ["categorical", *["numeric"] * 4]
    assert adjusted_rand_score(table["species"], model.predict(rows)) > 0.7
