"""Standard input where a file is needed: one that can be sought in, or read twice."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coterie.errors import DataError

STDIN = "-"

#: How files begin that are no text; arrays of NumPy are read as they come.
_ENDS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".csv.gz",
    b"PK\x03\x04": ".xlsx",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"BZh": ".csv.bz2",
}
_ARRAY = b"\x93NUMPY"


def check_read_once(places: Sequence[str | None]) -> None:
    """Refuse standard input in two places."""
    if list(places).count(STDIN) > 1:
        raise ValueError("- (stdin) was given twice, and it can be read once; give files.")


def check_there(places: Sequence[str]) -> None:
    """Refuse the name of a file that is not there; patterns and addresses are looked up later."""
    for place in places:
        looked_up = place == STDIN or "://" in place or any(mark in place for mark in "*?[")
        if not looked_up and not os.path.exists(os.path.expanduser(place)):
            raise FileNotFoundError(f"{place}: there is no such file.")


@contextmanager
def as_files(
    places: Sequence[str], *, text: bool = False, spool: bool = True
) -> Iterator[list[str]]:
    """Places of which ``-`` is a file while the block lasts, if it has to be.

    It has to be where stdin holds what is no text; with `text`, in any case. The file lies in
    `TMPDIR`, and errors of the block call it stdin. Without `spool`, other machines are to
    read the rows, and ``-`` is refused, as it is among several places.
    """
    if STDIN not in places:
        yield list(places)
        return
    if len(places) > 1 or not spool:
        raise ValueError("- (stdin) was given among other DATA, or with --dask; give files.")
    stdin = sys.stdin.buffer
    begin = _begin(stdin)
    end = next((end for mark, end in _ENDS.items() if begin.startswith(mark)), None)
    if end is None and not text:
        yield list(places)
        return
    if end is None:
        end = ".npy" if begin.startswith(_ARRAY) else ""
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        path = Path(folder) / f"stdin{end}"
        with open(path, "wb") as file:
            shutil.copyfileobj(stdin, file, 1 << 20)
        try:
            yield [os.fspath(path) if place == STDIN else place for place in places]
        except ValueError as error:
            told = str(error)
            if str(path) not in told:
                raise
            raise DataError(told.replace(str(path), "stdin")) from error


def _begin(stdin: Any) -> bytes:
    """The first bytes, which stay to be read."""
    if hasattr(stdin, "peek"):
        return bytes(stdin.peek(8)[:8])
    found = bytes(stdin.read(8))  # not a pipe, but bytes in memory
    stdin.seek(0)
    return found
