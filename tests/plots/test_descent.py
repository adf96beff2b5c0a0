"""The descent plot shows both half-steps."""

import pytest
from matplotlib.figure import Figure

from coterie.plots import descent

HISTORY = [
    {"iteration": 1, "objective_assign": 9.0, "objective_update": 7.0, "shift": 1.0},
    {"iteration": 2, "objective_assign": 6.0, "objective_update": 5.5, "shift": 0.5},
]


def test_both_half_steps_are_drawn_in_their_order():
    ax = descent(HISTORY, ax=Figure().subplots())
    assigned, updated = (collection.get_offsets().tolist() for collection in ax.collections)
    assert assigned == [[1, 9], [2, 6]]
    assert updated == [[1.5, 7], [2.5, 5.5]]
    (stairs,) = ax.lines
    assert stairs.get_ydata().tolist() == [9, 7, 6, 5.5]
    assert ax.get_xlabel() == "iteration"


def test_an_empty_history_is_refused():
    with pytest.raises(ValueError, match="history is empty"):
        descent([], ax=Figure().subplots())
