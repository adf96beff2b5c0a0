"""Rows of Parquet, Arrow, Feather and CSV files, decoded ahead while the last are computed with."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import block_bytes
from coterie.data._arrow_batches import Wanted, format_of, readable, tables_of
from coterie.data._arrow_floats import float_blocks, float_type, is_number
from coterie.data._delimited import listing, no_column
from coterie.data._read_ahead import read_ahead
from coterie.data._row_file import RowFile
from coterie.data.source import Source
from coterie.errors import DataError

#: Bytes that a cell of text takes while it is computed with: a string of Python's.
_WORD_BYTES = 64


class ArrowSource(Source):
    """The rows of a `pyarrow.dataset`, in the order of its files, streamed on every pass.

    Integers, truth values and decimals become floats, nulls NaN. Blocks have one size however the
    files and their row groups are cut; some blocks are read ahead. Columns of text or times are
    refused where rows of numbers are asked for; `tables` has them.

    Memory: four blocks of 16 MB (less under `max_memory`) and what is being decoded. Disk: the rows
    as numbers in a temporary file from the second pass on; see `RowFile`.

    Parameters
    ----------
    dataset
        A `pyarrow.dataset.Dataset`.
    columns
        Names of the columns to use, in this order; None for all.
    filter
        A pyarrow expression, or a list of (column, operator, value), all of which must hold; a list
        of such lists, one of which must hold. None for all rows.
    dtype
        float32 or float64; None: float32 where no column is wider.
    name
        What to call it in messages.
    text
        Columns to call text whatever they hold. Text files are then read so, without a look at the
        cells; others have what they have.
    """

    #: Bytes of rows a block holds.
    block_bytes = 1 << 24
    #: Bytes of rows decoded at once.
    batch_bytes = 1 << 21

    def __init__(
        self,
        dataset: Any,
        columns: Sequence[str] | None = None,
        filter: Any = None,
        *,
        dtype: npt.DTypeLike | None = None,
        n_threads: int = 1,
        name: str | None = None,
        text: Collection[str] = (),
    ) -> None:
        self._name = name or "the dataset"
        self._kept: Any = None  # what must not go away before the source
        self._dataset = dataset
        self._known_schema = schema = with_text_columns(dataset.schema, text)
        names = _chosen(self._name, schema.names, columns)
        self.schema = _fields(schema, names)
        self._filter = _expression(filter)
        mentioned = [] if self._filter is None else _mentioned(self._filter, schema.names)
        self._read = [*names, *(name for name in mentioned if name not in names)]
        self._fragments = list(dataset.get_fragments(filter=self._filter))
        if dtype is None:
            dtype = float_type(self.schema.types)
        super().__init__(
            len(names), dtype, names=names, n_rows=self._counted(), n_threads=n_threads
        )
        self._decoded = RowFile(self.n_cols, self.dtype)

    def __str__(self) -> str:
        return self._name

    @property
    def text(self) -> tuple[str, ...]:
        """Names of the columns that are no numbers."""
        return tuple(field.name for field in self.schema if not is_number(field.type))

    def tables(self) -> ArrowTables:
        """The same rows with all columns as they are stored: the rows of a block are a table."""
        return ArrowTables(self)

    def with_text(self, columns: Sequence[str], text: Collection[str]) -> ArrowSource:
        """Rows with these columns, of which those in `text` are text whatever they hold."""
        other = ArrowSource(self._dataset, columns, self._filter, name=self._name, text=text)
        other._kept = self._kept
        return other

    def column(self, name: str) -> Any:
        """One column of all rows as a pyarrow array in memory, chosen or not: keys, say."""
        import pyarrow as pa

        alone = ArrowSource(self._dataset, [name], self._filter, name=self._name)
        alone._kept = self._kept
        parts = [block.rows.column(0) for block in alone.tables()]
        chunks = [chunk for part in parts for chunk in part.chunks]
        return pa.chunked_array(chunks, type=alone.schema.field(0).type)

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """One column of all rows as float64 in memory, chosen or not."""
        alone = ArrowSource(self._dataset, [name], self._filter, dtype=np.float64, name=self._name)
        parts = [block.rows[:, 0] for block in alone]
        return np.concatenate(parts) if parts else np.empty(0)

    def _pieces(self) -> Iterator[Any]:
        self._check_numbers()
        block_rows = self._block_rows()
        batch_rows = max(1, min(block_rows, self.batch_bytes // self._row_bytes()))

        def blocks() -> Iterator[Any]:
            tables = self._tables(batch_rows)
            return float_blocks(tables, self.n_cols, self.dtype, block_rows)

        yield from self._decoded.blocks(blocks, self._n_rows, block_rows)

    def _row_bytes(self) -> int:
        return max(1, self.n_cols * self.dtype.itemsize)

    def _block_rows(self) -> int:
        return max(1, block_bytes(self.block_bytes) // self._row_bytes())

    def _tables(self, batch_rows: int) -> Iterator[Any]:
        """Tables of at most so many rows each."""
        wanted = Wanted(self.schema, self._known_schema, self._read, self._filter, batch_rows)
        for fragment in self._fragments:
            yield from tables_of(fragment, wanted)

    def _counted(self) -> int | None:
        """How many rows there are, where files tell without being read."""
        if self._filter is not None:
            return None
        n_rows = 0
        for fragment in self._fragments:
            if format_of(fragment) != "ParquetFileFormat":
                return None
            with readable(fragment, 0, 1):
                n_rows += fragment.count_rows()
        return n_rows

    def _check_numbers(self) -> None:
        """Refuse columns that are no numbers, all in one sentence."""
        words = self.text
        if not words:
            return
        assert self.names is not None
        plain = [name for name in self.names if name not in words]
        kinds = sorted({str(self.schema.field(name).type) for name in words})
        many = len(words) > 1
        choose = f"choose columns={plain!r}" if len(plain) <= 8 else "choose numeric columns"
        remedy = choose if plain else "convert them"
        raise DataError(
            f"{self}: the column{'s' if many else ''} {listing(words)} {'are' if many else 'is'} "
            f"of type {', '.join(kinds)}, and rows to cluster by distance are numbers; {remedy}, "
            "or use MixedMixture, which takes columns of all kinds."
        )


class ArrowTables(Source):
    """The rows of an `ArrowSource` as pyarrow tables, with columns of any type.

    For passes that read columns: tables are counted, cut and passed over, not indexed by row.
    """

    def __init__(self, source: ArrowSource) -> None:
        super().__init__(
            source.n_cols, np.float64,
            names=source.names, weights=source.weights, n_threads=source.n_threads,
        )  # fmt: skip
        self._known = source._known
        self._source = source

    def __str__(self) -> str:
        return str(self._source)

    def _pieces(self) -> Iterator[Any]:
        yield from read_ahead(partial(self._source._tables, self._block_rows()))

    def _block_rows(self) -> int:
        n_words = len(self._source.text)
        row_bytes = 8 * (self.n_cols - n_words) + _WORD_BYTES * n_words
        return max(1, block_bytes(self._source.block_bytes) // row_bytes)


def _chosen(where: str, available: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """Names of the columns to use; each must be there, once."""
    if isinstance(columns, str):
        columns = [columns]
    names = list(available if columns is None else columns)
    for name in names:
        if name not in available:
            raise no_column(where, name, list(available))
        if list(available).count(name) > 1 or names.count(name) > 1:
            raise DataError(f"{where}: several columns are named {name!r}; rename all but one.")
    if not names:
        raise DataError(f"{where}: no column is chosen; name at least one in columns=.")
    return names


def _fields(schema: Any, names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def with_text_columns(schema: Any, text: Collection[str]) -> Any:
    """A schema in which these columns are text."""
    import pyarrow as pa

    return pa.schema(
        [field.with_type(pa.string()) if field.name in text else field for field in schema]
    )


def _expression(filter: Any) -> Any:
    """A filter as a pyarrow expression."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if filter is None or isinstance(filter, pc.Expression):
        return filter
    try:
        return pq.filters_to_expression([filter] if isinstance(filter, tuple) else filter)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"filter={filter!r} is no filter ({error}); give a list such as "
            "[('age', '>', 18), ('city', 'in', ['Rome', 'Oslo'])] or a pyarrow expression."
        ) from error


def _mentioned(expression: Any, names: Sequence[str]) -> list[str]:
    """Columns an expression may speak of: pyarrow does not tell, but prints their names."""
    text = str(expression)
    return [name for name in names if name in text]
