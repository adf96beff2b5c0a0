"""Ctrl-C: it ends a command at once while nothing has been done, later after cleaning up."""

from __future__ import annotations

import signal

from _coterie_command import leave, leave_when_interrupted

__all__ = ["leave_when_interrupted", "raise_when_interrupted"]


def raise_when_interrupted() -> None:
    """Let Ctrl-C raise again what can be cleaned up after; other handlers stay."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
