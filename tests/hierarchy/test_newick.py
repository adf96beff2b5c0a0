"""Trees as Newick text: what is written is read back by a parser of a few lines."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coterie
from coterie.hierarchy import newick


def read_back(text: str) -> dict[frozenset[str], float]:
    """The length of the branch above every set of leaves."""
    found: dict[frozenset[str], float] = {}
    stack: list[list[frozenset[str]]] = [[]]
    tokens = re.findall(r"'(?:[^']|'')*'|[(),;]|:[^(),;]+|[^(),:;']+", text)
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            parts = stack.pop()
            stack[-1].append(frozenset[str]().union(*parts))
        elif token.startswith(":"):
            found[stack[-1][-1]] = float(token[1:])
        elif token not in ",;":
            name = token[1:-1].replace("''", "'") if token.startswith("'") else token
            stack[-1].append(frozenset([name]))
    return found


@pytest.mark.parametrize("method", ["single", "average", "ward", "genie"])
def test_branches_are_differences_of_heights(method: str) -> None:
    rows = np.random.RandomState(0).normal(size=(30, 2))
    Z = coterie.linkage(rows, method)
    names = [f"row {place}" for place in range(30)]
    lengths = read_back(newick(Z, names))
    heights = {frozenset([name]): 0.0 for name in names}
    sets = [frozenset([name]) for name in names]
    for left, right, height, size in Z:
        both = sets[int(left)] | sets[int(right)]
        assert len(both) == size
        for part in (sets[int(left)], sets[int(right)]):
            assert lengths[part] == pytest.approx(height - heights[part], abs=1e-9)
        sets.append(both)
        heights[both] = height
    assert len(lengths) == 58  # all but the root


def test_names_are_quoted_where_they_have_to_be() -> None:
    Z = coterie.linkage([[0.0], [1], [5]], "single")
    assert newick(Z) == "(2:4,(0:1,1:1):3);"
    assert newick(Z, ["it's", "b_c", "plain"]) == "(plain:4,('it''s':1,'b_c':1):3);"


def test_a_long_chain_needs_no_recursion() -> None:
    rows = np.cumsum(np.arange(1.0, 5001))[:, np.newaxis]
    text = newick(coterie.linkage(rows, "single"))
    assert text.count("(") == 4999


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needed; pass the table of coterie\.linkage"):
        newick(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="2 names were given and the tree has 3 rows"):
        newick(coterie.linkage([[0.0], [1], [5]]), ["a", "b"])
