"""Lets threadpoolctl see and limit the threads of the kernels."""

from __future__ import annotations

from coterie._kernels import kernels

__all__ = ["register_with_threadpoolctl"]


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
