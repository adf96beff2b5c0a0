"""Writing results so that a failure leaves nothing behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy.typing as npt

from coterie._writing import check_writable, move_into_place, scratch_directory, writing
from coterie.cli._interrupts import raise_when_interrupted
from coterie.errors import DataError

#: Labels turned into text in one go.
_CHUNK_ROWS = 1 << 16


class SummaryLostError(Exception):
    """All results are written, but the summary could not be printed."""


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A scratch directory whose files move into `directory` if all goes well.

    It lies in the output directory, or where that will be made, so that moving is only renaming.
    Other files of an existing output directory stay, and so do its links, pipes and devices.
    """
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
        try:
            scratch = stack.enter_context(scratch_directory(place))
        except OSError as error:
            raise DataError(
                f"{directory}: cannot write there ({error.strerror}); choose another -o."
            ) from error
        stack.enter_context(_naming(directory, scratch))
        yield scratch
        directory.mkdir(exist_ok=True)
        files = sorted(scratch.iterdir())
        for file in files:  # all of them before the first is moved
            check_writable(directory / file.name)
        for file in files:
            move_into_place(file, directory / file.name)


@contextmanager
def _naming(directory: Path, scratch: Path) -> Iterator[None]:
    """Let an OSError name the output it is about, not the scratch file."""
    try:
        yield
    except OSError as error:
        about = None if error.filename is None else Path(os.fsdecode(error.filename))
        if error.errno is None or (about is not None and scratch not in about.parents):
            raise
        output = directory if about is None else directory / about.relative_to(scratch)
        raise OSError(error.errno, error.strerror, str(output)) from error


def refuse_overwriting(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse outputs that would replace a file being read."""
    for output in outputs:
        for source in inputs:
            if output.is_file() and source.exists() and output.samefile(source):
                raise DataError(f"{output}: this would overwrite the input; choose another -o.")


def write_labels(path: Path, labels: npt.NDArray[Any]) -> None:
    """Write labels as CSV: a header, then a line for each row of the data, in its order."""
    with writing(path) as file:
        file.writelines(_label_lines(labels))


def print_labels(labels: npt.NDArray[Any]) -> None:
    """`write_labels`, to standard output."""
    try:
        for lines in _label_lines(labels):
            sys.stdout.write(lines.decode("ascii"))
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever was reading has seen enough
    except OSError as error:
        forget_stdout()
        raise DataError(
            f"stdout: the labels could not be written ({error.strerror}); make room there, or "
            "name a file with -o."
        ) from error


def forget_stdout() -> None:
    """Drop what could not be printed, or Python tries again at its end and fails for it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _label_lines(labels: npt.NDArray[Any]) -> Iterator[bytes]:
    yield b"label\n"
    for start in range(0, len(labels), _CHUNK_ROWS):
        lines = (f"{label}\n" for label in labels[start : start + _CHUNK_ROWS].tolist())
        yield "".join(lines).encode("ascii")


def is_stdout(path: Path) -> bool:
    """Whether what is written to `path` comes out where prints do."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # no such file; or prints go to no file at all
        return False


@contextmanager
def summary() -> Iterator[None]:
    """Printing what was done: where that fails, the results stand nevertheless."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever was reading has seen enough
    except OSError as error:
        raise SummaryLostError(
            f"all results are written, but the summary could not be printed ({error.strerror})"
        ) from error
