"""Where the `coterie` command begins.

It stands beside the package because importing anything of `coterie` loads the kernels first, and
Ctrl-C is to be answered before that. Nothing is imported here that Python has not loaded at its
start: an import that Ctrl-C interrupts may end in any error, or go on as if nothing had been.
"""

import os

# Built in; the public module first imports a good deal.
from _signal import SIGINT, signal  # type: ignore[import-not-found]

__all__ = ["leave", "leave_when_interrupted", "main"]


def main() -> int:
    """Run the command of this process and return its exit code."""
    leave_when_interrupted()
    # Arrow chooses when it is loaded; its own allocator keeps much of what is freed to itself.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from coterie.cli import main as run

    return run()


def leave_when_interrupted() -> None:
    """Let Ctrl-C end the process, which must be the command's own, with exit code 130."""
    signal(SIGINT, leave)


def leave(number: int, frame: object) -> None:
    """End the process without cleaning up: nothing has been done yet, or everything."""
    os.write(2, b"coterie: interrupted\n")
    os._exit(130)
