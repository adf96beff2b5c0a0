"""A short rule for a cluster: the path of a shallow tree to the leaf that holds most of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from coterie.select._described import Categories, Numbers, Place, Scaled

#: Rows of a cluster, and of the others, that a tree is grown from at most.
_MANY_ROWS = 20_000


@dataclass(frozen=True)
class Rule:
    """Conditions that all hold, and how well they tell the cluster from the others.

    `precision` is the share of the rows that fit which are in the cluster, `recall` that of the
    cluster which fits; both are counted over all rows. `n_grown_from` rows made the tree: all, or a
    sample of many.
    """

    conditions: tuple[str, ...]
    precision: float
    recall: float
    n_grown_from: int

    def __str__(self) -> str:
        return " and ".join(self.conditions) if self.conditions else "any row"


def find_rule(
    scaled: Scaled, places: Sequence[Place], inside: npt.NDArray[np.bool_], max_depth: int
) -> Rule:
    """The path of a tree (CART, Breiman et al. 1984) with the largest F1; the first of equals."""
    table = scaled.table
    tree = DecisionTreeClassifier(max_depth=max_depth, class_weight="balanced", random_state=0)
    some = _to_grow_from(inside)
    leaves = tree.fit(table[some], inside[some]).apply(table)
    grown = tree.tree_
    fits = np.bincount(leaves, minlength=grown.node_count)
    hits = np.bincount(leaves[inside], minlength=grown.node_count)
    best = int(np.argmax(2 * hits / (fits + inside.sum())))
    path = _path_to(best, grown.children_left, grown.children_right)
    steps = [
        (int(grown.feature[node]), right, scaled.back(grown.feature[node], grown.threshold[node]),
         bool(grown.missing_go_to_left[node]) != right)
        for node, right in path
    ]  # fmt: skip
    return Rule(
        _conditions(steps, places, np.asarray(np.isnan(table).any(axis=0))),
        float(hits[best] / fits[best]),
        float(hits[best] / inside.sum()),
        some.size,
    )


def _to_grow_from(inside: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """All rows, or of many some: as many of the cluster as of the others, drawn by chance.

    Both sides weigh the same in the tree whatever their numbers.
    """
    rng, parts = np.random.RandomState(0), []
    for rows in (np.flatnonzero(inside), np.flatnonzero(~inside)):
        many = rows.size > _MANY_ROWS
        parts.append(rows[rng.randint(rows.size, size=_MANY_ROWS)] if many else rows)
    return np.sort(np.concatenate(parts))


def _path_to(
    leaf: int, left: npt.NDArray[np.intp], right: npt.NDArray[np.intp]
) -> list[tuple[int, bool]]:
    """The nodes from the root to a leaf, and whether the path goes right at each."""
    above = {int(child): (node, side) for side, children in ((False, left), (True, right))
             for node, child in enumerate(children) if child >= 0}  # fmt: skip
    path: list[tuple[int, bool]] = []
    while leaf in above:
        path.append(above[leaf])
        leaf = above[leaf][0]
    return path[::-1]


def _conditions(
    steps: list[tuple[int, bool, float, bool]], places: Sequence[Place], gaps: npt.NDArray[np.bool_]
) -> tuple[str, ...]:
    """One condition per column: the last bound on either side, and whether a missing cell fits.

    A bound that is infinite parts known cells, on its left, from missing ones.
    """
    lows: dict[int, float] = {}
    highs: dict[int, float] = {}
    welcome: dict[int, bool] = {}
    for feature, right, bound, missing_too in steps:
        welcome[feature] = welcome.get(feature, True) and missing_too
        if right or np.isfinite(bound):
            (lows if right else highs)[feature] = bound  # deeper bounds are tighter
    told = []
    for feature, missing_fits in welcome.items():
        low, high = lows.get(feature), highs.get(feature)
        if low == np.inf:
            told.append(f"{places[feature].column.name} is missing")
            continue
        words = _words(places[feature], low, high)
        told.append(f"({words} or missing)" if missing_fits and gaps[feature] else words)
    return tuple(dict.fromkeys(told))  # levels of a column may say the same of missing cells


def _words(place: Place, low: float | None, high: float | None) -> str:
    column = place.column
    if low is None and high is None:
        return f"{column.name} is known"
    if isinstance(column, Categories):
        assert place.level is not None
        return f"{column.name} is {'' if low is not None else 'not '}{column.levels[place.level]}"
    return _range_words(column, low, high)


def _range_words(column: Numbers, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{column.tell(low)} < {column.name} <= {column.tell(high)}"
    if low is not None:
        return f"{column.name} > {column.tell(low)}"
    assert high is not None
    return f"{column.name} <= {column.tell(high)}"
