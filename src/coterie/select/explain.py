"""What clusters mean: traits, a short rule, typical and ambiguous rows, the nearest rival."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, whole
from coterie._doors import nan_for_masked, refuse_lazy
from coterie._in_memory import rows_in_memory
from coterie.data import elsewhere
from coterie.evaluate._coded import code_labels
from coterie.evaluate._rows import refuse_lengths
from coterie.select._described import coded_table, describe_columns, scale_table
from coterie.select._rules import Rule, find_rule
from coterie.select._traits import Trait, find_traits

__all__ = ["Cluster", "Explanation", "Rule", "Trait", "explain"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Distances to centres looked at together: 8 MB.
_TILE_NUMBERS = 1 << 20


@dataclass(frozen=True)
class Cluster:
    """What tells one cluster from the others.

    `traits` come by their effect, largest first; `typical` are the rows nearest to the centre and
    `ambiguous` those that are nearly, or more, another cluster's; `rival` is the label of the
    cluster that is the next nearest to most rows, None without another.
    """

    label: Any
    size: int
    share: float
    traits: tuple[Trait, ...]
    rule: Rule | None
    typical: tuple[int, ...]
    ambiguous: tuple[int, ...]
    rival: Any

    def __str__(self) -> str:
        lines = [f"Cluster {self.label}: {_count(self.size)} ({self.share:.0%})"]
        lines += [f"  {trait}" for trait in self.traits] or ["  nothing sets it apart"]
        if self.rule is not None:
            fits = (
                f"fits {self.rule.recall:.0%} of it; {self.rule.precision:.0%} of what fits is it"
            )
            if self.rule.n_grown_from < round(self.size / self.share):
                fits += f"; found among {self.rule.n_grown_from} rows, counted over all"
            lines.append(f"  rule: {self.rule} ({fits})")
        lines.append(f"  typical rows: {', '.join(map(str, self.typical))}")
        if self.rival is not None:
            lines.append(f"  ambiguous rows: {', '.join(map(str, self.ambiguous))}")
            lines.append(f"  nearest rival: {self.rival}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """All clusters in the order of their labels; `n_noise` rows have the label -1.

    `str()` of it is a text, `to_dict()` is data that JSON can hold.
    """

    clusters: tuple[Cluster, ...]
    n_rows: int
    n_noise: int

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        found = asdict(self)
        found["clusters"] = [_plain(cluster) for cluster in found["clusters"]]
        return found

    def __str__(self) -> str:
        parts = [str(cluster) for cluster in self.clusters]
        if self.n_noise:
            parts.append(f"Noise: {_count(self.n_noise)} ({self.n_noise / self.n_rows:.0%})")
        return "\n\n".join(parts)


def explain(
    X: Any, labels: Any, *, n_traits: int = 5, n_examples: int = 3, max_depth: int = 3
) -> Explanation:
    """Tell what sets each cluster apart from all other rows.

    Effects are Cohen's (1988): of numbers d, the difference of means in units of the pooled
    deviation within; of a category h, the difference of 2 arcsin sqrt(share). About 0.2 is small,
    0.5 medium and 0.8 large in both; smaller ones than 0.2 are not told. The rule is the path of a
    shallow tree (CART, Breiman et al. 1984) grown to tell the cluster from the rest: from all rows,
    or of more than 20000 of the cluster or the rest from so many, drawn by chance; how well it fits
    is counted over all rows.

    Typical and ambiguous rows and the rival go by distances to the means of the clusters, columns
    in units of their deviation, a column for each category; a missing cell is left out, and the
    other ones count for more. A row is the more ambiguous the less (b - a) / max(a, b) is, with a
    the distance to the own mean and b that to the nearest other.

    O(n d k + k n d log n) time, 3 coded tables of memory.

    Parameters
    ----------
    X : array, data frame, Arrow table, or what says where rows are
        Numbers, truths (also 0 and 1), dates and categories; cells may be missing. Of more than 20
        categories the most frequent ones are looked at.
    labels : array of shape (n_rows,)
        One per row; -1 is noise, and belongs to the other rows. Where all rows are noise, there is
        nothing to explain, and no cluster in the answer.
    n_traits, n_examples : int
        How many traits and rows to tell of each cluster at most.
    max_depth : int, default=3
        How many conditions a rule has at most.
    """
    who = "explain"
    refuse_lazy(who, X)
    params = {"n_traits": n_traits, "n_examples": n_examples, "max_depth": max_depth}
    check_params(who, params, dict.fromkeys(params, whole(1)))
    source = elsewhere(X)
    names = None if source is None else source.names
    rows = X if source is None else rows_in_memory(who, source, "an explanation")
    columns = describe_columns(who, nan_for_masked(rows, table=True), names)
    coded = code_labels(who, labels, noise="drop")
    table, places = coded_table(columns)
    if table.shape[0] != coded.codes.size:
        refuse_lengths(who, table.shape[0], coded.codes.size)
    if coded.n_clusters == 0:
        return Explanation((), coded.codes.size, coded.codes.size)
    scaled = scale_table(table)
    near = _nearness(scaled.table, coded.codes, coded.n_clusters)
    clusters = []
    for code in range(coded.n_clusters):
        inside = coded.codes == code
        members = np.flatnonzero(inside)
        alone = bool(inside.all())
        clusters.append(
            Cluster(
                label=_as_python(coded.values[code]),
                size=members.size,
                share=members.size / inside.size,
                traits=() if alone else find_traits(columns, inside)[:n_traits],
                rule=None if alone else find_rule(scaled, places, inside, max_depth),
                typical=_first(members, near.own, n_examples),
                ambiguous=() if near.margin is None else _first(members, near.margin, n_examples),
                rival=_rival(near, members, coded.values),
            )
        )
    n_noise = int(np.count_nonzero(coded.codes < 0))
    return Explanation(tuple(clusters), coded.codes.size, n_noise)


@dataclass(frozen=True)
class _Nearness:
    """Of every row the distance to its own centre, its margin, and the nearest other cluster."""

    own: Floats
    margin: Floats | None
    other: Ints


def _nearness(table: Floats, codes: npt.NDArray[np.int32], n_clusters: int) -> _Nearness:
    """Compare every row with the means of all clusters, over the cells that are there."""
    n_rows, n_cols = table.shape
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    centers = np.zeros((n_clusters, n_cols))
    for code in range(n_clusters):
        mine = codes == code
        centers[code] = filled[mine].sum(axis=0) / np.maximum(known[mine].sum(axis=0), 1)
    own, margin, other = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows, dtype=np.intp)
    step = max(1, _TILE_NUMBERS // max(1, n_clusters))
    for start in range(0, n_rows, step):
        some = slice(start, start + step)
        rows, there, mine = filled[some], known[some].astype(np.float64), codes[some]
        squares = np.square(rows).sum(axis=1)[:, np.newaxis] - 2 * rows @ centers.T
        squares += there @ np.square(centers).T
        weight = n_cols / np.maximum(there.sum(axis=1), 1)
        lengths = np.sqrt(np.maximum(squares, 0) * weight[:, np.newaxis])
        here = np.arange(mine.size)
        own[some] = lengths[here, mine]
        if n_clusters > 1:
            lengths[here, mine] = np.inf
            other[some] = lengths.argmin(axis=1)
            least = lengths.min(axis=1)
            top = np.maximum(least, own[some])
            margin[some] = (least - own[some]) / np.where(top > 0, top, 1.0)
    return _Nearness(own, margin if n_clusters > 1 else None, other)


def _count(n_rows: int) -> str:
    return f"{n_rows} row" if n_rows == 1 else f"{n_rows} rows"


def _first(members: Ints, values: Floats, how_many: int) -> tuple[int, ...]:
    """The members with the smallest values, equals by lower row."""
    order = np.argsort(values[members], kind="stable")[:how_many]
    return tuple(int(row) for row in members[order])


def _rival(near: _Nearness, members: Ints, values: npt.NDArray[Any]) -> Any:
    """The label of the cluster that is next to most members."""
    if near.margin is None:
        return None
    return _as_python(values[np.bincount(near.other[members]).argmax()])


def _as_python(label: Any) -> Any:
    """A label as Python's own number or string, as those of a column of objects are."""
    return label.item() if isinstance(label, np.generic) else label


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (tuple, list)) else value
