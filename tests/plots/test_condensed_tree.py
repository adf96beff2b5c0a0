"""The condensed tree is drawn as wide as its clusters have rows."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from coterie import HDBSCAN
from coterie.plots import condensed_tree
from coterie.plots._style import color_of
from coterie.plots.condensed_tree import lay_icicles


def fitted():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 0.5, (30, 2)) for m in (0, 6, 12)])
    return HDBSCAN(min_cluster_size=10).fit(X)


def test_clusters_have_their_rows_and_lie_within_their_parents():
    tree = {name: np.asarray(part) for name, part in fitted().condensed_tree_.items()}
    icicles = lay_icicles(tree, float(tree["row_lambda"].max()))
    for cluster, icicle in enumerate(icicles):
        assert icicle.widths[0] == tree["size"][cluster]
        assert (np.diff(icicle.widths) <= 0).all()
        assert icicle.densities[0] == tree["birth"][cluster]
        parent = tree["parent"][cluster]
        if parent >= 0:
            over = icicles[parent]
            reach = abs(icicle.middle - over.middle) + icicle.widths[0] / 2
            assert reach <= over.widths[-1] / 2 + 1e-9


def test_selected_clusters_have_their_colours_and_numbers():
    model = fitted()
    ax = condensed_tree(model, ax=Figure().subplots(), title="T")
    n_clusters = len(model.condensed_tree_["parent"])
    assert len(ax.collections) == n_clusters
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2"]
    for label, cluster in enumerate(model.selected_clusters_):
        face = ax.collections[cluster].get_facecolor()[0]
        assert tuple(face[:3]) == to_rgba(color_of(label))[:3]
    assert ax.yaxis_inverted()
    assert ax.get_ylabel() == "density, 1 / distance"
    assert ax.get_xlabel() == "rows (90 in all)"


def test_the_number_of_a_cluster_of_all_rows_stands_in_the_axes():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = HDBSCAN(min_cluster_size=10, allow_single_cluster=True).fit(X)
    figure = Figure((9, 6))
    ax = condensed_tree(model, ax=figure.subplots(), title="T")
    figure.canvas.draw()
    (number,) = ax.texts
    assert number.get_text() == "0"
    assert number.get_bbox_patch().get_window_extent().y1 < ax.get_window_extent().y1


def test_rows_without_a_tree_are_refused():
    with pytest.raises(ValueError, match="pass a fitted HDBSCAN"):
        condensed_tree(np.zeros((3, 2)), ax=Figure().subplots())
