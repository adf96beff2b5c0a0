"""How fitted estimators show themselves in notebooks. Covers coterie._fitted_html."""

from __future__ import annotations

import re
import warnings
from html import unescape
from typing import Any

import numpy as np
import sklearn

import coterie
from coterie._fitted_html import Bar, bars, facts_table

X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 5, 9)])


def told(model: Any) -> str:
    """The words of the fitted facts, without tags."""
    html = model._repr_html_()
    assert html.startswith("<style>")  # scikit-learn's diagram is there as well
    facts = html.partition('<div class="coterie"')[2]
    assert "<script" not in facts
    return unescape(re.sub(r"<[^>]*>", " ", facts.partition(">")[2]))


def test_what_a_fit_found_stands_below_the_diagram() -> None:
    model = coterie.KMeans(3, random_state=0).fit(X)
    words = told(model).split()
    assert " ".join(words).startswith("labelled 120 clusters 3 inertia")
    assert words.count("40") == 3
    assert f"iterations {model.n_iter_}" in " ".join(words)
    assert model.events_[0]["detail"].split()[0] in words


def test_noise_and_events_are_told() -> None:
    model = coterie.DBSCAN(eps=0.5).fit(np.concatenate([X, [[100.0, 100.0]]]))
    assert "noise  1 (0.8%)" in told(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # several, all of them about eps
        nothing = coterie.DBSCAN(eps=1e-6).fit(X)
    assert "event  everything noise: with eps=1e-06" in told(nothing)


def test_mixtures_show_weights() -> None:
    words = told(coterie.GaussianMixture(3, random_state=0).fit(X))
    assert "components  3" in words
    assert "lower bound" in words
    assert words.count("33.3%") == 3


def test_before_the_fit_there_is_the_diagram_alone() -> None:
    html = coterie.KMeans(3)._repr_html_()
    assert 'class="coterie"' not in html
    assert "KMeans" in html


def test_the_bundle_for_notebooks_says_the_same() -> None:
    model = coterie.KMeans(2, random_state=0).fit(X)
    bundle = model._repr_mimebundle_()
    assert 'class="coterie"' in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_many_clusters_are_cut_short() -> None:
    words = told(coterie.KMeans(30, random_state=0, n_init=1).fit(X))
    assert "and 18 more" in words


def test_names_are_escaped() -> None:
    attack = "<script>alert(1)</script>"
    drawn = facts_table([(attack, attack)]) + bars([Bar(attack, 1, attack)], more=attack)
    assert "<script" not in drawn
    assert drawn.count("&lt;script&gt;") == 5
