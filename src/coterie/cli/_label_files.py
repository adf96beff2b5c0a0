"""Labels, written as they come and counted as they pass by."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._writing import writing
from coterie.cli._outputs import forget_stdout
from coterie.data.written import WRITERS, write_results
from coterie.errors import DataError

#: Labels turned into text in one go.
_CHUNK_ROWS = 1 << 16
#: The least label there is: of HDBSCAN, rows with missing cells.
_LEAST = -3

#: Labels, all of them or some at a time.
Labels = npt.NDArray[Any] | Iterable[npt.NDArray[Any]]


class Tally:
    """How many rows each cluster has, counted while their labels pass by; noise is below 0."""

    def __init__(self) -> None:
        self._counts = np.zeros(-_LEAST, dtype=np.int64)

    def passing(self, labels: Labels) -> Iterator[npt.NDArray[Any]]:
        """The labels, some at a time."""
        for part in _parts(labels):
            here = np.bincount(part - _LEAST)
            here, there = sorted((here, self._counts), key=len)
            self._counts = there.astype(np.int64)
            self._counts[: len(here)] += here
            yield part

    @property
    def n_rows(self) -> int:
        return int(self._counts.sum())

    @property
    def n_noise(self) -> int:
        """Rows in no cluster, those with missing cells aside."""
        return int(self._counts[-_LEAST - 1])

    @property
    def n_lacking(self) -> int:
        """Rows that were not clustered, as cells are missing."""
        return int(self._counts[0])

    def sizes(self, n_clusters: int = 0) -> list[int]:
        """Rows of every cluster: of so many at least."""
        found: list[int] = self._counts[-_LEAST:].tolist()
        return [*found, *[0] * (n_clusters - len(found))]

    def entries(self, n_clusters: int = 0) -> list[tuple[str, int]]:
        """Every cluster with its rows, and those in none, if there are any."""
        apart = [("noise", self.n_noise), ("incomplete", self.n_lacking)]
        clusters = [(str(cluster), size) for cluster, size in enumerate(self.sizes(n_clusters))]
        return [*clusters, *(entry for entry in apart if entry[1])]


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
