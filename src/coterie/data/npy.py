"""Rows of a memory-mapped `.npy` file, read some megabytes at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import block_bytes
from coterie._distinct import distinct
from coterie.data.source import Ints, RowsByNumber, Some, Source
from coterie.errors import DataError

#: How a file of NumPy's begins.
_MAGIC = b"\x93NUMPY"


class NpySource(Source):
    """A memory map, never copied whole; rows by number come without a pass.

    Floats of 32 or 64 bits are used where they are, other numbers become float64 block by block,
    and so do all under another `dtype`. `columns` are the places of those to use.
    """

    #: Bytes of rows a block holds.
    block_bytes = 1 << 26

    def __init__(
        self,
        rows: np.memmap[Any, Any],
        weights: npt.NDArray[np.float64] | None = None,
        n_threads: int = 1,
        *,
        names: Sequence[str] | None = None,
        columns: Sequence[int] | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        n_rows, n_cols = (int(size) for size in rows.shape)
        self._columns = None if columns is None else _places(columns, n_cols)
        if dtype is None:
            dtype = rows.dtype if rows.dtype in (np.float32, np.float64) else np.float64
        super().__init__(
            n_cols if self._columns is None else len(self._columns), dtype,
            names=names, n_rows=n_rows, weights=weights, n_threads=n_threads,
        )  # fmt: skip
        self.rows = rows

    def __str__(self) -> str:
        return f"the memory map {self.rows.filename or ''}".rstrip()

    def _pieces(self) -> Iterator[Any]:
        n_bytes = block_bytes(self.block_bytes)
        step = max(1, n_bytes // max(1, self.n_cols * self.dtype.itemsize))
        for start in range(0, self.n_rows, step):
            yield self._ready(self.rows[start : start + step])

    def _ready(self, rows: Any) -> npt.NDArray[Any]:
        """Some rows as kernels take them; those of the map itself where they can."""
        if self._columns is not None:
            rows = rows[:, self._columns]
        with np.errstate(over="ignore"):
            return np.asarray(rows).astype(self.dtype, copy=False)

    def _total_until(self, last: int, wanted: Ints) -> Some:
        """The wanted rows, by random access."""
        if not wanted.size:
            return Some(())
        return Some((np.ascontiguousarray(self._ready(self.rows[distinct(wanted)])),))


class MappedRows(NpySource, RowsByNumber):
    """A memory map that kernels can use as it is."""


def npy_source(
    rows: np.memmap[Any, Any],
    weights: npt.NDArray[np.float64] | None = None,
    n_threads: int = 1,
    *,
    columns: Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
) -> NpySource:
    """The rows of a memory map; see `NpySource`."""
    as_it_is = columns is None and rows.dtype in (np.float32, np.float64)
    as_it_is = as_it_is and (dtype is None or rows.dtype == dtype)
    kind = MappedRows if as_it_is else NpySource
    return kind(rows, weights, n_threads, columns=columns, dtype=dtype)


def mapped(place: Any) -> np.memmap[Any, Any]:
    """The array of a file as a memory map with a row for each row; a map as it is."""
    name = os.fspath(place) if not isinstance(place, np.memmap) else "the memory map"
    if not isinstance(place, np.memmap):
        if not os.path.exists(place):
            raise FileNotFoundError(f"{name!r} names no file; give the path of a .npy file.")
        try:
            place = np.load(place, mmap_mode="r", allow_pickle=False)
        except PermissionError:
            raise
        except (ValueError, EOFError, OSError, TypeError, SyntaxError, OverflowError) as error:
            raise unreadable(name, place, error) from error
    if not isinstance(place, np.memmap) or place.dtype.kind not in "fiub":
        raise DataError(f"{name}: holds no real numbers; save a numeric array instead.")
    if place.ndim == 1:
        place = place[:, np.newaxis]
    if place.ndim != 2 or place.shape[1] == 0:
        raise DataError(
            f"{name}: the array has shape {place.shape}; save it with a row per row and a column "
            "per column."
        )
    return place


def unreadable(name: str, place: Any, error: Exception) -> DataError:
    """What to say of a file, or bytes, that NumPy cannot read as one array of numbers."""
    reason = " ".join(str(error).split())
    if isinstance(place, (str, os.PathLike)):
        with open(place, "rb") as file:
            start = file.read(len(_MAGIC))
        if not start:
            reason = "it is empty"
        elif not _MAGIC.startswith(start):
            return DataError(
                f"{name}: not a readable NPY array, as its name says: it begins like something "
                "else; write it with numpy.save, or name it for what it is, such as .csv."
            )
    if "allow_pickle" in reason or "Python objects" in reason:
        reason = "it holds objects"
    return DataError(
        f"{name}: not a readable NPY array of numbers ({reason}); write it with numpy.save."
    )


def _places(columns: Sequence[Any], n_cols: int) -> list[int]:
    """Places of columns, which go by number here, or as x0, x1 and so on."""
    names = {f"x{place}": place for place in range(n_cols)}
    places = []
    for column in [columns] if isinstance(columns, (str, int)) else columns:
        place = names.get(column) if isinstance(column, str) else column
        if not isinstance(place, (int, np.integer)) or not -n_cols <= place < n_cols:
            raise DataError(
                f"columns: the array has no column {column!r}; its columns are 0 to {n_cols - 1}."
            )
        places.append(int(place) % n_cols)
    return places
