"""Stages are bars as long as they took, whichever method they are of.

Covers coterie.plots._entries.
"""

import numpy as np
import pytest
from matplotlib.figure import Figure

from coterie import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from coterie.plots import descent, stages


def blobs():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])


@pytest.mark.parametrize("draw", [stages, descent])
@pytest.mark.parametrize(
    "model",
    [HDBSCAN(), DBSCAN(eps=1.0), AgglomerativeClustering(2)],
    ids=lambda model: type(model).__name__,
)
def test_a_bar_a_stage(model, draw):
    history = model.fit(blobs()).history_
    for given in (model, history):
        ax = draw(given, ax=Figure().subplots())
        assert [text.get_text() for text in ax.get_yticklabels()] == [e["stage"] for e in history]
        scale = {"seconds": 1, "milliseconds": 1000}[ax.get_xlabel()]
        took = sum(bar.get_width() for bar in ax.patches)
        assert took == pytest.approx(scale * history[-1]["seconds"])


@pytest.mark.parametrize(
    ("seconds", "told", "unit"),
    [
        ([0.00025, 2.50025], ["0.00025 s", "2.5 s"], "seconds"),
        ([0.00025, 0.50025], ["0.25 ms", "500 ms"], "milliseconds"),
    ],
)
def test_bars_and_their_axis_have_one_unit(seconds, told, unit):
    history = [
        {"stage": name, "seconds": at} for name, at in zip(("one", "two"), seconds, strict=True)
    ]
    ax = stages(history, ax=Figure().subplots())
    assert [text.get_text() for text in ax.texts] == told
    assert ax.get_xlabel() == unit


def test_iterations_are_no_stages():
    with pytest.raises(ValueError, match="no stages; use descent"):
        stages(KMeans(2).fit(blobs()), ax=Figure().subplots())
