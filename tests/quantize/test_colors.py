"""Distinct colours and their counts, and the kernels under them, against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie._kernels import kernels
from coterie.quantize import _colors
from coterie.quantize._colors import count_colors

N_COLORS = 1 << 24


def numbers_of(pixels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    red, green, blue = pixels.astype(np.int64).T
    return red << 16 | green << 8 | blue


def pixels_like(seed: int, n: int, few: bool) -> npt.NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    values: Sequence[int] = [0, 1, 127, 255] if few else range(256)
    return rng.choice(np.array(values, dtype=np.uint8), (n, 3))


@pytest.mark.parametrize("n_threads", [1, 2, 3, 300])
@pytest.mark.parametrize(("n", "few"), [(0, True), (1, False), (5000, True), (70000, False)])
def test_counts_are_those_of_bincount(n: int, few: bool, n_threads: int) -> None:
    pixels = pixels_like(n, n, few)
    counts = np.zeros(N_COLORS, dtype=np.uint32)
    kernels.count_colors(pixels, counts, n_threads)
    found = np.flatnonzero(counts)
    expected, times = np.unique(numbers_of(pixels), return_counts=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counts[found], times)


@pytest.mark.parametrize("reds", [[0], [255], [7, 8], [0, 255]])
def test_pictures_of_one_or_two_reds_are_counted_by_all_threads(reds: list[int]) -> None:
    pixels = pixels_like(1, 3000, False)
    pixels[:, 0] = np.resize(reds, 3000)
    counts = np.zeros(N_COLORS, dtype=np.uint32)
    kernels.count_colors(pixels, counts, 4)
    assert counts.sum() == 3000
    np.testing.assert_array_equal(
        np.flatnonzero(counts), np.unique(numbers_of(pixels), return_counts=True)[0]
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n", [0, 1, 40000])
def test_pixels_look_up_their_color(dtype: Any, n: int) -> None:
    pixels = pixels_like(2, n, False)
    table = np.random.default_rng(0).integers(0, 200, N_COLORS).astype(dtype)
    indices = np.empty(n, dtype=dtype)
    kernels.look_up_colors(pixels, table, indices, 2)
    np.testing.assert_array_equal(indices, table[numbers_of(pixels)])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n_bytes", [1, 2, 3, 4, 6, 8])
def test_painting_copies_entries(dtype: Any, n_bytes: int) -> None:
    rng = np.random.default_rng(n_bytes)
    palette = rng.integers(0, 256, (11, n_bytes)).astype(np.uint8)
    indices = rng.integers(0, 11, 40001).astype(dtype)
    out = np.empty((40001, n_bytes), dtype=np.uint8)
    kernels.paint(indices, palette, out, 2)
    np.testing.assert_array_equal(out, palette[indices])


def test_bindings_refuse_what_leads_out_of_bounds() -> None:
    pixels, table = np.zeros((5, 3), np.uint8), np.zeros(N_COLORS, np.uint8)
    with pytest.raises(ValueError, match="three columns"):
        kernels.count_colors(np.zeros((5, 4), np.uint8), np.zeros(N_COLORS, np.uint32), 1)
    with pytest.raises(ValueError, match="an entry a colour"):
        kernels.count_colors(pixels, np.zeros(9, np.uint32), 1)
    with pytest.raises(ValueError, match="an entry a colour"):
        kernels.look_up_colors(pixels, table[:9], np.zeros(5, np.uint8), 1)
    with pytest.raises(ValueError, match="an entry a pixel"):
        kernels.look_up_colors(pixels, table, np.zeros(4, np.uint8), 1)
    out = np.zeros((5, 3), np.uint8)
    with pytest.raises(ValueError, match="entries of the palette"):
        kernels.paint(np.full(5, 2, np.uint8), np.zeros((2, 3), np.uint8), out, 1)
    with pytest.raises(ValueError, match="a row a pixel"):
        kernels.paint(np.zeros(4, np.uint8), np.zeros((2, 3), np.uint8), out, 1)
    with pytest.raises(ValueError, match="columns of the palette"):
        kernels.paint(np.zeros(5, np.uint8), np.zeros((2, 4), np.uint8), out, 1)
    with pytest.raises(ValueError, match="bytes"):
        kernels.paint(np.zeros(5, np.uint8), np.zeros((2, 5), np.uint8), out, 1)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    n_channels=st.sampled_from([1, 3, 4]),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    n_levels=st.integers(1, 6),
)
def test_colors_of_any_picture(
    seed: int, n: int, n_channels: int, dtype: Any, n_levels: int
) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, np.iinfo(dtype).max, n_levels, endpoint=True).astype(dtype)
    pixels = rng.choice(levels, (n, n_channels))
    found = count_colors(pixels, 1)
    values, counts = np.unique(pixels, axis=0, return_counts=True)
    assert found.values.dtype == dtype
    assert found.counts is not None
    order = np.lexsort(found.values.T[::-1])
    np.testing.assert_array_equal(found.values[order], values)
    np.testing.assert_array_equal(found.counts[order], counts)


def test_the_table_and_sorting_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = pixels_like(3, 9000, True)
    monkeypatch.setattr(_colors, "_TABLE_PIXELS", 1)
    by_table = count_colors(pixels, 2)
    monkeypatch.setattr(_colors, "_TABLE_PIXELS", 10**9)
    by_sorting = count_colors(pixels, 2)
    assert by_table.numbers is not None
    assert by_sorting.numbers is None
    order = np.argsort(numbers_of(by_sorting.values))
    np.testing.assert_array_equal(by_table.values, by_sorting.values[order])
    np.testing.assert_array_equal(by_table.counts, by_sorting.counts[order])
    np.testing.assert_array_equal(by_table.numbers, numbers_of(by_table.values))


def test_floats_stand_for_themselves() -> None:
    pixels = np.random.default_rng(0).random((9, 3))
    found = count_colors(pixels, 1)
    assert found.values is pixels
    assert found.counts is found.weights is None
