"""Rows for what needs all of them at once: taken into memory where they fit, refused elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._checks import check_memory
from coterie.data import ArraySource, Source, elsewhere


def rows_in_memory(who: str, source: Source, what: str) -> Any:
    """All rows of a source as an array or CSR matrix; `what` needs them."""
    return taken_in(who, source, what).rows


def held(who: str, X: Any, what: str) -> Any:
    """X as it is or, where it says where rows are, all of these; `what` needs them."""
    source = elsewhere(X)
    return X if source is None else rows_in_memory(who, source, what)


def taken_in(who: str, source: Source, what: str) -> ArraySource:
    """A source with all its rows in memory; refused where they do not fit."""
    if isinstance(source, ArraySource):
        return source
    n_bytes = source.n_rows * source.n_cols * source.dtype.itemsize
    check_memory(
        who, n_bytes, f"{what} needs all rows in memory; they",
        "use a sample of the rows, or a method that reads them block by block",
    )  # fmt: skip
    return source.pick(np.arange(source.n_rows))
