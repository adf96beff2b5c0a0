"""The categories a mixture knows: learned from columns, found in others, given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data._words import Words
from coterie.data.columns import UNKNOWN, Codes, Column, codes, missing_cells


def learn_categories(who: str, name: str, column: Column) -> Column:
    """The distinct values of a column, sorted."""
    return known_categories(who, name, categories_in(who, name, column))


def known_categories(who: str, name: str, found: Column | None) -> Column:
    """The categories that were found, refused where there are none."""
    if found is None:
        raise ValueError(
            f"{who}: {name} has no value at all, so it tells nothing; leave it out of X."
        )
    return found


def categories_in(who: str, name: str, column: Column) -> Column | None:
    """The distinct values of a column, sorted; None where all cells are missing."""
    known = column[~missing_cells(column)]
    if not known.size:
        return None
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise ValueError(
            f"{who}: {name} contains infinity, which is no category; mark such cells as missing "
            "(NaN) or leave the rows out."
        )
    if known.dtype.kind == "f" and (np.floor(known) != known).any():
        fraction = known[np.floor(known) != known][0]
        raise ValueError(
            f"{who}: {name} should hold categories, but {fraction:g} is a fraction; use whole "
            "numbers or words as categories, or treat the column as numeric."
        )
    if known.dtype.kind != "O":
        return distinct(known)
    return _sorted_objects(who, name, known)


def _sorted_objects(who: str, name: str, known: Column) -> Column:
    try:
        found = sorted(known.met() if isinstance(known, Words) else set(known.tolist()))
    except TypeError as error:
        raise _odd_categories(who, name, known) from error
    if isinstance(found[0], str):  # what can be sorted among text is text
        return np.array(found, dtype=object)
    numbers = np.array(found)
    if numbers.dtype.kind not in "biuf" or numbers.ndim != 1:
        raise _odd_categories(who, name, known)
    return learn_categories(who, name, numbers)


def joined(who: str, name: str, ours: Column | None, theirs: Column | None) -> Column | None:
    """The categories of two parts of a column, sorted, as if it had been looked at in one piece."""
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    kinds = {ours.dtype.kind, theirs.dtype.kind}
    if "O" not in kinds and (len(kinds) == 1 or kinds <= {*"biuf"}):
        return distinct(np.concatenate([ours, theirs]))
    return _sorted_objects(who, name, np.array([*ours.tolist(), *theirs.tolist()], dtype=object))


def _odd_categories(who: str, name: str, known: Column) -> TypeError:
    found = sorted({type(value).__name__ for value in known.tolist()})
    # The first words are scikit-learn's, which tools look for.
    return TypeError(
        f"{who}: argument must be a string or a number, the same throughout a column, but {name} "
        f"holds {' and '.join(found)}; convert all its values to text."
    )


def encode(who: str, name: str, column: Column, categories: Column, remedy: str) -> Codes:
    """The place of every cell among the categories; -1 where it is missing.

    `remedy` is what to do about a cell that is none of them.
    """
    found = codes(column, categories)
    if (found == UNKNOWN).any():
        stranger = column.tolist()[int(np.argmax(found == UNKNOWN))]
        raise ValueError(
            f"{who}: {name} holds the category {stranger!r}, which is none of those the model "
            f"knows ({_listing(categories)}); {remedy}, or mark such cells as missing (None or "
            "NaN)."
        )
    return found


def decode(coded: npt.NDArray[Any], categories: Sequence[Column]) -> npt.NDArray[Any]:
    """Codes, (n_rows, n_columns), as the categories they stand for."""
    kinds = {own.dtype.kind for own in categories}
    dtype = np.result_type(*categories) if kinds <= {*"biuf"} or kinds == {"U"} else object
    table = np.empty(coded.shape, dtype=dtype)
    for c, own in enumerate(categories):
        table[:, c] = own[coded[:, c].astype(np.intp)]
    return table


def _listing(categories: Column) -> str:
    shown = ", ".join(repr(value) for value in categories.tolist()[:8])
    return f"{shown} and {len(categories) - 8} more" if len(categories) > 8 else shown


def check_chances(
    categories: Sequence[npt.NDArray[Any]], probabilities: Sequence[npt.NDArray[Any]]
) -> None:
    """Refuse categories of a model file without a chance each, or chances of other sum than one."""
    for own, chances in zip(categories, probabilities, strict=True):
        if chances.shape[1] != len(own) or not len(own):
            raise ValueError("categories_ and probabilities_ differ in length")
        if not np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-8):
            raise ValueError("probabilities_ do not sum to one")
