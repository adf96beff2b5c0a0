"""The points of the map: where rows lie in the plane, their labels, and what hovering shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import codes
from coterie.data.encoding import finite
from coterie.report._findings import Findings
from coterie.report._map import find_plane
from coterie.report._model import telling_columns
from coterie.report._plain import floats, level_text

#: Points that are drawn, cells that hovering may show, and columns at most.
_MOST_POINTS, _MOST_CELLS, _MOST_COLUMNS = 100_000, 600_000, 40


def map_points(found: Findings) -> dict[str, Any]:
    """The map of a study; of many rows, as many as can be drawn, by the seed."""
    labels = found.placed.labels
    rows = np.arange(found.n_rows)
    if found.n_rows > _MOST_POINTS:
        drawn = np.random.RandomState(found.seed).permutation(found.n_rows)[:_MOST_POINTS]
        rows = np.sort(drawn)
    names = found.ready.place_names if found.space.axes is None else None
    where = found.space.rows(found.ready.points[found.studied])
    plane = find_plane(where, labels[found.studied], names, found.seed)
    at = plane.at(found.space.rows(found.ready.points[rows]))
    sentence = plane.sentence
    if where.shape[1] == 1:  # one column: heights are drawn, so that points do not hide each other
        at[:, 1] = np.random.RandomState(found.seed).random_sample(len(at))
        sentence += " Heights mean nothing."
    if len(rows) < found.n_rows:
        sentence += f" {len(rows):,} of {found.n_rows:,} rows are drawn."
    return {
        "method": plane.method, "sentence": sentence, "axes": list(plane.names),
        "row": rows.tolist(), "x": floats(at[:, 0], 5), "y": floats(at[:, 1], 5),
        "label": labels[rows].tolist(), "confidence": floats(found.placed.confidence[rows], 3),
        "ambiguous": found.placed.ambiguous[rows].tolist(), "columns": _hovered(found, rows),
    }  # fmt: skip


def _hovered(found: Findings, rows: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """The columns that tell clusters apart most, with their values as they stand."""
    most = max(3, min(_MOST_COLUMNS, _MOST_CELLS // len(rows)))
    told = telling_columns(found.ready, found.studied, found.placed.labels)[:most]
    kinds = [kind for kind in found.ready.used if kind.name in set(told)]
    columns: list[dict[str, Any]] = []
    for kind in kinds:
        cells = found.given.table[kind.name][rows]
        if kind.levels:
            coded = codes(cells, kind.levels)
            columns.append({
                "name": kind.name, "kind": "levels",
                "levels": [level_text(level) for level in kind.levels],
                "values": [code if code >= 0 else None for code in coded.tolist()],
            })  # fmt: skip
        else:
            columns.append({
                "name": kind.name, "kind": "numeric", "levels": None,
                "values": floats(finite(cells)),
            })  # fmt: skip
    return columns
