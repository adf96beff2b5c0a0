"""What scikit-learn finds wrong with rows, said with who asked, where it is and what to do.

All of it is worked out once something is wrong: good rows cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data.columns import Cell, column_names, columns_of, first_odd

#: Who keeps or codes rows: no mixture does that in their place.
_NO_CLUSTERERS = frozenset(
    ("FlatIndex", "PQIndex", "IVFPQIndex", "NeighborsTransformer", "VectorQuantizer",
     "ProductQuantizer")
)  # fmt: skip


def or_a_mixture(who: str, words: str) -> str:
    """The words for another way, where whoever asks has one among the mixtures."""
    return "" if who in _NO_CLUSTERERS else words


@contextmanager
def advising(
    who: str,
    X: Any,
    names: Sequence[str] | None = None,
    name: str = "X",
    *,
    knows_missing: bool = False,
    start: int = 0,
) -> Iterator[None]:
    """Let complaints of scikit-learn about X also say who asked, where to look and what to do.

    Parameters
    ----------
    names
        Of the columns, where X itself does not know them.
    name
        What the caller calls X.
    knows_missing
        Whether NaN is welcome, as a missing cell.
    start
        The number of X's first row, where X is a part of the rows.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of a sum that only looks for NaN
            yield
    except (TypeError, ValueError) as error:
        found = str(error).splitlines()[0].rstrip(".:")
        for words, explain in _EXPLANATIONS.items():
            if found.startswith(words.format(name=name)):
                # NumPy's own subclasses of TypeError take other arguments.
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(
                    f"{who}: {explain(found, Given(who, X, name, names, knows_missing, start))}."
                ) from error
        raise


class Given(NamedTuple):
    """A table that was found wanting: what it is called, and its columns where they have names."""

    who: str
    table: Any
    name: str
    columns: Sequence[str] | None
    knows_missing: bool
    start: int


def _find(X: Any, odd: Callable[[Any], bool]) -> Cell | None:
    """The first cell of X, row by row, that is odd; None where that is not to be found."""
    if sp.issparse(X):
        return first_odd(X, np.vectorize(odd, otypes=[bool])) if X.format == "csr" else None
    cells = (_first_of(j, column, odd) for j, column in enumerate(columns_of(X)))
    return min((cell for cell in cells if cell is not None), default=None, key=lambda c: c[:2])


def _first_of(j: int, column: npt.NDArray[Any], odd: Callable[[Any], bool]) -> Cell | None:
    """The first odd cell of a column, which may hold anything."""
    if column.dtype.kind in "biu":
        return None
    plain = column.dtype.kind == "f"  # of which few cells have to be looked at
    suspects = np.flatnonzero(~np.isfinite(column)) if plain else np.arange(len(column))
    rows = (int(row) for row in suspects if odd(column[row]))
    return next((Cell(row, j, column[row]) for row in rows), None)


def _where(given: Given, odd: Callable[[Any], bool]) -> str:
    """The words for the first odd cell of a table."""
    cell = _find(given.table, odd)
    if cell is None:
        return ""
    names = column_names(given.table) if given.columns is None else given.columns
    column = cell.column_words(names)
    return f" in column {column} (row {given.start + cell.row})"


def _number(value: Any) -> float:
    """What a cell is as a number; 0 where it is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return 0.0


def _is_blank(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _is_missing(value: Any) -> bool:
    return _is_blank(value) or math.isnan(_number(value))


def _is_infinite(value: Any) -> bool:
    return math.isinf(_number(value))


def _is_no_number(value: Any) -> bool:
    if _is_blank(value):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return True
    return False


def _explain_missing(found: str, given: Given) -> str:
    where = _where(given, _is_missing)
    mixtures = or_a_mixture(
        given.who, ", or use GaussianMixture or MixedMixture, which know missing cells"
    )
    remedy = (
        "leave such rows out, fill the cells"
        if mixtures
        else "leave such rows out or fill the cells first"
    )
    return f"{found}{where}; {remedy}{mixtures}"


def _explain_infinite(found: str, given: Given) -> str:
    where = _where(given, _is_infinite)
    instead = "mark the cell as missing (NaN)" if given.knows_missing else "scale the column down"
    return f"{found}{where}; leave such rows out, or {instead}"


def _explain_text(found: str, given: Given) -> str:
    where = _where(given, _is_no_number)
    mixture = or_a_mixture(given.who, ", or use MixedMixture")
    remedy = (
        "leave text columns out, encode them"
        if mixture
        else "leave text columns out or encode them first"
    )
    return f"{found}{where}; {remedy}{mixture}"


def _explain_object(found: str, given: Given) -> str:
    return f"{found}{_where(given, _is_no_number)}; pass a table of numbers"


def _explain_dates(found: str, given: Given) -> str:
    kinds = {
        f"column {name!r} holds {column.dtype}"
        for name, column in zip(
            column_names(given.table) or (), columns_of(given.table), strict=False
        )
        if column.dtype.kind in "mM"
    }
    held = " and ".join(sorted(kinds)) or f"{given.name} holds types that have none in common"
    return (
        f"{given.name} must hold numbers, and {held}; count days or seconds from some date, or "
        "leave it out"
    )


def _explain_dimensions(found: str, given: Given) -> str:
    return (
        f"{found}; {given.name} has shape {np.shape(given.table)}: pass a row for each thing to "
        f"cluster, for example {given.name}.reshape(len({given.name}), -1)"
    )


def _explain_one_dimension(found: str, given: Given) -> str:
    X, name = given.table, given.name
    if np.ndim(X) == 0:
        return f"{found}: {name} is {type(X).__name__} {str(X)[:40]!r}; pass a table of rows"
    # "Reshape your data" are scikit-learn's words, which tools look for.
    return (
        f"{found}: {name} has shape {np.shape(X)}. Reshape your data: {name}.reshape(-1, 1) where "
        f"it is one column, {name}.reshape(1, -1) where it is one row"
    )


def _explain_complex(found: str, given: Given) -> str:
    return (
        f"{found}: {given.name} has dtype {getattr(given.table, 'dtype', 'complex')}; pass real "
        f"numbers, for example np.column_stack([{given.name}.real, {given.name}.imag])"
    )


#: The first words that scikit-learn, or NumPy below it, finds for rows it cannot take.
_EXPLANATIONS: dict[str, Callable[[str, Given], str]] = {
    "could not convert string to float": _explain_text,
    "Input {name} contains NaN": _explain_missing,
    "Input {name} contains infinity": _explain_infinite,
    "Found array with dim": _explain_dimensions,
    "Found array with": lambda found, given: f"{found}; pass more rows, or more columns",
    "Expected 2D array": _explain_one_dimension,
    "Complex data not supported": _explain_complex,
    "The DType": _explain_dates,
    "float() argument must be": _explain_object,
    "setting an array element": lambda found, given: f"{found}; pass rows of equal length",
}
