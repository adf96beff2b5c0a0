"""What estimators say, in the words of the command line: its options, methods and columns.

An estimator knows neither: it is given an array, and its parameters have other names. It calls
columns and rows by their places from 0, where the command line counts rows from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from coterie.cli._method_options import option_of
from coterie.cli._methods import METHODS
from coterie.errors import DataError

#: Advice that only Python can follow, and what to do on the command line instead.
_INSTEAD = {
    "divide it or leave scale=None": "divide it, or use --no-scale",
    "list it in categories= when fitting": "fit again with rows that have it",
    "call it categorical in kinds=": "fit again with --categorical, or mend the cell",
    "(None or NaN)": "(empty)",
    "(NaN)": "(empty)",
    "(even those of weight zero), ": "",
    "lower k or min_samples": "lower min_samples",
    " or a callable or an array": "",
    " or a callable": "",
    " or a function of two rows": "",
    "or treat the column as numeric": "leave the column out (--without), or use --method mixed",
    "use None or ": "use ",
    "pass the distinct rows with their counts as sample_weight, or an eps": "give eps",
    "raise max_iter or tol, or look for degenerate components in events_": (
        "raise max_iter, lower the number of clusters, or look at the notes"
    ),
}

#: "one of" a single word.
_ONE_OF_ONE = re.compile(r"\bone of ('[^']*')(?=\.)")

#: One thing, as a sentence says it that counts several.
_ONE_THINGS = re.compile(r"(?<![\w.,])1 (row|column|neighbour|cluster|label)s\b")

_PIECES = re.compile(
    r"""(?P<quoted>(?<!\w)'[^']*'|"[^"]*")
      | (?P<place>\b(?:row|column))\ (?P<number>\d+)\b
      | (?P<word>\b[A-Za-z]\w*)(?:(?P<gets>=|\ =\ )(?P<value>'[^']*'|[-+]?\w(?:[\w.+-]*\w)?)?)?
    """,
    re.VERBOSE,
)


class Wording:
    """Turns sentences of the estimator of `method` about columns of these `names`.

    `method` is None for an estimator that the command line does not fit. `own` are words of
    Python that only one command has, and what they are there.
    """

    def __init__(
        self, method: str | None, names: Sequence[str], own: Mapping[str, str] | None = None
    ) -> None:
        self._method = method
        self._names = names
        self._start = 0
        options = {} if method is None else METHODS[method].options
        self._options = {
            parameter: option_of(name) for name, parameter in options.items() if parameter
        } | dict(own or {})
        self._methods = {way.estimator: name for name, way in reversed(METHODS.items())}
        if method is not None:
            self._methods[METHODS[method].estimator] = method

    def __call__(self, sentence: str) -> str:
        """The sentence as the command line says it."""
        for python, instead in _INSTEAD.items():
            sentence = sentence.replace(python, instead)
        sentence = _ONE_THINGS.sub(r"1 \1", _ONE_OF_ONE.sub(r"\1", sentence))
        return _PIECES.sub(self._turned, sentence)

    @contextmanager
    def of_errors(self, start: int = 0) -> Iterator[None]:
        """Turn the sentences of errors about what was asked for or given.

        `start` is the number of the first row of those that an estimator has.
        """
        self._start = start
        try:
            yield
        except MemoryError as error:
            raise MemoryError(self(str(error))) from error
        except ValueError as error:
            raise DataError(self(str(error))) from error

    def _turned(self, piece: re.Match[str]) -> str:
        if piece["place"]:
            return self._place(piece["place"], int(piece["number"]), piece[0])
        word, value = piece["word"], (piece["value"] or "").strip("'")
        if word in self._methods:
            method = self._methods[word]
            return method if piece.start() == 0 else f"--method {method}"
        if word == "X":
            return "the table"
        if word == "n_samples":
            return f"{value} rows" if value else "the number of rows"
        if word in self._options:
            value = self._methods.get(value, value)
            return f"{self._options[word]} {'' if value == 'True' else value}".rstrip()
        return piece[0]

    def _place(self, kind: str, number: int, as_it_is: str) -> str:
        if kind == "row":
            return f"row {number + 1 + self._start}"
        return f"column {self._names[number]!r}" if number < len(self._names) else as_it_is


def method_of(model: object) -> str | None:
    """The method whose estimator a model is; None for what ``coterie fit`` does not fit."""
    fitting = [
        name
        for name, way in METHODS.items()
        if way.estimator == type(model).__name__
        and all(getattr(model, key) == value for key, value in way.fixed.items())
    ]
    return max(fitting, key=lambda name: len(METHODS[name].fixed), default=None)
