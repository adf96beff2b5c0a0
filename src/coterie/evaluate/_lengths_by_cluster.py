"""Distances of rows to all others, in the order of their clusters: given, measured or called.

Distances to the rows of a cluster are one run of a tile, so what a score needs of them is one
`reduceat`; no more than a tile is ever there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import check_csr, check_distances, check_square, checked, trusted
from coterie.distance import Metric
from coterie.evaluate._rows import LabelledRows, refuse_lengths

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Distances that are looked at together: 16 MB.
_TILE_NUMBERS = 1 << 21


@dataclass(frozen=True)
class Runs:
    """Rows by cluster: `order[starts[c] : starts[c + 1]]` are the rows of cluster c."""

    order: Ints
    starts: Ints
    totals: Floats
    weights: Floats | None  # in this order

    @property
    def n_rows(self) -> int:
        return self.order.size

    @property
    def clusters(self) -> Ints:
        """The cluster of every row in this order."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))


def by_cluster(given: LabelledRows) -> Runs:
    """The rows that have a cluster, sorted by it."""
    order = np.argsort(given.codes, kind="stable")
    order = order[np.searchsorted(given.codes[order], 0) :].astype(np.int64)
    sizes = np.bincount(given.codes[order], minlength=given.n_clusters)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    weights = None if given.weights is None else np.ascontiguousarray(given.weights[order])
    return Runs(order, starts, given.totals(), weights)


#: From some of the sorted rows, by their places, to their distances to all sorted rows.
Measure = Callable[[slice | Ints], Floats]


def tiles(runs: Runs, measure: Measure) -> Iterator[tuple[slice, Floats]]:
    """Distances of some sorted rows to all, until every row was asked."""
    step = max(1, _TILE_NUMBERS // max(1, runs.n_rows))
    for start in range(0, runs.n_rows, step):
        some = slice(start, min(runs.n_rows, start + step))
        yield some, measure(some)


def measured(
    who: str, rows: npt.NDArray[Any], runs: Runs, metric: Metric, n_threads: int
) -> Measure:
    """Distances of prepared rows."""
    ordered = np.ascontiguousarray(rows[runs.order])

    def measure(some: slice | Ints) -> Floats:
        lengths = metric.lengths(ordered[some], ordered, n_threads)
        metric.check_lengths(lengths, who)
        return lengths

    return measure


def looked_up(square: Any, runs: Runs) -> Measure:
    """Distances that were given, dense or CSR, where what is not stored is 0."""

    def measure(some: slice | Ints) -> Floats:
        lines = square[runs.order[some]]
        dense = lines.toarray() if sp.issparse(lines) else np.asarray(lines)
        return np.asarray(dense[:, runs.order], dtype=np.float64)

    return measure


def given_square(who: str, X: Any, n_labels: int) -> Any:
    """A square of distances with zeros from row to row, as scikit-learn asks of it."""
    square = checked(who, trusted(who, X), accept_sparse="csr", dtype=None, ensure_all_finite=False)
    check_square(who, square.shape)
    if sp.issparse(square):
        square = check_csr(who, square)
    if square.dtype.kind not in "biuf":
        raise ValueError(f"{who}: X holds {square.dtype} where distances were expected.")
    check_distances(who, square)
    if square.shape[0] != n_labels:
        refuse_lengths(who, square.shape[0], n_labels)
    slack = 100 * np.finfo(square.dtype).eps if square.dtype.kind == "f" else 0
    if (np.abs(square.diagonal()) > slack).any():
        raise ValueError(
            f"{who}: The precomputed distance matrix contains non-zero elements on the diagonal; "
            "use np.fill_diagonal(X, 0)."
        )
    return square
