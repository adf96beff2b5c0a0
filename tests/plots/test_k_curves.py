"""Every criterion of a choice of k has a panel in its own units."""

import numpy as np
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from coterie.plots import k_curves
from coterie.select import Curve, KChoice


def test_panels_show_values_errors_picks_and_the_recommendation():
    curves = {
        "bic": Curve(np.array([9.0, 4, 6]), None, 2, "", weak=False, sees_one=True),
        "held_out": Curve(
            np.array([1.0, 3, 2]), np.array([0.1, 0.2, 0.3]), 3, "", weak=True, sees_one=True
        ),
    }
    choice = KChoice(2, (1, 2, 3), curves, 1.0, None, None, [])
    ax = k_curves(choice, ax=Figure().subplots(), title="T")
    bic, held_out = ax.child_axes
    assert [bic.get_title(), held_out.get_title(), ax.get_title()] == ["bic", "held out", "T"]
    for panel, curve in zip((bic, held_out), curves.values(), strict=True):
        line, recommended = panel.lines[0], panel.lines[-1]
        assert line.get_xdata().tolist() == [1, 2, 3]
        assert_allclose(line.get_ydata(), curve.values)
        assert set(recommended.get_xdata()) == {2}
        ring = panel.collections[-1].get_offsets().tolist()
        assert ring == [[curve.pick, curve.values[curve.pick - 1]]]
    assert len(bic.collections) == 1
    bars = held_out.collections[0].get_segments()
    assert_allclose([np.ptp(bar[:, 1]) / 2 for bar in bars], [0.1, 0.2, 0.3])
    assert bic.get_xlabel() == "clusters"


def test_a_single_k_has_a_single_tick():
    curves = {"bic": Curve(np.array([9.0]), None, 2, "", weak=False, sees_one=True)}
    ax = k_curves(KChoice(2, (2,), curves, 1.0, None, None, []), ax=Figure().subplots())
    (panel,) = ax.child_axes
    low, high = panel.get_xlim()
    assert [tick for tick in panel.get_xticks() if low <= tick <= high] == [2]
