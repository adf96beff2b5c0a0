"""How far rows are apart: every metric of the package, in tiles, rows and whole tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory, nan_for_masked, refuse_lazy, refuse_stand_in
from coterie._config import resolve_n_threads
from coterie.distance._forms import Reader
from coterie.distance._metric import Metric, RowFunction
from coterie.distance._named import mahalanobis, minkowski, seuclidean, without_parameters

__all__ = [
    "METRICS",
    "NAMES",
    "Metric",
    "RowFunction",
    "as_metric",
    "condensed",
    "pairwise",
    "prepare_both",
    "rows_to",
    "tiles",
]

Floats = npt.NDArray[np.float64]
#: For each column of a mixed table the values it takes, or None for numbers.
Categories = Sequence[Sequence[Any] | None]

METRICS = (
    "euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "manhattan", "cityblock", "chebyshev",
    "minkowski", "cosine", "correlation", "braycurtis", "canberra", "haversine", "hamming",
    "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "nan_euclidean",
    "gower",
)  # fmt: skip
_SYNONYMS = {
    "cityblock": "manhattan", "l1": "manhattan", "l2": "euclidean", "infinity": "chebyshev",
    "p": "minkowski", "matching": "hamming", "sokalmichener": "rogerstanimoto",
}  # fmt: skip
#: Everything that a metric may be called: `METRICS` and scikit-learn's other names for them.
NAMES = tuple(dict.fromkeys((*METRICS, *_SYNONYMS)))
#: The parameters that metrics have.
_PARAMETERS = {
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("VI", "V", "center"),
    "gower": ("categorical", "categories", "ranges", "weights"),
}


def as_metric(
    metric: str | RowFunction | Metric, X: Any = None, *, who: str = "distance", **params: Any
) -> Metric:
    """The metric of this name, or of this function, for rows like those of X.

    Parameters
    ----------
    metric
        A name in `NAMES`, a function of two rows, or a `Metric`, which is returned as it is.
    X
        The rows, which some metrics learn from: `"seuclidean"` the variance of each column,
        `"mahalanobis"` the covariance, `"gower"` ranges and kinds of columns; others only whether
        squares would overflow.
    who
        Who asks, for messages.
    **params
        - `"minkowski"`: `p`, by default 2, and `w`, weights of the columns;
        - `"seuclidean"`: `V`, the variance of each column, by default that of X;
        - `"mahalanobis"`: `VI`, the inverse of the covariance, or `V`, the covariance, by default
          that of X; `center`, which rows are taken about lest large offsets cost digits;
        - `"gower"`: `categorical` (columns, as a mask, indices or names), `ranges`, `weights` and
          `categories` (for each column the list of its values, None for numbers).
    """
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        name = getattr(metric, "__name__", "callable")
        function = partial(metric, **params) if params else metric
        return Metric(name, None, Reader(who, name), function)
    refuse_stand_in(who, "metric", metric)
    if not isinstance(metric, str) or metric not in NAMES:
        raise ValueError(
            f"{who}: metric={metric!r} was given; use one of {', '.join(METRICS)} "
            "or a function of two rows."
        )
    name = _SYNONYMS.get(metric, metric)
    _refuse_unknown(who, metric, params, _PARAMETERS.get(name, ()))
    return _MAKERS.get(name, without_parameters)(who, name, X, params)


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
    metric: str | RowFunction | Metric = "euclidean",
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


def _gower_of(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    return _gower(X, who, **params)


_MAKERS: dict[str, Callable[[str, str, Any, dict[str, Any]], Metric]] = {
    "minkowski": minkowski,
    "seuclidean": seuclidean,
    "mahalanobis": mahalanobis,
    "gower": _gower_of,
}


def _refuse_unknown(who: str, name: str, params: Mapping[str, Any], known: Sequence[str]) -> None:
    """Parameters a metric does not have."""
    unknown = sorted(params.keys() - set(known))
    if unknown:
        takes = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise TypeError(
            f"{who}: metric={name!r} was given {', '.join(unknown)}, which it does not take; "
            f"{takes}."
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
) -> Metric:
    """Gower (1971): the mean over columns of |a - b| / range, or of a != b for categories.

    A cell that is missing (NaN, None, NA) leaves its column out for the pair; two rows that share
    no cell are infinitely far apart. In a data frame, columns that hold neither numbers nor times
    are categorical.
    """
    if categories is None:
        categories = _learn_categories(who, X, categorical)
    coder = _Coder.of(who, categories)
    n_cols = len(categories)
    if ranges is None:
        table = coder.encode(X)
        missing = np.isnan(table)
        ranges = np.where(missing, -np.inf, table).max(axis=0)
        with np.errstate(over="ignore"):
            ranges = ranges - np.where(missing, np.inf, table).min(axis=0)
        if (ranges == np.inf).any():
            raise ValueError(
                f"{who}: metric='gower' divides by the range of each column, and that of column "
                f"{int(np.argmax(ranges))} overflows float64; divide this column by a constant."
            )
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
    return Metric("gower", ("gower", 2.0, ranges, weights, 1.0), coder.encode, learned=learned)


def _learn_categories(who: str, X: Any, categorical: Any) -> Categories:
    """The values that each categorical column takes, in the order they appear in."""
    refuse_lazy(who, X)
    columns = _columns(X)
    mask = np.array([not _is_numeric(column) for column in columns])
    if categorical is not None:
        mask[_find_columns(who, X, categorical, len(columns))] = True
    return [
        list(dict.fromkeys(v for v in column if not _is_missing(v))) if is_category else None
        for column, is_category in zip(columns, mask, strict=True)
    ]


def _find_columns(who: str, X: Any, categorical: Any, n_cols: int) -> npt.NDArray[np.intp]:
    """The places of columns that were given as a mask, by place or by name."""
    given = np.ravel(np.asarray(categorical, dtype=object)).tolist()
    if len(given) == n_cols and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        return np.flatnonzero(np.array(given, dtype=bool))
    names = {name: place for place, name in enumerate(getattr(X, "columns", ()))}
    places = []
    for entry in given:
        is_place = isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)
        if entry in names:
            places.append(names[entry])
        elif is_place and -n_cols <= entry < n_cols:
            places.append(int(entry))
        else:
            raise ValueError(
                f"{who}: categorical={categorical!r} of metric='gower' names the column {entry!r} "
                f"and X has {n_cols} columns; pass their places from 0, their names in a data "
                "frame, or True and False for each."
            )
    return np.array(places, dtype=np.intp)


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
        refuse_lazy(self.who, X)
        columns = _columns(X)
        if len(columns) != len(self.categorical):
            raise ValueError(
                f"{self.who}: metric='gower' was made for {len(self.categorical)} columns and X "
                f"has {len(columns)}."
            )
        out = np.empty((len(columns[0]), len(columns)))
        for j, column in enumerate(columns):
            if j not in self.codes:
                out[:, j] = _as_numbers(column)
                if np.isinf(out[:, j]).any():
                    raise ValueError(
                        f"{self.who}: metric='gower' compares finite numbers, and column {j} of X "
                        f"holds infinity (row {int(np.argmax(np.isinf(out[:, j])))}); leave such "
                        "rows out, or set the cell to NaN if it is missing."
                    )
            else:
                known = self.codes[j]
                out[:, j] = [np.nan if _is_missing(v) else known.get(v, -1) for v in column]
        return out


def _columns(X: Any) -> list[npt.NDArray[Any]]:
    """The columns of a data frame or of an array."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        return [np.asarray(X[name]) for name in X.columns]
    array = np.asarray(nan_for_masked(X, table=True))
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"gower: X has shape {array.shape}; pass a table of rows and columns.")
    return list(array.T)


