"""What the figures of the pages that a script draws show: the shapes and numbers they are about."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Any:
    """drawn(script, ...) is the figure that a script would save."""
    matplotlib.use("agg")
    monkeypatch.syspath_prepend(str(FIGURES))
    figures: list[Figure] = []
    saving = importlib.import_module("_saving")
    monkeypatch.setattr(saving, "save_small", lambda figure, path: figures.append(figure))

    def run(script: str, **options: Any) -> Figure:
        runpy.run_path(str(FIGURES / f"{script}.py"))["draw"](FIGURES, **options)
        (figure,) = figures
        return figure

    yield run
    for figure in figures:
        matplotlib.pyplot.close(figure)


def number(words: str) -> float:
    """The last number of a text."""
    return float(re.findall(r"-?[\d.]+", words.replace("\N{MINUS SIGN}", "-"))[-1])


def test_a_local_minimum_is_many_times_worse(drawn: Any) -> None:
    figure = drawn("local_minimum")
    good, bad = (number(ax.get_title()) for ax in figure.axes)
    assert bad > 5 * good
    for ax, start in zip(
        figure.axes, ([[0.7, 1], [4.3, 1]], [[2.5, -0.4], [2.5, 2.4]]), strict=True
    ):
        marks = [np.asarray(found.get_offsets()).tolist() for found in ax.collections]
        assert start in marks


def test_the_wrong_k_is_drawn_with_its_regions(drawn: Any) -> None:
    figure = drawn("wrong_k")
    told = [ax.get_title() for ax in figure.axes]
    assert [words.split(":")[0] for words in told] == ["K = 2", "K = 4", "K = 7"]
    errors = [number(ax.get_xlabel()) for ax in figure.axes]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 4 * errors[1]
    assert errors[1] < 2 * errors[2]


def test_bounds_touch_the_log_likelihood_and_stay_below(drawn: Any) -> None:
    (ax,) = drawn("lower_bound").axes
    curve, *bounds = [np.asarray(line.get_ydata()) for line in ax.lines]
    assert len(bounds) == 4
    for bound in bounds:
        gap = curve - bound
        assert gap.min() > -1e-9
        assert gap.min() < 0.01
    dots, rings = ax.collections[0:-1:3], ax.collections[1::3]
    touches = [np.asarray(dot.get_offsets())[0] for dot in dots]
    peaks = [np.asarray(ring.get_offsets())[0] for ring in rings]
    heights = [height for _, height in touches]
    assert heights == sorted(heights)
    for (_, touch), (mean, peak), (then, _) in zip(
        touches[:-1], peaks[:-1], touches[1:], strict=True
    ):
        assert peak > touch
        assert mean == pytest.approx(then)  # the next E-step is made where the M-step ended


def test_a_bad_start_ends_higher(drawn: Any) -> None:
    figure = drawn("good_and_bad_start", n_rows=300)
    random, plusplus, traces = figure.axes
    assert number(random.get_xlabel()) > number(plusplus.get_xlabel())
    assert len(random.texts) == len(plusplus.texts) == 15
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in traces.lines]
    assert len(lines) >= 2
    for line in lines:
        assert np.all(np.diff(line) <= 1e-9 * line[0])


def test_two_gaussians_have_the_better_bic(drawn: Any) -> None:
    one, two = drawn("one_or_two").axes[:2]
    assert one.get_title().startswith("one Gaussian: BIC")
    assert number(two.get_title()) < number(one.get_title())


def test_standardised_rows_find_the_species(drawn: Any) -> None:
    figure = drawn("standardised")
    raw, standardised = (number(ax.get_title()) for ax in figure.axes[1:])
    assert raw < 0.5 < standardised
