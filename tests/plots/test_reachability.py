"""Rows are reached in Prim's order."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import coterie
from coterie import HDBSCAN
from coterie.plots import reachability
from coterie.plots.reachability import reach


def test_the_order_is_prims():
    x = np.array([[0.0], [10], [1], [12], [3]])
    tree = coterie.spanning_tree(x)
    order, heights = reach(tree.heads, tree.tails, tree.lengths)
    assert order.tolist() == [0, 2, 4, 1, 3]
    assert heights.tolist() == [7, 1, 2, 7, 2]
    ax = reachability(tree, labels=[0, 1, 0, 1, 0], eps=3.0, ax=Figure().subplots(), title="T")
    assert len(ax.collections) == 2
    for polygon, drawn in zip(ax.collections, ([7, 1, 2], [7, 2]), strict=True):
        heights_drawn = set(polygon.get_paths()[0].vertices[:, 1].tolist()) - {0}
        assert heights_drawn == set(drawn)
    assert set(ax.lines[0].get_ydata()) == {3.0}
    assert ax.texts[0].get_text() == "eps = 3"
    assert ax.get_xlim() == (-0.5, 4.5)


def test_always_the_nearest_row_comes_next():
    X = np.random.default_rng(1).normal(size=(60, 2))
    tree = coterie.spanning_tree(X)
    order, heights = reach(tree.heads, tree.tails, tree.lengths)
    lengths = np.linalg.norm(X[:, None] - X, axis=2)
    for place in range(1, 60):
        nearest = lengths[np.ix_(order[:place], order[place:])].min()
        assert heights[place] == pytest.approx(nearest)


def test_models_bring_their_labels():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 0.5, (30, 2)) for m in (0, 6)])
    model = HDBSCAN(min_cluster_size=10).fit(X)
    ax = reachability(model, ax=Figure().subplots())
    assert len(ax.collections) == len(set(model.labels_.tolist()))


def test_what_does_not_fit_is_refused():
    tree = coterie.spanning_tree(np.arange(4.0)[:, None])
    with pytest.raises(ValueError, match="the tree spans 4 rows"):
        reachability(tree, labels=[0, 1], ax=Figure().subplots())
    with pytest.raises(ValueError, match="without heads, tails and lengths"):
        reachability(np.zeros((3, 2)), ax=Figure().subplots())
