"""Rows with their labels, from any source, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._config import resolve_n_threads
from coterie._doors import FLOATS, check_csr, check_finite, check_weights, checked, trusted
from coterie._in_memory import rows_in_memory
from coterie.data import Source, as_source, elsewhere
from coterie.evaluate._coded import Coded, Codes, Noise, code_labels
from coterie.evaluate._passes import (
    Filling,
    Maker,
    Part,
    Prepare,
    Summing,
    packed,
    rows_at_once,
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelledRows:
    """The rows of a source and the code of each.

    `weights` is None where all are one; cells `may_lack`, being NaN, where a metric takes that.
    """

    who: str
    source: Source
    coded: Coded
    weights: Floats | None
    n_threads: int
    prepare: Prepare | None = None
    may_lack: bool = False

    @property
    def codes(self) -> Codes:
        return self.coded.codes

    @property
    def n_clusters(self) -> int:
        return self.coded.n_clusters

    def totals(self) -> Floats:
        """The weight of every cluster."""
        kept = self.codes >= 0
        weights = None if self.weights is None else self.weights[kept]
        return np.bincount(self.codes[kept], weights, self.n_clusters).astype(np.float64)

    def parts(self) -> Iterator[Part]:
        """All rows in order, cut at the same rows wherever they come from."""
        start, maker = 0, self._maker
        for rows in self._pieces(rows_at_once(self.source.sparse, self.source.n_cols)):
            stop = start + rows.shape[0]
            self._check_rows(stop, ended=False)
            weights = None if self.weights is None else self.weights[start:stop]
            yield maker.part(rows, weights, self.codes[start:stop], start, self.n_threads)
            start = stop
        self._check_rows(start, ended=True)

    def summed(
        self, job: Callable[..., None], *model: Any, shape: tuple[int, ...]
    ) -> npt.NDArray[np.float64]:
        """What ``job(part, *model, sums)`` adds to zeros of this shape, over all parts.

        Rows that Dask has stay there: codes go to them once, and the sums come back.
        """
        if self.source.remote:
            return self._carrying.total(Summing(job, self._maker, shape), *model)
        sums = np.zeros(shape)
        for part in self.parts():
            job(part, *model, sums)
        return sums

    def filled(self, job: Callable[..., None], *model: Any) -> Floats:
        """One number per row, as ``job(part, *model, out)`` fills it in, over all parts."""
        out = np.empty(self.codes.size)
        if self.source.remote:
            filling, start = Filling(job, self._maker), 0
            for found in self._carrying.results(filling, *model, dtype=np.float64):
                out[start : start + found.size] = found
                start += found.size
            return out
        for part in self.parts():
            job(part, *model, out[part.span])
        return out

    def first_row(self) -> Floats:
        """The first row, as it is scored: an origin near the others."""
        try:
            rows = self.source.pick([0]).rows
        except IndexError:
            refuse_lengths(self.who, 0, self.codes.size)
        return self._maker.part(rows, None, self.codes[:1], 0, 1).rows[0].astype(np.float64)

    @property
    def _maker(self) -> Maker:
        return Maker(self.who, self.source.names, self.prepare)

    @cached_property
    def _carrying(self) -> Source:
        """The source with the code and the weight of each row, as weights go to rows elsewhere."""
        self._check_rows(self.source.n_rows, ended=True)
        return self.source.weighted(packed(self.codes, self.weights))

    def _pieces(self, size: int) -> Iterator[Any]:
        """Exactly so many rows at a time but for the last: views where they are in memory."""
        if self.source.in_memory:
            yield from (part.rows for block in self.source for part in block.parts(size))
        else:
            yield from (window.rows for window in self.source.windows(size))

    def _check_rows(self, n_rows: int, *, ended: bool) -> None:
        """Refuse rows without a label, and labels without a row."""
        n_labels = self.codes.size
        if n_labels < n_rows or (ended and n_labels > n_rows):
            refuse_lengths(self.who, n_rows, n_labels)

    def whole(self) -> Any:
        """All rows in memory, as they are stored; refused where they do not fit."""
        rows = rows_in_memory(self.who, self.source, "this score")
        self._check_rows(rows.shape[0], ended=True)
        if not self.may_lack:
            check_finite(self.who, rows, self.source.names)
        return rows

    def check_finite(self) -> None:
        """Refuse NaN and infinity, by the cell that has one."""
        replace(self, prepare=None).summed(_refuse_odd, self.who, self.source.names, shape=(0,))


def _refuse_odd(part: Part, who: str, names: tuple[str, ...] | None, sums: Floats) -> None:
    check_finite(who, part.rows, names, start=part.start)


def open_rows(
    who: str,
    X: Any,
    labels: Any,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    *,
    at_least: int = 2,
) -> LabelledRows:
    """Rows and labels as scores take them.

    Rows without weight are left out, as are clusters that have no others; `at_least` so many
    clusters must be left, and fewer than there are rows.
    """
    threads = resolve_n_threads(n_threads, who)
    source = _as_rows(who, X, threads)
    coded = code_labels(who, labels, "labels", noise)
    weights = check_weights(who, sample_weight, coded.codes.size)
    if weights is None and source.weights is not None:
        weights = check_weights(who, source.weights, coded.codes.size)
    source = source.weighted(None)
    if weights is not None and not weights.all():
        coded = _without(coded, weights == 0)
    elif coded.n_clusters and not coded.sizes.all():
        coded = _without(coded, np.zeros(coded.codes.size, dtype=bool))
    given = LabelledRows(who, source, coded, weights, threads)
    if at_least > 1:
        check_n_clusters(given, at_least)
    elif given.n_clusters == 0:
        raise ValueError(f"{who}: no row is in a cluster; give some rows a label or a weight.")
    return given


def _as_rows(who: str, X: Any, n_threads: int) -> Source:
    """Checked rows as a source; NaN and infinity are left to the first pass over them."""
    named = elsewhere(X)
    if named is not None:
        return as_source(named, None, n_threads)
    if isinstance(X, np.memmap) and X.dtype in FLOATS and X.ndim == 2:
        return as_source(X, None, n_threads)
    rows = checked(who, trusted(who, X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False)
    return as_source(check_csr(who, rows) if sp.issparse(rows) else rows, None, n_threads)


def _without(coded: Coded, gone: npt.NDArray[np.bool_]) -> Coded:
    """The codes without some rows, and without the clusters that had no others."""
    codes = np.where(gone, np.int32(-1), coded.codes)
    there = np.bincount(codes[codes >= 0], minlength=coded.n_clusters) > 0
    number = np.cumsum(there, dtype=np.int32) - np.int32(1)
    codes = np.where(codes >= 0, number[codes], np.int32(-1))
    return Coded(codes, coded.values[there[: coded.values.size]], int(there.sum()))


def check_n_clusters(given: LabelledRows, at_least: int = 2) -> None:
    """Refuse fewer clusters than the score compares, and as many as there are rows."""
    n_rows = float(given.totals().sum())
    if not at_least <= given.n_clusters < n_rows:
        found = "there is 1 row" if n_rows == 1 else f"there are {n_rows:g} rows"
        if given.n_clusters == 0 and given.codes.size:
            found += f" in clusters of {given.codes.size} (the others are noise, or weigh nothing)"
        elif given.weights is not None:
            found = f"the weights sum to {n_rows:g} rows (2 is a row twice: scale them)"
        # The first words are scikit-learn's, which tools look for.
        raise ValueError(
            f"{given.who}: Number of labels is {given.n_clusters}. Valid values are {at_least} to "
            f"n_samples - 1 (inclusive), and {found}; this score compares clusters with each other "
            "and rows within them."
        )


def refuse_lengths(who: str, n_rows: int, n_labels: int) -> NoReturn:
    """Say that rows and labels do not belong together."""
    raise ValueError(
        f"{who}: Found input variables with inconsistent numbers of samples: [{n_rows}, "
        f"{n_labels}]; pass one label per row of X."
    )
