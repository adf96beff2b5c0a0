"""VAT orders rows along the spanning tree."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from coterie.plots import vat
from coterie.plots.vat import path_lengths, prim_order

X = np.random.default_rng(0).normal(size=(40, 2))
LENGTHS = squareform(pdist(X))


def test_the_image_is_the_distances_in_prims_order():
    ax = vat(X, ax=Figure().subplots(), title="T")
    order = prim_order(LENGTHS)
    assert sorted(order.tolist()) == list(range(40))
    assert LENGTHS.max() in LENGTHS[order[0]]
    for place in range(1, 40):  # each row is the nearest to all before it
        known, rest = order[:place], order[place:]
        assert LENGTHS[order[place], known].min() == LENGTHS[np.ix_(rest, known)].min()
    assert_allclose(ax.images[0].get_array(), LENGTHS[np.ix_(order, order)])
    assert_allclose(vat(LENGTHS, "precomputed", ax=Figure().subplots()).images[0].get_array(),
                    LENGTHS[np.ix_(order, order)])  # fmt: skip
    assert ax.get_xlabel() == "rows, as a spanning tree reaches them"


def test_paths_are_the_heights_of_single_linkage():
    order = prim_order(LENGTHS)
    longest = path_lengths(LENGTHS[np.ix_(order, order)])
    single = squareform(cophenet(linkage(X, "single")))
    assert_allclose(longest, single[np.ix_(order, order)])
    assert_allclose(vat(X, paths=True, ax=Figure().subplots()).images[0].get_array(), longest)


def test_the_scale_does_not_push_the_square_aside():
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    ax = vat(X, ax=figure.subplots())
    figure.canvas.draw()
    square = ax.get_position()
    assert square.width * 7.2 == pytest.approx(square.height * 4.4)
    assert (square.x0 + square.x1) / 2 == pytest.approx(0.5, abs=0.06)
    (scale,) = ax.child_axes
    assert scale.get_ylabel() == "distance"


def test_many_rows_are_sampled_and_that_is_said():
    ax = vat(X, max_rows=20, ax=Figure().subplots())
    n_drawn = len(ax.images[0].get_array())
    assert n_drawn <= 20
    assert ax.get_xlabel().endswith(f"(a sample: {n_drawn} of 40)")
    with pytest.raises(ValueError, match="pass a square table"):
        vat(X, "precomputed", ax=Figure().subplots())
