"""Densities are contours or surfaces. Covers coterie.plots._gaussians."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from coterie import GaussianMixture, KMeans
from coterie.plots import density
from coterie.plots._gaussians import components_of, log_densities, shares_of

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (60, 3)), RNG.normal(5, 2, (60, 3))])


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_components_of_every_type_agree_with_the_model(kind):
    model = GaussianMixture(2, covariance_type=kind, random_state=0, keep="parameters").fit(X)
    for given in (
        model,
        model.history_[-1],
        (model.weights_, model.means_, components_of(model, "t").covariances),
    ):
        components = components_of(given, "t")
        log_prob = log_densities(components, X)
        assert_allclose(np.logaddexp.reduce(log_prob, axis=1), model.score_samples(X))
        assert_allclose(shares_of(components, X), model.predict_proba(X), atol=1e-10)


def test_contours_show_the_marginal_of_two_columns():
    model = GaussianMixture(2, random_state=0).fit(X)
    ax = density(model, X, columns=(2, 0), feature_names=["a", "b", "c"], ax=Figure().subplots())
    points, contours = ax.collections
    assert_allclose(points.get_offsets(), X[:, [2, 0]])
    level, path = next(
        (level, path)
        for level, path in zip(contours.levels, contours.get_paths(), strict=True)
        if len(path.vertices) > 20
    )
    picked = np.ix_([2, 0], [2, 0])
    there = sum(
        weight * multivariate_normal(mean[[2, 0]], covariance[picked]).pdf(path.vertices)
        for weight, mean, covariance in zip(
            model.weights_, model.means_, model.covariances_, strict=True
        )
    )
    assert_allclose(there, level, rtol=0.05)
    assert sum(isinstance(patch, Ellipse) for patch in ax.patches) == 4  # tint and outline
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")


def test_every_contour_is_a_line_within_the_axes_and_so_are_the_rows():
    mixture = [1.0], [[0.0, 0.0]], [np.eye(2)]
    ax = density(mixture, [[9.0, 0.0], [-9.0, 0.0]], ax=Figure().subplots())
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert low[0] < -9 < 9 < high[0]
    paths = ax.collections[1].get_paths()
    assert len(paths) == 6
    for path in paths:
        extent = path.get_extents()
        assert min(extent.width, extent.height) > 1  # the innermost is no dot at the peak
        assert (path.vertices > low).all()
        assert (path.vertices < high).all()


def test_three_dimensional_axes_get_a_surface():
    mixture = [1.0], [[0.0, 0.0]], [np.eye(2)]
    ax = density(mixture, grid=30, ax=Figure().add_subplot(projection="3d"), title="T")
    assert (ax.get_zlabel(), ax.get_title()) == ("density", "T")
    assert len(ax.collections) == 1
    assert ax.get_zlim()[1] == pytest.approx(1 / (2 * np.pi), rel=0.1)


def test_what_is_no_mixture_is_refused():
    with pytest.raises(ValueError, match="KMeans has no covariances_"):
        density(KMeans(2), ax=Figure().subplots())
    with pytest.raises(ValueError, match="pass \\(k,\\), \\(k, d\\) and"):
        density(([1.0], [[0, 0]], [1.0]), ax=Figure().subplots())
    with pytest.raises(ValueError, match="has no weights; fit a GaussianMixture with keep"):
        density({"parameters": np.zeros((1, 2))}, ax=Figure().subplots())
    with pytest.raises(ValueError, match="has 1 column; two are drawn"):
        density(([1.0], [[0.0]], [[[1.0]]]), ax=Figure().subplots())
