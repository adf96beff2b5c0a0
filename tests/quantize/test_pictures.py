"""Pictures from arrays, from Pillow and from files, sound and damaged."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from coterie.errors import DataError
from coterie.quantize._pictures import as_picture


def some_rgb(height: int = 5, width: int = 7) -> Any:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)


def what(picture: Any) -> list[str]:
    return [name for name, _ in picture.notes]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 3), (4, 6, 4)])
def test_arrays(dtype: Any, shape: tuple[int, ...]) -> None:
    picture = as_picture(np.ones(shape, dtype=dtype))
    assert picture.shape == shape
    assert picture.pixels.shape == (4, 6, 1 if len(shape) == 2 else shape[2])
    assert picture.pixels.dtype == dtype
    assert picture.peak == {"u1": 255, "u2": 65535}.get(np.dtype(dtype).str[1:], 1)
    assert picture.has_alpha == (shape[-1:] == (4,) and len(shape) == 3)


def test_other_byte_orders_and_strides() -> None:
    deep = np.arange(24, dtype=">u2").reshape(4, 6)
    np.testing.assert_array_equal(as_picture(deep).pixels[:, :, 0], deep)
    flipped = some_rgb()[::-1, ::2, ::-1]
    picture = as_picture(flipped)
    assert picture.pixels.flags.c_contiguous
    np.testing.assert_array_equal(picture.pixels, flipped)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((4, 6, 2), np.uint8), r"shape \(4, 6, 2\) was given; pass \(height, width\)"),
        (np.zeros(9, np.uint8), r"shape \(9,\)"),
        (np.zeros((0, 6, 3), np.uint8), r"the picture is empty, of shape \(0, 6, 3\)"),
        (np.zeros((4, 6), np.int64), r"channels are int64; pass uint8, uint16, or floats"),
        (np.zeros((4, 6), bool), r"channels are bool"),
        (np.full((4, 6, 3), 255.0), r"from 255 to 255; divide by"),
        (np.full((4, 6, 3), -0.1), r"floats must lie from 0 to 1"),
        ([["a", "b"]], r"channels are <U1"),
        (np.ma.masked_less([[0.5, 0.2]], 0.3), r"1 values of the picture are masked; fill them"),
        (None, "a NoneType was given, which is no picture; pass an array, an image of Pillow's"),
        (io.BytesIO(b"abc"), r"a BytesIO was given, .*PIL\.Image\.open reads open files"),
    ],
)
def test_what_is_no_picture(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_picture(given)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_floats_that_are_not_finite(bad: float) -> None:
    pixels = np.zeros((4, 6, 3))
    pixels[2, 5, 1] = bad
    with pytest.raises(DataError, match=r"the pixel in row 2, column 5 is not finite"):
        as_picture(pixels)


@pytest.mark.parametrize(
    ("mode", "n_channels"),
    [("1", 1), ("L", 1), ("LA", 4), ("P", 3), ("RGB", 3), ("RGBA", 4), ("CMYK", 3), ("YCbCr", 3)],
)
def test_modes_of_pillow(mode: str, n_channels: int) -> None:
    image = Image.fromarray(some_rgb()).convert(mode)
    picture = as_picture(image)
    assert picture.pixels.shape == (5, 7, n_channels)
    assert picture.pixels.dtype == np.uint8
    assert (what(picture) == ["converted"]) == (mode not in ("L", "RGB", "RGBA"))
    expected = image.convert({1: "L", 3: "RGB", 4: "RGBA"}[n_channels])
    np.testing.assert_array_equal(picture.pixels.squeeze(), np.asarray(expected))


def test_deep_grey_of_pillow() -> None:
    deep = np.arange(0, 60000, 2500, dtype=np.uint16).reshape(4, 6)
    for image in (Image.fromarray(deep), Image.fromarray(deep.astype(np.int32))):
        picture = as_picture(image)
        assert picture.pixels.dtype == np.uint16
        np.testing.assert_array_equal(picture.pixels[:, :, 0], deep)
    with pytest.raises(DataError, match="grey values reach from 0 to 115000"):
        as_picture(Image.fromarray(2 * deep.astype(np.int32)))
    floats = as_picture(Image.fromarray(deep.astype(np.float32) / 65535))
    assert floats.pixels.dtype == np.float32


def test_a_palette_with_transparency_has_alpha(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[0, 1], [1, 2]], dtype=np.uint8))
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.save(tmp_path / "p.png", transparency=bytes([0, 128]))
    picture = as_picture(tmp_path / "p.png")
    assert picture.pixels[0].tolist() == [[255, 0, 0, 0], [0, 255, 0, 128]]
    assert picture.pixels[1, 1].tolist() == [0, 0, 255, 255]


def test_files_by_any_path(tmp_path: Path) -> None:
    Image.fromarray(some_rgb()).save(tmp_path / "a.png")
    for path in (tmp_path / "a.png", str(tmp_path / "a.png")):
        np.testing.assert_array_equal(as_picture(path).pixels, some_rgb())
    with pytest.raises(FileNotFoundError):
        as_picture(tmp_path / "b.png")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photographs_stand_upright(tmp_path: Path, orientation: int) -> None:
    image = Image.fromarray(some_rgb())
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(tmp_path / "a.png", exif=exif)
    turned = {
        1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1],
        5: lambda a: a.swapaxes(0, 1), 6: lambda a: np.rot90(a, -1),
        7: lambda a: a[::-1, ::-1].swapaxes(0, 1), 8: np.rot90,
    }[orientation]  # fmt: skip
    np.testing.assert_array_equal(as_picture(tmp_path / "a.png").pixels, turned(some_rgb()))


def test_the_first_frame_is_taken_and_told(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue", "green")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    picture = as_picture(tmp_path / "a.gif")
    assert picture.notes[0] == ("first frame", "the file has 3 frames, and the first was taken")
    assert picture.pixels[0, 0].tolist()[:3] == [255, 0, 0]


def png(header: bytes, data: bytes = b"") -> bytes:
    """A PNG of these parts."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        size, check = len(content), zlib.crc32(kind + content)
        return struct.pack(">I", size) + kind + content + struct.pack(">I", check)

    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_colors_of_16_bits_are_read_with_8_and_that_is_told(tmp_path: Path) -> None:
    pixels = np.array([[[0x1234, 0xFFFF, 0]]], dtype=">u2")
    header = struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)
    (tmp_path / "deep.png").write_bytes(png(header, b"\0" + pixels.tobytes()))
    picture = as_picture(tmp_path / "deep.png")
    assert what(picture) == ["8 bits read"]
    assert picture.pixels.tolist() == [[[0x12, 255, 0]]]


