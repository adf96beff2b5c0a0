"""Labelled rows with the metric that compares them, made for all of them where it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from coterie._in_memory import held
from coterie.distance import Metric, RowFunction, as_metric, learns
from coterie.evaluate._coded import Noise
from coterie.evaluate._rows import LabelledRows, open_rows

#: A metric that is yet to be made, with its parameters, or one that is made.
Asked = tuple[str | RowFunction | Metric, dict[str, Any]]


def open_compared(
    who: str,
    X: Any,
    labels: Any,
    metric: str | RowFunction,
    params: Mapping[str, Any],
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    *,
    at_least: int = 2,
) -> tuple[LabelledRows, Asked]:
    """As `open_rows`, with the metric and its parameters.

    A metric that learns from rows, such as variances of columns, has learned from all of them, so
    that a sample or some centres are measured as they are. A mixed table under Gower's metric
    becomes the numbers that it compares, NaN where cells are missing.
    """
    options = (sample_weight, noise, n_threads)
    if metric == "gower":
        table = held(who, X, "this metric")
        made = as_metric("gower", table, who=who, **params)
        given = open_rows(who, made.prepare(table), labels, *options, at_least=at_least)
        return replace(given, may_lack=True), (made.of_prepared(), {})
    given = open_rows(who, X, labels, *options, at_least=at_least)
    if not learns(metric, params):
        return given, (metric, dict(params))
    return given, (as_metric(metric, given.whole(), who=who, **params), {})
