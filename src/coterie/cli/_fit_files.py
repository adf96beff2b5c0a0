"""The model and the pictures that a fit leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from coterie._files import save_model
from coterie.cli._found import Found
from coterie.cli._given import Drawn, Given
from coterie.cli._telling import warnings_in_a_line

LABELS, MODEL, PICTURE = "labels.csv", "model.coterie", "clusters.png"
TREE = "dendrogram.png"  # of methods that build one


def write_model(
    stage: Path, table: Given, rows: Any, found: Found, scaling: Any, centers: Any, title: str,
    seed: int,
) -> None:  # fmt: skip
    """The model, and the picture of its clusters."""
    save_model(stage / MODEL, found.model, columns=list(table.names), scaling=scaling)
    with warnings_in_a_line():
        drawn = table.drawn(rows, found, scaling, seed)
        _draw(stage / PICTURE, title, table.names, drawn, found, centers)


def write_tree(path: Path, model: Any, title: str) -> None:
    """The last merges of a tree, and where it was cut."""
    from coterie.plots import save_dendrogram

    with warnings_in_a_line():
        save_dendrogram(path, model, title=f"{title}: the last merges")


def _draw(
    path: Path,
    title: str,
    names: Sequence[str],
    drawn: Drawn,
    found: Found,
    centers: npt.NDArray[Any],
) -> None:
    """The scatter plot: one or two columns in their own units, more as they were clustered."""
    from coterie.cli._coordinates import coordinates
    from coterie.plots import save_scatter

    title = f"{title}: {len(centers)} cluster{'' if len(centers) == 1 else 's'}{drawn.words}"
    if drawn.rows.dtype == object:
        save_scatter(path, coordinates(drawn.rows), drawn.labels, title=title)
        return
    rows, middles = (drawn.values, centers) if len(names) <= 2 else (drawn.rows, found.centers)
    shown = None if middles.dtype == object else middles
    save_scatter(path, rows, drawn.labels, shown, feature_names=names, title=title)
