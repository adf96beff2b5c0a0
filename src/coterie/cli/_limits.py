"""Threads and memory that a command may use, and Ctrl-C while it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coterie.cli._interrupts import raise_when_interrupted
from coterie.cli._options import READ_WHOLE

#: The share of limited memory that rows may be held in.
_SHARE = 4


@contextmanager
def limited(threads: int | None, max_memory: str | None) -> Iterator[int]:
    """Do the work of a command: within so much memory, on so many threads, and interruptible.

    Gives how many bytes of rows may be held at once.
    """
    from coterie._config import get_options, options, set_options

    raise_when_interrupted()
    with options():
        if threads is not None:
            try:
                set_options(n_threads=threads)
            except ValueError as error:
                said = str(error).partition("n_threads=")[2].replace(", or None", "")
                raise ValueError(f"--threads {said}") from None
        if max_memory is None:
            yield READ_WHOLE
            return
        try:
            set_options(max_memory=max_memory)
        except ValueError:
            raise ValueError(
                f"--max-memory {max_memory!r} was given; use a number of bytes, or one with a unit "
                "such as 512MB or 2GiB."
            ) from None
        yield min(READ_WHOLE, get_options()["max_memory"] // _SHARE)
