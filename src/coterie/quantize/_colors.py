"""The distinct colours of a picture and how many pixels have each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels

#: From so many pixels on, 8-bit colours are counted in a table of all 2^24: 64 MB.
_TABLE_PIXELS = 1 << 20

Pixels = npt.NDArray[Any]


@dataclass(frozen=True)
class Colors:
    """Colours, a row each, of the type of the picture, and how many pixels have each.

    `numbers` are their places in a table of all 2^24 colours, where they were counted so. `counts`
    is None where every pixel stands for itself: floats are rarely equal.
    """

    values: Pixels
    counts: npt.NDArray[np.int64] | None
    numbers: npt.NDArray[np.intp] | None = None

    @property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """The counts as k-means takes them."""
        return None if self.counts is None else self.counts.astype(np.float64)


def count_colors(pixels: Pixels, n_threads: int) -> Colors:
    """The distinct colours of pixels, a row each, of whole numbers; floats as they are.

    By a table for many pixels of three bytes, else by sorting. Memory: 64 MB, or 8 to 16 bytes per
    pixel.
    """
    if pixels.dtype.kind == "f":
        return Colors(pixels, None)
    if pixels.dtype == np.uint8 and pixels.shape[1] == 3 and len(pixels) >= _TABLE_PIXELS:
        return _counted_in_a_table(pixels, n_threads)
    return _counted_by_sorting(pixels)


def _counted_in_a_table(pixels: Pixels, n_threads: int) -> Colors:
    table = np.zeros(1 << 24, dtype=np.uint32)
    kernels.count_colors(pixels, table, n_threads)
    numbers = np.flatnonzero(table)
    values = np.empty((numbers.size, 3), dtype=np.uint8)
    for channel, shift in enumerate((16, 8, 0)):
        values[:, channel] = numbers >> shift  # the low byte of it
    return Colors(values, table[numbers].astype(np.int64), numbers)


def _counted_by_sorting(pixels: Pixels) -> Colors:
    """A pixel is sorted as one whole number, whatever the order of its bytes."""
    n_pixels, n_channels = pixels.shape
    if n_channels == 3:
        padded = np.zeros((n_pixels, 4), dtype=pixels.dtype)
        padded[:, :3] = pixels
    else:
        padded = np.ascontiguousarray(pixels)
    whole = np.dtype(f"u{padded.itemsize * padded.shape[1]}")
    ordered = np.sort(padded.view(whole).ravel())
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(starts, append=n_pixels)
    values = ordered[starts].view(pixels.dtype).reshape(len(starts), -1)[:, :n_channels]
    return Colors(np.ascontiguousarray(values), counts.astype(np.int64))
