"""Writing a picture of few colours as PNG, with a palette wherever PNG has one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._writing import writing
from coterie.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

#: Entries that a palette of PNG can have.
MOST_ENTRIES = 256


def check_png(path: str | os.PathLike[str]) -> None:
    """Refuse a name that does not end in .png."""
    name = os.fspath(path)
    if not name.lower().endswith(".png"):
        raise DataError(
            f"{name}: pictures are written as PNG, which keeps every colour as it is; choose a "
            "name that ends in .png."
        )


def write_png(
    path: str | os.PathLike[str],
    indices: npt.NDArray[Any],
    palette: npt.NDArray[Any],
    profile: bytes | None = None,
) -> None:
    """Write indices of shape (height, width) into a palette; whole, or not at all.

    A palette of PNG has at most 256 entries of 8 bits per channel, its pixels 1, 2, 4 or 8 bits, as
    few as hold the entries. More colours are written as they are, grey of 16 bits with 16; colours
    of 16 bits and floats are rounded to 8.
    """
    check_png(path)
    try:
        from PIL import Image  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)}: writing pictures needs Pillow: pip install 'coterie[image]'"
        ) from error
    options: dict[str, Any] = {} if profile is None else {"icc_profile": profile}
    if palette.dtype == np.uint16 and palette.shape[1] == 1:
        image = _with_channels(indices, palette)
    elif len(palette) <= MOST_ENTRIES:
        image = _with_palette(indices, in_8_bits(palette))
        options |= _transparency(in_8_bits(palette))
    else:
        image = _with_channels(indices, in_8_bits(palette))
    with writing(path) as file:
        image.save(file, format="PNG", optimize=False, **options)


def in_8_bits(palette: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Colours as 8 bits per channel."""
    if palette.dtype == np.uint8:
        return palette
    peak = 65535.0 if palette.dtype == np.uint16 else 1.0
    return np.rint(palette.astype(np.float64) * (255 / peak)).astype(np.uint8)


def _with_palette(indices: npt.NDArray[Any], palette: npt.NDArray[np.uint8]) -> Image:
    """An image of mode P; Pillow writes it with as few bits as hold the palette."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(indices, dtype=np.uint8))
    colors = palette[:, :3] if palette.shape[1] > 1 else np.repeat(palette, 3, axis=1)
    image.putpalette(colors.tobytes())
    return image


def _transparency(palette: npt.NDArray[np.uint8]) -> dict[str, bytes]:
    """The alpha of the entries up to the last that is not opaque, as PNG has it (tRNS)."""
    if palette.shape[1] < 4 or palette[:, 3].min() == 255:
        return {}
    last = np.flatnonzero(palette[:, 3] < 255)[-1]
    return {"transparency": palette[: last + 1, 3].tobytes()}


def _with_channels(indices: npt.NDArray[Any], palette: npt.NDArray[Any]) -> Image:
    """An image of the colours themselves: grey of 8 or 16 bits, RGB or RGBA."""
    from PIL import Image

    pixels = palette[indices]
    return Image.fromarray(pixels[:, :, 0] if palette.shape[1] == 1 else pixels)
