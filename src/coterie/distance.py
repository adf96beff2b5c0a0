"""How far rows are apart: every metric of the package, in tiles, rows and whole tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import check_memory, checked, nan_for_masked, refuse_lazy, refuse_stand_in
from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie.data.columns import (
    MISSING,
    SECOND,
    Column,
    codes,
    column_names,
    column_words,
    columns_of,
    finite_numbers,
    place_of,
    sorts_of,
    values_met,
)

__all__ = [
    "METRICS",
    "NAMES",
    "Metric",
    "as_metric",
    "condensed",
    "pairwise",
    "rows_to",
    "tiles",
]

Floats = npt.NDArray[np.float64]
#: Name, power, ranges and weights of columns, and the unit that rows were divided by.
NativeMetric = tuple[str, float, Floats | None, Floats | None, float]
RowFunction = Callable[[Any, Any], float]
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
#: Metrics a kd-tree serves. On unit rows cosine and correlation are half the squared Euclidean
#: distance; on the sphere the arc grows with the chord.
_WITH_BOXES = {
    "euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "manhattan", "chebyshev", "minkowski",
    "cosine", "correlation", "haversine",
}  # fmt: skip
#: The parameters that metrics have.
_PARAMETERS = {
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("VI", "V", "center"),
    "gower": ("categorical", "categories", "ranges", "weights"),
}


@dataclass(frozen=True)
class Metric:
    """A metric made ready for some data; `as_metric` makes one.

    Rows go through `prepare` once (unit rows for cosine, points of the sphere for haversine, 0 and
    1 for Jaccard; unchanged for most) and then to the kernels, together with `native`. A Python
    callable has no `native`: each pair is then a call of Python, which is slow. `learned` is what
    was read off the data: `as_metric(name, **params, **learned)` makes the metric again without
    them.
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

    @property
    def is_euclidean(self) -> bool:
        """Whether it is Euclid's metric of the prepared rows, to the bit."""
        return self.native is not None and self.native[0] == "euclidean" and self.native[4] == 1

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
        function = (lambda x, y: metric(x, y, **params)) if params else metric
        return Metric(name, None, _plain(who, name), function)
    refuse_stand_in(who, "metric", metric)
    if not isinstance(metric, str) or metric not in NAMES:
        raise ValueError(
            f"{who}: metric={metric!r} was given; use one of {', '.join(METRICS)} "
            "or a function of two rows."
        )
    name = _SYNONYMS.get(metric, metric)
    _refuse_unknown(who, metric, params, _PARAMETERS.get(name, ()))
    return _MAKERS.get(name, _without_parameters)(who, name, X, params)


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


# How rows are made ready.


def _check_rows(who: str, name: str, X: Any, **options: Any) -> npt.NDArray[Any]:
    """Dense float32 or float64 rows."""
    if sp.issparse(X):
        raise TypeError(
            f"{who}: metric={name!r} needs dense rows and X is sparse; pass X.toarray()."
        )
    with np.errstate(all="ignore"):  # the check sums all cells, which may overflow
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
        # By a power of two, which loses nothing, so that no sum or difference overflows.
        _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
        rows = np.ldexp(rows, -exponents)
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


def _with_gaps(who: str, name: str) -> Callable[[Any], npt.NDArray[Any]]:
    """Rows as they are, NaN being a missing cell."""
    return lambda X: _check_rows(who, name, X, ensure_all_finite="allow-nan")


_PREPARE = {
    "cosine": _directions,
    "correlation": _deviations,
    "haversine": _sphere,
    "nan_euclidean": _with_gaps,
    **dict.fromkeys(
        ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), _yes_or_no
    ),
}
_KERNELS = {"correlation": "cosine"}
#: Metrics that add squares, which may overflow where their root does not.
_OF_SQUARES = ("euclidean", "sqeuclidean", "nan_euclidean")


