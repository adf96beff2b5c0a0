"""Numbers and texts as JSON has them: no NaN, no infinity, no more digits than are seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_DIGITS = 6


def plain(value: Any) -> Any:
    """Plain data: NumPy's types as Python's, floats to 6 digits, None for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return shortened(value)
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    return str(value)


def shortened(value: float, digits: int = _DIGITS) -> float | None:
    """A float with so many digits; None where it is not finite."""
    if not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def floats(values: Any, digits: int = _DIGITS) -> list[float | None]:
    """Many floats at once."""
    return [shortened(value, digits) for value in np.asarray(values, dtype=np.float64).tolist()]


def level_text(level: Any) -> str:
    """A level as people write it: seven digits, and whole numbers whole (2007, not 2007.0)."""
    value = level.item() if isinstance(level, np.generic) else level
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.7g}"
