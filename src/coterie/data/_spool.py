"""A temporary Arrow file that goes away with whoever holds it, however the process ends."""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

#: Rows of a record batch of the file.
_BATCH_ROWS = 1 << 16


class Spool:
    """Arrow batches on disk, written once and read often; `path` is where.

    Where the system names open files, ours has no other name, so that even a killed process leaves
    nothing. Elsewhere it is removed when the spool is forgotten and when the interpreter ends.
    """

    def __init__(self, batches: Iterable[Any], schema: Any) -> None:
        with _room():
            descriptor, name = tempfile.mkstemp(prefix="coterie-", suffix=".arrow")
        self.path = name
        own = f"/proc/self/fd/{descriptor}"
        if os.path.exists(own):
            os.unlink(name)
            self.path = own
        self._gone = weakref.finalize(self, _remove, descriptor, name)
        try:
            with _room():
                self.n_rows = _write(descriptor, batches, schema)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the file go now."""
        self._gone()


def _write(descriptor: int, batches: Iterable[Any], schema: Any) -> int:
    """Batches of a good size; how many rows they have."""
    import pyarrow as pa

    n_rows = 0
    with (
        open(descriptor, "wb", closefd=False) as file,
        pa.ipc.new_file(file, schema) as writer,
    ):
        for table in _gathered(batches, schema):
            writer.write_table(table, max_chunksize=_BATCH_ROWS)
            n_rows += table.num_rows
    return n_rows


def _gathered(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Small batches together; databases send a thousand rows at a time."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(part.num_rows for part in held) >= _BATCH_ROWS:
            yield pa.Table.from_batches(held, schema).combine_chunks()
            held = []
    if held:
        yield pa.Table.from_batches(held, schema).combine_chunks()


def _remove(descriptor: int, name: str) -> None:
    os.close(descriptor)
    if os.path.exists(name):
        os.unlink(name)


@contextmanager
def _room() -> Iterator[None]:
    """Say where there is no room, and what to do."""
    try:
        yield
    except OSError as error:
        full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if error.errno not in full and "No space" not in str(error):
            raise
        raise OSError(
            error.errno or errno.ENOSPC,
            "no room for the answer of the query, which is kept in a temporary file; set TMPDIR to "
            "a directory of a larger disk, or ask for fewer rows or columns",
            tempfile.gettempdir(),
        ) from error
