"""The `coterie` command. Needs `coterie[cli]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, 130 when interrupted.

    Parameters
    ----------
    arguments
        What follows ``coterie``; None for those of the process.
    """
    try:
        from coterie.cli._app import run
    except ModuleNotFoundError as error:
        print(
            f"coterie: the command line needs {error.name}: pip install 'coterie[cli]'",
            file=sys.stderr,
        )
        return 2
    return run(arguments)
