"""Covers coterie.select._walk."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.select._candidates import Method
from coterie.select._contest import MethodCandidate, Round
from coterie.select._walk import largest_leap, leaps, walk


def a_round(k: int, border: float) -> Round:
    one = MethodCandidate("none", {}, k, border, 0.0, 0.0, 0.0, 0.0)
    return Round([one], Method, np.empty(0, np.int64))  # type: ignore[arg-type]


def rounds(*borders: float) -> dict[int, Round]:
    return {k: a_round(k, border) for k, border in enumerate(borders, 2)}


def test_the_number_before_the_largest_leap_is_taken() -> None:
    assert largest_leap(rounds(0.0, 0.001, 0.2, 0.25)) == 3
    assert largest_leap(rounds(0.01, 0.2, 0.21)) == 2
    assert largest_leap(rounds(0.4)) == 2


def test_a_wider_border_before_a_narrower_one_is_no_leap() -> None:
    assert largest_leap(rounds(0.01, 0.3, 0.01, 0.02, 0.2)) == 5


def test_wide_borders_are_chosen_only_where_there_are_no_others() -> None:
    assert largest_leap(rounds(0.14, 0.2, 0.2, 0.9)) == 2
    assert largest_leap(rounds(0.16, 0.2, 0.2, 0.9)) == 4


def test_leaps_are_those_of_their_formula() -> None:
    logs = np.log(np.array([0.0, 0.01, 0.05, 0.2]) + 0.01)
    first = logs[2] - logs[1] - (logs[1] - logs[0]) / 5
    second = logs[3] - logs[2] - (logs[2] - logs[1]) / 5
    assert leaps(np.array([0.01, 0.05, 0.2])) == pytest.approx([first, second])


def test_the_walk_ends_where_borders_stay_wide_or_rows_are_few() -> None:
    def narrow(k: int) -> Round:
        return a_round(k, 0.01)

    def wide_from_20(k: int) -> Round:
        return a_round(k, 0.01 if k < 20 else 0.5)

    assert max(walk(narrow, 10_000, 10_000)) == 151
    assert max(walk(narrow, 400, 400)) == 41
    assert max(walk(narrow, 400, 7)) == 7
    assert max(walk(wide_from_20, 10_000, 10_000)) == 22
    assert max(walk(lambda k: a_round(k, 0.9), 400, 400)) == 11
