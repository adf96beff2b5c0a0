"""Memory that allocators keep for later, given back to the system."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from coterie._config import get_options


def give_back() -> None:
    """Under `max_memory`, have what was freed leave the process; else it may stay for later.

    Buffers of odd sizes that come and go on several threads would add up to half as much again as
    is ever in use at once. Arrow's own allocator keeps what a thread freed even when the thread
    has ended, so Arrow is told to take memory from the system's from now on; what it does not ask
    Python about still is its own, unless ``ARROW_DEFAULT_MEMORY_POOL=system`` was in the
    environment when it was loaded.
    """
    if get_options()["max_memory"] is None:
        return
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
        arrow.set_memory_pool(arrow.system_memory_pool())
    _trim()(0)


@cache
def _trim() -> Any:
    """glibc's malloc_trim; nothing where there is none."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda _: 0
