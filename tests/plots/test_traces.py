"""Fits are compared by a line each."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from coterie.plots import traces


def history(*values):
    return [{"iteration": i, "objective_update": v} for i, v in enumerate(values, 1)]


def test_lines_are_the_objectives():
    ax = traces({"a": history(9.0, 5), "b": history(7.0, 6, 4)}, ax=Figure().subplots(), title="T")
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn == {"a": [[1, 9], [2, 5]], "b": [[1, 7], [2, 6], [3, 4]]}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_xlabel() == "iteration"


def test_gaps_are_above_the_lowest():
    ax = traces([history(9.0, 5), history(7.0, 4)], gap=True, ax=Figure().subplots())
    assert ax.lines[0].get_ydata().tolist() == [5, 1]
    assert ax.lines[1].get_ydata()[0] == 3
    assert np.isnan(ax.lines[1].get_ydata()[1])
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel().endswith("above the lowest")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="no history was given"):
        traces({}, ax=Figure().subplots())
    with pytest.raises(ValueError, match="has stages and no iterations"):
        traces({"s": [{"stage": "tree", "seconds": 1.0}]}, ax=Figure().subplots())
