"""Reading an index of any kind."""

from __future__ import annotations

import os

from coterie.errors import FileError
from coterie.search._index import SearchIndex
from coterie.search._index_file import read_kind
from coterie.search.flat import FlatIndex
from coterie.search.ivf import IVFPQIndex
from coterie.search.pq import PQIndex

__all__ = ["load"]

_KINDS: dict[str, type[SearchIndex]] = {
    "FlatIndex": FlatIndex,
    "PQIndex": PQIndex,
    "IVFPQIndex": IVFPQIndex,
}


def load(
    path: str | os.PathLike[str], *, n_threads: int | None = None, check: bool = True
) -> SearchIndex:
    """An index from a file that `save` wrote, whose arrays are mapped into memory, not read.

    Parameters
    ----------
    path
        Of the file; it must stay as it is while the index is used.
    n_threads
        Of the index.
    check
        Read the file once, to see that it is undamaged; False: trust it, and open at once.

    Returns
    -------
    The index that was saved. Adding rows to it, or removing some, leaves the file alone.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    FileError
        If it is not an index, or damaged.
    """
    kind = read_kind(path)
    if kind not in _KINDS:
        raise FileError(
            f"Cannot load {os.fspath(path)!r}: it holds a {kind!r}, which this version does not "
            "know; upgrade coterie."
        )
    return _KINDS[kind].load(path, n_threads=n_threads, check=check)
