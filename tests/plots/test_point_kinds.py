"""Core, border and noise are told apart, as in the eleven-point example."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.testing import assert_allclose

from coterie import DBSCAN
from coterie.plots import point_kinds

X = [[1, 1], [1, 3], [1, 5], [1, 8], [3, 1], [4, 4], [4, 6], [5, 1], [6, 4], [6, 6], [7, 1]]


@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")  # of one giant cluster
@pytest.mark.parametrize(("eps", "kinds"), [(2, (8, 2, 1)), (3, (9, 2, 0)), (4, (11, 0, 0))])
def test_kinds_of_the_textbook(eps, kinds):
    model = DBSCAN(eps=eps, min_samples=3).fit(X)
    ax = point_kinds(X, model.labels_, model.core_sample_indices_, eps, ax=Figure().subplots())
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == [
        f"{name} ({n})" for name, n in zip(("core", "border", "noise"), kinds, strict=True)
    ]
    circles = [patch for patch in ax.patches if isinstance(patch, Circle)]
    assert len(circles) == 2 * kinds[0]  # tint and ring
    assert {circle.get_radius() for circle in circles} == {eps}
    drawn = np.vstack([c.get_offsets() for c in ax.collections if len(c.get_offsets())])
    assert sorted(drawn.tolist()) == sorted(map(list, X))


def test_marks_and_names():
    labels, core = np.array([0, 0, -1]), [0]
    ax = point_kinds([[0, 0], [1, 0], [9, 9]], labels, core, 1.5, names=["a", "b", "c"],
                     circles="all", ax=Figure().subplots(), title="T")  # fmt: skip
    filled, hollow, noise = ax.collections
    assert_allclose(filled.get_offsets(), [[0, 0]])
    assert_allclose(hollow.get_offsets(), [[1, 0]])
    assert_allclose(hollow.get_facecolor(), [[1, 1, 1, 1]])
    assert_allclose(noise.get_offsets(), [[9, 9]])
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    assert len(ax.patches) == 6


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="pass two columns"):
        point_kinds(np.zeros((2, 3)), [0, 0], [0], 1, ax=Figure().subplots())
    with pytest.raises(ValueError, match="circles='border'"):
        point_kinds(np.zeros((2, 2)), [0, 0], [0], 1, circles="border", ax=Figure().subplots())
