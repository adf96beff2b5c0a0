"""Writing to a path: a file appears whole or not at all, and nothing else is ever replaced.

A regular file, or a new one, is written to a scratch file beside it that takes its place at the
end. Devices, pipes and descriptors of this process (``/dev/stdout``) cannot be replaced without
harm, so they are written through. Links are followed, and stay.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "check_writable", "move_into_place", "scratch_directory", "writing", "written_through",
]  # fmt: skip

_SCRATCH = re.compile(r"\.coterie-[0-9a-f]{12}\.tmp")

AnyPath = str | os.PathLike[str]


@contextmanager
def writing(path: AnyPath) -> Iterator[BinaryIO]:
    """A binary file to write to; what was written stands at `path` once the block has ended.

    If the block fails, a regular file at `path` is as it was. An existing file keeps its mode and,
    where that is allowed, its owner. Directories are not made.

    Raises
    ------
    OSError
        With `path` as its `filename`, whatever failed: a full disk, a missing directory.
    """
    with _naming(path):
        check_writable(path)
        if written_through(path):
            with _opened_as_it_is(path) as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        with _scratch_file(target.parent) as (scratch, file):
            yield file
            file.flush()
            _take_place(scratch, target)


def check_writable(path: AnyPath) -> None:
    """Refuse a path that cannot be written to, before any work is put into what to write."""
    name = os.fspath(path)
    if not name:
        raise _refusal(errno.ENOENT, "the path is empty; name a file", path)
    if os.path.isdir(path):
        raise _refusal(errno.EISDIR, "this is a directory; name a file", path)
    if os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise _refusal(errno.EACCES, "it may not be written to; choose another place", path)
        if written_through(path):
            return
    parent = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(parent):
        what = "is not a directory" if os.path.exists(parent) else "does not exist"
        raise _refusal(
            errno.ENOENT, f"the directory {parent} {what}; make it first or choose another", path
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise _refusal(errno.EACCES, f"the directory {parent} may not be written to", path)


def move_into_place(scratch: Path, path: Path) -> None:
    """Let a finished file stand at `path`, as if `writing` had written it there."""
    with _naming(path):
        check_writable(path)
        target = Path(os.path.realpath(path))
        if not written_through(path) and target.parent.stat().st_dev == scratch.stat().st_dev:
            _take_place(scratch, target)
            return
    with writing(path) as file, open(scratch, "rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)


@contextmanager
def scratch_directory(parent: Path) -> Iterator[Path]:
    """A directory in `parent` that is gone after the block, or by the next write there."""
    _remove_orphans(parent)
    while True:
        path = parent / f".coterie-{secrets.token_hex(6)}.tmp"
        path.mkdir()
        with suppress(FileNotFoundError):
            held = os.open(path, os.O_RDONLY)
            if _is_locked_by_us(held, path):
                break
            os.close(held)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)


@contextmanager
def _scratch_file(parent: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in `parent`, removed on failure, or by the next write there."""
    _remove_orphans(parent)
    while True:
        path = parent / f".coterie-{secrets.token_hex(6)}.tmp"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if _is_locked_by_us(descriptor, path):
            break
        os.close(descriptor)
    try:
        with open(descriptor, "wb") as file:
            yield path, file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _is_locked_by_us(descriptor: int, path: Path) -> bool:
    """Lock new scratch; False where another process took it for an orphan just before.

    The lock goes with the process, however that ends.
    """
    with suppress(OSError):  # file systems without locks leave orphans alone, too
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _remove_orphans(parent: Path) -> None:
    """Remove scratch whose process was killed: nobody holds its lock."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not _SCRATCH.fullmatch(entry.name):
                continue
            with suppress(OSError):
                held = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)
                finally:
                    os.close(held)


def _take_place(scratch: Path, target: Path) -> None:
    """Rename over the target, on whose disk the scratch file lies, with the target's mode."""
    with suppress(FileNotFoundError):
        old = target.stat()
        with suppress(PermissionError):
            os.chown(scratch, old.st_uid, old.st_gid)
        os.chmod(scratch, stat.S_IMODE(old.st_mode))  # after chown, which clears some bits
    with open(scratch, "rb") as file:
        os.fsync(file.fileno())
    os.replace(scratch, target)


def written_through(path: AnyPath) -> bool:
    """Whether `path` leads to something that is no regular file of a directory."""
    if _own_descriptor(path) is not None:
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _opened_as_it_is(path: AnyPath) -> BinaryIO:
    """What stands at `path`, opened for writing; neither made nor emptied."""
    own = _own_descriptor(path)
    if own is not None:
        return open(os.dup(own), "wb")  # with the place that stdout has reached in its file
    return open(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb")


def _own_descriptor(path: AnyPath) -> int | None:
    """The number of the open file that a path such as /dev/stdout or /dev/fd/3 stands for."""
    place = os.fsdecode(path)
    for _ in range(40):  # as many links as the system follows
        parent, name = os.path.split(os.path.abspath(place))
        if name.isdecimal() and os.path.realpath(parent) in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(parent, os.readlink(place))
    return None


def _refusal(number: int, sentence: str, path: AnyPath) -> OSError:
    return OSError(number, sentence, os.fspath(path))


@contextmanager
def _naming(path: AnyPath) -> Iterator[None]:
    """Let an OSError of an open or a scratch file say which path was to be written."""
    try:
        yield
    except OSError as error:
        about = error.filename
        if error.errno is None or not (about is None or _SCRATCH.search(os.fsdecode(about))):
            raise
        reason = error.strerror or os.strerror(error.errno)
        raise _refusal(error.errno, f"{reason}; it was not written", path) from error
