"""Categorical mixtures: against the definition, categories of all types, missing cells.

Covers coterie.mixture._categories.
"""

from __future__ import annotations

import mixture_twins as twins
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from coterie import BernoulliMixture, CategoricalMixture


def naive_log_probs(X, log_weights, theta):
    """log w_j + sum over the cells that are there; a code below zero is missing."""
    log_probs = np.tile(log_weights, (len(X), 1))
    for c, own in enumerate(theta):
        here = X[:, c] >= 0
        log_probs[here] += np.log(own[:, X[here, c]].T)
    return log_probs


def naive_em(X, log_weights, theta, alpha, n_iter):
    for _ in range(n_iter):
        resp = twins.posterior(naive_log_probs(X, log_weights, theta)).resp
        log_weights = np.log(resp.mean(axis=0))
        theta = [
            np.stack([resp[X[:, c] == v].sum(axis=0) + alpha for v in range(own.shape[1])], axis=1)
            for c, own in enumerate(theta)
        ]
        theta = [own / own.sum(axis=1, keepdims=True) for own in theta]
    return log_weights, theta


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("missing", [False, True])
def test_em_is_that_of_the_definition(alpha, missing):
    rng = np.random.RandomState(0)
    sizes = (2, 3, 5)
    X = np.column_stack([rng.randint(0, size, 100) for size in sizes])
    if missing:
        X[rng.uniform(size=X.shape) < 0.3] = -1
        X[7] = -1
    start = [rng.dirichlet(np.ones(size), 3) for size in sizes]
    first = np.array([0.2, 0.3, 0.5])
    model = CategoricalMixture(
        3, alpha=alpha, weights_init=first, probabilities_init=start, max_iter=5, tol=0
    )
    cells = np.where(X < 0, np.nan, X.astype(float))
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(cells)
    log_weights, theta = naive_em(X, np.log(first), start, alpha, 5)
    np.testing.assert_allclose(model.weights_, np.exp(log_weights), rtol=1e-9)
    for mine, theirs in zip(model.probabilities_, theta, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    expected = twins.posterior(naive_log_probs(X, log_weights, theta))
    np.testing.assert_allclose(model.score_samples(cells), expected.row_log_prob, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(cells), expected.resp, rtol=1e-8)
    if missing:
        np.testing.assert_allclose(model.predict_proba(cells)[7], model.weights_)


def words(rng, n):
    kind = rng.randint(0, 2, n)
    color = np.where(kind == 1, "red", rng.choice(["green", "blue"], n))
    size = np.where(kind == 1, 3, rng.choice([1, 2], n))
    return kind, color, size


def test_tables_and_arrays_give_the_same():
    kind, color, size = words(np.random.RandomState(0), 200)
    cells = np.column_stack([color.astype(object), size.astype(object)])
    tables = [
        cells,
        pd.DataFrame({"color": color, "size": size}),
        pd.DataFrame({"color": pd.Categorical(color), "size": size}),
        pl.DataFrame({"color": color, "size": size}),
    ]
    fits = [CategoricalMixture(2, random_state=0).fit(table) for table in tables]
    for model, table in zip(fits, tables, strict=True):
        assert [own.tolist() for own in model.categories_] == [["blue", "green", "red"], [1, 2, 3]]
        np.testing.assert_array_equal(model.predict(table), fits[0].predict(cells))
        np.testing.assert_allclose(model.probabilities_[0], fits[0].probabilities_[0])
    assert adjusted_rand_score(kind, fits[0].predict(cells)) == 1
    drawn, labels = fits[0].sample(300)
    assert set(drawn[:, 0]) <= {"red", "green", "blue"}
    assert adjusted_rand_score(labels, fits[0].predict(drawn)) == 1
    assert list(fits[1].feature_names_in_) == ["color", "size"]


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA])
def test_every_mark_of_a_missing_cell_is_known(mark):
    X = np.array([["a", "x"], ["b", "y"], [mark, "x"], ["a", mark]], dtype=object)
    model = CategoricalMixture(1, alpha=0).fit(X)
    np.testing.assert_allclose(model.probabilities_[0], [[2 / 3, 1 / 3]])
    assert model.score_samples(X)[2] == pytest.approx(np.log(2 / 3))


def test_what_was_drawn_is_found_again():
    rng = np.random.RandomState(0)
    truth = rng.choice(2, 6000, p=[0.7, 0.3])
    theta = rng.dirichlet(np.full(4, 0.5), (2, 8))
    X = np.array([[rng.choice(4, p=own) for own in theta[j]] for j in truth])
    model = CategoricalMixture(2, n_init=3, random_state=0, tol=1e-6, max_iter=500).fit(X)
    order = np.argsort(-model.weights_)
    np.testing.assert_allclose(model.weights_[order], [0.7, 0.3], atol=0.03)
    for c, own in enumerate(model.probabilities_):
        np.testing.assert_allclose(own[order], theta[:, c], atol=0.05)


def test_two_categories_are_a_bernoulli():
    X = (np.random.RandomState(0).uniform(size=(80, 4)) < 0.4).astype(int)
    one = BernoulliMixture(2, alpha=0.1, random_state=0, init_params="random").fit(X)
    other = CategoricalMixture(2, alpha=0.1, random_state=0, init_params="random").fit(X)
    for c, own in enumerate(other.probabilities_):
        np.testing.assert_allclose(own[:, 1], one.probabilities_[:, c], rtol=1e-9)
    assert one.score(X) == pytest.approx(other.score(X))
    assert one.bic(X) == pytest.approx(other.bic(X))


def test_given_categories_and_unseen_ones():
    X = np.array([["a"], ["b"], ["a"]])
    model = CategoricalMixture().fit(X)
    with pytest.raises(ValueError, match=r"column 0 holds the category 'c'.*'a', 'b'.*categories="):
        model.predict([["c"]])
    wider = CategoricalMixture(categories=[["a", "b", "c"]]).fit(X)
    assert np.isfinite(wider.score_samples([["c"]])).all()
    with pytest.raises(ValueError, match="categories has 1 entries, but X has 2 columns"):
        CategoricalMixture(categories=[["a"]]).fit(np.array([["a", "b"], ["a", "b"]]))


@pytest.mark.parametrize(
    ("cells", "error", "words"),
    [
        ([[0.5], [1.0]], ValueError, "0.5 is a fraction"),
        ([[np.inf], [1.0]], ValueError, "infinity"),
        ([[None], [None]], ValueError, "has no value at all"),
        (np.array([["a"], [1]], dtype=object), TypeError, "holds int and str"),
        (np.array([[{}], [{}]], dtype=object), TypeError, "holds dict"),
    ],
)
def test_what_is_no_category_is_refused(cells, error, words):
    with pytest.raises(error, match=words):
        CategoricalMixture().fit(np.array(cells))
