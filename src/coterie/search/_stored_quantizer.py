"""A quantizer within the file of an index: as a model file has it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from coterie._files import decode_model, encode_model
from coterie.errors import FileError
from coterie.search._index_file import Arrays


def stored(quantizer: Any) -> tuple[dict[str, Any], Arrays]:
    """The quantizer as JSON, and the arrays that this refers to."""
    arrays: Arrays = {}
    return {**encode_model(quantizer, arrays), "version": version("coterie")}, arrays


def restored(header: Any, arrays: Arrays) -> Any:
    """The quantizer; uses up the arrays, which are copied into memory."""
    copies = {name: np.array(array) for name, array in arrays.items()}
    quantizer = decode_model(header, copies)
    if copies:
        raise FileError(f"it is damaged: nothing refers to its array {next(iter(copies))!r}.")
    return quantizer
