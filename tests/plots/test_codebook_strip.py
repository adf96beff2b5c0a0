"""A codebook is a strip of its words. Covers coterie.plots.codebook."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie.plots import codebook

COLORS = np.array([[250, 250, 250], [0, 0, 0], [200, 0, 0]])


def test_colours_stand_from_dark_to_light_as_wide_as_they_are_used():
    ax = codebook(COLORS, counts=[1, 2, 5], ax=Figure().subplots(), title="T")
    assert_allclose([to_rgb(f.get_facecolor()) for f in ax.patches], COLORS[[1, 2, 0]] / 255)
    assert_allclose([f.get_width() for f in ax.patches], [2 / 8, 5 / 8, 1 / 8])
    assert_allclose([f.get_x() for f in ax.patches], [0, 2 / 8, 7 / 8])
    assert (ax.get_xlabel(), ax.get_title()) == ("share of the rows", "T")


def test_other_words_are_columns_of_a_heat_map():
    words = np.array([[3.0, 4], [0, 1]])
    ax = codebook(words, ax=Figure().subplots())
    assert_allclose(ax.collections[0].get_array(), words[[1, 0]].T)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("2 words", "column")


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="there are 3 words"):
        codebook(COLORS, counts=[1, 2], ax=Figure().subplots())
    with pytest.raises(ValueError, match="words has shape"):
        codebook([1.0, np.nan], ax=Figure().subplots())
