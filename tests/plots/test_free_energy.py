"""The free energy is drawn with both its terms."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie import GaussianMixture, KMeans
from coterie.plots import free_energy

X = np.random.default_rng(0).normal(size=(80, 2))


def test_terms_add_up_to_the_free_energy():
    model = GaussianMixture(2, tol=0.01, random_state=0).fit(X)
    ax = free_energy(model.history_, ax=Figure().subplots(), title="T")
    energy, neg_entropy, whole = (line.get_ydata() for line in ax.lines[:3])
    assert_allclose(energy + neg_entropy, whole, atol=1e-9)
    assert_allclose(whole, [e["objective_assign"] - model.history_[0]["objective_assign"]
                            for e in model.history_])  # fmt: skip
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "energy", "minus entropy", "free energy"
    ]  # fmt: skip


def test_a_history_without_energy_is_refused():
    with pytest.raises(ValueError, match="no energy and neg_entropy"):
        free_energy(KMeans(2, random_state=0).fit(X), ax=Figure().subplots())
