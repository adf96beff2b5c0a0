"""Standardised columns in the units they were given in."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from coterie.data.scaling import Scaling


def in_own_units(rows: npt.NDArray[Any], scaling: Scaling | None) -> npt.NDArray[Any]:
    """The inverse of `coterie.data.scaling.standardized`."""
    return rows if scaling is None else rows * scaling["scale"] + scaling["mean"]
