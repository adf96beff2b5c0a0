"""Responsibilities are an image with sorted rows, beside the scatter plot."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie.plots import responsibilities
from coterie.plots._style import color_of

SHARES = np.array([[0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.0, 1.0]])


def test_rows_are_sorted_and_columns_have_their_colours():
    ax = responsibilities(SHARES, ax=Figure().subplots())
    shown = np.asarray(ax.images[0].get_array())
    ordered = SHARES[[2, 1, 3, 0]]
    pure = np.array([to_rgb(color_of(0)), to_rgb(color_of(1))])
    assert_allclose(shown, 1 - ordered[:, :, None] * (1 - pure))
    assert ax.get_ylabel() == "rows, sorted"
    assert ax.get_xticks().tolist() == [0, 1]


def test_with_rows_the_scatter_stands_to_the_left():
    X = np.arange(8.0).reshape(4, 2)
    ax = responsibilities(SHARES, X, ax=Figure().subplots(), title="T")
    left, right = ax.child_axes
    assert_allclose(left.collections[0].get_offsets(), X)
    assert right.images[0].get_array().shape == (4, 2, 3)
    assert left.get_position().x1 < right.get_position().x0 or not ax.axison
    assert ax.get_title() == "T"


def test_many_rows_are_sampled_and_that_is_said():
    many = np.tile(SHARES, (50, 1))
    ax = responsibilities(many, ax=Figure().subplots(), max_rows=40)
    n_lines = len(ax.images[0].get_array())
    assert n_lines <= 40
    assert ax.get_ylabel() == f"rows, sorted ({n_lines} of 200)"
    with pytest.raises(ValueError, match="of shape"):
        responsibilities(SHARES, np.zeros((3, 2)), ax=Figure().subplots())
