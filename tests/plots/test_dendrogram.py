"""The dendrogram shows the tree, its cut and its clusters."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import coterie
from coterie import AgglomerativeClustering
from coterie.plots import dendrogram
from coterie.plots._style import INK, NOISE_COLOR, color_of

TEXTBOOK = np.array([[2.0], [5], [9], [15], [16], [18], [25], [33], [33], [45]])


@pytest.fixture
def ax() -> Any:
    return Figure(figsize=(9, 6), layout="constrained").subplots()


def rows(n: int = 60, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 3))


def brackets(ax: Any) -> Any:
    (lines,) = ax.collections
    return np.array(lines.get_segments())


def colors(ax: Any) -> list[str]:
    (lines,) = ax.collections
    return [to_hex(color) for color in lines.get_colors()]


def names(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_xticklabels()]


def test_the_textbook_example(ax: Any) -> None:
    Z = coterie.linkage(TEXTBOOK, "complete")
    assert dendrogram(Z, labels=TEXTBOOK[:, 0].astype(int), ax=ax, title="T") is ax
    assert sorted(brackets(ax)[:, 1, 1].tolist()) == sorted(Z[:, 2].tolist())
    assert sorted(map(int, names(ax))) == sorted(TEXTBOOK[:, 0].astype(int).tolist())
    assert (ax.get_ylabel(), ax.get_title()) == ("height", "T")
    assert not ax.lines  # a table is not cut
    assert set(colors(ax)) == {INK}


def test_a_model_has_the_colours_of_its_labels(ax: Any) -> None:
    X = rows()
    model = AgglomerativeClustering(4).fit(X)
    dendrogram(model, ax=ax)
    assert colors(ax).count(NOISE_COLOR.lower()) == 3  # the merges over the cut
    for text in ax.get_xticklabels():
        assert text.get_color() == color_of(model.labels_[int(text.get_text())])
    (line,) = ax.lines
    assert_allclose(line.get_ydata()[0], model.distances_[[-4, -3]].mean())


@pytest.mark.parametrize("linkage", ["ward", "single", "centroid"])
def test_other_cuts(linkage: str, ax: Any) -> None:
    X = rows()
    model = AgglomerativeClustering(4, linkage=linkage).fit(X)
    dendrogram(model, n_clusters=7, ax=ax)
    expected = model.cut(7)
    for text in ax.get_xticklabels():
        assert text.get_color() == color_of(expected[int(text.get_text())])
    ax.clear()
    height = float(np.sort(model.Z_[:, 2])[-3])
    dendrogram(model.Z_, height=height, ax=ax)
    assert ax.lines[0].get_ydata()[0] == height
    ax.clear()
    for n_clusters in (1, 60):
        dendrogram(model.Z_, n_clusters=n_clusters, ax=ax)
    assert len(ax.lines) == 1  # one cluster is not cut


def test_what_is_left_out_is_counted(ax: Any) -> None:
    Z = coterie.linkage(rows(), "ward")
    dendrogram(Z, last=8, ax=ax)
    assert len(brackets(ax)) == 7
    assert sum(int(name.strip("()")) if "(" in name else 1 for name in names(ax)) == 60
    ax.clear()
    dendrogram(Z, levels=2, ax=ax)
    assert 3 <= len(brackets(ax)) <= 7
    ax.clear()
    dendrogram(Z, above=Z[-5, 2], ax=ax)
    assert len(brackets(ax)) == 5
    ax.clear()
    dendrogram(Z, above=1e9, ax=ax)  # the root is always drawn
    assert len(brackets(ax)) == 1


def test_horizontal_is_vertical_turned(ax: Any) -> None:
    Z = coterie.linkage(rows(), "average")
    dendrogram(Z, n_clusters=3, ax=ax)
    upright, line = brackets(ax), ax.lines[0].get_ydata()[0]
    ax.clear()
    dendrogram(Z, n_clusters=3, orientation="horizontal", ax=ax)
    assert_allclose(brackets(ax), upright[:, :, ::-1])
    assert ax.lines[0].get_xdata()[0] == line
    assert ax.get_xlabel() == "height"
    assert ax.yaxis_inverted()


@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_log_height_shows_what_is_at_zero(orientation: str, ax: Any, tmp_path: Any) -> None:
    Z = coterie.linkage(TEXTBOOK, "single")
    dendrogram(Z, n_clusters=10, log=True, orientation=orientation, ax=ax)
    upright = orientation == "vertical"
    low, high = ax.get_ylim() if upright else ax.get_xlim()
    heights = brackets(ax)[:, :, 1 if upright else 0]
    assert 0 < low == heights.min() < 1
    assert high > heights.max()
    assert (ax.get_yscale() if upright else ax.get_xscale()) == "log"
    ax.figure.savefig(tmp_path / "p.svg")
    with pytest.raises(ValueError, match="every merge is at height 0"):
        dendrogram(coterie.linkage(np.ones((4, 2))), log=True, ax=ax)


def test_optimal_order_is_scipys(ax: Any) -> None:
    X = rows()
    Z = coterie.linkage(X, "average")
    expected = hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(Z, pdist(X)))
    for tree, given in (
        (Z, X),
        (Z, pdist(X)),
        (AgglomerativeClustering(3, linkage="average").fit(X), X),
        (
            AgglomerativeClustering(3, linkage="average", metric="precomputed").fit(
                squareform(pdist(X))
            ),
            squareform(pdist(X)),
        ),
    ):
        ax.clear()
        dendrogram(tree, order="optimal", X=given, ax=ax)
        assert list(map(int, names(ax))) == expected.tolist()


def test_inversions_are_drawn(ax: Any, tmp_path: Any) -> None:
    Z = coterie.linkage([[0.0, 0], [1, 0], [0.5, 0.9]], "centroid")
    assert Z[1, 2] < Z[0, 2]
    dendrogram(Z, n_clusters=2, ax=ax)
    assert_allclose(brackets(ax)[1, :, 1].max(), 1)  # the second hangs from the higher first
    assert ax.get_ylim()[1] > 1
    ax.figure.savefig(tmp_path / "p.png")


def test_a_hundred_thousand_leaves(ax: Any, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    Z = coterie.linkage(np.sort(rng.exponential(size=(100_000, 1)), axis=0), "single")
    began = time.perf_counter()
    dendrogram(Z, n_clusters=5, ax=ax)
    ax.figure.savefig(tmp_path / "p.png")
    assert time.perf_counter() - began < 60  # seconds; on a busy machine
    assert len(brackets(ax)) == 99_999
    assert names(ax) == []


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e100])
@pytest.mark.parametrize("n", [2, 5])
def test_degenerate_trees_are_drawn(scale: float, n: int, ax: Any, tmp_path: Any) -> None:
    Z = coterie.linkage(rows(n), "average")
    Z[:, 2] *= scale
    dendrogram(Z, n_clusters=2, ax=ax)
    ax.figure.savefig(tmp_path / "p.png")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 2, "height": 1.0}, "n_clusters=2 and height=1.0 were given; use one"),
        ({"last": 3, "levels": 2}, "last=3 and levels=2 were given; use one"),
        ({"n_clusters": 61}, "from 1 to the 60 rows"),
        ({"n_clusters": 2.5}, "from 1 to the 60 rows"),
        ({"last": 1}, "last=1 was given; use a number of at least 2"),
        ({"levels": "three"}, "levels='three' was given; use a number"),
        ({"above": -1.0}, "above=-1.0 was given; use a number of at least 0"),
        ({"height": "low"}, "height='low' was given; use a number"),
        ({"height": np.nan}, "height=nan was given; use a number"),
        ({"labels": ["a"]}, "1 labels were given and the tree has 60 rows"),
        ({"order": "best"}, "order='best' was given; use one of 'merges', 'optimal'"),
        ({"orientation": "left"}, "orientation='left' was given; use one of"),
        ({"order": "optimal"}, "pass the rows or their condensed distances as X="),
        ({"order": "optimal", "X": np.ones((5, 2))}, "X has shape .5, 2. and the tree has 60"),
    ],
)
def test_mistakes_are_named(settings: Any, message: str, ax: Any) -> None:
    with pytest.raises(ValueError, match=message):
        dendrogram(coterie.linkage(rows()), ax=ax, **settings)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (np.ones((5, 3)), r"shape \(5, 3\) and \(n_rows - 1, 4\) is needed"),
        (np.ones((0, 4)), r"shape \(0, 4\)"),
        (np.ones((5, 4)), "is no merge table"),
        ([[0, 1, np.nan, 2]], "is no merge table"),
        ("tree", "holds no table of numbers"),
        (AgglomerativeClustering(), "AgglomerativeClustering has no merge table Z_"),
        (coterie.KMeans(), "KMeans has no merge table Z_"),
    ],
)
def test_what_is_no_tree_is_refused(tree: Any, message: str, ax: Any) -> None:
    with pytest.raises(ValueError, match=message):
        dendrogram(tree, ax=ax)