def test_files_that_are_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "empty.png").write_bytes(b"")
    for name in ("text.png", "empty.png"):
        with pytest.raises(DataError, match=rf"{name}: this is no picture.*PNG, JPEG"):
            as_picture(tmp_path / name)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "WEBP"])
def test_damaged_files_are_refused_in_a_sentence_wherever_they_end(
    tmp_path: Path, kind: str
) -> None:
    file = io.BytesIO()
    Image.fromarray(some_rgb(40, 60)).save(file, kind)
    whole = file.getvalue()
    for size in range(1, len(whole) - 16, max(1, len(whole) // 40)):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"cut: (the picture is damaged|this is no picture)"):
            as_picture(tmp_path / "cut")


def test_noise_in_a_file_is_read_or_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for kind in ("PNG", "JPEG", "GIF"):
        file = io.BytesIO()
        Image.fromarray(some_rgb(20, 30)).save(file, kind)
        for _ in range(60):
            noisy = np.frombuffer(file.getvalue(), dtype=np.uint8).copy()
            noisy[rng.integers(0, noisy.size, 3)] = rng.integers(0, 256, 3)
            (tmp_path / "noisy").write_bytes(noisy.tobytes())
            with suppress(DataError):  # and nothing else
                as_picture(tmp_path / "noisy")


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_sizes_that_would_fill_the_memory_are_refused(tmp_path: Path, side: int) -> None:
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    (tmp_path / "bomb.png").write_bytes(png(header))
    with pytest.raises(DataError, match=r"bomb.png: it says it has more than the 89,478,485"):
        as_picture(tmp_path / "bomb.png")


def test_the_profile_of_colors_stays_with_them(tmp_path: Path) -> None:
    Image.fromarray(some_rgb()).save(tmp_path / "a.png", icc_profile=b"profile")
    assert as_picture(tmp_path / "a.png").profile == b"profile"
    cmyk = Image.fromarray(some_rgb()).convert("CMYK")
    cmyk.save(tmp_path / "a.jpg", icc_profile=b"of ink")
    assert as_picture(tmp_path / "a.jpg").profile is None
