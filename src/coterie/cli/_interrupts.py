"""Ctrl-C: it ends a command at once while nothing has been done, later after cleaning up."""

from __future__ import annotations

import os
import signal
from typing import Any


def leave_when_interrupted() -> None:
    """Let Ctrl-C end the process, which must be the command's own, with exit code 130.

    A KeyboardInterrupt inside an import may come out as any error, or not at all.
    """
    signal.signal(signal.SIGINT, _leave)


def raise_when_interrupted() -> None:
    """Let Ctrl-C raise again what can be cleaned up after; other handlers stay."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: Any) -> None:
    os.write(2, b"coterie: interrupted\n")
    os._exit(130)
