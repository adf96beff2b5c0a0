"""What fitted attributes of a model may be when they come out of a file: tables of fields.

An estimator declares in `_stores` what each of its fitted attributes looks like, and one function
holds a loaded model against it. What a table cannot say (that merges form a tree) is for the
estimator's `_check_loaded`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

#: Lengths found so far, by name: what has the same name must have the same length.
Sizes = dict[str, int]

_FLOATS = ("f4", "f8")


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """What one attribute may be; `optional` ones may be absent."""

    optional: bool = False

    @abstractmethod
    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise ValueError unless the value is as declared; learns the lengths it names."""

    def __or__(self, other: Field) -> Field:
        return Either(self, other, optional=self.optional or other.optional)


@dataclass(frozen=True)
class Either(Field):
    """One of two fields."""

    first: Field
    second: Field

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        learned = dict(sizes)
        try:
            self.first.check(name, value, learned)
        except ValueError:
            self.second.check(name, value, sizes)
        else:
            sizes.update(learned)


@dataclass(frozen=True)
class Nothing(Field):
    """None."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if value is not None:
            raise ValueError(f"{name} is not None")


@dataclass(frozen=True)
class Array(Field):
    """An array: NumPy's kind of its numbers, its lengths by name or number, and their range.

    Floats ("f") and whole numbers ("i") have 32 or 64 bits, as kernels take them; "i4" is exactly
    that type. A length of None may be any.
    """

    kind: str
    shape: tuple[str | int | None, ...]
    least: float = -math.inf
    most: float = math.inf
    finite: bool = True
    nan: bool = False

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        kinds = [self.kind] if len(self.kind) > 1 else [f"{self.kind}4", f"{self.kind}8"]
        if not isinstance(value, np.ndarray) or value.dtype.str[1:] not in kinds:
            raise ValueError(f"{name} is not an array of the right type")
        _check_shape(name, value.shape, self.shape, sizes)
        _check_values(name, value, self.least, self.most, self.finite, self.nan)


@dataclass(frozen=True)
class Sparse(Field):
    """A CSR matrix of floats, not negative."""

    shape: tuple[str | int | None, ...]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not sp.issparse(value) or value.format != "csr" or value.dtype.str[1:] not in _FLOATS:
            raise ValueError(f"{name} is not a CSR matrix of floats")
        _check_shape(name, value.shape, self.shape, sizes)
        _check_values(name, value.data, 0, math.inf, True)


@dataclass(frozen=True)
class Text(Field):
    """A 1-d array of text or numbers: categories, names."""

    shape: tuple[str | int | None, ...]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "OUbiuf":
            raise ValueError(f"{name} is not an array of text or numbers")
        _check_shape(name, value.shape, self.shape, sizes)


@dataclass(frozen=True)
class Whole(Field):
    """A whole number in a range; `size` names it as a length."""

    least: int = 0
    most: int = 2**62
    size: str | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
            raise ValueError(f"{name} is not a whole number")
        if not self.least <= value <= self.most:
            raise ValueError(f"{name} is {value} and should be from {self.least} to {self.most}")
        if self.size is not None:
            _check_shape(name, (int(value),), (self.size,), sizes)


@dataclass(frozen=True)
class Real(Field):
    """A number in a range."""

    least: float = -math.inf
    most: float = math.inf
    finite: bool = True

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, (float, int, np.floating)) or isinstance(value, bool):
            raise ValueError(f"{name} is not a number")
        _check_values(name, np.asarray(value, dtype=np.float64), self.least, self.most, self.finite)


@dataclass(frozen=True)
class Flag(Field):
    """True or False."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} is neither True nor False")


@dataclass(frozen=True)
class Word(Field):
    """One of some words."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"{name} is none of {', '.join(self.words)}")


@dataclass(frozen=True)
class Name(Field):
    """Any text."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, str):
            raise ValueError(f"{name} is no text")


@dataclass(frozen=True)
class Many(Field):
    """A list or tuple whose entries are alike; its length by name or number."""

    each: Field
    length: str | int | None = None
    kind: type = list

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, self.kind) or not isinstance(value, Sequence):
            raise ValueError(f"{name} is not a {self.kind.__name__}")
        _check_shape(name, (len(value),), (self.length,), sizes)
        for i, item in enumerate(value):
            self.each.check(f"{name}[{i}]", item, sizes)


@dataclass(frozen=True)
class Parts(Field):
    """A dict with these keys, or, without any, with text keys at all."""

    parts: Mapping[str, Field] | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ValueError(f"{name} is not a dict")
        if self.parts is not None:
            if set(value) != set(self.parts):
                raise ValueError(f"{name} has other keys than {', '.join(self.parts)}")
            for key, field in self.parts.items():
                field.check(f"{name}[{key!r}]", value[key], sizes)


#: `history_` and `events_`.
RECORDS = Many(Parts())
#: The same of estimators whose older files have none.
LATER_RECORDS = Many(Parts(), optional=True)
#: Of every fitted estimator.
COLUMNS: dict[str, Field] = {
    "n_features_in_": Whole(1, 2**31, size="columns"),
    "feature_names_in_": Text(("columns",), optional=True),
    "scaling_": Parts(
        {"mean": Array("f8", ("columns",)), "scale": Array("f8", ("columns",), 0)}, optional=True
    ),
}


def check_stored(model: Any, fields: Mapping[str, Field]) -> Sizes:
    """Hold the fitted attributes of a model against their declaration; the lengths found.

    Raises
    ------
    ValueError
        If one is missing, or not as declared; the message says which.
    """
    sizes: Sizes = {}
    found = vars(model)
    for name, field in fields.items():
        if name in found:
            field.check(name, found[name], sizes)
        elif not field.optional:
            raise ValueError(f"{name} is missing")
    return sizes


def _check_shape(
    name: str, shape: tuple[int, ...], wanted: tuple[str | int | None, ...], sizes: Sizes
) -> None:
    if len(shape) != len(wanted):
        raise ValueError(f"{name} has {len(shape)} dimensions instead of {len(wanted)}")
    for length, want in zip(shape, wanted, strict=True):
        expected = sizes.setdefault(want, length) if isinstance(want, str) else want
        if expected is not None and length != expected:
            raise ValueError(f"{name} has shape {shape} where {expected} {want} are known")


def _check_values(
    name: str, values: Any, least: float, most: float, finite: bool, nan: bool = False
) -> None:
    if nan:
        values = values[~np.isnan(values)]
    if not values.size:
        return
    low, high = values.min(), values.max()  # NaN, if there is any
    if np.isnan(low):
        raise ValueError(f"{name} has values that are NaN")
    if finite and not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{name} has values that are not finite")
    if low < least or high > most:
        raise ValueError(
            f"{name} has values from {low:g} to {high:g} outside {least:g} to {most:g}"
        )
