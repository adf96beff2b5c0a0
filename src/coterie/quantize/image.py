"""Pictures in few colours."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import NONE, check_memory, check_params, one_of, whole
from coterie._config import resolve_n_threads
from coterie._history import Event
from coterie._random import check_random_state
from coterie.quantize._codes import bits_for
from coterie.quantize._color_space import SPACES
from coterie.quantize._colors import count_colors
from coterie.quantize._palette import apply_palette, learn_palette, paint
from coterie.quantize._pictures import as_picture
from coterie.quantize._png import check_png, write_png

__all__ = ["QuantizedImage", "check_png", "image"]

_RULES = {
    "k": whole(1),
    "space": one_of(*SPACES),
    "n_init": whole(1),
    "n_threads": NONE | whole(1),
}


@dataclass(frozen=True, repr=False)
class QuantizedImage:
    """A picture in few colours: a palette, and which of its entries each pixel has.

    Attributes
    ----------
    palette : array of shape (n_colors, n_channels)
        The colours, in the type of the picture, most used first.
    indices : uint8, uint16 or uint32 array of shape (height, width)
        The entry of each pixel.
    counts : int64 array of shape (n_colors,)
        How many pixels have each entry.
    n_distinct : int or None
        How many colours the picture had; None for floats, which are not counted.
    mse : float
        Mean squared error of a channel of a pixel, in the channels' own units; with alpha, of
        colours multiplied by it, and of alpha.
    peak : float
        The largest value of a channel: 255, 65535 or 1.
    shape : tuple
        Of the picture as it was given, and of `pixels`.
    events : list of dict
        What else happened: fewer colours than asked for, a first frame taken.
    profile : bytes or None
        The ICC profile of the file, which is written with `save`.
    """

    palette: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    n_distinct: int | None
    mse: float
    peak: float
    shape: tuple[int, ...]
    events: list[Event]
    profile: bytes | None = None

    def __repr__(self) -> str:
        height, width = self.indices.shape
        exact = "exact" if self.mse == 0 else f"PSNR {self.psnr:.2f} dB"
        return f"<QuantizedImage: {width} x {height} pixels in {_colors(self.n_colors)}, {exact}>"

    @cached_property
    def pixels(self) -> npt.NDArray[Any]:
        """The picture in the colours of the palette, of the shape and type given; made once."""
        painted = paint(self.indices.ravel(), self.palette, resolve_n_threads(None))
        return painted.reshape(self.shape)

    @property
    def n_colors(self) -> int:
        """Entries of the palette."""
        return len(self.palette)

    @property
    def psnr(self) -> float:
        """Peak signal-to-noise ratio in decibels, 10 log10(peak^2 / mse); infinite if exact."""
        return math.inf if self.mse == 0 else 10 * math.log10(self.peak**2 / self.mse)

    @property
    def bits_per_pixel(self) -> int:
        """Bits of an index, ceil(log2 n_colors); the palette is not counted."""
        return bits_for(self.n_colors)

    @property
    def raw_bits(self) -> int:
        """Bits of the picture as it was given."""
        return self.indices.size * self._bits_of_a_color

    def bits(self, *, palette: bool = True) -> int:
        """Bits of all indices at a fixed length and, unless told otherwise, of the palette."""
        own = self.n_colors * self._bits_of_a_color if palette else 0
        return self.indices.size * self.bits_per_pixel + own

    @property
    def _bits_of_a_color(self) -> int:
        return 8 * self.palette.itemsize * self.palette.shape[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a PNG, whole or not at all; needs Pillow (``coterie[image]``).

        Up to 256 colours are written as a palette with 1, 2, 4 or 8 bits per pixel, transparency
        with it (tRNS). A palette of PNG has 8 bits per channel: colours of 16 bits and floats are
        rounded to that; grey of 16 bits is written with 16, without a palette. More than 256
        colours are written as grey, RGB or RGBA.
        """
        write_png(path, self.indices, self.palette, self.profile)


