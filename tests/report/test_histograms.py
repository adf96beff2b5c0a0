"""Covers coterie.report._histograms."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.report._histograms import HEIGHT, WIDTH, panel, steps


def numeric(**changes: Any) -> dict[str, Any]:
    return {"column": "a", "kind": "numeric", "edges": [0, 1, 2], "levels": None, "all": [6, 4],
            "by_cluster": [[6, 0], [0, 4]], "missing": [0, 0], **changes}  # fmt: skip


def test_a_cluster_is_held_against_all_other_rows() -> None:
    drawn = panel(numeric(), 0)
    assert drawn["apart"] == 1
    assert (drawn["low"], drawn["high"]) == (0, 2)
    ends = panel(numeric(edges=[-0.5, 0.5, 1.5], least=0, most=1), 0)
    assert (ends["low"], ends["high"]) == (0, 1)
    assert drawn["mine"] == steps([0, 1, 2], [1, 0])
    assert drawn["rest"] == steps([0, 1, 2], [0, 1])
    same = panel(numeric(by_cluster=[[3, 2], [3, 2]]), 1)
    assert same["apart"] == 0
    assert same["mine"] == same["rest"]


def test_bars_have_corners() -> None:
    path = steps([10, 20, 40], [1, 0.5])
    assert path == f"M0 {HEIGHT}V0H66.7V{HEIGHT / 2:g}H{WIDTH}V{HEIGHT}"


def test_levels_are_shares_and_the_rare_are_counted() -> None:
    profile = numeric(
        kind="levels",
        edges=None,
        levels=list("abcdefgh"),
        all=[5, 5, 5, 5, 5, 5, 1, 2],
        by_cluster=[[5, 0, 0, 0, 0, 0, 0, 0]],
    )
    drawn = panel(profile, 0)
    assert [row["level"] for row in drawn["levels"]] == list("abcdef")
    assert drawn["n_more"] == 2
    assert drawn["levels"][0] == {"level": "a", "mine": 1, "rest": 0}
    assert drawn["levels"][1]["rest"] == pytest.approx(5 / 28)


def test_empty_and_constant_columns_are_drawn_flat() -> None:
    assert panel(numeric(all=[0, 0], by_cluster=[[0, 0]]), 0)["apart"] == 0
    assert panel(numeric(edges=[3, 3, 3]), 0)["mine"].startswith("M0 ")
