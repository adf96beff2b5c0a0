"""Palettes: what is learnt, and every pixel's nearest entry against loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from coterie.quantize import _colors
from coterie.quantize._color_space import SPACES
from coterie.quantize._colors import count_colors
from coterie.quantize._palette import apply_palette, learn_palette, paint


def pixels_of(dtype: Any, n_channels: int, n: int = 2000) -> npt.NDArray[Any]:
    rng = np.random.default_rng(n_channels)
    middles = rng.random((6, n_channels))
    values = np.clip(middles[rng.integers(0, 6, n)] + rng.normal(0, 0.05, (n, n_channels)), 0, 1)
    peak = 1 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return (values * peak).astype(dtype)


def learnt(pixels: npt.NDArray[Any], k: int, name: str = "rgb") -> tuple[Any, Any, Any]:
    peak = 1.0 if pixels.dtype.kind == "f" else float(np.iinfo(pixels.dtype).max)
    space = SPACES[name](peak, pixels.shape[1] == 4)
    plain = SPACES["rgb"](peak, pixels.shape[1] == 4)
    colors = count_colors(pixels, 1)
    palette = learn_palette(colors, space, k, np.random.RandomState(0), n_init=2, n_threads=2)
    return (
        space,
        palette,
        apply_palette(pixels, colors, palette, space, error_space=plain, n_threads=2),
    )


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("n_channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_every_pixel_has_its_nearest_entry(dtype: Any, n_channels: int, name: str) -> None:
    pixels = pixels_of(dtype, n_channels)
    space, palette, applied = learnt(pixels, 6, name)
    assert palette.dtype == dtype
    rows, entries = (space.rows_of(colors).astype(float) for colors in (pixels, applied.palette))
    gaps = np.square(rows[:, None] - entries).sum(axis=2)
    mine = gaps[np.arange(len(rows)), applied.indices]
    np.testing.assert_allclose(mine, gaps.min(axis=1), rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(applied.counts, np.bincount(applied.indices))
    assert sorted(applied.counts, reverse=True) == applied.counts.tolist()


def test_the_squared_error_is_what_it_says() -> None:
    for n_channels in (1, 3):
        pixels = pixels_of(np.uint8, n_channels)
        _, _, applied = learnt(pixels, 5)
        gaps = pixels.astype(float) - applied.palette[applied.indices]
        assert applied.sq_error == np.square(gaps).sum()
    pixels = pixels_of(np.float64, 4)
    _, _, applied = learnt(pixels, 5)
    painted = applied.palette[applied.indices]
    both = [np.hstack([c[:, :3] * c[:, 3:], c[:, 3:]]) for c in (pixels, painted)]
    assert applied.sq_error == pytest.approx(np.square(both[0] - both[1]).sum())


def test_the_table_gives_what_comparing_every_pixel_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = pixels_of(np.uint8, 3)
    _, palette, by_pixel = learnt(pixels, 7)
    monkeypatch.setattr(_colors, "_TABLE_PIXELS", 1)
    colors = count_colors(pixels, 1)
    assert colors.numbers is not None
    space = SPACES["rgb"](255, False)
    by_table = apply_palette(pixels, colors, palette, space, error_space=space, n_threads=2)
    for name in ("palette", "indices", "counts"):
        np.testing.assert_array_equal(getattr(by_table, name), getattr(by_pixel, name))
    assert by_table.sq_error == by_pixel.sq_error


def test_entries_are_the_rounded_means_of_their_pixels() -> None:
    pixels = np.array([[0], [1], [200], [201], [203]], dtype=np.uint8)
    _, palette, applied = learnt(pixels, 2)
    assert sorted(palette[:, 0]) == [0, 201]  # 0.5 to even, 201.33
    assert applied.palette[:, 0].tolist() == [201, 0]  # most used first
    assert applied.indices.tolist() == [1, 1, 0, 0, 0]


def test_few_colors_are_kept_as_they_are() -> None:
    pixels = np.repeat(np.array([[1, 2, 3], [9, 9, 9]], dtype=np.uint8), [5, 2], axis=0)
    _, _, applied = learnt(pixels, 8)
    np.testing.assert_array_equal(applied.palette, [[1, 2, 3], [9, 9, 9]])
    assert applied.sq_error == 0


def test_entries_that_round_to_one_are_one() -> None:
    # Two means between 7 and 8 of whole numbers with the same nearest whole number.
    three = np.array([[7, 7, 7], [7, 8, 7], [7, 7, 8]], dtype=np.uint8)
    pixels = np.repeat(three, [99, 1, 1], axis=0)
    _, palette, applied = learnt(pixels, 2)
    assert len(palette) == len(np.unique(palette, axis=0))
    assert (applied.counts > 0).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("n_channels", [1, 3, 4])
def test_painting(dtype: Any, n_channels: int) -> None:
    palette = pixels_of(dtype, n_channels, 300)
    indices = np.random.default_rng(0).integers(0, 300, 5000).astype(np.uint16)
    painted = paint(indices, palette, 2)
    assert painted.dtype == dtype
    np.testing.assert_array_equal(painted, palette[indices])