def _without_parameters(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """A metric whose name says all."""
    prepare = _PREPARE.get(name, _plain)(who, name)
    if name == "braycurtis":  # the same in any unit: small enough that sums are numbers
        small = min(max(1.0, _unit_for(X, 1.0)), 2.0**124)
        return Metric(name, (name, 2.0, None, None, 1.0), _divided(prepare, small))
    unit = _unit_for(X, 2.0) if name in _OF_SQUARES else 1.0
    native = (_KERNELS.get(name, name), 2.0, None, None, unit)
    return Metric(name, native, _divided(prepare, unit))


def _unit_for(X: Any, p: float) -> float:
    """The power of two to divide rows by, so that p-th powers of gaps keep their digits: mostly 1.

    Rows that are not numbers are left to `prepare`, which says what is wrong with them.
    """
    if X is None or sp.issparse(X) or (p <= 2 and getattr(X, "dtype", None) == np.float32):
        return 1.0
    with suppress(TypeError, ValueError, OverflowError):
        table = np.asarray(X)
        if table.size == 0 or table.dtype.kind == "c":
            return 1.0
        if table.dtype.kind != "f":
            table = table.astype(np.float64)
        low, high = np.fmin.reduce(table, axis=None), np.fmax.reduce(table, axis=None)
        largest = float(max(-low, high))
        exponent = math.frexp(largest)[1]
        is_usual = p * exponent >= -800 and p * (exponent + 1) <= 900
        if is_usual or largest == 0 or not math.isfinite(largest):
            return 1.0
        return 2.0 ** max(-1000, min(1000, exponent - min(20, math.floor(900 / p) - 1)))
    return 1.0


def _divided(
    prepare: Callable[[Any], npt.NDArray[Any]], unit: float
) -> Callable[[Any], npt.NDArray[Any]]:
    """Prepare rows, and divide them by the unit."""
    return prepare if unit == 1 else lambda X: prepare(X).astype(np.float64) / unit


def _minkowski(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """Minkowski's metric, under its own name where it has one."""
    p = params.get("p")
    p = 2.0 if p is None else p
    if not isinstance(p, (int, float, np.number)) or not p >= 1:
        raise ValueError(f"{who}: p={p!r} was given; metric='minkowski' needs p of at least 1.")
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(float(p))
    if params.get("w") is None and special is not None:
        return _without_parameters(who, special, X, {})
    unit = _unit_for(X, float(p)) if p < np.inf else 1.0
    prepare = _plain(who, name)
    if params.get("w") is None:
        return Metric(name, (name, float(p), None, None, unit), _divided(prepare, unit))
    weights = _a_number_a_column(who, "w", params["w"])
    if not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"{who}: w of metric='minkowski' must be numbers of zero or more and not all zero, and "
            f"the least is {weights.min():g}."
        )
    prepare = _of_width(who, "w", weights.size, prepare)
    if p == np.inf:  # where every weight above zero counts the same
        used = weights > 0
        native = ("chebyshev", 2.0, None, None, 1.0)
        return Metric("chebyshev", native, lambda X: prepare(X)[:, used])
    return Metric(name, (name, float(p), None, weights, unit), _divided(prepare, unit))


def _seuclidean(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """Euclidean after each column is divided by its standard deviation.

    Columns are divided by a power of two near it and squares by what is left, so that equal gaps
    stay equal.
    """
    variances = params.get("V")
    learned = {}
    if variances is None:
        rows = _rows_to_learn(who, name, "V", X)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            variances = learned["V"] = np.var(rows, axis=0, ddof=1)
    variances = _a_number_a_column(who, "V", variances)
    if not (variances >= np.finfo(float).tiny).all() or not np.isfinite(variances).all():
        column = int(np.argmin((variances >= np.finfo(float).tiny) & np.isfinite(variances)))
        raise ValueError(
            f"{who}: metric='seuclidean' divides by the variance of each column, and that of "
            f"column {column} is {variances[column]:g}; leave this column out, divide it by a "
            "constant if it is huge, or pass V."
        )
    _, exponent = np.frexp(np.sqrt(variances))
    weights = np.ldexp(1 / np.ldexp(variances, -exponent), exponent)
    prepare = _of_width(who, "V", variances.size, _plain(who, name))

    def divide(X: Any) -> Floats:
        with np.errstate(over="ignore"):
            return _numbers_only(who, name, np.ldexp(prepare(X).astype(np.float64), -exponent))

    return Metric(name, ("minkowski", 2.0, None, weights, 1.0), divide, learned=learned)


def _mahalanobis(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """Euclidean after rows are whitened: with VI = G G', the length of (x - y) G."""
    learned = {}
    inverse, covariance = params.get("VI"), params.get("V")
    if inverse is None:
        if covariance is None:
            rows = _rows_to_learn(who, name, "VI", X)
            with np.errstate(over="ignore", invalid="ignore"):
                covariance = np.atleast_2d(np.cov(rows, rowvar=False))
            if not np.isfinite(covariance).all():
                raise ValueError(
                    f"{who}: metric='mahalanobis' learns the covariance of X, whose values are so "
                    "large that their squares overflow float64; divide X by a constant, or pass VI."
                )
        inverse = learned["VI"] = _invert(who, _square(who, "V", covariance))
    inverse = _square(who, "VI", inverse)
    n_cols = inverse.shape[0]
    center = params.get("center")
    if center is None:
        given = None if X is None else _check_rows(who, name, X)
        if given is not None and given.shape[1] == n_cols:
            with np.errstate(over="ignore", invalid="ignore"):
                center = given.mean(axis=0, dtype=np.float64)
            # Any center will do; one of rows whose sum is no number is not worth the trouble.
            center = learned["center"] = np.where(np.isfinite(center), center, 0.0)
        else:
            center = np.zeros(n_cols)
    center = _a_number_a_column(who, "center", center)
    root = _root_of(who, inverse)
    prepare = _of_width(who, "VI", n_cols, _plain(who, name))

    def whiten(X: Any) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            rows = prepare(X).astype(np.float64) - center
            out = np.zeros_like(rows)
            for t in range(n_cols):  # in the same order for one row and for many, unlike a product
                out += rows[:, t : t + 1] * root[t]
        return _numbers_only(who, name, out)

    return Metric(name, ("euclidean", 2.0, None, None, 1.0), whiten, learned=learned)


def _numbers_only(who: str, name: str, rows: Floats) -> Floats:
    """Rows in the units of a metric, refused where these are beyond all numbers."""
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"{who}: row {int(np.argmin(finite))} of X is so far from the others in the units of "
            f"metric={name!r} that it overflows float64; leave such rows out, or scale X down."
        )
    return rows


def _gower_of(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    return _gower(X, who, **params)


_MAKERS: dict[str, Callable[[str, str, Any, dict[str, Any]], Metric]] = {
    "minkowski": _minkowski,
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
    "gower": _gower_of,
}


def _rows_to_learn(who: str, name: str, what: str, X: Any) -> Floats:
    """Rows to take variances of."""
    if X is None:
        raise ValueError(f"{who}: metric={name!r} needs {what}, or rows to learn it from.")
    rows = _check_rows(who, name, X).astype(np.float64)
    if rows.shape[0] < 2:
        raise ValueError(
            f"{who}: metric={name!r} learns {what} from two rows or more and X has one; "
            f"pass {what}."
        )
    return rows


def _a_number_a_column(who: str, what: str, values: Any) -> Floats:
    """A list of finite numbers."""
    found = np.array(values, dtype=np.float64, ndmin=1)
    if found.ndim != 1 or np.isnan(found).any():
        raise ValueError(
            f"{who}: {what} of the metric has shape {found.shape} or missing cells; pass one "
            "number a column."
        )
    return found


def _square(who: str, what: str, values: Any) -> Floats:
    """A symmetric matrix; of another only the symmetric part counts in a quadratic form."""
    found = np.array(values, dtype=np.float64, ndmin=2)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not np.isfinite(found).all():
        raise ValueError(
            f"{who}: {what} of metric='mahalanobis' has shape {found.shape} or cells that are not "
            "finite; pass a square matrix with a row and a column for each column of X."
        )
    return found / 2 + found.T / 2


def _invert(who: str, covariance: Floats) -> Floats:
    """The inverse of a covariance, refused where some columns follow from the others."""
    n_cols = covariance.shape[0]
    deviations = np.sqrt(np.abs(np.diag(covariance)))
    deviations[deviations == 0] = 1
    correlation = covariance / deviations / deviations[:, np.newaxis]
    rank = np.linalg.matrix_rank(correlation, tol=1e-14 * n_cols, hermitian=True)
    if rank < n_cols:
        raise ValueError(
            f"{who}: metric='mahalanobis' needs a covariance that has an inverse, and that of "
            f"{n_cols} columns has rank {rank}; pass more rows, leave out columns that are "
            "constant or follow from others, or pass VI."
        )
    return np.asarray(np.linalg.inv(correlation) / deviations / deviations[:, np.newaxis])


def _root_of(who: str, inverse: Floats) -> Floats:
    """G with G G' = VI; by Cholesky's way, or by eigenvectors where VI is singular."""
    with suppress(np.linalg.LinAlgError):
        return np.asarray(np.linalg.cholesky(inverse))
    values, vectors = np.linalg.eigh(inverse)
    if values[0] < -1e-12 * max(values[-1], 0.0) or values[-1] <= 0:
        raise ValueError(
            f"{who}: VI of metric='mahalanobis' has the eigenvalue {values[0]:.3g}, by which some "
            "squared distances are negative; pass the inverse of a covariance."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _of_width(
    who: str, what: str, n_cols: int, prepare: Callable[[Any], npt.NDArray[Any]]
) -> Callable[[Any], npt.NDArray[Any]]:
    """Prepare rows that have as many columns as a parameter has."""

    def check_width(X: Any) -> npt.NDArray[Any]:
        rows = prepare(X)
        if rows.shape[1] != n_cols:
            raise ValueError(
                f"{who}: {what} of the metric is for {n_cols} columns and X has {rows.shape[1]}; "
                "pass one entry a column."
            )
        return rows

    return check_width


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
    prepare = partial(_gower_rows, who, categories)
    n_cols = len(categories)
    if ranges is None:
        table = prepare(X)
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
    is_category = np.array([values is not None for values in categories])
    ranges[is_category | ~(ranges > 0)] = 0.0
    weights = np.ones(n_cols) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_cols,) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"{who}: weights of metric='gower' must be {n_cols} numbers of zero or more, one a "
            "column and not all zero."
        )
    weights = np.ascontiguousarray(weights)
    learned = {"categories": categories, "ranges": ranges, "weights": weights}
    return Metric("gower", ("gower", 2.0, ranges, weights, 1.0), prepare, learned=learned)


def _learn_categories(who: str, X: Any, categorical: Any) -> Categories:
    """The values that each categorical column takes, in the order they appear in."""
    columns = _gower_columns(who, X)
    chosen = set(_find_columns(who, X, categorical, len(columns)))
    return [
        values_met(column) if place in chosen or not _is_numeric(column) else None
        for place, column in enumerate(columns)
    ]


def _find_columns(who: str, X: Any, categorical: Any, n_cols: int) -> list[int]:
    """The places of columns that were given as a mask, by place or by name."""
    if categorical is None:
        return []
    given = np.ravel(np.asarray(categorical, dtype=object)).tolist()
    if len(given) == n_cols and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        return np.flatnonzero(given).tolist()
    names = list(X.columns) if hasattr(X, "columns") else None
    places = []
    for entry in given:
        place = None if isinstance(entry, bool) else place_of(entry, names, n_cols, -n_cols)
        if place is None:
            raise ValueError(
                f"{who}: categorical={categorical!r} of metric='gower' names the column {entry!r} "
                f"and X has {n_cols} columns; pass their places from 0, their names in a data "
                "frame, or True and False for each."
            )
        places.append(place)
    return places


def _gower_columns(who: str, X: Any) -> list[Column]:
    refuse_lazy(who, X)
    columns = columns_of(nan_for_masked(X, table=True))
    if not columns or not len(columns[0]):
        raise ValueError(f"gower: X has shape {np.shape(X)}; pass a table of rows and columns.")
    return columns


def _is_numeric(column: Column) -> bool:
    """Numbers or times, missing or not; booleans and everything else are categories."""
    sorts = sorts_of(column)
    return sorts <= {"number"} or sorts <= {"time"}


def _gower_rows(who: str, categories: Categories, X: Any) -> Floats:
    """Numbers, times in seconds and codes, NaN if missing; a category never seen is unlike all."""
    columns = _gower_columns(who, X)
    if len(columns) != len(categories):
        raise ValueError(
            f"{who}: metric='gower' was made for {len(categories)} columns and X has "
            f"{len(columns)}."
        )
    names, remedy = column_names(X), "leave such rows out, or call it categorical when fitting"
    out = np.empty((len(columns[0]), len(columns)))
    for j, (column, values) in enumerate(zip(columns, categories, strict=True)):
        if values is None:
            out[:, j] = finite_numbers(who, column_words(names, j), column, SECOND, remedy)
        else:
            coded = codes(column, list(values))
            out[:, j] = np.where(coded == MISSING, np.nan, np.maximum(coded, -1))
    return out
