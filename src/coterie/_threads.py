"""Lets threadpoolctl see and limit the threads of the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coterie._kernels import kernels

__all__ = ["one_blas_thread", "register_with_threadpoolctl"]


def register_with_threadpoolctl() -> None:
    """Make `threadpoolctl.threadpool_limits` and `threadpool_info` count coterie's pool in.

    Does nothing where threadpoolctl is missing or too old to take other libraries in.
    """
    try:
        from threadpoolctl import LibController, register
    except ImportError:
        return

    class KernelsController(LibController):
        """The compiled kernels, as threadpoolctl sees them."""

        user_api = "coterie"
        internal_api = "coterie"
        filename_prefixes = (f"_kernels_{kernels.isa}",)
        check_symbols = ("coterie_get_num_threads", "coterie_set_num_threads")

        def get_num_threads(self) -> int:
            """The limit; every CPU where there is none."""
            return int(self.dynlib.coterie_get_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            """Limit the threads; every CPU or more is no limit.

            On leaving a context threadpoolctl sets what it had read on entering, which must not
            turn "no limit" into one.
            """
            self.dynlib.coterie_set_num_threads(0)
            if num_threads < self.get_num_threads():
                self.dynlib.coterie_set_num_threads(num_threads)

        def get_version(self) -> None:
            """The kernels have no version of their own."""

    register(KernelsController)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread meanwhile, where threadpoolctl is there to tell it.

    For methods that call small BLAS or LAPACK functions between kernels: the idle threads of BLAS
    spin for milliseconds and would slow the kernels down.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
