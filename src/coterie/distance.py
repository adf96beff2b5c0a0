"""How far rows are apart: every metric of the package, in tiles, rows and whole tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import check_memory, checked, refuse_stand_in
from coterie._config import resolve_n_threads
from coterie._kernels import kernels

__all__ = ["METRICS", "Metric", "as_metric", "condensed", "pairwise", "rows_to", "tiles"]

Floats = npt.NDArray[np.float64]
NativeMetric = tuple[str, float, Floats | None, Floats | None]
RowFunction = Callable[[Any, Any], float]
#: For each column of a mixed table the values it takes, or None for numbers.
Categories = Sequence[Sequence[Any] | None]

METRICS = (
    "euclidean", "sqeuclidean", "manhattan", "cityblock", "chebyshev", "minkowski", "cosine",
    "correlation", "haversine", "hamming", "jaccard", "gower",
)  # fmt: skip
_SYNONYMS = {"cityblock": "manhattan", "l1": "manhattan", "l2": "euclidean"}
#: Metrics a kd-tree serves. On unit rows cosine and correlation are half the squared Euclidean
#: distance; on the sphere the arc grows with the chord.
_WITH_BOXES = {
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation",
    "haversine",
}  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """A metric made ready for some data; `as_metric` makes one.

    Rows go through `prepare` once (unit rows for cosine, points of the sphere for haversine, 0 and
    1 for Jaccard; unchanged for most) and then to the kernels, together with `native`. A Python
    callable has no `native`: each pair is then a call of Python, which is slow. `learned` is what
    was read off the data: `as_metric(name, **learned)` makes the metric again without them.
    """

    name: str
    native: NativeMetric | None
    prepare: Callable[[Any], npt.NDArray[Any]]
    function: RowFunction | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_boxes(self) -> bool:
        """Whether a kd-tree serves it."""
        return self.name in _WITH_BOXES and self.function is None

    def lengths(
        self, rows: npt.NDArray[Any], others: npt.NDArray[Any], n_threads: int = 1
    ) -> Floats:
        """Distances between prepared rows, (len(rows), len(others))."""
        out = np.empty((rows.shape[0], others.shape[0]))
        if self.native is not None:
            kernels.all_lengths(rows, others, self.native, out, n_threads)
        else:
            assert self.function is not None
            for i, x in enumerate(rows):
                for j, y in enumerate(others):
                    out[i, j] = self.function(x, y)
        return out


def as_metric(
    metric: str | RowFunction | Metric, X: Any = None, *, who: str = "distance", **params: Any
) -> Metric:
    """The metric of this name, or of this function, for rows like those of X.

    Parameters
    ----------
    metric
        A name in `METRICS`, a function of two rows, or a `Metric`, which is returned as it is.
    X
        The rows; only `"gower"` looks at them, for ranges and kinds of columns.
    who
        Who asks, for messages.
    **params
        `p` of `"minkowski"`; `categorical` (columns, as a mask or indices), `ranges` and `weights`
        of `"gower"`, and `categories` (for each column the list of its values, None for numbers).
    """
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        name = getattr(metric, "__name__", "callable")
        function = (lambda x, y: metric(x, y, **params)) if params else metric
        return Metric(name, None, _plain(who, name), function)
    refuse_stand_in(who, "metric", metric)
    if not isinstance(metric, str) or metric not in (*METRICS, *_SYNONYMS):
        raise ValueError(
            f"{who}: metric={metric!r} was given; use one of {', '.join(METRICS)} "
            "or a function of two rows."
        )
    name = _SYNONYMS.get(metric, metric)
    if name == "gower":
        return _gower(X, who, **params)
    p = params.pop("p", 2) if name == "minkowski" else 2.0
    _refuse_unknown(who, name, params)
    if name == "minkowski":
        name, p = _minkowski(who, p)
    prepare = _PREPARE.get(name, _plain)(who, name)
    return Metric(name, (_KERNELS.get(name, name), float(p), None, None), prepare)


def pairwise(
    X: Any,
    Y: Any = None,
    metric: str | RowFunction = "euclidean",
    *,
    n_threads: int | None = None,
    **metric_params: Any,
) -> Floats:
    """All distances between the rows of X and those of Y, or of X itself.

    Sums are taken directly, in float64 and in column order, for float32 rows too, so equal
    distances come out equal and a row is at distance 0 from its copies. Takes 8 bytes a pair; more
    than the machine has is refused. Time O(n m d); a Python callable costs a call a pair.

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d) or None
    metric : name in `METRICS` or callable
    n_threads : int or None
    **metric_params
        See `as_metric`.

    Returns
    -------
    float64 array of shape (n, m)
    """
    who = "pairwise"
    found = as_metric(metric, X, who=who, **metric_params)
    rows, others = prepare_both(found, X, Y)
    check_memory(
        who,
        8 * rows.shape[0] * others.shape[0],
        f"{rows.shape[0]} x {others.shape[0]} distances",
        "use coterie.distance.tiles for a part at a time, or coterie.neighbors.knn",
    )
    return found.lengths(rows, others, resolve_n_threads(n_threads, who))


def condensed(
    X: Any,
    metric: str | RowFunction = "euclidean",
    *,
    n_threads: int | None = None,
    **metric_params: Any,
) -> Floats:
    """Distances of all pairs i < j of rows, in the order of `scipy.spatial.distance.pdist`.

    Half the memory of `pairwise`: 4 n (n - 1) bytes.
    """
    who = "condensed"
    found = as_metric(metric, X, who=who, **metric_params)
    rows = found.prepare(X)
    n_rows = rows.shape[0]
    n_pairs = n_rows * (n_rows - 1) // 2
    check_memory(
        who, 8 * n_pairs, f"{n_pairs} distances", "use fewer rows, or a method that needs no table"
    )
    out = np.empty(n_pairs)
    at = 0
    for start, stop in _spans(n_rows, _TILE):
        block = found.lengths(rows[start:stop], rows[start:], resolve_n_threads(n_threads, who))
        for i in range(stop - start):
            size = n_rows - (start + i) - 1
            out[at : at + size] = block[i, i + 1 :]
            at += size
    return out


def rows_to(
    X: Any,
    row: Any,
    metric: str | RowFunction = "euclidean",
    *,
    n_threads: int | None = None,
    **metric_params: Any,
) -> Floats:
    """Distance of every row of X to one row, shape (n,)."""
    who = "rows_to"
    found = as_metric(metric, X, who=who, **metric_params)
    one = row.to_frame().T if hasattr(row, "to_frame") else np.asarray(row).reshape(1, -1)
    rows, others = prepare_both(found, X, one)
    return found.lengths(others, rows, resolve_n_threads(n_threads, who))[0]


def tiles(
    X: Any,
    Y: Any = None,
    metric: str | RowFunction = "euclidean",
    tile: int = 1024,
    *,
    n_threads: int | None = None,
    **metric_params: Any,
) -> Iterator[tuple[slice, slice, Floats]]:
    """Distances between X and Y, one square of `tile` rows at a time, row of tiles by row.

    Yields
    ------
    (rows of X, rows of Y, distances)
        Two slices and a float64 array of shape at most (tile, tile).
    """
    who = "tiles"
    found = as_metric(metric, X, who=who, **metric_params)
    rows, others = prepare_both(found, X, Y)
    threads = resolve_n_threads(n_threads, who)
    for start, stop in _spans(rows.shape[0], tile):
        for first, last in _spans(others.shape[0], tile):
            block = found.lengths(rows[start:stop], others[first:last], threads)
            yield slice(start, stop), slice(first, last), block


_TILE = 256


def _spans(n_rows: int, step: int) -> Iterator[tuple[int, int]]:
    """Cut n_rows to pieces of `step`."""
    for start in range(0, n_rows, step):
        yield start, min(n_rows, start + step)


def prepare_both(
    metric: Metric, X: Any, Y: Any = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Both sides made ready, in one dtype; X twice where there is no Y."""
    rows = metric.prepare(X)
    if Y is None:
        return rows, rows
    others = metric.prepare(Y)
    if others.shape[1] != rows.shape[1]:
        raise ValueError(
            f"{metric.name}: X has {rows.shape[1]} columns and Y has {others.shape[1]}; "
            "pass rows with the same columns."
        )
    if rows.dtype != others.dtype:
        rows, others = rows.astype(np.float64), others.astype(np.float64)
    return rows, others


