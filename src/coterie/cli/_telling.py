"""What a command has to say: facts for people or for programs, warnings in a line each."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from coterie.cli._outputs import summary


def tell(
    facts: Mapping[str, Any],
    lines: Callable[[], Iterable[str]],
    *,
    as_json: bool,
    quiet: bool,
    aside: bool = False,
) -> None:
    """Print the facts as JSON, or the lines for people; what is no finite number is null.

    With `aside` they go to stderr, as results have gone to stdout.
    """
    if quiet:
        return
    with (
        summary(written=bool(facts.get("written")) or aside),
        redirect_stdout(sys.stderr if aside else sys.stdout),
    ):
        if as_json:
            print(json.dumps(plain(facts), ensure_ascii=False))
            return
        for line in lines():
            print(line)


def plain(value: Any) -> Any:
    """What JSON has words for: NumPy's numbers and arrays as Python's, null for NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


def warn(message: str) -> None:
    """Say on stderr, in a line, what a reader should know."""
    print("coterie: warning:", " ".join(message.split()), file=sys.stderr)


@contextmanager
def warnings_in_a_line(wording: Callable[[str], str] = str) -> Iterator[None]:
    """Show each warning meant for users as one line on stderr, in these words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        warn(wording(str(warning.message)))
