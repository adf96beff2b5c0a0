"""Covers coterie.report._numbers."""

from __future__ import annotations

import pytest

from coterie.report._numbers import after, chance, count, index, percent, short, with_chance


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (1, "1"), (1.0, "1"), (-3, "−3"), (12345, "12,345"), (1234.5, "1,234"),
        (0.12345, "0.123"), (1.2345, "1.23"), (12.345, "12.3"), (-0.5, "−0.500"),
        (0.00012345, "0.00012"), (1e20, "1e+20"), (None, "–"), (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)  # fmt: skip
def test_numbers_have_few_digits(value: float | None, words: str) -> None:
    assert short(value) == words


def test_digits_can_be_asked_for() -> None:
    assert short(0.12345, 2) == "0.12"
    assert short(3456.7, 5) == "3,456.7"
    assert index(1) == "1.00"
    assert index(-0.126) == "−0.13"
    assert index(None) == "–"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0%"), (0.004, "< 1%"), (0.5, "50%"), (0.996, "> 99%"), (1, "100%"), (None, "–")],
)
def test_shares_do_not_round_to_nothing_or_all(share: float | None, words: str) -> None:
    assert percent(share) == words


def test_chances_and_counts() -> None:
    assert chance(0.0004) == "p < 0.001"
    assert chance(0.0123) == "p = 0.012"
    assert chance(None) == "–"
    assert count(1, "row") == "1 row"
    assert count(1500, "row") == "1,500 rows"
    assert count(2, "index", "indices") == "2 indices"


def test_nothing_is_said_twice() -> None:
    assert after("Another seed: the same.", "Another seed") == "the same."
    assert after("The same.", "Another seed") == "The same."
    assert with_chance("Yes.", 0.04) == "Yes. (p = 0.04)"
    assert with_chance("Yes, p < 0.001.", 0.0001) == "Yes, p < 0.001."
    assert with_chance("Yes.", None) == "Yes."
