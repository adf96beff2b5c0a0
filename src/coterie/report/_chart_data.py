"""What the scripts of a page draw from, packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.report._density import density
from coterie.report._marks import NOISE_MARK, mark
from coterie.report._packed import coordinates, packed

#: Parts of a summary that are drawn as they are.
_AS_THEY_ARE = (
    "silhouette", "null_replay", "choice_of_k", "bic", "dendrogram", "k_distances", "memberships",
)  # fmt: skip


def chart_data(summary: dict[str, Any], shown: set[str]) -> dict[str, Any]:
    """The numbers behind the drawings of the `shown` sections."""
    structured = summary["verdict"]["has_structure"]
    clusters = summary["clusters"] if structured else []
    data: dict[str, Any] = {
        "title": summary["title"],
        "structured": structured,
        "clusters": [
            {key: cluster[key] for key in ("label", "name", "size", "stability")}
            | mark(place)._asdict()
            for place, cluster in enumerate(clusters)
        ],
        "noise": NOISE_MARK._asdict(),
    }
    if structured:
        data |= {key: summary[key] for key in _AS_THEY_ARE if summary.get(key)}
    if "map" in shown:
        data["map"] = _map(summary["map"], clustered=structured)
    return data


def _map(given: dict[str, Any], *, clustered: bool) -> dict[str, Any]:
    """The points of a map with their values and the lines of their density."""
    drawn = {
        "axes": given["axes"],
        "x": coordinates(given["x"]),
        "y": coordinates(given["y"]),
        "row": packed(given["row"]),
        "label": packed(given["label"]),
        "confidence": packed(np.round(np.asarray(given["confidence"], np.float64), 3)),
        "ambiguous": packed(given["ambiguous"]),
        "columns": [{**column, "values": packed(column["values"])} for column in given["columns"]],
    }
    lines = density(given["x"], given["y"], clustered=clustered)
    if lines is not None and given["axes"][1]:  # heights that mean nothing have no density
        drawn["density"] = {
            "x": coordinates(lines.x),
            "y": coordinates(lines.y),
            "inside": coordinates(lines.inside.ravel()),
        }
    return drawn
