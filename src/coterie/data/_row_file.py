"""Decoded rows in a temporary file, so that a source that is read often is decoded only twice."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie.data._read_ahead import read_ahead

#: Of the room on a disk, what a file of ours may take.
_SHARE_OF_ROOM = 0.5


class RowFile:
    """Rows as kernels take them: written down on the second pass over them, mapped from then on.

    A source that is read once leaves nothing on disk. The file has no name, so it is gone with
    the last that holds it, however the process ends; its pages are the system's to keep in memory
    or not. Where there is no room, or the option `spool_rows` is off, rows are decoded on every
    pass.
    """

    def __init__(self, n_cols: int, dtype: np.dtype[Any]) -> None:
        self._row_bytes = n_cols * dtype.itemsize
        self._shape = (-1, n_cols)
        self._dtype = dtype
        self._was_read = False
        self._map: mmap.mmap | None = None

    def __reduce__(self) -> Any:
        return RowFile, (self._shape[1], self._dtype)

    def blocks(
        self,
        decode: Callable[[], Iterator[npt.NDArray[Any]]],
        n_rows: int | None,
        block_rows: int,
    ) -> Iterator[npt.NDArray[Any]]:
        """All rows, so many at a time, as `decode` makes them or as they were written down."""
        if self._map is not None:
            yield from self._mapped(self._map, block_rows)
        elif self._was_read and n_rows and _has_room(n_rows * self._row_bytes):
            yield from read_ahead(lambda: self._written(decode()))
        else:
            yield from read_ahead(decode)
        self._was_read = True

    def _written(self, blocks: Iterator[npt.NDArray[Any]]) -> Iterator[npt.NDArray[Any]]:
        """The same blocks; once all were asked for, they can be mapped."""
        with tempfile.TemporaryFile(prefix="coterie-", dir=_directory()) as file:
            full = False
            for block in blocks:
                if not full:
                    try:
                        file.write(np.ascontiguousarray(block).data)
                    except OSError:  # a disk that filled up meanwhile costs time, not the fit
                        full = True
                        file.truncate(0)
                yield block
            if not full:
                file.flush()
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _mapped(self, pages: mmap.mmap, block_rows: int) -> Iterator[npt.NDArray[Any]]:
        """Blocks of the file itself; the system fetches the next meanwhile."""
        rows = np.frombuffer(pages, dtype=self._dtype).reshape(self._shape)
        for start in range(0, len(rows), block_rows):
            _fetch(pages, (start + block_rows) * self._row_bytes, block_rows * self._row_bytes)
            yield rows[start : start + block_rows]


def _fetch(pages: mmap.mmap, start: int, n_bytes: int) -> None:
    """Have the system read some bytes before they are used, where it can be told."""
    start -= start % mmap.PAGESIZE
    if start < len(pages) and hasattr(mmap, "MADV_WILLNEED"):
        pages.madvise(mmap.MADV_WILLNEED, start, min(n_bytes, len(pages) - start))


def _has_room(n_bytes: int) -> bool:
    """Whether a file of so many bytes is wanted, and leaves the disk room enough."""
    directory = _directory()
    if not get_options()["spool_rows"] or directory is None:
        return False
    return n_bytes <= _SHARE_OF_ROOM * shutil.disk_usage(directory).free


def _directory() -> str | None:
    """Where temporary files go that may be large: not into memory. None if there is no disk."""
    for directory in (tempfile.gettempdir(), "/var/tmp"):
        if os.access(directory, os.W_OK) and not _in_memory(directory):
            return directory
    return None


def _in_memory(directory: str) -> bool:
    """Whether files of a directory take memory instead of room on a disk."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            table = [line.split()[1:3] for line in mounts]
    except OSError:
        return False
    place = os.path.join(os.path.realpath(directory), "")
    above = [mount for mount in table if place.startswith(os.path.join(mount[0], ""))]
    return max(above, key=lambda mount: len(mount[0]), default=["", ""])[1] in ("tmpfs", "ramfs")
