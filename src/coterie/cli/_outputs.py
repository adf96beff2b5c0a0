"""Writing results so that a failure leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._writing import check_writable, move_into_place, scratch_directory, writing
from coterie.cli._interrupts import raise_when_interrupted
from coterie.data.written import WRITERS, write_results
from coterie.errors import DataError

#: Labels turned into text in one go.
_CHUNK_ROWS = 1 << 16

#: Labels, all of them or some at a time.
Labels = npt.NDArray[Any] | Iterable[npt.NDArray[Any]]


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


def write_arrays(arrays: Mapping[Path, npt.NDArray[Any]]) -> None:
    """Write arrays as NPY files: all of them, or none where one cannot be written.

    Every file is on its disk under another name before the first takes its place, and what stood
    there comes back where a later one fails or Ctrl-C is pressed. What cannot be taken back, such
    as a pipe, is written last.
    """
    apart = [path for path in arrays if path.exists() and not path.is_file()]
    finished: dict[Path, Path] = {}
    with ExitStack() as stack:
        for path, array in arrays.items():
            if path not in apart:
                place = Path(os.path.realpath(path)).parent
                scratch = stack.enter_context(scratch_directory(place))
                finished[path] = scratch / path.name
                with _naming(path.parent, scratch):
                    _write_array(finished[path], array)
        with _taken_back_on_failure(finished):
            for path, file in finished.items():
                move_into_place(file, path)
            for path in apart:
                _write_array(path, arrays[path])


def _write_array(path: Path, array: npt.NDArray[Any]) -> None:
    """As NPY; NumPy's own writer needs a file that can be sought in, which a pipe is not."""
    rows = np.ascontiguousarray(array)
    with writing(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.data)


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


class Tally:
    """How many rows each cluster has, counted while their labels pass by; noise is -1."""

    def __init__(self) -> None:
        self._counts = np.zeros(1, dtype=np.int64)

    def passing(self, labels: Labels) -> Iterator[npt.NDArray[Any]]:
        """The labels, some at a time."""
        for part in _parts(labels):
            here = np.bincount(part + 1)
            here, there = sorted((here, self._counts), key=len)
            self._counts = there.astype(np.int64)
            self._counts[: len(here)] += here
            yield part

    @property
    def n_rows(self) -> int:
        return int(self._counts.sum())

    def sizes(self, n_clusters: int = 0) -> list[int]:
        """Rows in no cluster, and those of every cluster: of so many at least."""
        missing = max(0, n_clusters + 1 - len(self._counts))
        return [*self._counts.tolist(), *[0] * missing]


def write_labels(path: Path, labels: Labels) -> None:
    """Write labels in their order, by the end of the name: Parquet, Arrow, NPY, or else as CSV.

    CSV is a header, then a line for each row of the data.
    """
    if path.suffix.lower() != ".csv" and path.suffix.lower() in WRITERS:
        write_results(path, _parts(labels), "label", np.int32)
        return
    with writing(path) as file:
        file.writelines(_label_lines(labels))


def print_labels(labels: Labels) -> None:
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


def _label_lines(labels: Labels) -> Iterator[bytes]:
    head = "label\n"  # with the first labels: where there can be none, nothing is written
    for part in _parts(labels):
        yield (head + "".join(f"{label}\n" for label in part.tolist())).encode("ascii")
        head = ""
    yield head.encode("ascii")


def _parts(labels: Labels) -> Iterator[npt.NDArray[Any]]:
    """Labels, no more at a time than are turned into text in one go."""
    for part in [labels] if isinstance(labels, np.ndarray) else labels:
        for start in range(0, len(part), _CHUNK_ROWS):
            yield part[start : start + _CHUNK_ROWS]


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
