"""Rows on paper: which of them are drawn, as numbers, and through which plane they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import column_names, numbers
from coterie.plots._style import printable

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """A plane through `origin` along two `directions`, (n_columns, 2), and what its axes are."""

    origin: Floats
    directions: Floats
    names: Sequence[str]

    def project(self, rows: npt.ArrayLike) -> Floats:
        """Where rows lie in the plane, (n_rows, 2)."""
        found = np.asarray(rows, dtype=np.float64)
        if found.shape[1] == 2 and not self.origin.any():
            return found
        return np.asarray((found - self.origin) @ self.directions)

    def heights(self, rows: npt.ArrayLike) -> Floats:
        """Squared distances of rows from the plane, (n_rows,)."""
        away = np.asarray(rows, dtype=np.float64) - self.origin
        across = away - (away @ self.directions) @ self.directions.T
        return np.asarray(np.square(across).sum(axis=1))


def plane_of(points: Floats, names: Sequence[str]) -> Plane:
    """Two columns as they are; of more the plane of their first two principal components."""
    if points.shape[1] == 2:
        return Plane(np.zeros(2), np.eye(2), names)
    mean = points.mean(axis=0)
    # Divided by the largest value so that no square overflows.
    reach = np.abs(points - mean).max() or 1.0
    scatter_matrix = np.cov((points - mean).T / reach, bias=True)
    variances, directions = np.linalg.eigh(scatter_matrix)
    plane = directions[:, [-1, -2]]
    # An eigenvector's sign is arbitrary: let its largest entry be positive.
    plane = plane * np.sign(plane[np.abs(plane).argmax(axis=0), [0, 1]])
    shares = variances[[-1, -2]] / (variances.sum() or 1.0)
    axis_names = [f"PC {i} ({share:.0%} of variance)" for i, share in enumerate(shares, 1)]
    return Plane(mean, plane, axis_names)


def axis_names(X: Any, feature_names: Sequence[str] | None, n_columns: int) -> list[str]:
    """What the columns are called: as given, as the frame says, or x0, x1, ..."""
    given = column_names(X) if feature_names is None else feature_names
    return [printable(name) for name in given or (f"x{i}" for i in range(n_columns))]


def as_numbers(cells: Any, names: Sequence[str] | None, who: str) -> Floats:
    """Rows as float64, NaN where a cell is missing; an error names the column that has words."""
    try:
        return np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    columns = []
    for place, column in enumerate(np.asarray(cells, dtype=object).T):
        try:
            columns.append(numbers(column))
        except (TypeError, ValueError) as error:
            name = repr(names[place]) if names is not None else str(place)
            raise ValueError(
                f"{who}: column {name} of X holds values that are no numbers ({error}); leave "
                "it out, or encode it."
            ) from error
    return np.array(columns, dtype=np.float64).T


def even_sample(n_rows: int, max_points: int) -> npt.NDArray[np.intp] | slice:
    """Row ids, the same in every run; all rows when they are few enough."""
    if n_rows <= max_points:
        return slice(None)
    drawn = np.random.default_rng(0).choice(n_rows, max_points, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.intp)


def size_of_points(n_points: int) -> tuple[float, float]:
    """Area in square points and opacity of so many points, so that many still show a density."""
    area = float(np.clip(40_000 / max(n_points, 1), 4, 36))
    return area, float(np.clip(2_000 / max(n_points, 1), 0.25, 0.75))
