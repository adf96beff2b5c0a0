"""Where colours are compared: as they are, or in CIE Lab; what is transparent counts for less.

Channels are numbers from 0 to `peak`: one (grey) or three (sRGB), and alpha as one more. With
alpha, coordinates are multiplied by it and alpha is a coordinate of its own, so that the colour
under a transparent pixel means nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]

#: Linear sRGB to CIE XYZ (IEC 61966-2-1), each row over its sum: white is (1, 1, 1).
_TO_XYZ = np.array(
    [
        [0.4123907993, 0.3575843394, 0.1804807884],
        [0.2126390059, 0.7151686788, 0.0721923154],
        [0.0193308187, 0.1191947798, 0.9505321522],
    ]
)
_TO_XYZ /= _TO_XYZ.sum(axis=1, keepdims=True)
_FROM_XYZ = np.linalg.inv(_TO_XYZ)
#: Where CIE's cube root becomes a line.
_KNEE = 6 / 29
_LAB_PEAK = 100.0


@dataclass(frozen=True)
class ColorSpace(ABC):
    """Coordinates of colours in which squared distances are summed.

    `peak` is the largest value of a channel, `alpha` whether the last channel is one.
    """

    peak: float
    alpha: bool

    def rows_of(self, colors: npt.NDArray[Any]) -> Floats:
        """Coordinates of colours, a row each: float64 where the colours are, else float32."""
        colors = colors.astype(np.result_type(colors.dtype, np.float32), copy=False)
        if not self.alpha:
            return self._rows_of(colors)
        share = colors[:, -1:] / self.peak
        return np.hstack([self._rows_of(colors[:, :-1]) * share, share * self._alpha_peak])

    def colors_of(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Colours with these coordinates, in float64; those out of reach are moved to its edge."""
        if not self.alpha:
            return np.clip(self._colors_of(rows), 0, self.peak)
        share = np.clip(rows[:, -1:] / self._alpha_peak, 0, 1)
        opaque = rows[:, :-1] / np.where(share > 0, share, 1)
        colors = np.where(share > 0, self._colors_of(opaque), 0)
        return np.clip(np.hstack([colors, share * self.peak]), 0, self.peak)

    @property
    @abstractmethod
    def _alpha_peak(self) -> float:
        """What full opacity is as a coordinate."""

    @abstractmethod
    def _rows_of(self, colors: Floats) -> Floats: ...

    @abstractmethod
    def _colors_of(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...


class Rgb(ColorSpace):
    """The channels as they are: the mean squared error of the picture is what is lowered."""

    @property
    def _alpha_peak(self) -> float:
        return self.peak

    def _rows_of(self, colors: Floats) -> Floats:
        return colors

    def _colors_of(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return rows


class Lab(ColorSpace):
    """CIE 1976 L*a*b* under D65, where distances are nearer to what the eye sees; L* of grey."""

    @property
    def _alpha_peak(self) -> float:
        return _LAB_PEAK

    def _rows_of(self, colors: Floats) -> Floats:
        linear = _linear(colors.astype(np.float64) / self.peak)
        if linear.shape[1] == 1:
            return (116 * _root(linear) - 16).astype(colors.dtype)
        x, y, z = _root(linear @ _TO_XYZ.T).T
        return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1).astype(colors.dtype)

    def _colors_of(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        y = (rows[:, 0] + 16) / 116
        if rows.shape[1] == 1:
            return self.peak * _companded(_cube(y[:, None]))
        x, z = y + rows[:, 1] / 500, y - rows[:, 2] / 200
        return self.peak * _companded(_cube(np.stack([x, y, z], axis=1)) @ _FROM_XYZ.T)


SPACES: dict[str, type[ColorSpace]] = {"rgb": Rgb, "lab": Lab}


def _linear(values: Floats) -> Floats:
    """Light of sRGB values from 0 to 1."""
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _companded(light: Floats) -> Floats:
    """sRGB values of light, which may be a little out of reach."""
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def _root(light: Floats) -> Floats:
    """CIE's cube root, a line near black."""
    return np.where(light > _KNEE**3, np.cbrt(light), light / (3 * _KNEE**2) + 4 / 29)


def _cube(root: Floats) -> Floats:
    """The inverse of `_root`."""
    return np.where(root > _KNEE, root**3, 3 * _KNEE**2 * (root - 4 / 29))
