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


def leaves_below(tree, node):
    children = range(tree.tree_starts_[node], tree.tree_starts_[node + 1])
    return sum(leaves_below(tree, child) for child in children) or 1


@pytest.mark.parametrize("n_copies", [0, 5000])
def test_shares_of_the_circle_are_those_of_rows_and_leaves(n_copies):
    X = np.random.default_rng(0).normal(size=(600, 3))
    tree = HierarchicalKMeans(4, 3, random_state=0).fit(np.r_[X, np.full((n_copies, 3), 9.0)])
    n_rows = 600 + n_copies
    layout = lay_tree(tree.tree_starts_, tree.tree_counts_, 9)
    for node in range(len(tree.tree_counts_)):
        children = np.arange(tree.tree_starts_[node], tree.tree_starts_[node + 1])
        if children.size == 0:
            continue
        assert (np.diff(layout.angles[children]) > 0).all()
        of_rows, of_leaves = (
            tree.tree_counts_[node] / n_rows,
            leaves_below(tree, node) / tree.n_leaves_,
        )
        share = np.pi * (of_rows + of_leaves)  # of a whole turn, 2 pi
        gaps = layout.angles[children] - layout.angles[node]
        assert np.abs(gaps).max() <= share / 2 * (1 + 1e-9)
        assert (layout.levels[children] == layout.levels[node] + 1).all()
    for level in range(1, 4):  # so no two of a level overlap
        here = layout.levels == level
        assert (np.diff(layout.angles[here]) > 0).all()


def test_a_leaf_of_most_rows_leaves_room_for_the_others():
    X = np.r_[np.zeros((500, 2)), np.random.default_rng(0).normal(size=(40, 2))]
    tree = HierarchicalKMeans(3, 4, random_state=0).fit(X)
    ax = vocabulary_tree(tree, ax=Figure().subplots())
    assert ax.get_xlim() == ax.get_ylim() == (-4.32, 4.32)
    others = lay_tree(tree.tree_starts_, tree.tree_counts_, 9).angles
    assert np.ptp(others) > np.pi


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
