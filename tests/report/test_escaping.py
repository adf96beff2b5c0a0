"""Covers coterie.report._escaping."""

from __future__ import annotations

import json

import pytest
import summaries

from coterie.report._escaping import fingerprint, island

ATTACKS = [summaries.HOSTILE, summaries.HOSTILE_ATTRIBUTE, summaries.HOSTILE_END,
           summaries.HOSTILE_LINK]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_value_is_read_as_markup(attack: str) -> None:
    value = {attack: [attack, 1.5, None, {"é\x00": "\\"}]}
    text = island(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029\x00") & set(text)


def test_numbers_that_json_has_no_word_for_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        island([float("nan")])


def test_a_fingerprint_is_that_of_the_standard() -> None:
    # The example of Content Security Policy Level 3.
    known = "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
    assert fingerprint("alert('Hello, world.');") == known
