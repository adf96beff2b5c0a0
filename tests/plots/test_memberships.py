"""Soft memberships are mixed colours."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie.plots import memberships
from coterie.plots._style import NOISE_COLOR, color_of

X = np.array([[0.0, 0], [1, 0], [2, 0], [3, 1]])
SHARES = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [0, 0]])


def test_pure_and_mixed_colours_stand_where_the_rows_are():
    ax = memberships(X, SHARES, feature_names=["a", "b"], ax=Figure().subplots(), title="T")
    (points,) = ax.collections
    assert_allclose(points.get_offsets(), X)
    colors = points.get_facecolors()[:, :3]
    assert_allclose(colors[0], to_rgb(color_of(0)))
    assert_allclose(colors[1], to_rgb(color_of(1)))
    half = (np.square(to_rgb(color_of(0))) + np.square(to_rgb(color_of(1)))) / 2
    assert_allclose(colors[2] ** 2, half)
    assert_allclose(colors[3], to_rgb(NOISE_COLOR))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("a", "b", "T")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "0: 38%", "1: 38%", "none: 25%"
    ]  # fmt: skip


@pytest.mark.parametrize("shares", [SHARES[:3], SHARES + 0.5, -SHARES, SHARES[:, 0]])
def test_what_is_no_membership_is_refused(shares):
    with pytest.raises(ValueError, match=r"memberships have shape .* pass predict_proba"):
        memberships(X, shares, ax=Figure().subplots())
