"""Centres that are images are drawn as such."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie.plots import center_images

CENTERS = 5 + np.arange(24.0).reshape(4, 6)


def test_each_centre_is_an_image_with_its_name_and_none_overlap():
    ax = center_images(
        CENTERS, (2, 3), names=list("abcd"), n_across=3, ax=Figure().subplots(), title="T"
    )
    for center, image in zip(CENTERS, ax.images, strict=True):
        assert_allclose(image.get_array(), (center.reshape(2, 3) - 5) / 23)
    assert [text.get_text() for text in ax.texts] == list("abcd")
    boxes = [image.get_extent() for image in ax.images]
    assert boxes[0][1] < boxes[1][0]
    assert boxes[3][3] < boxes[0][2]  # the fourth begins a new line
    for left, right, bottom, top in boxes:
        assert ax.get_xlim()[0] <= left < right <= ax.get_xlim()[1]
        assert ax.get_ylim()[0] <= bottom < top <= ax.get_ylim()[1]


def test_colour_and_limits():
    ax = center_images(np.full((1, 12), 51.0), (2, 2, 3), limits=(0, 255), ax=Figure().subplots())
    assert_allclose(ax.images[0].get_array(), np.full((2, 2, 3), 0.2))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"images of shape \(2, 2\) have 4 values"):
        center_images(CENTERS, (2, 2), ax=Figure().subplots())
    with pytest.raises(ValueError, match="3 names were given for 4 centres"):
        center_images(CENTERS, (2, 3), names="abc", ax=Figure().subplots())
