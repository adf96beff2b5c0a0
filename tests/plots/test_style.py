"""Figures need matplotlib only when drawn."""

import sys

import pytest

from coterie.plots._style import new_axes


def test_matplotlib_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'coterie\[plot\]'"):
        new_axes()


def test_new_axes_save_as_900_by_600(monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = new_axes()
    try:
        assert (ax.figure.get_size_inches() * ax.figure.dpi).tolist() == [900, 600]
    finally:
        pyplot.close(ax.figure)
