"""Colours to coordinates and back; CIE Lab against published values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.quantize._color_space import SPACES, Lab, Rgb

#: sRGB colours with their L*, a*, b* under D65, as colour charts print them.
KNOWN = {
    (255, 255, 255): (100.0, 0.0, 0.0),
    (0, 0, 0): (0.0, 0.0, 0.0),
    (255, 0, 0): (53.24, 80.09, 67.20),
    (0, 255, 0): (87.73, -86.18, 83.18),
    (0, 0, 255): (32.30, 79.19, -107.86),
    (128, 128, 128): (53.59, 0.0, 0.0),
}


def test_lab_of_known_colors() -> None:
    rows = Lab(255, False).rows_of(np.array(list(KNOWN), dtype=np.uint8))
    np.testing.assert_allclose(rows, list(KNOWN.values()), atol=0.02)


def test_grey_has_the_lightness_of_its_color() -> None:
    grey = np.arange(256, dtype=np.uint8)[:, None]
    of_grey = Lab(255, False).rows_of(grey)
    of_color = Lab(255, False).rows_of(np.repeat(grey, 3, axis=1))
    np.testing.assert_allclose(of_grey[:, 0], of_color[:, 0], atol=1e-4)
    np.testing.assert_allclose(of_color[:, 1:], 0, atol=1e-4)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("n_channels", [1, 3, 4])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000))
def test_there_and_back(name: str, n_channels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for dtype, peak in ((np.uint8, 255), (np.uint16, 65535)):
        colors = rng.integers(0, peak + 1, (20, n_channels)).astype(dtype)
        if n_channels == 4:
            colors[:, 3] = np.maximum(colors[:, 3], peak // 4)  # else little is left of the colour
        space = SPACES[name](peak, n_channels == 4)
        back = space.colors_of(space.rows_of(colors).astype(np.float64))
        np.testing.assert_allclose(back, colors, atol=0.02 * peak / 255)


@pytest.mark.parametrize("space", [Rgb(255, True), Lab(255, True)])
def test_what_is_transparent_has_no_color(space: Rgb | Lab) -> None:
    hidden = np.array([[255, 0, 0, 0], [0, 99, 7, 0]], dtype=np.uint8)
    rows = space.rows_of(hidden)
    np.testing.assert_array_equal(rows, 0)
    np.testing.assert_array_equal(space.colors_of(rows.astype(np.float64)), 0)


def test_colors_out_of_reach_are_moved_to_its_edge() -> None:
    colors = Lab(1, False).colors_of(np.array([[50.0, 200, -200], [120, 0, 0], [-5, 0, 0]]))
    assert colors.min() >= 0
    assert colors.max() <= 1
    np.testing.assert_allclose(Rgb(255, False).colors_of(np.array([[300.0, -4]])), [[255, 0]])


def test_types() -> None:
    assert Rgb(1, False).rows_of(np.zeros((1, 3))).dtype == np.float64
    for dtype in (np.uint8, np.uint16, np.float16, np.float32):
        for space in SPACES.values():
            assert space(1, True).rows_of(np.zeros((1, 4), dtype=dtype)).dtype == np.float32
