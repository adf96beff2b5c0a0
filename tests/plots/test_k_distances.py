"""The plot of k-distances marks eps and the knee."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from coterie import select
from coterie.plots import k_distances, save_k_distances
from coterie.select import suggest_eps


def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(300, 2)), rng.uniform(-20, 20, size=(40, 2))])


def test_the_knee_is_marked_and_its_strength_drawn():
    found = suggest_eps(rows())
    assert found.knee is not None
    ax = k_distances(found, ax=Figure().subplots())
    curve, chord, eps = ax.lines
    np.testing.assert_array_equal(curve.get_ydata(), found.curve)
    assert list(chord.get_ydata()) == [found.curve[0], found.curve[-1]]
    assert list(eps.get_ydata()) == [found.eps, found.eps]
    strength, knee = ax.collections
    assert knee.get_offsets().tolist() == [[found.knee, found.curve[found.knee]]]
    ((_, low), (_, high)) = strength.get_segments()[0]
    assert (high - low) / np.ptp(found.curve) == pytest.approx(found.strength)
    assert ax.get_ylabel() == f"distance to neighbour {found.min_samples - 1}"


def test_eps_and_the_knee_are_told_apart():
    """Where clusters last longest below the knee, eps is the end of that range."""
    rng = np.random.default_rng(0)
    groups = [rng.normal(center, 1, (100, 2)) for center in ([0, 0], [3.2, 0])]
    far = suggest_eps(np.vstack([*groups, rng.normal([2, 4], 0.6, (80, 2))]))
    assert far.knee is not None
    assert far.level is not None
    assert far.eps < far.curve[far.knee]
    ax = k_distances(far, ax=Figure().subplots())
    knee, eps = (text.get_text() for text in ax.texts)
    assert knee == f"knee, strength {far.strength:.2f}"
    assert eps == f"eps = {far.eps:.3g}, the end of the band next to the knee"
    near = suggest_eps(rows())
    assert k_distances(near, ax=Figure().subplots()).texts[1].get_text() == f"eps = {near.eps:.3g}"


def test_no_knee_is_said():
    found = suggest_eps(np.random.default_rng(0).uniform(size=(300, 2)))
    ax = k_distances(found, ax=Figure().subplots())
    assert not ax.collections
    assert "no knee" in ax.texts[0].get_text()


def test_rows_are_welcome_too_as_a_frame():
    frame = pd.DataFrame(rows(), columns=["a", "b"])
    ax = k_distances(frame, ax=Figure().subplots())
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), suggest_eps(rows()).curve)
    assert len(select.k_distances(frame, 4).kth) == len(frame)


def test_it_is_saved_with_its_title(tmp_path):
    save_k_distances(tmp_path / "curve.svg", suggest_eps(rows()), title="some rows")
    assert (tmp_path / "curve.svg").read_text().count("<path") > 5
