"""A film has both half-steps of every iteration. Covers coterie.plots._frames."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Polygon
from numpy.testing import assert_allclose

from coterie import AgglomerativeClustering, BisectingKMeans, GaussianMixture, KMeans
from coterie.plots import animate, save_film
from coterie.plots._frames import frames_of

X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
START = X[[0, 3, 6]]


@pytest.fixture
def ax():
    return Figure(figsize=(3, 2)).subplots()


def kmeans():
    return KMeans(3, init=START, tol=0, keep="parameters").fit(X)


def mixture():
    return GaussianMixture(2, random_state=0, keep="parameters", max_iter=3, tol=1).fit(
        np.vstack([X, X + 20])
    )


def test_frames_tell_both_half_steps_and_the_start():
    history = kmeans().history_
    frames = frames_of(history, START, "t")
    assert len(frames) == 1 + 2 * len(history)
    assert frames[0].caption == "start"
    assert frames[1].caption == "iteration 1: rows choose, sum of squared errors 67"
    assert_allclose(frames[1].owners, START)
    assert_allclose(frames[2].moved_from, START)
    assert_allclose(frames[2].centers, history[0]["parameters"])
    assert len(frames_of(history, None, "t")) == 2 * len(history) - 1


def test_a_frame_of_kmeans_shows_rows_regions_and_centres(ax, tmp_path):
    film = animate(kmeans(), X, start=START, ax=ax)
    assert film.ax is ax
    save_film(tmp_path / "a.gif", film, dpi=30)
    regions = [patch for patch in ax.patches if isinstance(patch, Polygon)]
    assert len(regions) == 6  # tint and border
    rows, centers = ax.collections
    assert_allclose(rows.get_offsets(), X)
    assert_allclose(centers.get_offsets(), kmeans().cluster_centers_)
    assert ax.get_title().startswith(f"iteration {kmeans().n_iter_}: centres move")
    from PIL import Image

    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.n_frames >= kmeans().n_iter_  # equal pictures become one


def test_a_page_needs_no_network(ax, tmp_path):
    save_film(tmp_path / "a.html", animate(kmeans(), X, ax=ax), dpi=30)
    page = (tmp_path / "a.html").read_text()
    assert "http" not in page
    assert page.count("data:image/png;base64") == 2 * kmeans().n_iter_ - 1
    assert "fa-play::before" in page


def test_a_frame_of_em_shows_ellipses(ax, tmp_path):
    model = mixture()
    save_film(tmp_path / "b.gif", animate(model.history_, ax=ax), dpi=30)
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == 4
    assert_allclose(ellipses[0].get_center(), model.history_[-1]["parameters"][0])
    assert "M-step, free energy" in ax.get_title()


def test_the_axes_hold_the_ellipses_unless_they_are_huge(ax, tmp_path):
    model = mixture()
    rows = np.vstack([X, X + 20])
    for spread, holds in ((1.0, True), (1e6, False)):
        start = [0.5, 0.5], [[1.0, 2.0], [28.0, 30.0]], [spread * np.eye(2)] * 2
        film = animate(model.history_, rows, start=start, ax=ax)
        save_film(tmp_path / "d.gif", film, dpi=10)
        reach = 2 * np.sqrt(spread)
        assert (ax.get_xlim()[0] < 1 - reach) == (ax.get_ylim()[1] > 30 + reach) == holds
        assert ax.get_xlim()[1] - ax.get_xlim()[0] < 2 * np.ptp(rows[:, 0])


def test_bisecting_has_a_centre_more_each_time(ax, tmp_path):
    model = BisectingKMeans(4, random_state=0, keep="parameters").fit(X)
    save_film(tmp_path / "c.gif", animate(model, X, ax=ax), dpi=30)
    assert len(ax.collections[1].get_offsets()) == 4


def test_what_cannot_be_filmed_is_refused(ax, tmp_path):
    with pytest.raises(ValueError, match='fit with keep="parameters"'):
        animate(KMeans(2, random_state=0).fit(X), X, ax=ax)
    with pytest.raises(ValueError, match="stages and no iterations"):
        animate(AgglomerativeClustering(2).fit(X), X, ax=ax)
    with pytest.raises(ValueError, match="X has 1 columns and the history 2"):
        animate(kmeans(), X[:, :1], ax=ax)
    film = animate(kmeans(), X, ax=ax)
    with pytest.raises(ValueError, match=r"use .gif or .html"):
        save_film(tmp_path / "a.mp4", film)
    save_film(tmp_path / "a.gif", film, dpi=20)
