"""Writing results so that a failure leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt

from coterie.errors import DataError

#: Labels turned into text in one go.
_CHUNK_ROWS = 1 << 16


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A scratch directory whose files move into `directory` if all goes well.

    It lies in the output directory, or where that will be made, so that moving is only renaming.
    Other files of an existing output directory stay.
    """
    nearest = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise DataError(f"{nearest}: this is a file; choose another output directory with -o.")
    try:
        scratch_directory = tempfile.TemporaryDirectory(prefix=".coterie-", dir=nearest)
    except OSError as error:
        raise DataError(
            f"{directory}: cannot write there ({error.strerror}); choose another -o."
        ) from error
    with scratch_directory as scratch:
        yield Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        for file in sorted(Path(scratch).iterdir()):
            os.replace(file, directory / file.name)


def refuse_overwriting(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse outputs that would replace a file being read."""
    for output in outputs:
        for source in inputs:
            if output.exists() and source.exists() and output.samefile(source):
                raise DataError(f"{output}: this would overwrite the input; choose another -o.")


def write_labels(path: Path, labels: npt.NDArray[Any]) -> None:
    """Write labels as CSV: a header, then a line for each row of the data, in its order."""
    with open(path, "w", encoding="ascii") as file:
        file.write("label\n")
        for start in range(0, len(labels), _CHUNK_ROWS):
            file.writelines(f"{label}\n" for label in labels[start : start + _CHUNK_ROWS].tolist())
