"""Covers coterie.report._cluster_names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from coterie.report._cluster_names import cluster_names


def trait(column: str, effect: float, measure: str = "mean", level: Any = None) -> SimpleNamespace:
    return SimpleNamespace(
        column=column, effect=effect, measure=measure, level=level, inside=10 * effect
    )


def test_two_traits_are_told_in_words() -> None:
    own = [trait("weight", -2), trait("kind", 1.5, "share", "b"), trait("height", 1)]
    other = [trait("kind", -1, "share", "b"), trait("age", 0.5, "missing")]
    assert cluster_names([own, other], {}) == ["low weight, kind b", "kind not b, age missing"]


def test_of_two_levels_the_other_is_named() -> None:
    own = [trait("sex", -2, "share", "male"), trait("milk", -1, "share", True)]
    pairs = {"sex": ("female", "male"), "milk": (False, True)}
    assert cluster_names([own], pairs) == ["sex female, milk False"]


def test_names_that_are_alike_go_on_until_they_differ() -> None:
    shared = [trait("a", 3), trait("b", 2)]
    names = cluster_names(
        [[*shared, trait("c", 1)], [*shared, trait("c", -1)], [trait("a", -3), trait("b", -2)]], {}
    )
    assert names == ["high a, high b, high c", "high a, high b, low c", "low a, low b"]


def test_clusters_without_a_difference_or_a_trait_have_names_all_the_same() -> None:
    same, more = [trait("a", 1)], [trait("a", 2)]
    assert cluster_names([same, more, []], {}) == [
        "high a (10)", "high a (20)", "apart in no column alone"
    ]  # fmt: skip
