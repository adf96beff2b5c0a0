"""What rows become before a metric sums over their columns.

A `Reader` checks rows, and a form turns checked rows into those that the kernels compare. Both are
data or functions of a module, so that a metric can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import FLOATS, check_csr, checked, dense, trusted

Floats = npt.NDArray[np.float64]
#: From checked rows, and what the caller calls them, to those that the kernels compare.
Form = Callable[..., npt.NDArray[Any]]


@dataclass(frozen=True)
class Reader:
    """Float32 or float64 rows, dense or CSR, checked on behalf of `who`."""

    who: str
    name: str
    gaps: bool = False  # whether NaN is a missing cell

    def __call__(self, X: Any, name: str = "X") -> npt.NDArray[Any]:
        return dense(self.who, self.stored(X, name))

    def stored(self, X: Any, name: str = "X") -> Any:
        """Rows as they are stored: an array, or sound CSR."""
        X = trusted(self.who, X, name)
        with np.errstate(all="ignore"):  # the check sums all cells, which may overflow
            finite = "allow-nan" if self.gaps else True
            rows = checked(
                self.who, X, name, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite
            )
        return check_csr(self.who, rows, name) if sp.issparse(rows) else np.asarray(rows)


def as_prepared(X: Any, name: str = "X") -> npt.NDArray[Any]:
    """The reader of rows that were read and prepared before."""
    return np.asarray(X)


def as_given(rows: npt.NDArray[Any], name: str = "X") -> npt.NDArray[Any]:
    """Rows as they are."""
    return rows


def directions(rows: npt.NDArray[Any], name: str = "X") -> Floats:
    """Unit rows: half their squared distance is one less the cosine.

    Rows of zeros have a direction of their own, in one column more, so their distance is 0 to each
    other and 1 to all others. The column is there for all data, since queries are prepared apart
    from the rows.
    """
    rows = rows.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    empty = largest == 0
    rows = rows / np.where(empty, 1.0, largest)
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return np.hstack([rows / np.where(empty, 1.0, lengths), empty])


def deviations(rows: npt.NDArray[Any], name: str = "X") -> Floats:
    """Unit rows about their own means: as for cosine, with Pearson's correlation."""
    rows = rows.astype(np.float64)
    # By a power of two, which loses nothing, so that no sum or difference overflows.
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    rows = np.ldexp(rows, -exponents)
    constant = (rows == rows[:, :1]).all(axis=1, keepdims=True)  # the mean may be off by an ulp
    return directions(np.where(constant, 0.0, rows - rows.mean(axis=1, keepdims=True)))


def yes_or_no(rows: npt.NDArray[Any], name: str = "X") -> npt.NDArray[np.float32]:
    """1 where a row has something, 0 where not."""
    return (rows != 0).astype(np.float32)


@dataclass(frozen=True)
class OfWidth:
    """The form of rows that have as many columns as a parameter (`of`) of the metric has."""

    who: str
    of: str
    n_cols: int
    form: Form = as_given

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> npt.NDArray[Any]:
        if rows.shape[1] != self.n_cols:
            raise ValueError(
                f"{self.who}: {self.of} of the metric is for {self.n_cols} columns and {name} "
                f"has {rows.shape[1]}; pass one entry per column."
            )
        return self.form(rows, name)


@dataclass(frozen=True)
class OnSphere:
    """Points of the unit sphere from latitude and longitude."""

    who: str

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> Floats:
        if rows.shape[1] != 2:
            raise ValueError(
                f"{self.who}: metric='haversine' needs two columns, latitude and longitude in "
                f"radians, and {name} has {rows.shape[1]}."
            )
        lat, lon = rows.astype(np.float64).T
        parts = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
        return np.column_stack(parts)


@dataclass(frozen=True)
class Divided:
    """Rows divided by a unit."""

    unit: float

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> Floats:
        return rows.astype(np.float64) / self.unit


@dataclass(frozen=True)
class Columns:
    """Some columns of the rows."""

    used: npt.NDArray[np.bool_]

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> npt.NDArray[Any]:
        return rows[:, self.used]


@dataclass(frozen=True)
class ColumnsDivided:
    """Each column divided by a power of two."""

    who: str
    name: str
    exponents: npt.NDArray[Any]

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> Floats:
        with np.errstate(over="ignore"):
            divided = np.ldexp(rows.astype(np.float64), -self.exponents)
        return _numbers_only(self.who, self.name, divided, name)


@dataclass(frozen=True)
class Whitened:
    """Rows about a center, times a root of the inverse covariance."""

    who: str
    name: str
    center: Floats
    root: Floats

    def __call__(self, rows: npt.NDArray[Any], name: str = "X") -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            rows = rows.astype(np.float64) - self.center
            out = np.zeros_like(rows)
            for t, part in enumerate(self.root):  # the same order for one row and for many
                out += rows[:, t : t + 1] * part
        return _numbers_only(self.who, self.name, out, name)


def _numbers_only(who: str, metric: str, rows: Floats, name: str) -> Floats:
    """Rows in the units of a metric, refused where these are beyond all numbers."""
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"{who}: row {int(np.argmin(finite))} of {name} is so far from the others in the "
            f"units of metric={metric!r} that it overflows float64; leave such rows out, or scale "
            f"{name} down."
        )
    return rows
