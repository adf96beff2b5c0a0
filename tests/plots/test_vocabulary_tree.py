"""A vocabulary tree is drawn with a disc a node and a line to each child, none crossing."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from coterie import HierarchicalKMeans, KMeans
from coterie.plots import vocabulary_tree
from coterie.plots.vocabulary_tree import lay_tree


def model(branching=4, depth=3, n=600):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return HierarchicalKMeans(branching, depth, random_state=0).fit(X)


def test_a_disc_a_node_and_a_line_to_its_parent():
    tree = model()
    ax = vocabulary_tree(tree, ax=Figure().subplots())
    lines, discs = ax.collections
    n_nodes = len(tree.tree_centers_)
    assert len(discs.get_offsets()) == n_nodes
    assert len(lines.get_segments()) == n_nodes - 1
    places = np.asarray(discs.get_offsets())
    for child, segment in enumerate(lines.get_segments(), start=1):
        np.testing.assert_allclose(segment, places[[tree.tree_parents_[child], child]])
    areas = discs.get_sizes()
    big = tree.tree_counts_ > 10
    np.testing.assert_allclose(areas[big] / areas[0], tree.tree_counts_[big] / 600)
    assert ax.get_title() == f"600 rows, {tree.n_leaves_} leaves"


def test_shares_of_the_circle_are_those_of_the_rows():
    tree = model()
    layout = lay_tree(tree.tree_starts_, tree.tree_counts_, 9)
    for node in range(len(tree.tree_counts_)):
        children = np.arange(tree.tree_starts_[node], tree.tree_starts_[node + 1])
        if children.size == 0:
            continue
        assert (np.diff(layout.angles[children]) > 0).all()
        # The middles of the children, weighed by their rows, lie within the parent's share.
        share = 2 * np.pi * tree.tree_counts_[node] / 600
        assert np.abs(layout.angles[children] - layout.angles[node]).max() < share / 2
        assert (layout.levels[children] == layout.levels[node] + 1).all()
    for level in range(1, 4):  # so no two of a level overlap
        here = layout.levels == level
        assert (np.diff(layout.angles[here]) > 0).all()


def test_fewer_levels_and_a_title():
    tree = model()
    ax = vocabulary_tree(tree, levels=1, ax=Figure().subplots(), title="words")
    assert len(ax.collections[1].get_offsets()) == 5
    assert ax.get_title() == "words"
    assert len(vocabulary_tree(tree, levels=0, ax=Figure().subplots()).collections[1].get_offsets())


def test_what_is_no_tree_is_said():
    with pytest.raises(ValueError, match="the KMeans has no tree; pass a fitted Hierarchical"):
        vocabulary_tree(KMeans(2))
    with pytest.raises(ValueError, match="levels=-1 was given"):
        vocabulary_tree(model(), levels=-1)
