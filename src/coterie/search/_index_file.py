"""Files of indexes: safetensors arrays under a JSON header, mapped into memory when read.

Data only: reading one runs nothing that the file brings. The header has a checksum of all arrays,
and one of itself.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._files import FORMAT as MODEL_FORMAT
from coterie._files import INDEX_FORMAT as FORMAT
from coterie._writing import writing
from coterie.errors import FileError, ParameterError

Arrays = dict[str, npt.NDArray[Any]]

SCHEMA = 1
#: The types of arrays in an index, as safetensors calls them.
_TYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"), "I32": np.dtype("<i4"), "I64": np.dtype("<i8"), "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"), "BOOL": np.dtype("?"),
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_HEADER_BYTES = 1 << 24
_NO_INDEX = (
    "it is not an index of coterie; give a file that an index's save, or 'coterie index build', "
    "wrote."
)
_A_MODEL = "it is not an index of coterie, but a model; open it with coterie.load."
_GET_ANOTHER = "build the index again, or use another copy of the file"
_STEP = 1 << 26


def write_index(
    path: str | os.PathLike[str], kind: str, settings: Mapping[str, Any], arrays: Arrays
) -> None:
    """Write settings, which are JSON, and arrays to a file that appears whole or not at all."""
    # The widest numbers come first, so that all are aligned.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)
    layout: dict[str, Any] = {}
    end = checksum = 0
    for name, array in ordered:
        stop = end + array.nbytes
        layout[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": [end, stop],
        }
        checksum, end = _checksum(array, checksum), stop
    told = {
        "schema": SCHEMA,
        "version": version("coterie"),
        "kind": kind,
        "checksum": checksum,
        "settings": dict(settings),
    }
    told["header_checksum"] = _header_checksum(told, layout)
    layout["__metadata__"] = {FORMAT: json.dumps(told, allow_nan=False)}
    header = json.dumps(layout).encode()
    header += b" " * (-(8 + len(header)) % 64)
    with writing(path) as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for _, array in ordered:
            file.write(_bytes_of(array))


def read_index(
    path: str | os.PathLike[str], *, check: bool = True
) -> tuple[str, dict[str, Any], Arrays]:
    """The kind of a file's index, its settings, and its arrays, mapped and not to be written to.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    FileError
        If it is not an index, or damaged; without `check`, arrays are taken as they are.
    """
    with blaming(path):
        return _read(Path(path), check)


def damaged(how: str) -> FileError:
    """What to say of a file that is not as it was written, and to do about it."""
    return FileError(f"it is damaged: {how}; {_GET_ANOTHER}.")


@contextmanager
def blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let whatever a hostile file provokes be an error of that file."""
    try:
        yield
    except OSError:
        raise  # nothing is known of what is in it
    except FileError as error:
        raise FileError(f"Cannot load {os.fspath(path)!r}: {error}") from None
    except ParameterError as error:
        how = str(damaged(f"it says {error}".rstrip(".")))
        raise FileError(f"Cannot load {os.fspath(path)!r}: {how}") from error
    except Exception as error:  # of a parser or of NumPy, whose words help nobody
        raise FileError(
            f"Cannot load {os.fspath(path)!r}: it is damaged, or not an index of coterie; "
            f"{_GET_ANOTHER}."
        ) from error


def read_kind(path: str | os.PathLike[str]) -> str:
    """The kind of a file's index; errors as of `read_index`."""
    with blaming(path):
        return str(_header(Path(path)).told["kind"])


class _Header(NamedTuple):
    told: dict[str, Any]
    layout: dict[str, Any]
    size: int


def _header(path: Path) -> _Header:
    """What a file says of itself, and where its arrays are."""
    if not path.exists():
        raise FileNotFoundError(2, "there is no such file", str(path))
    if not path.is_file():
        raise FileError("it is not a regular file; give the path of a saved index.")
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = file.read(min(size, _HEADER_BYTES + 1))
    if size > _HEADER_BYTES or not header.startswith(b"{"):
        raise FileError(_NO_INDEX)
    layout = json.loads(header)
    metadata = layout.pop("__metadata__", {})
    told = json.loads(metadata.get(FORMAT, "null"))
    if told is None:
        raise FileError(_A_MODEL if MODEL_FORMAT in metadata else _NO_INDEX)
    if told["schema"] != SCHEMA:
        raise FileError(
            f"it was written by coterie {told['version']} in file schema {told['schema']}, and "
            f"this version reads {SCHEMA}; upgrade coterie."
        )
    known = told.pop("header_checksum", None)  # files of earlier versions have none
    if known is not None and known != _header_checksum(told, layout):
        raise damaged("its header is not the one that was written")
    if not isinstance(told["settings"], dict) or not isinstance(told["kind"], str):
        raise damaged("its header is malformed")
    return _Header(told, layout, 8 + size)


def _read(path: Path, check: bool) -> tuple[str, dict[str, Any], Arrays]:
    told, layout, start = _header(path)
    arrays = _mapped(path, layout, start)
    if check:
        checksum = 0
        for array in arrays.values():
            checksum = _checksum(array, checksum)
        if checksum != told["checksum"]:
            raise damaged("its arrays are not those that were written")
    return told["kind"], told["settings"], arrays


def _mapped(path: Path, layout: dict[str, Any], start: int) -> Arrays:
    """The arrays of a file in the order of their bytes, which they must use up exactly."""
    arrays: Arrays = {}
    end, size = 0, path.stat().st_size
    for name, told in sorted(layout.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape = _TYPES[told["dtype"]], tuple(told["shape"])
        if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
            raise damaged(f"its array {name!r} has no sound shape")
        n_bytes = math.prod(shape) * dtype.itemsize
        if told["data_offsets"] != [end, end + n_bytes]:
            raise damaged(f"its array {name!r} is not where it should be")
        if start + end + n_bytes > size:
            raise damaged(f"it ends within its array {name!r}")
        arrays[name] = (
            np.memmap(path, dtype, "r", start + end, shape)
            if n_bytes
            else np.empty(shape, dtype)  # nothing cannot be mapped
        )
        end += n_bytes
    if start + end != size:
        raise damaged("it is longer than its header says")
    return arrays


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _header_checksum(told: Mapping[str, Any], layout: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps([told, layout], sort_keys=True).encode())


def _checksum(array: npt.NDArray[Any], before: int) -> int:
    content = _bytes_of(array)
    for begin in range(0, len(content), _STEP):
        before = zlib.crc32(content[begin : begin + _STEP], before)
    return before
