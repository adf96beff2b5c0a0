"""A study as JSON: everything that the page shows, in a documented shape.

The shape is described in `docs/study_json.md`; `schema` is its version.
"""

from __future__ import annotations

import json
from typing import Any

#: The version of the shape. It rises when a key changes its meaning or goes; new keys do not.
SCHEMA = 1


def dumps(summary: dict[str, Any], *, timings: bool = False) -> str:
    """The summary of a study as text, the same for the same summary.

    Keys stand in the order of the summary, one per line down to two levels, so that two studies can
    be compared line by line. Measured times are left out unless asked for, since they differ
    between runs.

    Raises
    ------
    ValueError
        If the summary has another `schema`, or holds a number that JSON has no word for.
    """
    if summary.get("schema") != SCHEMA:
        raise ValueError(
            f"The summary has schema {summary.get('schema')!r} and this version of coterie writes "
            f"{SCHEMA}; make it again with coterie.study."
        )
    parts = [
        f"{_word(key)}: {_value(value, 1)}"
        for key, value in summary.items()
        if timings or key != "timings"
    ]
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _value(value: Any, depth: int) -> str:
    """A value; what holds dictionaries is broken into lines, long lists of numbers are not."""
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and value and depth < 3:
        inside = (f"{_word(key)}: {_value(part, depth + 1)}" for key, part in value.items())
        return "{" + pad + ("," + pad).join(inside) + pad[:-1] + "}"
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return "[" + pad + ("," + pad).join(_word(part) for part in value) + pad[:-1] + "]"
    return _word(value)


def _word(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
