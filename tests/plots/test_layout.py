"""Layouts of graphs: paths come out straight, stress never rises, nothing lies on another."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from coterie.plots import _layout
from coterie.plots._layout import laid_out, stress


def path_of(lengths):
    n = len(lengths) + 1
    return sp.csr_array((lengths, (np.arange(n - 1), np.arange(1, n))), shape=(n, n))


def test_a_path_is_a_straight_line_of_its_lengths():
    lengths = np.array([1.0, 3.0, 2.0, 0.5])
    stations = np.concatenate([[0], np.cumsum(lengths)])
    places = laid_out(path_of(lengths), hops=False)
    expected = np.abs(stations[:, np.newaxis] - stations)
    np.testing.assert_allclose(squareform(pdist(places)), expected, atol=2e-2)
    steps = np.linalg.norm(np.diff(laid_out(path_of(lengths), hops=True), axis=0), axis=1)
    np.testing.assert_allclose(steps, 1, atol=2e-2)


def test_nodes_with_the_same_friends_are_drawn_apart():
    star = sp.csr_array((np.ones(6), (np.zeros(6, int), np.arange(1, 7))), shape=(7, 7))
    places = laid_out(star, hops=True)
    assert pdist(places).min() > 0.5
    rays = np.linalg.norm(places[1:] - places[0], axis=1)
    assert rays.max() < 1.3 * rays.min()


def test_parts_lie_apart_and_a_node_alone_somewhere():
    two = sp.block_diag([path_of(np.ones(3)), path_of(np.ones(3))], format="csr")
    places = laid_out(two, hops=True)
    between = np.linalg.norm(places[:4].mean(axis=0) - places[4:].mean(axis=0))
    assert between > 2
    assert laid_out(sp.csr_array((1, 1)), hops=True).shape == (1, 2)
    assert np.isfinite(laid_out(sp.csr_array((3, 3)), hops=True)).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 25), zeros=st.booleans())
def test_stress_never_rises(seed, n, zeros):
    rng = np.random.default_rng(seed)
    square = sp.random(n, n, 0.2, format="csr", random_state=rng)
    if zeros and square.nnz:
        square.data[0] = 0.0
    lengths = _layout._path_lengths(square, hops=False)
    totals = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_layout, "stress", lambda *given: totals.append(stress(*given)) or totals[-1])
        places = laid_out(square, hops=False)
    assert totals[-1] == stress(places, lengths)
    assert (np.diff(totals) <= 1e-9 * totals[0]).all()
    np.testing.assert_array_equal(places, laid_out(square, hops=False))


def test_stress_of_a_pair_by_hand():
    assert stress(np.array([[0.0, 0], [3, 4]]), np.array([[0.0, 4], [4, 0]])) == pytest.approx(
        (5 - 4) ** 2 / 16
    )
