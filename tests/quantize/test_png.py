"""PNG files: what stands in them, bit for bit, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from coterie.errors import DataError
from coterie.quantize._png import check_png, in_8_bits, write_png
from full_disks import no_file_above


def entries(n: int, n_channels: int, dtype: Any = np.uint8) -> Any:
    rng = np.random.default_rng(n)
    palette = rng.permutation(256**2)[:n, None] * np.ones(n_channels, dtype=int)
    if dtype == np.uint8:
        palette = np.stack([palette[:, 0] >> 8 * (i % 2) & 255 for i in range(n_channels)], axis=1)
    return palette.astype(dtype)


def indices_to(n: int, height: int = 20, width: int = 31) -> Any:
    return np.resize(np.arange(n), (height, width)).astype(np.min_scalar_type(n - 1))


def written(path: Path) -> tuple[int, int, Any]:
    """Bits a channel and the kind of colours, by the header; and the pixels."""
    header = path.read_bytes()[16:29]
    with Image.open(path) as image:
        return header[8], header[9], np.asarray(image.convert("RGBA"))


@pytest.mark.parametrize(
    ("n", "depth"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)]
)
@pytest.mark.parametrize("n_channels", [1, 3, 4])
def test_palettes_have_as_few_bits_as_hold_them(
    tmp_path: Path, n: int, depth: int, n_channels: int
) -> None:
    palette, indices = entries(n, n_channels), indices_to(n)
    write_png(tmp_path / "a.png", indices, palette)
    bits, kind, pixels = written(tmp_path / "a.png")
    assert (bits, kind) == (depth, 3)  # 3: with a palette
    colors = palette[:, :3] if n_channels > 1 else np.repeat(palette, 3, axis=1)
    np.testing.assert_array_equal(pixels[:, :, :3], colors[indices])
    alpha = palette[:, 3] if n_channels == 4 else np.full(n, 255)
    np.testing.assert_array_equal(pixels[:, :, 3], alpha[indices])


@pytest.mark.parametrize(("n_channels", "kind"), [(3, 2), (4, 6)])
def test_more_colors_are_written_as_they_are(tmp_path: Path, n_channels: int, kind: int) -> None:
    palette, indices = entries(300, n_channels), indices_to(300)
    write_png(tmp_path / "a.png", indices, palette)
    bits, found, pixels = written(tmp_path / "a.png")
    assert (bits, found) == (8, kind)
    np.testing.assert_array_equal(pixels[:, :, :n_channels], palette[indices])


def test_deep_grey_keeps_its_bits(tmp_path: Path) -> None:
    palette, indices = entries(5, 1, np.uint16), indices_to(5)
    write_png(tmp_path / "a.png", indices, palette)
    assert written(tmp_path / "a.png")[:2] == (16, 0)
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image), palette[:, 0][indices])


def test_rounding_to_8_bits() -> None:
    deep = np.array([[0, 65535, 257, 128, 129]], dtype=np.uint16)
    assert in_8_bits(deep).tolist() == [[0, 255, 1, 0, 1]]
    assert in_8_bits(np.array([[0.0, 1.0, 0.5]])).tolist() == [[0, 255, 128]]


def test_the_profile_is_written(tmp_path: Path) -> None:
    write_png(tmp_path / "a.png", indices_to(2), entries(2, 3), b"profile")
    with Image.open(tmp_path / "a.png") as image:
        assert image.info["icc_profile"] == b"profile"


@pytest.mark.parametrize("name", ["a.jpg", "a", "png", "a.png.gz"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"written as PNG.*choose a name that ends in \.png"):
        write_png(tmp_path / name, indices_to(2), entries(2, 3))
    assert not list(tmp_path.iterdir())
    check_png("A.PNG")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    noise = np.random.default_rng(0).integers(0, 256, (200, 200)).astype(np.uint8)
    with no_file_above(1000), pytest.raises(OSError, match=r"File too large.*not written"):
        write_png(path, noise, entries(256, 3))
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.png"]
