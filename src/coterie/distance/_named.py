"""The metrics by name: what each learns from rows, and how it is handed to the kernels."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._sparse import contradiction
from coterie.distance._forms import (
    Columns,
    ColumnsDivided,
    Divided,
    Form,
    OfWidth,
    OnSphere,
    Reader,
    Whitened,
    as_given,
    deviations,
    directions,
    yes_or_no,
)
from coterie.distance._metric import Metric, NativeMetric

Floats = npt.NDArray[np.float64]

_FORMS: dict[str, Form] = {
    "cosine": directions,
    "correlation": deviations,
    **dict.fromkeys(
        ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), yes_or_no
    ),
}
_KERNELS = {"correlation": "cosine"}
#: Metrics that add squares, which may overflow where their root does not.
_OF_SQUARES = ("euclidean", "sqeuclidean", "nan_euclidean")


def without_parameters(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """A metric whose name says all."""
    read = Reader(who, name, gaps=name == "nan_euclidean")
    if name == "braycurtis":  # the same in any unit: small enough that sums are numbers
        small = min(max(1.0, _unit_for(X, 1.0)), 2.0**124)
        return Metric(name, (name, 2.0, None, None, 1.0), read, form=_over(small))
    unit = _unit_for(X, 2.0) if name in _OF_SQUARES else 1.0
    native = (_KERNELS.get(name, name), 2.0, None, None, unit)
    form = OnSphere(who) if name == "haversine" else _FORMS.get(name, _over(unit))
    return Metric(name, native, read, form=form)


def _over(unit: float) -> Form:
    """Rows divided by the unit."""
    return as_given if unit == 1 else Divided(unit)


def _unit_for(X: Any, p: float) -> float:
    """The power of two to divide rows by, so that p-th powers of gaps keep their digits: mostly 1.

    Rows that are not numbers are left to `prepare`, which says what is wrong with them.
    """
    if X is None or (p <= 2 and getattr(X, "dtype", None) == np.float32):
        return 1.0
    with suppress(TypeError, ValueError, OverflowError):
        if sp.issparse(X):
            X = X.tocsr().data if contradiction(X) is None else None
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


def minkowski(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
    """Minkowski's metric, under its own name where it has one."""
    p = params.get("p")
    p = 2.0 if p is None else p
    if not isinstance(p, (int, float, np.number)) or not p >= 1:
        raise ValueError(f"{who}: p={p!r} was given; metric='minkowski' needs p of at least 1.")
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(float(p))
    if params.get("w") is None and special is not None:
        return without_parameters(who, special, X, {})
    unit = _unit_for(X, float(p)) if p < np.inf else 1.0
    form = _over(unit)
    if params.get("w") is None:
        return Metric(name, (name, float(p), None, None, unit), Reader(who, name), form=form)
    weights = _a_number_a_column(who, "w", params["w"])
    if not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"{who}: w of metric='minkowski' must be numbers of zero or more and not all zero, and "
            f"the least is {weights.min():g}."
        )
    native: NativeMetric = (name, float(p), None, weights, unit)
    if p == np.inf:  # where every weight above zero counts the same
        name, native, form = "chebyshev", ("chebyshev", 2.0, None, None, 1.0), Columns(weights > 0)
    form = OfWidth(who, "w", weights.size, form)
    return Metric(name, native, Reader(who, "minkowski"), form=form)


def seuclidean(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
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
    _, exponents = np.frexp(np.sqrt(variances))
    weights = np.ldexp(1 / np.ldexp(variances, -exponents), exponents)
    form = OfWidth(who, "V", variances.size, ColumnsDivided(who, name, exponents))
    native = ("minkowski", 2.0, None, weights, 1.0)
    return Metric(name, native, Reader(who, name), learned=learned, form=form)


def mahalanobis(who: str, name: str, X: Any, params: dict[str, Any]) -> Metric:
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
        given = None if X is None else Reader(who, name)(X)
        if given is not None and given.shape[1] == n_cols:
            with np.errstate(over="ignore", invalid="ignore"):
                center = given.mean(axis=0, dtype=np.float64)
            # Any center will do; one of rows whose sum is no number is not worth the trouble.
            center = learned["center"] = np.where(np.isfinite(center), center, 0.0)
        else:
            center = np.zeros(n_cols)
    center = _a_number_a_column(who, "center", center)
    form = OfWidth(who, "VI", n_cols, Whitened(who, name, center, _root_of(who, inverse)))
    native = ("euclidean", 2.0, None, None, 1.0)
    return Metric(name, native, Reader(who, name), learned=learned, form=form)


def _rows_to_learn(who: str, name: str, what: str, X: Any) -> Floats:
    """Rows to take variances of."""
    if X is None:
        raise ValueError(f"{who}: metric={name!r} needs {what}, or rows to learn it from.")
    rows = Reader(who, name)(X).astype(np.float64)
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
            "number per column."
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
