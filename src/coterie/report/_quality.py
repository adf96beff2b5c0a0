"""The quality of a table: what is missing, repeated, constant or far out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.neighbors import Index
from coterie.report._findings import Findings
from coterie.report._mirages import fillers

#: A row lies far out where its neighbours are this many times as far as is usual.
_FAR, _NEIGHBORS = 5.0, 5


def quality(found: Findings) -> list[dict[str, Any]]:
    """What a reader of the table should know, each with a count; what is not there is not told."""
    kinds, n_rows = found.ready.kinds, found.n_rows
    n_missing = sum(kind.n_missing for kind in kinds)
    empty = [kind.name for kind in kinds if kind.kind == "empty"]
    constant = [kind.name for kind in kinds if kind.kind == "constant"]
    points = found.ready.points[found.studied]
    n_copies = len(points) - len(np.unique(points, axis=0))
    n_far = int(_far_out(found.space.rows(found.ready.points[found.compared])).sum())
    filled = fillers(found.ready, found.given.table)
    n_cells = n_rows * len(kinds)
    told = [
        ("missing cells", n_missing,
         f"{n_missing:,} of {n_cells:,} cells ({n_missing / n_cells:.1%}) "
         f"{'is' if n_missing == 1 else 'are'} missing."),
        ("numbers that may stand for missing cells", sum(count for _, _, count in filled),
         f"Far from all others: {_listed(filled)}."),
        ("empty columns", len(empty), f"Without a value in any row: {', '.join(empty)}."),
        ("constant columns", len(constant), f"The same in every row: {', '.join(constant)}."),
        ("equal rows", n_copies,
         f"{n_copies:,} of {len(points):,} rows are equal to one before, in the columns that "
         "count."),
        ("rows far out", n_far,
         f"{n_far:,} of {len(found.compared):,} rows have their neighbours {_FAR:g} times as far "
         "away as usual."),
    ]  # fmt: skip
    return [{"what": what, "count": count, "sentence": said} for what, count, said in told if count]


def _listed(filled: list[tuple[str, float, int]]) -> str:
    return ", ".join(f"{value:.0f} in {count:,} cells of {name!r}" for name, value, count in filled)


def _far_out(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Rows whose neighbours are much farther away than those of most."""
    if len(rows) <= 2 * _NEIGHBORS:
        return np.zeros(len(rows), dtype=bool)
    lengths = Index(np.ascontiguousarray(rows)).knn(_NEIGHBORS + 1).dists[:, -1]
    usual = float(np.median(lengths))
    return np.asarray(lengths > _FAR * usual) if usual > 0 else np.zeros(len(rows), dtype=bool)
