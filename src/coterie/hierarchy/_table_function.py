"""Metrics that are functions of whole tables, as scikit-learn calls them, not of two rows."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric

Rows = npt.NDArray[Any]
Params = Mapping[str, Any]


def takes_a_table(metric: Any, params: Params) -> bool:
    """Whether a function can be called with one argument: then it is about all pairs of rows."""
    if not callable(metric) or isinstance(metric, Metric):
        return False
    try:
        inspect.signature(metric).bind(None, **params)
    except (TypeError, ValueError):
        return False
    return True


def table_of(who: str, metric: Any, rows: Rows, params: Params) -> Rows:
    """Distances of all pairs of rows."""
    return _checked(who, metric, metric(rows, **params), (len(rows), len(rows)))


def distances_to(who: str, metric: Any, rows: Rows, fitted: Rows, params: Params) -> Rows:
    """Distances of rows to those of the fit, which take a function of two tables, f(X, Y)."""
    if "Y" not in inspect.signature(metric).parameters:
        raise ValueError(
            f"{who}: predict needs distances to the rows of the fit, and metric={metric!r} takes "
            "one table; give it a second argument Y, or pass a function of two rows."
        )
    found = metric(rows, Y=fitted, **params)
    return _checked(who, metric, found, (len(rows), len(fitted)))


def _checked(who: str, metric: Any, found: Any, shape: tuple[int, int]) -> Rows:
    """What a function returned, if that is one distance per pair."""
    table = np.asarray(found)
    if table.shape != shape:
        raise ValueError(
            f"{who}: metric={metric!r} was given a table, as every function is that can do with "
            f"one argument, and returned shape {table.shape} instead of {shape}; return one "
            "distance per pair, or let it need two rows."
        )
    return table
