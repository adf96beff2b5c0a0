"""Down a vocabulary tree: greedily, with a beam, and through the leaves' lists, against twins.

Covers coterie.quantize._tree, coterie.quantize._tree_descent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from coterie.quantize._tree import (
    Tree,
    check_tree,
    leaves_below,
    levels_of,
    number_leaves,
    parents_of,
    starts_of,
)

sys.path.insert(0, str(Path(__file__).parent))
import tree_twins


def drawn_tree(seed: int, d: int = 3, whole: bool = False) -> Tree:
    """A tree of any shape: some nodes have no children, others two to five; ties if `whole`."""
    rng = np.random.default_rng(seed)
    n_children, waiting = [], 1
    for level in range(4):
        sizes = rng.choice([0, 2, 3, 5], size=waiting, p=[0.25, 0.35, 0.25, 0.15])
        sizes[:] = 0 if level == 3 else sizes
        n_children += sizes.tolist()
        waiting = int(sizes.sum())
    starts = starts_of(n_children)
    centers = rng.normal(size=(len(n_children), d))
    return Tree(np.round(2 * centers) if whole else centers, starts, number_leaves(starts))


trees = st.builds(drawn_tree, st.integers(0, 10_000), st.sampled_from([1, 2, 5, 17]), st.booleans())


@given(trees)
def test_leaves_are_numbered_from_left_to_right(tree: Tree) -> None:
    leaves = tree_twins.leaves_from_left(tree.starts)
    np.testing.assert_array_equal(tree.leaf_numbers[leaves], np.arange(len(leaves)))
    assert (tree.leaf_numbers >= 0).sum() == len(leaves)
    assert leaves_below(tree.starts)[0] == len(leaves)


@given(trees)
def test_parents_and_levels(tree: Tree) -> None:
    check_tree(tree.starts)
    parents = parents_of(tree.starts)
    for node in range(len(parents)):
        for child in tree_twins.children(tree.starts, node):
            assert parents[child] == node
    levels = levels_of(tree.starts)
    assert [level.start for level in levels[1:]] == [level.stop for level in levels[:-1]]
    assert levels[-1].stop == len(parents)
    depth = {0: 0}
    for node in range(1, len(parents)):
        depth[node] = depth[int(parents[node])] + 1
    for at, level in enumerate(levels):
        assert all(depth[node] == at for node in range(level.start, level.stop))


@pytest.mark.parametrize(
    "starts", [[1], [0, 1], [1, 2, 2], [1, 3, 2, 3], [1, 1, 3, 3], [1, 3, 3], [1, 4, 4, 4]]
)
def test_what_is_no_tree_is_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError, match="not a tree"):
        check_tree(np.array(starts, dtype=np.int32))


def leaves_by_kernel(kernels: Any, X: Any, tree: Tree, beam: int, n_threads: int = 1) -> Any:
    labels = np.empty(len(X), dtype=np.int32)
    kernels.find_leaves(X, tree, twins.unit_scale(X, tree.centers), beam, labels, n_threads)
    return labels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(tree=trees, beam=st.sampled_from([1, 2, 3, 7, 1000]), seed=st.integers(0, 1000))
def test_leaves_are_those_of_the_twin(
    isa_kernels: Any, dtype: type, tree: Tree, beam: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(3 * rng.normal(size=(8, tree.centers.shape[1]))).astype(dtype)
    found = leaves_by_kernel(isa_kernels, X, tree, beam)
    for x, leaf in zip(X, found, strict=True):
        reached = tree_twins.beam_leaves(x, tree.centers, tree.starts, beam)
        dists = twins.sq_dists(x[np.newaxis], tree.centers[reached])[0]
        numbers = tree.leaf_numbers[reached]
        assert leaf == min(zip(dists, numbers, strict=True))[1]
        if beam == 1:
            assert leaf == tree.leaf_numbers[tree_twins.greedy_leaf(x, tree.centers, tree.starts)]


@given(tree=trees, seed=st.integers(0, 1000))
def test_a_wider_beam_is_never_worse_and_a_full_one_is_exact(tree: Tree, seed: int) -> None:
    from coterie._kernels import kernels

    X = np.random.default_rng(seed).normal(scale=2, size=(20, tree.centers.shape[1]))
    leaf_centers = tree.centers[tree_twins.leaves_from_left(tree.starts)]
    before = np.full(len(X), np.inf)
    for beam in range(1, len(leaf_centers) + 1):
        labels = leaves_by_kernel(kernels, X, tree, beam)
        dists = np.square(X - leaf_centers[labels]).sum(axis=1)
        assert (dists <= before * (1 + 1e-12)).all()
        before = dists
    np.testing.assert_array_equal(labels, twins.nearest(X, leaf_centers))
    # As wide as the widest level is wide enough, leaves above it counting as nodes of it.
    widest, above = 1, 0
    for level in levels_of(tree.starts):
        widest = max(widest, level.stop - level.start + above)
        above += int((np.diff(tree.starts)[level] == 0).sum())
    np.testing.assert_array_equal(leaves_by_kernel(kernels, X, tree, widest), labels)


def test_the_beams_of_the_twin_are_nested() -> None:
    tree = drawn_tree(5)
    for x in np.random.default_rng(0).normal(size=(20, 3)):
        widest = tree_twins.beam_leaves(x, tree.centers, tree.starts, 50)
        for width in range(1, 10):
            narrow = tree_twins.beam_leaves(x, tree.centers, tree.starts, width)
            assert narrow == widest[: len(narrow)]


@pytest.mark.parametrize("beam", [1, 4])
def test_threads_and_strides_change_nothing(isa_kernels: Any, beam: int) -> None:
    tree = drawn_tree(3, d=9)
    X = np.random.default_rng(1).normal(size=(5000, 9))
    one = leaves_by_kernel(isa_kernels, X, tree, beam)
    for n_threads in (2, 3):
        other = leaves_by_kernel(isa_kernels, np.asfortranarray(X), tree, beam, n_threads)
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"starts": np.array([1, 1, 1], np.int32)}, "starts must have one entry"),
        ({"starts": np.array([0, 2, 2, 2], np.int32)}, "children must come after"),
        ({"starts": np.array([1, 9, 9, 9], np.int32)}, "starts must rise"),
        ({"leaf_numbers": np.array([-1, 0, -1], np.int32)}, "leaves must have a number"),
        ({"leaf_numbers": np.array([-1, 0], np.int32)}, "leaf_numbers must have one"),
        ({"centers": np.zeros((3, 5))}, "columns of the rows"),
    ],
)
def test_the_binding_refuses_what_is_no_tree(change: dict[str, Any], words: str) -> None:
    from coterie._kernels import kernels

    parts: dict[str, Any] = {
        "centers": np.zeros((3, 2)),
        "starts": np.array([1, 3, 3, 3], dtype=np.int32),
        "leaf_numbers": np.array([-1, 0, 1], dtype=np.int32),
    }
    labels = np.empty(4, dtype=np.int32)
    with pytest.raises(ValueError, match=words):
        kernels.find_leaves(np.zeros((4, 2)), Tree(**{**parts, **change}), 1.0, 1, labels, 1)
