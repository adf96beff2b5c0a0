"""The palette of a picture, and the entry of each pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import ArraySource
from coterie.quantize._codes import smallest_unsigned
from coterie.quantize._color_space import ColorSpace
from coterie.quantize._colors import Colors
from coterie.quantize._learn import learn_from_coarse, nearest_codewords

#: Pixels at a time where each is compared with the palette.
_STRIP_PIXELS = 1 << 20
#: Colours that the starts are tried on.
_N_COARSE = 1 << 14


@dataclass(frozen=True)
class Applied:
    """A palette without unused entries, most used first, and what it is to a picture.

    `indices` are the entries of the pixels, `counts` how many have each. `sq_error` is the sum over
    pixels and channels, in the channels' own units; with alpha, colours are multiplied by it first.
    """

    palette: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    sq_error: float


def learn_palette(
    colors: Colors,
    space: ColorSpace,
    k: int,
    rng: np.random.RandomState,
    *,
    n_init: int,
    n_threads: int,
) -> npt.NDArray[Any]:
    """At most k colours of the picture's type with a low sum of squared errors, each once.

    The means of k-means on the distinct colours, weighted by their pixels, rounded; where there
    are no more than k colours, they themselves.
    """
    if len(colors.values) <= k:
        return _each_once(colors.values)
    rows = ArraySource(space.rows_of(colors.values), colors.weights, n_threads)
    run = learn_from_coarse("image", rows, k, rng, n_init=n_init, n_coarse=max(_N_COARSE, 16 * k))
    means = space.colors_of(run.centers)
    if colors.values.dtype.kind == "u":
        means = np.rint(means)
    return _each_once(means.astype(colors.values.dtype))


def apply_palette(
    pixels: npt.NDArray[Any],
    colors: Colors,
    palette: npt.NDArray[Any],
    space: ColorSpace,
    *,
    error_space: ColorSpace,
    n_threads: int,
) -> Applied:
    """Give every pixel the nearest entry of the palette, in the coordinates of `space`.

    Colours that were counted in a table are compared once each, and pixels look theirs up; else
    every pixel is compared, some at a time.
    """
    entries = space.rows_of(palette).astype(np.float64)
    painted = error_space.rows_of(palette)
    dtype = smallest_unsigned(len(palette))

    def nearest(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        return nearest_codewords("image", space.rows_of(values), entries, n_threads)

    def sq_errors(values: npt.NDArray[Any], found: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        gaps = error_space.rows_of(values) - painted[found]
        return np.einsum("ij,ij->i", gaps, gaps, dtype=np.float64)

    indices = np.empty(len(pixels), dtype=dtype)
    if colors.numbers is not None and colors.counts is not None:
        found = nearest(colors.values)
        counts = np.bincount(found, weights=colors.counts, minlength=len(palette))
        order, place = _by_use(counts)
        table = np.zeros(1 << 24, dtype=dtype)
        table[colors.numbers] = place[found]
        kernels.look_up_colors(pixels, table, indices, n_threads)
        sq_error = float(sq_errors(colors.values, found) @ colors.counts)
        return Applied(palette[order], indices, counts[order].astype(np.int64), sq_error)
    counts, sq_error = np.zeros(len(palette), dtype=np.int64), 0.0
    for start in range(0, len(pixels), _STRIP_PIXELS):
        here = slice(start, start + _STRIP_PIXELS)
        found = nearest(pixels[here])
        indices[here] = found
        counts += np.bincount(found, minlength=len(palette))
        sq_error += float(sq_errors(pixels[here], found).sum())
    order, place = _by_use(counts)
    return Applied(palette[order], place.astype(dtype)[indices], counts[order], sq_error)


def _by_use(
    counts: npt.NDArray[Any],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The entries that are used, most used first, and the new place of each."""
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    place = np.zeros(len(counts), dtype=np.intp)
    place[order] = np.arange(len(order))
    return order, place


def paint(indices: npt.NDArray[Any], palette: npt.NDArray[Any], n_threads: int) -> npt.NDArray[Any]:
    """The palette's colour of each pixel."""
    painted = np.empty((indices.size, palette.shape[1]), dtype=palette.dtype)
    as_bytes = np.ascontiguousarray(palette).view(np.uint8)
    if as_bytes.shape[1] in (1, 2, 3, 4, 6, 8):
        kernels.paint(indices, as_bytes, painted.view(np.uint8), n_threads)
    else:
        np.take(palette, indices, axis=0, out=painted)
    return painted


def _each_once(colors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.unique(colors, axis=0)