# How rows are made ready.


def _check_rows(who: str, name: str, X: Any, **options: Any) -> npt.NDArray[Any]:
    """Dense float32 or float64 rows."""
    if sp.issparse(X):
        raise TypeError(
            f"{who}: metric={name!r} needs dense rows and X is sparse; pass X.toarray()."
        )
    return np.asarray(checked(who, X, dtype=[np.float64, np.float32], **options))


def _plain(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """Rows as they are."""
    return lambda X: _check_rows(who, name, X)


def _unit(rows: Floats) -> Floats:
    """Rows of length one; rows of zeros have a direction of their own, in one column more.

    So their distance is 0 to each other and 1 to all others. The column is there for all data,
    since queries are prepared apart from the rows.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    empty = largest == 0
    rows = rows / np.where(empty, 1.0, largest)
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return np.hstack([rows / np.where(empty, 1.0, lengths), empty])


def _directions(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """Unit rows: half their squared distance is one less the cosine."""
    return lambda X: _unit(_check_rows(who, name, X).astype(np.float64))


def _deviations(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """Unit rows about their own means: as for cosine, with Pearson's correlation."""

    def prepare(X: Any) -> npt.NDArray[Any]:
        rows = _check_rows(who, name, X).astype(np.float64)
        constant = (rows == rows[:, :1]).all(axis=1, keepdims=True)  # the mean may be off by an ulp
        return _unit(np.where(constant, 0.0, rows - rows.mean(axis=1, keepdims=True)))

    return prepare


def _sphere(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """Points of the unit sphere from latitude and longitude."""

    def prepare(X: Any) -> npt.NDArray[Any]:
        rows = _check_rows(who, name, X).astype(np.float64)
        if rows.shape[1] != 2:
            raise ValueError(
                f"{who}: metric='haversine' needs two columns, latitude and longitude in radians, "
                f"and X has {rows.shape[1]}."
            )
        lat, lon = rows.T
        parts = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
        return np.column_stack(parts)

    return prepare


def _yes_or_no(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """1 where a row has something, 0 where not."""
    return lambda X: (_check_rows(who, name, X) != 0).astype(np.float32)


_PREPARE = {
    "cosine": _directions,
    "correlation": _deviations,
    "haversine": _sphere,
    "jaccard": _yes_or_no,
}
_KERNELS = {"correlation": "cosine"}


def _minkowski(who: str, p: Any) -> tuple[str, float]:
    """Minkowski's metric, under its own name where it has one."""
    if not isinstance(p, (int, float, np.number)) or not p >= 1:
        raise ValueError(f"{who}: p={p!r} was given; metric='minkowski' needs p of at least 1.")
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
    return special.get(float(p), "minkowski"), float(p)


def _refuse_unknown(who: str, name: str, params: dict[str, Any]) -> None:
    """Parameters a metric does not have."""
    if params:
        raise TypeError(
            f"{who}: metric={name!r} was given {', '.join(sorted(params))}, which it does not take."
        )


# Gower's metric for mixed tables.


def _gower(
    X: Any,
    who: str,
    *,
    categorical: Any = None,
    categories: Categories | None = None,
    ranges: Any = None,
    weights: Any = None,
    **unknown: Any,
) -> Metric:
    """Gower (1971): the mean over columns of |a - b| / range, or of a != b for categories.

    A cell that is missing (NaN, None) leaves its column out for the pair; two rows that share no
    cell are infinitely far apart. In a data frame, columns that hold no numbers are categorical.
    """
    _refuse_unknown(who, "gower", unknown)
    if categories is None:
        categories = _learn_categories(X, categorical)
    coder = _Coder.of(who, categories)
    n_cols = len(categories)
    if ranges is None:
        table = coder.encode(X)
        missing = np.isnan(table)
        ranges = np.where(missing, -np.inf, table).max(axis=0)
        ranges = ranges - np.where(missing, np.inf, table).min(axis=0)
    ranges = np.array(np.broadcast_to(np.asarray(ranges, dtype=np.float64), n_cols))
    # A column without range is compared for equality, which all its cells pass.
    ranges[coder.categorical | ~(ranges > 0)] = 0.0
    weights = np.ones(n_cols) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_cols,) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"{who}: weights of metric='gower' must be {n_cols} numbers of zero or more, one a "
            "column and not all zero."
        )
    weights = np.ascontiguousarray(weights)
    learned = {"categories": categories, "ranges": ranges, "weights": weights}
    return Metric("gower", ("gower", 2.0, ranges, weights), coder.encode, learned=learned)


def _learn_categories(X: Any, categorical: Any) -> Categories:
    """The values that each categorical column takes, in the order they appear in."""
    columns = _columns(X)
    mask = np.array([not _is_numeric(column) for column in columns])
    if categorical is not None:
        named = np.zeros(len(columns), dtype=bool)
        named[np.asarray(categorical)] = True
        mask |= named
    return [
        list(dict.fromkeys(v for v in column if not _is_missing(v))) if is_category else None
        for column, is_category in zip(columns, mask, strict=True)
    ]


@dataclass(frozen=True)
class _Coder:
    """Tables of numbers and categories as numbers, with NaN for missing cells."""

    who: str
    categorical: npt.NDArray[np.bool_]
    codes: dict[int, dict[Any, int]]  # of each categorical column: its values, numbered

    @staticmethod
    def of(who: str, categories: Categories) -> _Coder:
        """A coder by the values of each categorical column."""
        mask = np.array([values is not None for values in categories])
        codes = {
            j: {value: code for code, value in enumerate(values)}
            for j, values in enumerate(categories)
            if values is not None
        }
        return _Coder(who, mask, codes)

    def encode(self, X: Any) -> npt.NDArray[Any]:
        """A float64 table; a category that was never seen differs from all others."""
        columns = _columns(X)
        if len(columns) != len(self.categorical):
            raise ValueError(
                f"{self.who}: metric='gower' was made for {len(self.categorical)} columns and X "
                f"has {len(columns)}."
            )
        out = np.empty((len(columns[0]), len(columns)))
        for j, column in enumerate(columns):
            if j not in self.codes:
                out[:, j] = (
                    [np.nan if _is_missing(v) else float(v) for v in column]
                    if column.dtype == object
                    else column
                )
            else:
                known = self.codes[j]
                out[:, j] = [np.nan if _is_missing(v) else known.get(v, -1) for v in column]
        return out


def _columns(X: Any) -> list[npt.NDArray[Any]]:
    """The columns of a data frame or of an array."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        return [np.asarray(X[name]) for name in X.columns]
    array = np.asarray(X)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"gower: X has shape {array.shape}; pass a table of rows and columns.")
    return list(array.T)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _is_numeric(column: npt.NDArray[Any]) -> bool:
    """Numbers, missing or not; booleans and everything else are categories."""
    if column.dtype == object:
        return all(
            _is_missing(v) or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool))
            for v in column
        )
    return bool(np.issubdtype(column.dtype, np.number))
