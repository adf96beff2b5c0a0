"""Trees of merges as Newick text, which programs for phylogenetic trees read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["newick"]

#: What a name may consist of without quotes.
_PLAIN = re.compile(r"[^\s()\[\]{}':;,_]+")


def newick(Z: Any, names: Sequence[Any] | None = None) -> str:
    """A merge table in the Newick format: nested brackets, with the lengths of the branches.

    A leaf lies at height 0, and a branch is as long as the difference of the heights at its ends,
    so the heights can be read back; it is negative where a linkage has inversions. Without
    recursion, O(n_rows) time and memory.

    Parameters
    ----------
    Z : merge table of shape (n_rows - 1, 4)
        As `coterie.linkage` and SciPy make them.
    names : sequence of length n_rows, optional
        Names of the rows; their numbers from 0 on by default. Quoted where they have to be.

    Returns
    -------
    str
        One line that ends in a semicolon.

    Examples
    --------
    >>> import coterie
    >>> Z = coterie.linkage([[0.0], [1], [5]], "single")
    >>> coterie.hierarchy.newick(Z, ["a", "b", "c d"])
    "('c d':4,(a:1,b:1):3);"
    """
    table = np.asarray(Z, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 4 or not len(table):
        raise ValueError(
            f"newick: the merge table has shape {table.shape} and (n_rows - 1, 4) is needed; pass "
            "the table of coterie.linkage."
        )
    n_rows = len(table) + 1
    if names is not None and len(names) != n_rows:
        raise ValueError(
            f"newick: {len(names)} names were given and the tree has {n_rows} rows; pass one for "
            "each row."
        )
    children = table[:, :2].astype(np.int64).tolist()
    heights = [0.0] * n_rows + table[:, 2].tolist()
    parts: list[str] = []
    # What is still to be written, the next one last: text, or a node and its parent's height.
    waiting: list[str | tuple[int, float | None]] = [(2 * n_rows - 2, None)]
    while waiting:
        now = waiting.pop()
        if isinstance(now, str):
            parts.append(now)
            continue
        node, above = now
        length = "" if above is None else f":{above - heights[node]:.12g}"
        if node < n_rows:
            parts.append(_quoted(node if names is None else names[node]) + length)
            continue
        left, right = children[node - n_rows]
        parts.append("(")
        waiting += [f"){length}", (right, heights[node]), ",", (left, heights[node])]
    return "".join(parts) + ";"


def _quoted(name: Any) -> str:
    """A name as the format takes it: an apostrophe within quotes is doubled."""
    text = " ".join(str(name).split())
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"
