"""A quantizer within the file of an index: as a model file has it."""

from __future__ import annotations

import copy
from importlib.metadata import version
from typing import Any

import numpy as np

from coterie._files import decode_model, encode_model
from coterie.search._code_space import on_threads
from coterie.search._index_file import Arrays, damaged


def stored(quantizer: Any) -> tuple[dict[str, Any], Arrays]:
    """The quantizer as JSON, and the arrays that this refers to."""
    arrays: Arrays = {}
    header = encode_model(_without_the_run(quantizer), arrays)
    return {**header, "version": version("coterie")}, arrays


def _without_the_run(quantizer: Any) -> Any:
    """The quantizer without its threads and times, so that equal indexes are equal files."""
    plain = copy.copy(quantizer)
    for name, value in vars(quantizer).items():
        if name == "n_threads":
            setattr(plain, name, None)
        elif name in ("history_", "events_"):
            timeless = [{k: v for k, v in one.items() if k != "seconds"} for one in value]
            setattr(plain, name, timeless)
    return plain


def restored(header: Any, arrays: Arrays, n_threads: int | None) -> Any:
    """The quantizer, on the threads of the index; uses up the arrays, copied into memory."""
    copies = {name: np.array(array) for name, array in arrays.items()}
    quantizer = decode_model(header, copies)
    if copies:
        raise damaged(f"nothing refers to its array {next(iter(copies))!r}")
    return on_threads(quantizer, n_threads)
