"""Writing results so that a failure leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._writing import (
    check_writable,
    move_into_place,
    scratch_directory,
    written_through,
)
from coterie.cli._interrupts import raise_when_interrupted
from coterie.errors import DataError


def check_outputs(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse outputs that cannot be written, or would replace a file being read."""
    for output in outputs:
        check_writable(output)
    refuse_overwriting(inputs, outputs)


class SummaryLostError(Exception):
    """All results are written, but the summary could not be printed."""


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A scratch directory whose files move into `directory` if all goes well.

    It lies in the output directory, or where that will be made, so that moving is only renaming.
    Other files of an existing output directory stay, and so do its links, pipes and devices.
    """
    if str(directory) == "-":
        raise DataError("-o - was given, and there are several files to write; name a directory.")
    exists = os.path.lexists(directory)
    if exists and not directory.is_dir():
        raise DataError(f"{directory}: this is a file; choose another output directory with -o.")
    place = directory if exists else directory.absolute().parent
    if not place.is_dir():
        raise DataError(
            f"{directory}: the directory {place} does not exist; make it first or choose "
            "another -o."
        )
    raise_when_interrupted()
    with ExitStack() as stack:
        with _refused(directory):
            scratch = stack.enter_context(scratch_directory(place))
        stack.enter_context(_naming(scratch, lambda about: directory / about))
        yield scratch
        directory.mkdir(exist_ok=True)
        files = sorted(scratch.iterdir())
        for file in files:  # all of them before the first is moved
            check_writable(directory / file.name)
        for file in files:
            move_into_place(file, directory / file.name)


@contextmanager
def _refused(output: Path) -> Iterator[None]:
    """Let a place where no scratch can be made be named as the output that was to be there."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{output}: cannot write there ({error.strerror}); choose another place."
        ) from error


@contextmanager
def _naming(scratch: Path, output_for: Callable[[Path], Path]) -> Iterator[None]:
    """Let an OSError name the output it is about, not the scratch file."""
    try:
        yield
    except OSError as error:
        about = None if error.filename is None else Path(os.fsdecode(error.filename))
        if error.errno is None or (about is not None and scratch not in about.parents):
            raise
        output = output_for(Path() if about is None else about.relative_to(scratch))
        raise OSError(error.errno, error.strerror, str(output)) from error


def write_files(writers: Mapping[Path, Callable[[Path], None]]) -> None:
    """Write files, each by what writes to the path it is given: all of them, or none.

    Every file is on its disk under another name before the first takes its place, and what stood
    there comes back where a later one fails or Ctrl-C is pressed. What cannot be taken back, such
    as a pipe, is written last, from a finished file as well.
    """
    finished: dict[Path, Path] = {}
    with ExitStack() as stack:
        for path, write in writers.items():
            check_writable(path)
            place = Path(os.path.realpath(path)).parent
            if written_through(path):
                place = Path(tempfile.gettempdir())
            with _refused(path):
                scratch = stack.enter_context(scratch_directory(place))
            finished[path] = scratch / path.name
            with _naming(scratch, lambda about, path=path: path):  # type: ignore[misc]
                write(finished[path])
        kept = {path: file for path, file in finished.items() if not written_through(path)}
        with _taken_back_on_failure(kept):
            for path in sorted(finished, key=written_through):
                move_into_place(finished[path], path)


def array_writer(array: npt.NDArray[Any]) -> Callable[[Path], None]:
    """What writes an array as an NPY file."""

    def write(path: Path) -> None:
        rows = np.ascontiguousarray(array)
        head = np.lib.format.header_data_from_array_1_0(rows)
        with open(path, "wb") as file:  # np.save's errors do not say what is wrong
            np.lib.format.write_array_header_1_0(file, head)
            file.write(rows.data)

    return write


def as_output(path: Path) -> Path:
    """Where to write: ``-`` is standard output."""
    return Path("/dev/stdout") if str(path) == "-" else path


@contextmanager
def _taken_back_on_failure(finished: Mapping[Path, Path]) -> Iterator[None]:
    """Let what stands at these paths now stand there again if the block fails.

    Each path comes with its finished file, beside which the old one is kept under a second name.
    """
    kept: dict[Path, Path | None] = {}
    for path, file in finished.items():
        target, old = Path(os.path.realpath(path)), file.with_name(f"{file.name}.old")
        kept[target] = old if target.exists() else None
        if target.exists():
            _second_name(target, old)
    try:
        yield
    except BaseException:
        for target, second in kept.items():
            if second is None:
                target.unlink(missing_ok=True)
            else:
                os.replace(second, target)  # does nothing where the old one still stands there
        raise


def _second_name(target: Path, name: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(target, name)
    except OSError:
        shutil.copy2(target, name)


def refuse_overwriting(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse outputs that would replace a file being read."""
    for output in outputs:
        for source in inputs:
            if output.is_file() and source.exists() and output.samefile(source):
                raise DataError(f"{output}: this would overwrite the input; choose another -o.")


def named(path: Path | str) -> str:
    """What to call an output."""
    return "stdout" if str(path) in ("-", "/dev/stdout") else str(path)


def forget_stdout() -> None:
    """Drop what could not be printed, or Python tries again at its end and fails for it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def drop_unprintable() -> None:
    """Forget what is still to be printed if it cannot be."""
    try:
        sys.stdout.flush()
    except OSError:
        forget_stdout()


def is_stdout(path: Path) -> bool:
    """Whether what is written to `path` comes out where prints do."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # no such file; or prints go to no file at all
        return False


@contextmanager
def summary(*, written: bool = True) -> Iterator[None]:
    """Printing what was done: where that fails, results that were written stand nevertheless."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever was reading has seen enough
    except OSError as error:
        if not written:
            forget_stdout()
            raise DataError(f"stdout: {error.strerror}; nothing could be printed.") from error
        raise SummaryLostError(
            f"all results are written, but the summary could not be printed ({error.strerror})"
        ) from error
