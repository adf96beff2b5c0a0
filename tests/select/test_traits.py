"""Effect sizes of traits, by hand and by formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.select._described import describe_columns
from coterie.select._traits import cohen_d, cohen_h, find_traits


def test_d_by_hand() -> None:
    # Means 2 and 5; squares about them 2 and 2, over 3 + 3 - 2 rows: a deviation of 1.
    assert cohen_d(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])) == pytest.approx(-3.0)


def test_d_without_spread_within() -> None:
    assert cohen_d(np.ones(3), np.zeros(3)) == pytest.approx(2.0)  # in units of that of all
    assert cohen_d(np.zeros(3), np.zeros(2)) == 0.0
    assert cohen_d(np.full(3, 0.1), np.full(2, 0.1)) == 0.0


@given(st.floats(0, 1), st.floats(0, 1))
def test_h(a: float, b: float) -> None:
    assert cohen_h(a, b) == pytest.approx(-cohen_h(b, a))
    assert abs(cohen_h(a, b)) <= np.pi + 1e-12
    assert cohen_h(a, a) == 0.0


def test_traits_come_by_their_effect() -> None:
    cells = np.empty((8, 4), dtype=object)
    cells[:, 0] = [1.0, 2, 3, 2, 9, 8, 7, 8]
    cells[:, 1] = ["a", "a", "a", "b", "b", "b", "b", "c"]
    cells[:, 2] = [5.0, 6, 5, 6, 5, 6, 5, 6]  # tells nothing
    cells[:, 3] = [None, None, None, None, 1.0, 2, 3, 4]
    inside = np.arange(8) < 4
    found = find_traits(describe_columns("test", cells), inside)
    assert [abs(t.effect) for t in found] == sorted((abs(t.effect) for t in found), reverse=True)
    by_name = {(t.column, t.measure, t.level): t for t in found}
    assert by_name["x0", "mean", None].inside == 2.0
    assert by_name["x0", "mean", None].effect < -4
    assert by_name["x1", "share", "a"].inside == 0.75
    assert by_name["x1", "share", "a"].outside == 0.0
    assert by_name["x3", "missing", None].effect == pytest.approx(np.pi)
    assert not any(t.column == "x2" for t in found)
    assert str(by_name["x1", "share", "a"]) == "x1 is a in 75% against 0% (effect +2.09)"
