"""Fitted facts as a small table for notebooks: no script, every value escaped.

Colours are taken from the text around it, so that it suits light and dark notebooks alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np

from coterie._distinct import distinct

#: Clusters and events that are shown one by one.
_MOST_BARS, _MOST_EVENTS = 12, 5
#: What a fit reaches, and what it is called.
_OBJECTIVES = {
    "inertia_": "inertia",
    "distortion_": "distortion",
    "lower_bound_": "lower bound",
    "radius_": "radius",
}

_CELL = "text-align:left;padding:0.15em 1em 0.15em 0;vertical-align:top;border:0"
_TRACK = "display:inline-block;width:9em;height:0.7em;vertical-align:baseline"


class Bar(NamedTuple):
    """A line of a bar chart: what it stands for, how long it is and what is written behind it."""

    name: str
    size: float
    words: str


def frame(*parts: str) -> str:
    """The parts of an answer, one below the other, in the type of the notebook."""
    return (
        '<div class="coterie" style="font-size:0.9em;margin:0.5em 0">' + "".join(parts) + "</div>"
    )


def facts_table(facts: Iterable[tuple[str, str]]) -> str:
    """A table of names and values, both plain text."""
    lines = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;opacity:0.75">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table style="border-collapse:collapse;border:0">{lines}</table>'


def bars(lines: list[Bar], *, more: str = "") -> str:
    """Horizontal bars, the longest of full length; `more` says what is not shown."""
    longest = max((line.size for line in lines), default=0) or 1
    drawn = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(line.name)}</th>'
        f'<td style="{_CELL}"><span style="{_TRACK}"><span style="display:block;height:100%;'
        f'width:{100 * line.size / longest:.0f}%;background:#3d84b8"></span></span></td>'
        f'<td style="{_CELL};text-align:right">{escape(line.words)}</td></tr>'
        for line in lines
    )
    after = f'<p style="margin:0.2em 0;opacity:0.75">{escape(more)}</p>' if more else ""
    return f'<table style="border-collapse:collapse;border:0">{drawn}</table>{after}'


def fitted_html(model: Any) -> str:
    """What a fit found: clusters, sizes, objective, iterations, events; empty before it."""
    known = vars(model)
    if not {"labels_", "history_", "events_"} & set(known):
        return ""
    shown = _sizes(known)
    parts = [facts_table(_facts(known))]
    if shown:
        more = len(shown) - _MOST_BARS
        parts.append(bars(shown[:_MOST_BARS], more=f"and {more} more" if more > 0 else ""))
    return frame(*parts)


def _facts(known: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    labels = _labels(known)
    if labels is not None:
        yield "labelled", f"{len(labels):,}"
        yield "clusters", f"{len(distinct(labels[labels >= 0])):,}"
        if (labels < 0).any():
            yield "noise", f"{int((labels < 0).sum()):,} ({(labels < 0).mean():.1%})"
    elif "weights_" in known:
        yield "components", f"{len(known['weights_']):,}"
    for attribute, name in _OBJECTIVES.items():
        if np.isscalar(known.get(attribute)):
            yield name, f"{known[attribute]:.6g}"
    if "n_iter_" in known:
        settled = {True: "", False: ", not settled"}[bool(known.get("converged_", True))]
        yield "iterations", f"{known['n_iter_']}{settled}"
    for event in known.get("events_", [])[:_MOST_EVENTS]:
        yield "event", f"{event['what']}: {event['detail']}"
    if len(known.get("events_", [])) > _MOST_EVENTS:
        yield "event", f"and {len(known['events_']) - _MOST_EVENTS} more"


def _sizes(known: Mapping[str, Any]) -> list[Bar]:
    """The sizes of the clusters, or the weights of the components."""
    labels = _labels(known)
    if labels is not None:
        found, sizes = np.unique(labels[labels >= 0], return_counts=True)
        return [
            Bar(str(name), int(size), f"{size:,}")
            for name, size in zip(found.tolist(), sizes.tolist(), strict=True)
        ]
    weights = np.ravel(known.get("weights_", ()))
    return [Bar(str(i), float(weight), f"{weight:.1%}") for i, weight in enumerate(weights)]


def _labels(known: Mapping[str, Any]) -> Any:
    """The labels where they are in memory; collections elsewhere are left alone."""
    labels = known.get("labels_")
    return labels if isinstance(labels, np.ndarray) else None
