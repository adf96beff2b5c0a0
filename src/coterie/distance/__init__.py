"""How far rows are apart: every metric of the package, in tiles, rows and whole tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import check_memory, refuse_stand_in
from coterie._config import resolve_n_threads
from coterie.distance._forms import Reader
from coterie.distance._gower import gower
from coterie.distance._graph import Graph, as_graph, closeness
from coterie.distance._metric import Metric, RowFunction, learns
from coterie.distance._named import mahalanobis, minkowski, seuclidean, without_parameters
from coterie.distance._sparse_rows import Compared, SparseRows, in_tiles

__all__ = [
    "METRICS",
    "NAMES",
    "Compared",
    "Graph",
    "Metric",
    "RowFunction",
    "SparseRows",
    "as_graph",
    "as_metric",
    "closeness",
    "condensed",
    "in_tiles",
    "learns",
    "pairwise",
    "prepare_both",
    "rows_to",
    "tiles",
]

Floats = npt.NDArray[np.float64]

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
        _refuse_one_row(who, metric, params)
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
    distances come out equal and a row is at distance 0 from its copies. Takes 8 bytes per pair;
    more than the machine has is refused. Time O(n m d); a Python callable costs a call per pair.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        CSR rows are made dense some at a time, 16 MB of them.
    Y : array or CSR matrix of shape (m, d) or None
        None: the rows of X.
    metric : name in `METRICS` or callable
    n_threads : int or None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
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
    rows = found.prepare_tiles(X)
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
    """Distance of every row of X to one row, shape (n,).

    See `pairwise` for the parameters.
    """
    who = "rows_to"
    found = as_metric(metric, X, who=who, **metric_params)
    if sp.issparse(row):
        one = row.reshape(1, -1)
    else:
        one = row.to_frame().T if hasattr(row, "to_frame") else np.asarray(row).reshape(1, -1)
    rows, others = prepare_both(found, X, one, "row")
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

    See `pairwise` for the other parameters.

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
    metric: Metric, X: Any, Y: Any = None, other: str = "Y"
) -> tuple[Compared, Compared]:
    """Both sides made ready, in one dtype; X twice where there is no Y, which is called `other`."""
    rows = metric.prepare_tiles(X)
    if Y is None:
        return rows, rows
    others = metric.prepare_tiles(Y, other)
    if others.shape[1] != rows.shape[1]:
        raise ValueError(
            f"{metric.name}: X has {rows.shape[1]} columns and {other} has {others.shape[1]}; "
            "pass rows with the same columns."
        )
    if rows.dtype != others.dtype:
        rows, others = rows.astype(np.float64), others.astype(np.float64)
    return rows, others


def _gower_of(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    return gower(X, who, **params)


_MAKERS: dict[str, Callable[[str, str, Any, dict[str, Any]], Metric]] = {
    "minkowski": minkowski,
    "seuclidean": seuclidean,
    "mahalanobis": mahalanobis,
    "gower": _gower_of,
}


def _refuse_one_row(who: str, function: RowFunction, params: Mapping[str, Any]) -> None:
    """Refuse a function that cannot be called with two rows."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of compiled ones it is not known
        return
    try:
        signature.bind(None, None, **params)
    except TypeError as error:
        given = "".join(f", {name}=" for name in params)
        raise ValueError(
            f"{who}: metric={function!r} is called as f(x, y{given}) and cannot be ({error}); pass "
            "a function of two rows that returns their distance."
        ) from error


def _refuse_unknown(who: str, name: str, params: Mapping[str, Any], known: Sequence[str]) -> None:
    """Parameters a metric does not have."""
    unknown = sorted(params.keys() - set(known))
    if unknown:
        takes = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise TypeError(
            f"{who}: metric={name!r} was given {', '.join(unknown)}, which it does not take; "
            f"{takes}."
        )
