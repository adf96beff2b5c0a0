"""Standard streams that whoever started the process has closed."""

from __future__ import annotations

import os
import sys


def fill_closed_streams() -> None:
    """Let reading or printing fail where Python found a stream closed; what is for stderr is lost.

    Their numbers are taken, too, or else the next file to be opened would be ``/dev/stdout``.
    """
    stdin, stdout, stderr = (getattr(sys, name) for name in ("stdin", "stdout", "stderr"))
    if stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY))
    if stdout is None:
        os.open(os.sep, os.O_RDONLY)  # number 1: a directory, which cannot be opened for writing
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