def image(
    img: Any,
    k: int = 16,
    *,
    space: str = "rgb",
    n_init: int = 8,
    random_state: Any = None,
    n_threads: int | None = None,
) -> QuantizedImage:
    """A picture in at most k colours, those that k-means finds.

    Minimises sum_p |x_p - c_q(p)|^2 over palettes c_1 ... c_k and entries q(p) of the pixels x_p:
    vector quantization with each pixel as a vector (Gersho & Gray 1992), so ceil(log2 k) bits per
    pixel instead of 24. All pixels take part: k-means runs on the distinct colours, weighted by how
    many pixels have each, from the best of `n_init` starts (k-means++, descended on 2^14 drawn
    pixels). That is a local minimum of all pixels' error, as k-means always is. The palette is then
    rounded to the type of the picture, and every pixel gets its nearest entry.

    **Alpha**: with it, colours are multiplied by alpha before they are compared and alpha is a
    fourth coordinate, so that the hidden colour of a transparent pixel counts for nothing; all
    fully transparent pixels are one colour, (0, 0, 0, 0). Palettes have alpha too.

    Time O(m k) per iteration for m distinct colours, O(n) for n pixels. Memory beyond the picture:
    1 byte per pixel for the indices (k <= 256), 80 MB of tables for 8-bit RGB from 2^20 pixels on;
    other pictures are sorted, in 8 to 16 bytes per pixel; of floats a copy is clustered.

    Parameters
    ----------
    img : array, PIL.Image.Image, or path
        (height, width) or (height, width, 1) for grey, 3 channels for sRGB, 4 with alpha; uint8,
        uint16, or floats from 0 to 1. Files: PNG, JPEG, GIF, BMP, TIFF, WebP, PPM (with
        ``coterie[image]``), upright by their EXIF orientation, the first frame; CMYK and others
        are converted to RGB, 1-bit to grey, palettes to RGB or RGBA.
    k : int, default=16
        Colours, at most.
    space : {"rgb", "lab"}, default="rgb"
        Where distances are taken: in the channels as they are, which is what PSNR measures, or in
        CIE L*a*b*, which is nearer to what the eye sees and has a lower PSNR.
    n_init : int, default=8
        Starts, of which the best on the drawn pixels descends on all.
    random_state : int, RandomState or None, default=None
    n_threads : int or None, default=None
        The result is the same for any number.

    Returns
    -------
    QuantizedImage
        `pixels`, `palette`, `indices`, `bits_per_pixel`, `psnr`, `n_colors`, `save(path)`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.quantize import image
    >>> ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)
    >>> few = image(ramp, 4, random_state=0)
    >>> few.n_colors, few.bits_per_pixel
    (4, 2)
    """
    given = {"k": k, "space": space, "n_init": n_init, "n_threads": n_threads}
    check_params("image", given, _RULES)
    threads = resolve_n_threads(n_threads, "image")
    picture = as_picture(img)
    height, width, n_channels = picture.pixels.shape
    check_memory("image", _bytes_needed(picture.pixels), "its tables", "pass a smaller picture")
    pixels = _without_hidden_colors(picture.pixels.reshape(-1, n_channels))
    coordinates = SPACES[space](picture.peak, picture.has_alpha)
    plain = SPACES["rgb"](picture.peak, picture.has_alpha)

    colors = count_colors(pixels, threads)
    rng = check_random_state(random_state)
    palette = learn_palette(colors, coordinates, int(k), rng, n_init=n_init, n_threads=threads)
    applied = apply_palette(
        pixels, colors, palette, coordinates, error_space=plain, n_threads=threads
    )
    events = [Event(what=w, where=None, iteration=None, detail=d) for w, d in picture.notes]
    n_found = len(applied.palette)
    if n_found < k:
        detail = f"k={k} was asked for, and {_colors(n_found)} came out"
        if colors.counts is not None and len(colors.values) <= k:
            detail = f"k={k} was asked for, and the picture has {_colors(len(colors.values))}"
        events.append(Event(what="fewer colours", where=None, iteration=None, detail=detail))
    return QuantizedImage(
        applied.palette,
        applied.indices.reshape(height, width),
        applied.counts,
        None if colors.counts is None else len(colors.values),
        applied.sq_error / pixels.size,
        picture.peak,
        picture.shape,
        events,
        picture.profile,
    )


def _colors(n: int) -> str:
    """So many colours, in words."""
    return "1 colour" if n == 1 else f"{n} colours"


def _without_hidden_colors(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Pixels, those that are fully transparent as zeros; a copy only where there are any."""
    if pixels.shape[1] != 4:
        return pixels
    hidden = pixels[:, 3] == 0
    if not pixels[hidden].any():
        return pixels
    pixels = pixels.copy()
    pixels[hidden] = 0
    return pixels


def _bytes_needed(pixels: npt.NDArray[Any]) -> int:
    """What the indices and the counting take."""
    n_pixels = pixels.size // pixels.shape[2]
    if pixels.dtype == np.uint8 and pixels.shape[2] == 3:
        return n_pixels + 5 * (1 << 24)
    return n_pixels + 2 * pixels.nbytes
