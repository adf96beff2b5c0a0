"""The likelihood of two means has two modes that mirror each other."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.stats import norm

from coterie.plots import likelihood_surface
from coterie.plots.likelihood_surface import log_likelihoods

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(-10, 5, 100), RNG.normal(10, 5, 100)])


def test_heights_are_log_likelihoods():
    means = np.array([-10.0, 0.0, 10.0])
    found = log_likelihoods(ROWS, means, 5.0, 0.3)
    for i, one in enumerate(means):
        for j, other in enumerate(means):
            pdf = 0.3 * norm.pdf(ROWS, one, 5) + 0.7 * norm.pdf(ROWS, other, 5)
            assert found[i, j] == pytest.approx(np.log(pdf).sum())


def test_modes_mirror_each_other_and_paths_are_drawn():
    path = [[-5, 5], [-9, 9], [-10, 10]]
    ax = likelihood_surface(ROWS, scale=5, grid=61, paths=[path], ax=Figure().subplots())
    modes = ax.collections[-1].get_offsets()
    assert_allclose(modes[0], modes[1][::-1])
    assert_allclose(np.sort(modes[0]), [-10, 10], atol=1.5)
    assert_allclose(ax.lines[-1].get_xydata(), path)
    assert ax.get_xlabel() == "mean of component 0"


def test_three_dimensional_axes_get_a_surface():
    ax = likelihood_surface(
        ROWS, scale=5, grid=21, span=(-20, 20), ax=Figure().add_subplot(projection="3d")
    )
    assert ax.get_zlabel() == "log-likelihood"


def test_a_scale_of_zero_is_refused():
    with pytest.raises(ValueError, match="use a scale above 0"):
        likelihood_surface(ROWS, scale=0, ax=Figure().subplots())