def _is_missing(value: Any) -> bool:
    # The comparison of pandas' NA with itself is NA again, which is neither true nor false.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _is_numeric(column: npt.NDArray[Any]) -> bool:
    """Numbers or times, missing or not; booleans and everything else are categories."""
    if column.dtype == object:
        known = [value for value in column if not _is_missing(value)]
        return all(map(_is_number, known)) or all(isinstance(value, date) for value in known)
    return column.dtype.kind in "iufmM"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _as_numbers(column: npt.NDArray[Any]) -> Floats:
    """Numbers as float64, times as seconds, with NaN for missing cells."""
    if column.dtype.kind == "M":
        return np.asarray((column - _EPOCH) / _SECOND)
    if column.dtype.kind == "m":
        return np.asarray(column / _SECOND)
    if column.dtype != object:
        return column.astype(np.float64)
    return np.array([np.nan if _is_missing(value) else _as_number(value) for value in column])


_EPOCH, _SECOND = np.datetime64(0, "s"), np.timedelta64(1, "s")


def _as_number(value: Any) -> float:
    if not isinstance(value, date):
        return float(value)
    if getattr(value, "tzinfo", None) is not None:
        return float(value.timestamp())  # type: ignore[attr-defined]
    return float((np.datetime64(value) - _EPOCH) / _SECOND)
