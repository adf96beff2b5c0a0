"""The cluster in force, and what to say when it is lost."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import dask
from dask.base import get_scheduler


def client_in_force() -> Any:
    """The client in force; None where work is done by one of Dask's own schedulers."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "persist") else None


def quiet_about_size() -> Any:
    """No warning of a large graph: what is large in it is the model, which has to travel.

    Without `distributed` there is nobody to warn, and its settings, which come with its import,
    must not be put back to what they were before.
    """
    if "distributed" not in sys.modules:
        return nullcontext()
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})


class _NotDasks(logging.Filter):
    """Drops what asyncio logs of tasks of Dask's that ended with an error nobody waits for."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        return not type(error).__module__.startswith("distributed")


_NOT_DASKS = _NotDasks()


@contextmanager
def no_logs() -> Iterator[None]:
    """Nothing of what Dask logs here while it connects, fails or is interrupted: errors tell it.

    Tasks that an interrupt leaves are logged when they are collected, which may be at the very end;
    so the words on these are dropped for good.
    """
    logging.getLogger("asyncio").addFilter(_NOT_DASKS)
    levels = {
        logger: logger.level
        for name, logger in logging.root.manager.loggerDict.items()
        if name.partition(".")[0] == "distributed" and isinstance(logger, logging.Logger)
    }
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


@contextmanager
def clear_errors() -> Iterator[None]:
    """One sentence where workers or the cluster were lost, instead of how Dask found out."""
    try:
        yield
    except Exception as error:
        told = _told(error)
        if told is None:
            raise
        raise told from None


def _told(error: Exception) -> Exception | None:
    """What to say instead of an error of the cluster; None of any other error."""
    if "distributed" not in sys.modules:
        return None
    from distributed import CancelledError, KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"{error.allowed_failures + 1} workers of the Dask cluster died while they computed "
            f"{error.task!r}; if they ran out of memory, pass smaller chunks or give them more."
        )
    if isinstance(error, (CancelledError, ClosedClientError, CommClosedError)):
        return ConnectionError(
            f"The Dask cluster, or rows that only it had, went away during a pass over the rows "
            f"({_why(error)}); start it anew and ask again."
        )
    return None


def _why(error: Exception) -> str:
    """What Dask gives as the reason, in one line."""
    (told, *_) = getattr(error, "error_groups", None) or [error]  # the largest group first
    why = getattr(told, "reason", None) or str(error) or type(error).__name__
    return " ".join(str(why).split()).rstrip(".")[:200]
