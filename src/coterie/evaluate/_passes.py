"""Passes over labelled rows, made where the rows are: here a part at a time, or with Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import check_finite
from coterie.data.source import WINDOW_ROWS, Block
from coterie.evaluate._coded import Codes

Floats = npt.NDArray[np.float64]
#: From rows to those that are scored: a metric's own form of them.
Prepare = Callable[[Any], npt.NDArray[Any]]

#: Numbers of CSR rows that are made dense together: 16 MB of float64.
_DENSE_NUMBERS = 1 << 21


@dataclass(frozen=True)
class Part:
    """Some adjacent rows, dense, with what belongs to them; `start` is the number of the first."""

    rows: npt.NDArray[Any]
    weights: Floats | None
    codes: Codes
    start: int
    n_threads: int

    @property
    def span(self) -> slice:
        """Where these rows stand among all."""
        return slice(self.start, self.start + self.codes.size)

    def tiles(self, n_rows: int) -> Iterator[slice]:
        """The rows of the part, so many at a time."""
        for start in range(0, self.codes.size, n_rows):
            yield slice(start, min(self.codes.size, start + n_rows))

    def totals_of(self, values: Floats) -> tuple[float, float]:
        """The sum of values by weight over the rows that have a cluster, and the weight of these.

        What their mean needs; values are one per row.
        """
        kept = self.codes >= 0
        if self.weights is None:
            return float(values[kept].sum()), float(kept.sum())
        return float((self.weights[kept] * values[kept]).sum()), float(self.weights[kept].sum())


@dataclass(frozen=True)
class Maker:
    """How adjacent rows become a part: dense, checked, and in a metric's form if there is one."""

    who: str
    names: tuple[str, ...] | None
    prepare: Prepare | None

    def part(
        self, rows: Any, weights: Floats | None, codes: Codes, start: int, n_threads: int
    ) -> Part:
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        if self.prepare is not None:
            check_finite(self.who, rows, self.names, start=start)
            rows = self.prepare(rows)
        return Part(rows, weights, codes, start, n_threads)


@dataclass(frozen=True)
class Summing:
    """A pass over blocks that carry codes: what ``job(part, *model, sums)`` adds to zeros."""

    job: Callable[..., None]
    maker: Maker
    shape: tuple[int, ...]

    def __call__(self, block: Block, *model: Any) -> Floats:
        sums = np.zeros(self.shape)
        for part in _parts_of(block, self.maker):
            self.job(part, *model, sums)
        return sums


@dataclass(frozen=True)
class Filling:
    """A pass over blocks with codes: ``job(part, *model, out)``, an entry of `out` per row."""

    job: Callable[..., None]
    maker: Maker

    def __call__(self, block: Block, *args: Any) -> None:
        *model, out = args
        for part in _parts_of(block, self.maker):
            self.job(part, *model, out[part.start - block.start :][: part.codes.size])


def _parts_of(block: Block, maker: Maker) -> Iterator[Part]:
    for some in block.parts(rows_at_once(sp.issparse(block.rows), block.rows.shape[1])):
        assert some.weights is not None
        codes, weights = unpacked(some.weights)
        yield maker.part(some.rows, weights, codes, some.start, some.n_threads)


def rows_at_once(is_sparse: bool, n_cols: int) -> int:
    """How many rows make a part: fewer where they are to be made dense."""
    return max(1, min(WINDOW_ROWS, _DENSE_NUMBERS // n_cols)) if is_sparse else WINDOW_ROWS


def packed(codes: Codes, weights: Floats | None) -> Floats:
    """Codes, and weights if there are any, as what a source carries to its rows."""
    numbers = codes.astype(np.float64)
    return numbers if weights is None else np.column_stack([numbers, weights])


def unpacked(carried: Floats) -> tuple[Codes, Floats | None]:
    """Codes and weights again."""
    if carried.ndim == 1:
        return carried.astype(np.int32), None
    return carried[:, 0].astype(np.int32), np.ascontiguousarray(carried[:, 1])
