"""Every figure has an example, takes axes and gives them back."""

import inspect

import pytest

from coterie import plots

matplotlib = pytest.importorskip("matplotlib")

#: What writes files rather than draws into axes.
WRITERS = {"save_dendrogram", "save_film", "save_k_distances", "save_scatter"}
FIGURES = sorted(set(plots.__all__) - WRITERS)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_an_example(name):
    """tests/test_docstrings.py runs it."""
    assert ">>> " in getattr(plots, name).__doc__


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_into_axes(name):
    given = inspect.signature(getattr(plots, name)).parameters
    assert given["ax"].default is None
