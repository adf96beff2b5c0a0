"""Hulls and regions. Covers coterie.plots._histogram, coterie.plots._plane."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.testing import assert_allclose

from coterie import KMeans
from coterie.plots import scatter
from coterie.plots._outlines import cells, hull_of
from coterie.plots._plane import plane_of

RNG = np.random.default_rng(0)


def area(corners):
    x, y = corners.T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


def inside(corners, points):
    """Whether points lie in a convex polygon with corners in order."""
    edges = np.roll(corners, -1, axis=0) - corners
    away = points[:, None] - corners
    side = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
    return (side >= -1e-9).all(axis=1) | (side <= 1e-9).all(axis=1)


@pytest.mark.parametrize("lifted", [False, True])
def test_cells_tile_the_box_and_hold_what_is_nearest(lifted):
    centers = RNG.uniform(size=(7, 2))
    heights = RNG.uniform(size=7) * 0.05 if lifted else np.zeros(7)
    found = cells(centers, heights, (0.0, 1.0, 0.0, 1.0))
    assert sum(area(cell) for cell in found if len(cell)) == pytest.approx(1)
    points = RNG.uniform(size=(500, 2))
    nearest = (np.square(points[:, None] - centers).sum(axis=2) + heights).argmin(axis=1)
    for cluster, cell in enumerate(found):
        assert inside(cell, points[nearest == cluster]).all()


def test_regions_of_a_model_in_more_columns_are_what_the_plane_cuts():
    X = RNG.normal(size=(300, 4))
    model = KMeans(4, random_state=0).fit(X)
    ax = scatter(X, model.labels_, regions=model, outlines=None, ax=Figure().subplots())
    tints = [p for p in ax.patches if isinstance(p, Polygon) and p.get_fill()]
    assert len(tints) == 4
    plane = plane_of(X, ["a"] * 4)
    flat = np.column_stack([RNG.uniform(*ax.get_xlim(), 400), RNG.uniform(*ax.get_ylim(), 400)])
    owners = model.predict(plane.origin + flat @ plane.directions.T)
    for cluster, patch in enumerate(tints):
        own = flat[owners == cluster]
        assert not len(own) or inside(patch.get_xy()[:-1], own).all()


def test_regions_leave_the_limits_alone_and_take_centres():
    X = RNG.normal(size=(50, 2))
    labels = (X[:, 0] > 0).astype(int)
    plain = scatter(X, labels, outlines=None, ax=Figure().subplots())
    tinted = scatter(X, labels, outlines=None, regions=[[-1, 0], [1, 0]], ax=Figure().subplots())
    assert_allclose(tinted.get_xlim(), plain.get_xlim())
    assert_allclose(tinted.get_ylim(), plain.get_ylim())
    assert len(tinted.patches) == 4


def test_one_column_has_intervals():
    x = np.array([[0.0], [1], [9], [10]])
    ax = scatter(x, [1, 1, 0, 0], regions=[[9.5], [0.5]], ax=Figure().subplots())
    spans = ax.patches[-2:]
    assert spans[0].get_x() + spans[0].get_width() == 5
    assert spans[1].get_x() == 5


def test_hulls_hold_their_points():
    X = RNG.normal(size=(40, 2))
    assert inside(hull_of(X), X).all()
    line = np.column_stack([np.arange(5.0), np.arange(5.0)])
    assert sorted(hull_of(line).tolist()) == [[0, 0], [4, 4]]
    ax = scatter(X, np.repeat([0, 1], 20), outlines="hulls", ax=Figure().subplots())
    assert len(ax.patches) == len(ax.lines) == 2
    assert_allclose(ax.lines[0].get_xydata()[:-1], hull_of(X[:20]))


def test_what_has_no_regions_is_refused():
    X = RNG.normal(size=(5, 2))
    with pytest.raises(ValueError, match="KMeans without cluster_centers_"):
        scatter(X, np.zeros(5, int), regions=KMeans(2), ax=Figure().subplots())
    with pytest.raises(ValueError, match=r"centres of shape \(1, 3\) and X has 2 columns"):
        scatter(X, np.zeros(5, int), regions=[[0, 0, 0]], ax=Figure().subplots())
    with pytest.raises(ValueError, match="outlines='boxes'"):
        scatter(X, np.zeros(5, int), outlines="boxes", ax=Figure().subplots())
