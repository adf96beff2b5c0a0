"""The `coterie` command. Needs `coterie[cli]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from coterie.cli._closed_streams import fill_closed_streams
from coterie.cli._interrupts import leave_when_interrupted

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, 130 when interrupted.

    Parameters
    ----------
    arguments
        What follows ``coterie``; None for those of the process. The process is then taken to be
        the command's own: Ctrl-C ends it at once while nothing but imports has been done.
    """
    if arguments is None:
        leave_when_interrupted()
        fill_closed_streams()
    try:
        from coterie.cli._app import run
    except ModuleNotFoundError as error:
        print(
            f"coterie: the command line needs {error.name}: pip install 'coterie[cli]'",
            file=sys.stderr,
        )
        return 2
    code = run(arguments)
    if arguments is None:
        leave_when_interrupted()
    return code
