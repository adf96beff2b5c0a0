"""Which sections a report has: those with something to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Section(NamedTuple):
    """A section: its name in links and files, its heading, and when it is there."""

    name: str
    title: str
    needs_structure: bool
    is_there: Callable[[dict[str, Any]], bool]


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda summary: any(summary.get(key) for key in keys)


#: In the order of the page.
SECTIONS = (
    Section("verdict", "Verdict", False, lambda _: True),
    Section("map", "Map", False, lambda summary: bool((summary.get("map") or {}).get("x"))),
    Section("clusters", "Clusters", True, _has("clusters")),
    Section(
        "confidence", "Can it be trusted?", True, _has("silhouette", "null_replay", "clusters")
    ),
    Section("choice", "Number and method", True, _has("choice_of_k", "methods")),
    Section("bic", "Mixtures by BIC", True, _has("bic")),
    Section("dendrogram", "Tree", True, _has("dendrogram")),
    Section("k_distances", "Distances to neighbours", True, _has("k_distances")),
    Section("memberships", "Soft memberships", True, _has("memberships")),
    Section("sensitivity", "What would change the answer", True, _has("sensitivity")),
    Section("tendency", "Is there anything to find?", False, _has("tendency")),
    Section("data", "Data and columns", False, _has("columns", "quality", "notes")),
    Section("reproduce", "How to reproduce", False, _has("reproduce")),
)


def sections_of(summary: dict[str, Any]) -> list[Section]:
    """The sections of this report; without structure nothing decorates."""
    structured = summary["verdict"]["has_structure"]
    return [
        section
        for section in SECTIONS
        if (structured or not section.needs_structure) and section.is_there(summary)
    ]
