"""The rows a command was given: held in memory, or streamed from where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from coterie._in_memory import rows_in_memory
from coterie.cli._found import Found
from coterie.cli._methods import Method
from coterie.cli._options import check_text_options, check_text_options_of
from coterie.cli._scaling import in_own_units
from coterie.cli._wording import Wording
from coterie.data import ArraySource, Source
from coterie.data.scaling import Scaling, Standardising, learn_scaling, standardized
from coterie.data.streams import Stream, is_streamed, open_table
from coterie.data.tables import Table, read_table
from coterie.errors import DataError

AnyStream = TypeVar("AnyStream", bound=Stream)

#: How the sentences of a missing cell and of a table of text end, where nothing is known of the
#: command.
_MISSING = "leave the column out, or use a method that takes missing cells (gaussian, mixed)."
_TEXT = ", or use a method that takes text (mixed, categorical)."
#: Rows that are drawn of those that stream.
_DRAWN_ROWS = 4000


@dataclass(frozen=True)
class Drawn:
    """Rows for a picture, in their own units and as they were clustered; `words` say which."""

    values: npt.NDArray[Any]
    rows: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    words: str = ""


class Given(Protocol):
    """What a fit needs to know of its rows."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def skipped(self) -> tuple[str, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def n_rows(self) -> int: ...

    def scaling(self) -> Scaling:
        """Mean and population standard deviation of each column; 1 for a constant column."""

    def rows(self, scaling: Scaling | None) -> Any:
        """The rows for an estimator."""

    def drawn(self, rows: Any, found: Found, scaling: Scaling | None, seed: int) -> Drawn:
        """Rows for a picture, of those that `rows` made."""


@dataclass(frozen=True)
class Held(Table):
    """A table in memory."""

    @property
    def n_rows(self) -> int:
        return len(self.values)

    def scaling(self) -> Scaling:
        return learn_scaling(ArraySource(self.values, names=self.names))

    def rows(self, scaling: Scaling | None) -> Any:
        return standardized(self.values, scaling)

    def drawn(self, rows: Any, found: Found, scaling: Scaling | None, seed: int) -> Drawn:
        assert isinstance(found.labels, np.ndarray)
        return Drawn(self.values, rows, found.labels)


@dataclass(frozen=True)
class TakenIn(Held):
    """A table that was standardised on its way into memory: `values` are what is clustered."""

    learned: Scaling | None = None

    def scaling(self) -> Scaling:
        assert self.learned is not None
        return self.learned

    def rows(self, scaling: Scaling | None) -> Any:
        return self.values

    def drawn(self, rows: Any, found: Found, scaling: Scaling | None, seed: int) -> Drawn:
        assert isinstance(found.labels, np.ndarray)
        if len(self.names) > 2:
            return Drawn(rows, rows, found.labels)
        return Drawn(in_own_units(rows, scaling), rows, found.labels)


@dataclass(frozen=True)
class Streamed(Stream):
    """Columns of files, read anew by every pass."""

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def scaling(self) -> Scaling:
        return learn_scaling(self.source)

    def rows(self, scaling: Scaling | None) -> Source:
        rows = self.nameless()
        return rows if scaling is None else rows.through(Standardising(scaling))

    def drawn(self, rows: Any, found: Found, scaling: Scaling | None, seed: int) -> Drawn:
        chosen = rows.sample(_DRAWN_ROWS, 0, np.random.RandomState(seed)).rows
        words = f" ({len(chosen):,} of {rows.n_rows:,} rows)" if len(chosen) < rows.n_rows else ""
        return Drawn(in_own_units(chosen, scaling), chosen, found.model.predict(chosen), words)


def given(
    places: Sequence[str],
    method: str,
    columns: Sequence[str] | None,
    *,
    way: Method,
    without: Sequence[str],
    categorical: Sequence[str],
    decimal: str | None,
    header: bool | None,
    most_bytes: int,
    scale: bool,
    on_cluster: bool = False,
    taking: str | None = None,
    taking_text: str | None = None,
) -> Held | Streamed:
    """The rows of some files for a method; those that take no more than `most_bytes` are held.

    So are all for a method that needs them, where they fit the memory. `taking` and `taking_text`
    are what could be asked for in place of the method if cells are missing, or hold text, if
    anything.
    """
    check_text_options_of(places, most_bytes, decimal, header)
    if not on_cluster and not is_streamed(places, most_bytes):
        with _advising(taking, taking_text):
            table = read_table(
                places[0], columns, without=without, missing=way.takes_missing, text=way.takes_text,
                categorical=categorical, decimal=decimal, header=header,
            )  # fmt: skip
        return Held(table.names, table.values, table.skipped, table.notes)
    check_text_options(decimal, header)
    with _advising(taking, taking_text):
        stream = open_table(
            places, columns, without=without, text=way.takes_text, categorical=categorical
        )
    streamed = Streamed(**vars(stream))
    if on_cluster:
        return streamed
    with _advising(taking, taking_text):
        held = stream.held(most_bytes, missing=way.takes_missing)
    if held is not None:
        return Held(held.names, held.values, held.skipped, held.notes)
    if way.streams:
        return streamed
    if way.takes_text:
        raise DataError(
            f"{stream.name}: with its text the table takes more than the {most_bytes:,} bytes that "
            f"{method} may hold under this metric; give fewer rows or columns, or use --method "
            "mixed, which streams."
        )
    with Wording(method, stream.names).of_errors():
        return _taken_in(streamed, way, streamed.scaling() if scale else None)


@contextmanager
def _advising(taking: str | None, taking_text: str | None) -> Iterator[None]:
    """Let errors about missing cells and text say what this command could be asked for instead."""
    try:
        yield
    except DataError as error:
        told = str(error)
        if told.endswith(_MISSING):
            leave = "leave the column out"
            other = f"{leave}, or use {taking}" if taking else f"or {leave}"
            raise DataError(f"{told.removesuffix(_MISSING)}{other}.") from error
        if told.endswith(_TEXT):
            other = f", or use {taking_text}" if taking_text else ""
            raise DataError(f"{told.removesuffix(_TEXT)}{other}.") from error
        raise


def read_by_cluster(
    stream: AnyStream, places: Sequence[str], address: str
) -> AbstractContextManager[AnyStream]:
    """The same columns, read by the workers of a cluster while the context lasts."""
    try:
        from coterie.data.dask_files import on_cluster
    except ModuleNotFoundError as error:
        raise ImportError(f"--dask needs {error.name}: pip install 'coterie[dask]'") from error
    return on_cluster(stream, places, address)


def _taken_in(stream: Streamed, way: Method, scaling: Scaling | None) -> TakenIn:
    """All rows for a method that needs them at once; refused where they do not fit."""
    rows = rows_in_memory(way.estimator, stream.rows(scaling), "this method")
    return TakenIn(stream.names, rows, stream.skipped, stream.notes, scaling)
