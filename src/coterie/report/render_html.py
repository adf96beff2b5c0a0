"""A study as a page: one HTML file that needs no network and no other file.

The template library escapes every value; the data for the drawings stand in an element that does
not run; and a content security policy lets no script run but the page's own.
Needs `coterie[report]`.
"""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from coterie._fitted_html import Bar, bars, facts_table, frame
from coterie.report._chart_data import chart_data
from coterie.report._cluster_cards import cluster_cards
from coterie.report._escaping import fingerprint, island
from coterie.report._numbers import (
    after,
    chance,
    count,
    index,
    percent,
    short,
    with_chance,
)
from coterie.report._sections import sections_of

_TEMPLATES = Path(__file__).parent / "templates"
#: The page's own scripts in the order in which they build on each other, and its style sheets.
_SCRIPTS = ("data.js", "theme.js", "rows.js", "colors.js", "map.js", "clusters.js", "charts.js",
            "main.js")  # fmt: skip
_STYLES = ("colors.css", "page.css", "parts.css", "print.css")
#: What templates write numbers with.
_NUMBERS = (chance, count, index, percent, short)
#: Clusters that a notebook shows one by one.
_MOST_BARS = 12
#: Between a number and its unit, where no line may break.
_UNBROKEN_SPACE = "\u00a0"


def page(summary: dict[str, Any]) -> str:
    """The whole report of a study.

    Parameters
    ----------
    summary
        What the study found, as `Study.summary` holds it and `study.json` stores it.

    Returns
    -------
    str
        HTML, about 5 MB of it the drawing library; 100 000 rows of ten columns add 7 MB.

    Raises
    ------
    ImportError
        Where jinja2 or plotly is missing.
    """
    sections = sections_of(summary)
    data = chart_data(summary, {section.name for section in sections})
    early, scripts = _read("early.js"), [_drawing_library(), _own_script()]
    return _environment().get_template("page.html").render(
        s=summary,
        sections=sections,
        has_lines="density" in data.get("map", {}),
        cards=cluster_cards(summary) if summary["verdict"]["has_structure"] else [],
        styles="\n".join(_read(name) for name in _STYLES),
        early=early,
        scripts=scripts,
        fingerprints=[fingerprint(script) for script in (early, *scripts)],
        data=island(data),
    )  # fmt: skip


def fragment(summary: dict[str, Any]) -> str:
    """The verdict and the sizes for a notebook: no script, no drawing library, safe anywhere."""
    verdict = summary["verdict"]
    headline = (
        f'<p style="font-size:1.35em;margin:0 0 0.3em"><b>{escape(verdict["headline"])}</b></p>'
    )
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in verdict["sentences"])
    facts = [("confidence", f"{verdict['confidence']}: {' '.join(verdict['why'])}")]
    clusters = summary["clusters"] if verdict["has_structure"] else []
    lines = [
        Bar(
            f"{cluster['label']} {cluster['name']}",
            cluster["size"],
            f"{short(cluster['size'])} ({percent(cluster['share'])})",
        )
        for cluster in clusters
    ]
    facts += [("method", method["name"]) for method in summary["methods"] if method["chosen"]]
    if summary["noise"]:
        facts.append(("in no cluster", count(summary["noise"]["size"], "row")))
    more = len(lines) - _MOST_BARS
    sizes = bars(lines[:_MOST_BARS], more=f"and {more} more" if more > 0 else "") if lines else ""
    return frame(headline, sentences, facts_table(facts), sizes)


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _drawing_library() -> str:
    """The script of plotly, which its package carries."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError("Reports need plotly: pip install 'coterie[report]'.") from error
    return str(get_plotlyjs()).replace("\r\n", "\n").strip()


def _own_script() -> str:
    """The page's own script; nothing of it is visible outside."""
    return '(() => {\n"use strict";\n' + "\n".join(_read(name) for name in _SCRIPTS) + "\n})();"


@cache
def _environment() -> Any:
    """The templates, with every value escaped and every misspelt one an error."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'coterie[report]'.") from error
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {words.__name__: _unbroken(words) for words in _NUMBERS}
    environment.filters |= {"after": after, "with_chance": with_chance}
    return environment


def _unbroken(words: Any) -> Any:
    """The same words with spaces at which no line breaks."""
    return lambda *args: words(*args).replace(" ", _UNBROKEN_SPACE)
