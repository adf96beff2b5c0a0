"""Labels of any kind as small whole numbers, with noise as it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, one_of
from coterie._doors import unmasked
from coterie._labels import NOISE
from coterie.data import is_dask

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
#: What rows with the label -1 are.
Noise = Literal["cluster", "drop", "singletons"]

NOISE_RULE = one_of("cluster", "drop", "singletons")
#: Whole numbers that span at most so many times their count are looked up in a table.
_SPAN = 8


@dataclass(frozen=True)
class Coded:
    """Labels as 0, 1, ... in the order of the values; -1 for rows that are left out.

    `values` are the labels themselves, one per code; noise rows that are clusters of their own come
    after them and have none.
    """

    codes: Codes
    values: npt.NDArray[Any]
    n_clusters: int

    @property
    def sizes(self) -> Ints:
        """How many rows each has."""
        kept = self.codes[self.codes >= 0] if self.left_out else self.codes
        return np.bincount(kept, minlength=self.n_clusters)

    @property
    def left_out(self) -> bool:
        """Whether some rows are left out."""
        return bool(self.codes.size) and bool(self.codes.min() < 0)


def code_labels(who: str, labels: Any, name: str = "labels", noise: Noise = "cluster") -> Coded:
    """Number the distinct labels by their order.

    O(n) for whole numbers close together, O(n log n) for all others, such as strings.
    """
    check_params(who, {"noise": noise}, {"noise": NOISE_RULE})
    given = as_labels(who, labels, name)
    try:
        values, codes = _numbered(given)
    except TypeError as error:
        raise TypeError(
            f"{who}: {name} holds labels that cannot be sorted ({error}); pass numbers only or "
            "strings only, with -1 for noise."
        ) from error
    place = None if noise == "cluster" else _place_of_noise(values)
    if place is None:
        return Coded(codes, values, values.size)
    return _without_noise(codes, values, place, noise)


def as_labels(who: str, labels: Any, name: str) -> npt.NDArray[Any]:
    """One label per row, as an array."""
    if labels is None:
        raise ValueError(f"{who}: {name} is None; pass one label per row.")
    if is_dask(labels):
        labels = labels.compute()
    given = np.asarray(unmasked(who, labels, name))
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(
            f"{who}: {name} must be 1D: shape is {given.shape}; pass one label per row, or a table "
            "of counts as contingency."
        )
    if given.dtype.kind == "f":
        odd = ~np.isfinite(given)
        if odd.any():
            raise ValueError(
                f"{who}: Input {name} contains NaN or infinity (row {int(np.argmax(odd))}); give "
                "noise the label -1, or leave such rows out."
            )
    if given.dtype.kind not in "biufUSTO":
        raise ValueError(
            f"{who}: {name} holds {given.dtype}; pass whole numbers or strings as labels."
        )
    return given


def _numbered(given: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """The distinct values in rising order, and the place of each label among them."""
    if given.dtype.kind == "b":
        values, codes = _numbered(given.astype(np.uint8))
        return values.astype(bool), codes
    if given.dtype.kind in "iu" and given.size:
        low, high = int(given.min()), int(given.max())
        if high - low < _SPAN * given.size + 1024:
            places = _above(given, low)
            there = np.bincount(places, minlength=high - low + 1) > 0
            found = np.flatnonzero(there)
            number = np.zeros(there.size, dtype=np.int32)
            number[found] = np.arange(found.size, dtype=np.int32)
            return _of_type(found, low, given.dtype), number[places]
    values, places = np.unique(given, return_inverse=True)
    return values, places.ravel().astype(np.int32)


def _above(given: npt.NDArray[Any], low: int) -> Ints:
    """How far whole numbers of any type are above the least of them."""
    if given.dtype.kind == "u":
        return (given - given.dtype.type(low)).astype(np.int64)
    return given.astype(np.int64) - low


def _of_type(above: Ints, low: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The numbers themselves again."""
    if dtype.kind == "u":
        return above.astype(dtype) + dtype.type(low)
    return (above + low).astype(dtype)


def _place_of_noise(values: npt.NDArray[Any]) -> int | None:
    """Where among sorted labels that of noise is: -1, or "-1" among names; None where it is not."""
    noise: Any = NOISE if values.dtype.kind in "if" else str(NOISE)
    if values.dtype.kind == "O" and values.size:
        noise = str(NOISE) if isinstance(values[0], str) else NOISE
    if values.dtype.kind in "bu":
        return None
    found = np.flatnonzero(values == noise)
    return int(found[0]) if found.size else None


def _without_noise(codes: Codes, values: npt.NDArray[Any], place: int, noise: Noise) -> Coded:
    """The codes with noise left out, or with each noise row a cluster of its own."""
    is_noise = codes == place
    codes = codes - (codes > place).astype(np.int32)
    values = np.delete(values, place)
    if noise == "drop":
        codes[is_noise] = -1
        return Coded(codes, values, values.size)
    n_noise = int(is_noise.sum())
    codes[is_noise] = np.arange(values.size, values.size + n_noise, dtype=np.int32)
    return Coded(codes, values, values.size + n_noise)
