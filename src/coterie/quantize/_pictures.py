"""Pictures as arrays of channels, wherever they come from: arrays, Pillow's images, files."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

#: Kinds of files that are read.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")

_PEAKS = {"uint8": 255.0, "uint16": 65535.0, "float16": 1.0, "float32": 1.0, "float64": 1.0}


@dataclass(frozen=True)
class Picture:
    """Pixels of shape (height, width, channels): grey, RGB or RGBA, of uint8, uint16 or floats.

    `shape` is what was given; `notes` say in what else it differs from that, name and sentence;
    `profile` is the ICC profile that tells what the channels mean.
    """

    pixels: npt.NDArray[Any]
    shape: tuple[int, ...]
    notes: list[tuple[str, str]] = field(default_factory=list)
    profile: bytes | None = None

    @property
    def peak(self) -> float:
        """The largest value a channel can have."""
        return _PEAKS[self.pixels.dtype.name]

    @property
    def has_alpha(self) -> bool:
        return self.pixels.shape[2] == 4


def as_picture(given: Any) -> Picture:
    """An array, an image of Pillow's, or the path of a file, as a picture."""
    if isinstance(given, (str, os.PathLike)):
        return _from_file(given)
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(given, pillow.Image):
        with _telling("image"):
            return _from_pillow(given, "image")
    if np.ma.is_masked(given):
        raise DataError(
            f"image: {np.count_nonzero(np.ma.getmaskarray(given))} values of the picture are "
            "masked; fill them first (img.filled(0), for example)."
        )
    pixels = np.asarray(given)
    if pixels.ndim == 0:
        raise DataError(
            f"image: a {type(given).__name__} was given, which is no picture; pass an array, an "
            "image of Pillow's (PIL.Image.open reads open files, too) or the path of a file."
        )
    return _from_array(pixels, "image")


def _from_array(given: npt.NDArray[Any], name: str) -> Picture:
    pixels = given[:, :, None] if given.ndim == 2 else given
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4):
        raise DataError(
            f"{name}: an array of shape {given.shape} was given; pass (height, width) or (height, "
            "width, 1) for grey, (height, width, 3) for RGB, (height, width, 4) for RGBA."
        )
    if pixels.size == 0:
        raise DataError(
            f"{name}: the picture is empty, of shape {given.shape}; pass one that has pixels."
        )
    if not given.dtype.isnative:
        pixels = pixels.astype(given.dtype.newbyteorder("="))
    if pixels.dtype.name not in _PEAKS:
        raise DataError(
            f"{name}: channels are {given.dtype}; pass uint8, uint16, or floats from 0 to 1."
        )
    if pixels.dtype.kind == "f":
        _check_floats(pixels, name)
    return Picture(np.ascontiguousarray(pixels), given.shape)


def _check_floats(pixels: npt.NDArray[Any], name: str) -> None:
    low, high = float(pixels.min()), float(pixels.max())  # NaN, if there is any
    if not np.isfinite(low) or not np.isfinite(high):
        row, column = np.argwhere(~np.isfinite(pixels))[0][:2]
        raise DataError(
            f"{name}: the pixel in row {row}, column {column} is not finite (NaN or infinity); "
            "fill such pixels first."
        )
    if low < 0 or high > 1:
        raise DataError(
            f"{name}: floats must lie from 0 to 1, and they lie from {low:g} to {high:g}; divide "
            "by the largest value there can be, or pass uint8 or uint16."
        )


def _from_file(path: str | os.PathLike[str]) -> Picture:
    name = os.fspath(path)
    if os.path.isdir(path):
        raise DataError(
            f"{name}: this is a directory; pass the file of one picture, of the kinds "
            f"{', '.join(FORMATS)}."
        )
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"{name}: reading pictures needs Pillow: pip install 'coterie[image]'"
        ) from error
    with open(path, "rb") as file, _telling(name), Image.open(file, formats=FORMATS) as image:
        return _from_pillow(image, name)


@contextmanager
def _telling(name: str) -> Iterator[None]:
    """Say which picture cannot be read, why, and what to do, whatever Pillow raises."""
    from PIL import Image, UnidentifiedImageError

    bombs = (Image.DecompressionBombWarning, Image.DecompressionBombError)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except UnidentifiedImageError as error:
        raise DataError(
            f"{name}: this is no picture, or of a kind that is not read; pass a file of the kinds "
            f"{', '.join(FORMATS)}."
        ) from error
    except bombs as error:
        raise DataError(
            f"{name}: it says it has more than the {Image.MAX_IMAGE_PIXELS or 0:,} pixels that are "
            "read without asking, as files made to fill the memory do; if you trust it, set "
            "PIL.Image.MAX_IMAGE_PIXELS = None first, or make it smaller."
        ) from error
    except DataError:
        raise
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's words: "image file is truncated (3 bytes not processed)", "broken PNG file".
        reason = str(error).rstrip(".") or type(error).__name__
        raise DataError(f"{name}: the picture is damaged ({reason}); get it anew.") from error


def _from_pillow(image: Image, name: str) -> Picture:
    """The first frame, upright, in the mode that has all its channels."""
    from PIL import ImageOps

    notes = []
    n_frames = getattr(image, "n_frames", 1)
    if n_frames > 1:
        image.seek(0)
        notes.append(("first frame", f"the file has {n_frames} frames, and the first was taken"))
    if any(";16" in str(tile[3]) for tile in getattr(image, "tile", ())) and image.mode in (
        "RGB",
        "RGBA",
    ):
        notes.append(("8 bits read", "colours of 16 bits a channel were read with 8 by Pillow"))
    profile = image.info.get("icc_profile")
    upright = ImageOps.exif_transpose(image)
    mode = _mode_for(upright)
    if mode != upright.mode:
        notes.append(("converted", f"the picture was converted from {upright.mode} to {mode}"))
        if upright.mode not in ("P", "1", "LA", "PA", "RGB"):
            profile = None  # of other channels
        upright = upright.convert(mode)
    pixels = np.asarray(upright)
    if mode == "I":
        if pixels.min() < 0 or pixels.max() > 65535:
            raise DataError(
                f"{name}: grey values reach from {pixels.min()} to {pixels.max()}; pass an array "
                "scaled to 0 to 65535 as uint16."
            )
        pixels = pixels.astype(np.uint16)
    given = _from_array(pixels, name)
    return Picture(given.pixels, given.shape, notes, profile)


def _mode_for(image: Image) -> str:
    """The mode of Pillow's that has the channels of an image: grey, RGB or RGBA."""
    mode = image.mode
    if mode == "1":
        return "L"
    if mode == "F" or mode.startswith("I"):
        return mode
    if mode == "L" and "transparency" not in image.info:
        return mode
    if mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        return "RGBA"
    return "RGB"
