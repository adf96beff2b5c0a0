"""The silhouette plot has a blade a cluster."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from coterie.plots import silhouettes

VALUES = np.array([0.5, 0.9, -0.2, 0.4, np.nan])
LABELS = np.array([0, 0, 1, 1, -1])


def test_blades_are_sorted_values_as_thick_as_their_rows():
    ax = silhouettes(VALUES, LABELS, ax=Figure().subplots(), title="T")
    first, second = (blade.get_paths()[0].vertices for blade in ax.collections)
    assert np.ptp(first[:, 1]) == np.ptp(second[:, 1]) == 2
    assert {round(x, 6) for x in first[:, 0]} == {0, 0.5, 0.9}
    assert {round(x, 6) for x in second[:, 0]} == {0, 0.4, -0.2}
    widest = first[first[:, 0] == 0.9]
    assert widest[:, 1].max() <= first[first[:, 0] == 0.5][:, 1].max()
    mean, zero = ax.lines
    assert mean.get_xdata()[0] == pytest.approx(0.4)
    assert zero.get_xdata()[0] == 0
    told = [text.get_text() for text in ax.texts]
    assert told == ["0: 2 rows, mean 0.70", "1: 2 rows, mean 0.10", "mean 0.40"]
    assert (ax.get_xlabel(), ax.get_title()) == ("silhouette", "T")


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"values have shape \(5,\) and labels shape \(4,\)"):
        silhouettes(VALUES, LABELS[:4], ax=Figure().subplots())
    with pytest.raises(ValueError, match="no row is in a cluster"):
        silhouettes(VALUES, LABELS * 0 - 1, ax=Figure().subplots())
