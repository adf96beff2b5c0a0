"""Covers coterie.report._marks."""

from __future__ import annotations

import re
from pathlib import Path

from coterie.report import _marks
from coterie.report._marks import N_COLORS, NOISE_MARK, mark

STYLES = Path(_marks.__file__).parent / "templates" / "colors.css"


def test_no_two_of_49_clusters_look_the_same() -> None:
    assert len({mark(i) for i in range(49)}) == 49
    assert mark(49) == mark(0)
    assert NOISE_MARK not in {mark(i) for i in range(49)}


def _luminance(shade: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_on_either_paper() -> None:
    themes = re.findall(r":root[^{]*\{([^}]*)\}", STYLES.read_text(encoding="utf-8"))
    assert len(themes) == 2
    for theme in themes:
        shades = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", theme))
        for text in ("ink", "soft", "accent", "good", "middling", "poor"):
            assert _contrast(shades[text], shades["paper"]) >= 4.5, text
        for i in range(N_COLORS):  # marks are never alone: a number stands beside them
            assert _contrast(shades[f"c{i}"], shades["raised"]) >= 2, i
        assert len({shades[f"c{i}"] for i in range(-1, N_COLORS)}) == N_COLORS + 1
