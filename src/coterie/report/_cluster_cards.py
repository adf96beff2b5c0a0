"""What the page says of each cluster: its mark, its traits and its distributions."""

from __future__ import annotations

from typing import Any

from coterie.report._histograms import panel
from coterie.report._marks import mark

#: Columns that are drawn at once; the others are drawn on demand, up to a limit.
_FIRST_PANELS, _MOST_PANELS = 6, 60


def cluster_cards(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The clusters of a summary, each with what its card shows besides."""
    clusters = summary["clusters"]
    names = {cluster["label"]: cluster["name"] for cluster in clusters}
    largest = max((cluster["size"] for cluster in clusters), default=1) or 1
    strongest = _strongest(clusters)
    cards = []
    for place, cluster in enumerate(clusters):
        panels = _panels(summary["profiles"], cluster, place)
        cards.append(
            {
                **cluster,
                "mark": mark(place),
                "of_largest": cluster["size"] / largest,
                "rival_name": names.get(cluster["rival"]),
                "strongest": strongest,
                "panels": panels[:_FIRST_PANELS],
                "more_panels": panels[_FIRST_PANELS:_MOST_PANELS],
                "n_undrawn": max(len(panels) - _MOST_PANELS, 0),
            }
        )
    return cards


def _panels(
    profiles: list[dict[str, Any]], cluster: dict[str, Any], place: int
) -> list[dict[str, Any]]:
    """The columns of a cluster: those of its traits first, then as the distributions differ."""
    first = {trait["column"]: i for i, trait in reversed([*enumerate(cluster["traits"])])}
    panels = [panel(profile, place) for profile in profiles]
    return sorted(panels, key=lambda p: (first.get(p["column"], len(first)), -p["apart"]))


def _strongest(clusters: list[dict[str, Any]]) -> float:
    """The largest effect of any trait, against which the others are drawn."""
    effects = (abs(trait["effect"]) for cluster in clusters for trait in cluster["traits"])
    return max(effects, default=1.0) or 1.0
