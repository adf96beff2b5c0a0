"""The scatter plot shows every cluster where it is."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.testing import assert_allclose

from coterie.plots import scatter
from coterie.plots._style import NOISE_COLOR, color_of, marker_of


@pytest.fixture
def ax():
    return Figure(figsize=(9, 6), layout="constrained").subplots()


def blobs(n_clusters, n_columns, n_each=30):
    rng = np.random.RandomState(0)
    centers = 10 * rng.normal(size=(n_clusters, n_columns))
    labels = np.repeat(np.arange(n_clusters), n_each)
    return centers[labels] + rng.normal(size=(len(labels), n_columns)), labels, centers


def drawn_points(ax):
    return [c.get_offsets() for c in ax.collections if len(c.get_offsets()) > 1]


def test_two_columns_are_drawn_as_they_are(ax):
    X, labels, centers = blobs(3, 2)
    assert scatter(X, labels, centers, feature_names=["a", "b"], ax=ax, title="T") is ax
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("a", "b", "T")
    for cluster, points in enumerate(drawn_points(ax)):
        assert_allclose(points, X[labels == cluster])
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    for text, center in zip(ax.texts, centers, strict=True):
        assert_allclose(text.xy, center)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        f"{i}: 30 (33%)" for i in range(3)
    ]


def test_an_ellipse_is_the_covariance_of_its_cluster(ax):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(500, 2)) @ np.array([[3.0, 1.0], [0.0, 0.5]]) + 7
    scatter(X, np.zeros(500, dtype=int), ax=ax)
    ellipse = next(patch for patch in ax.patches if isinstance(patch, Ellipse))
    edge = ellipse.get_patch_transform().transform(
        [[np.cos(t), np.sin(t)] for t in np.linspace(0, 6, 20)]
    )
    away = edge - X.mean(axis=0)
    mahalanobis = np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(X.T)), away)
    assert_allclose(mahalanobis, 1, rtol=1e-9)


def test_small_clusters_and_noise_have_no_ellipse(ax):
    X = np.random.RandomState(0).normal(size=(12, 2))
    labels = np.array([-1] * 5 + [0] * 2 + [1] * 5)
    scatter(X, labels, ax=ax)
    assert len({tuple(patch.get_center()) for patch in ax.patches}) == 1
    assert to_hex(ax.collections[0].get_facecolor()[0]) == NOISE_COLOR.lower()
    assert ax.get_legend().get_texts()[0].get_text() == "noise: 5 (42%)"


def test_more_columns_are_drawn_through_their_principal_components(ax):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 3)) * [1.0, 10.0, 3.0] + 100
    scatter(X, np.zeros(400, dtype=int), X[:2], ax=ax)
    share = X.var(axis=0) / X.var(axis=0).sum()
    assert ax.get_xlabel() == f"PC 1 ({share[1]:.0%} of variance)"
    assert ax.get_ylabel() == f"PC 2 ({share[2]:.0%} of variance)"
    points = drawn_points(ax)[0]
    # nearly the axes themselves, since the columns are independent
    assert abs(np.corrcoef(points[:, 0], X[:, 1])[0, 1]) > 0.99
    assert abs(np.corrcoef(points[:, 1], X[:, 2])[0, 1]) > 0.99
    # centres are projected like the rows they were taken from
    assert_allclose([text.xy for text in ax.texts], points[:2])


def test_few_rows_are_counted_in_whole_numbers(ax):
    scatter(np.arange(9.0)[:, np.newaxis], np.repeat([0, 1], [5, 4]), ax=ax)
    assert all(tick == round(tick) for tick in ax.get_yticks())


def test_one_column_is_a_histogram(ax):
    X, labels, centers = blobs(2, 1)
    scatter(X, labels, centers, feature_names=["speed"], ax=ax)
    assert ax.get_xlabel() == "speed"
    assert sum(bar.get_height() for container in ax.containers for bar in container) > 0
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx(list(centers[:, 0]))
    assert [text.get_text() for text in ax.texts] == ["0", "1"]


def test_at_most_max_points_are_drawn_and_the_legend_counts_all_rows(ax):
    X, labels, _ = blobs(2, 2, n_each=1000)
    scatter(X, labels, ax=ax, max_points=100)
    assert 50 < sum(len(points) for points in drawn_points(ax)) <= 100
    assert ax.get_legend().get_texts()[0].get_text() == "0: 1,000 (50%)"


def test_colours_and_markers_go_on_for_many_clusters(ax):
    looks = {(color_of(i), marker_of(i)) for i in range(80)}
    assert len(looks) == 80
    assert color_of(10_000)
    X, labels, centers = blobs(90, 4, n_each=3)
    scatter(X, labels, centers, ax=ax)
    assert not ax.texts  # ninety numbers would not be readable
    assert ax.get_legend() is None


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("kind", ["one row", "constant", "huge", "tiny"])
def test_degenerate_data_is_drawn(tmp_path, n_columns, kind, ax):
    rows = np.random.RandomState(0).normal(size=(20, n_columns))
    X = {"one row": rows[:1], "constant": rows * 0 + 3, "huge": rows * 1e200, "tiny": rows * 1e-200}
    labels = np.zeros(len(X[kind]), dtype=int)
    scatter(X[kind], labels, X[kind][:1], ax=ax)
    ax.figure.savefig(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_wrong_shapes_are_refused(ax):
    with pytest.raises(ValueError, match="one label for each"):
        scatter(np.zeros((3, 2)), [0, 1], ax=ax)
    with pytest.raises(ValueError, match="at least one row"):
        scatter(np.zeros((0, 2)), [], ax=ax)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_rows_with_gaps_are_left_out_and_counted(n_columns, ax):
    X = np.random.RandomState(0).normal(size=(20, n_columns))
    X[3, 0], X[5, -1] = np.nan, np.inf
    scatter(X, np.zeros(20, dtype=int), ax=ax)
    assert ax.texts[-1].get_text() == "2 rows with missing or infinite values not drawn"
    if n_columns > 1:
        assert len(drawn_points(ax)[0]) == 18
    scatter(X * np.nan, np.zeros(20, dtype=int), ax=ax)


def test_labels_may_be_text_and_a_frame_names_the_axes(ax, tmp_path):
    X, labels, _ = blobs(2, 2)
    frame = pd.DataFrame(X, columns=["\u6f22 \U0001f9c0", "cost $ and $"])
    scatter(frame, np.array(["Gentoo", "Adelie"])[labels], ax=ax, title="\U0001f9c0")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "Adelie: 30 (50%)", "Gentoo: 30 (50%)"
    ]  # fmt: skip
    assert "cost" in ax.get_ylabel()
    ax.figure.savefig(tmp_path / "p.png")  # would warn of glyphs that the font lacks
    with pytest.raises(ValueError, match="column 'who' of X holds values that are no numbers"):
        scatter(frame.assign(who="x"), labels, ax=ax)
