"""A study as plain text for a terminal, at most 80 columns wide."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any

from coterie.report._numbers import after, count, index, percent, short, with_chance

WIDTH = 80
#: Traits of a cluster, columns left out and alternatives that are told; the page has all.
_MOST_TRAITS, _MOST_COLUMNS, _MOST_CLUSTERS = 3, 8, 20
_BAR = 20
#: The page's own dashes are letters to some terminals.
_DASHES = str.maketrans("−–", "--")


def text(summary: dict[str, Any]) -> str:
    """The verdict and what supports it, without a line feed at the end."""
    parts = [_verdict(summary)]
    if summary["verdict"]["has_structure"]:
        parts += [_clusters(summary), _trust(summary), _choice(summary), _sensitivity(summary)]
    parts += [_tendency(summary), _data(summary), _reproduce(summary)]
    told = "\n\n".join("\n".join(lines) for lines in parts if lines)
    return told.translate(_DASHES)


def _verdict(summary: dict[str, Any]) -> list[str]:
    source, verdict = summary["source"], summary["verdict"]
    size = f"{count(source['n_rows'], 'row')}, {count(source['n_columns'], 'column')}"
    if source["n_studied"] != source["n_rows"]:
        size += f", {short(source['n_studied'])} studied"
    lines = [*_wrapped(f"{summary['title']}: {size}"), "", *_wrapped(verdict["headline"])]
    lines.append("=" * max(map(len, _wrapped(verdict["headline"]))))
    for sentence in verdict["sentences"]:
        lines += _wrapped(sentence)
    lines += ["", f"Confidence: {_clean(verdict['confidence'])}"]
    doubts = verdict.get("doubts", [])  # which came to the schema later
    against = ["Against the clusters:", *_items(doubts)] if doubts else []
    return [*lines, *_items([why for why in verdict["why"] if why not in doubts]), *against]


def _clusters(summary: dict[str, Any]) -> list[str]:
    clusters, noise = summary["clusters"], summary["noise"]
    if not clusters:
        return []
    lines = _title("Clusters")
    largest = max(cluster["size"] for cluster in clusters) or 1
    for cluster in clusters[:_MOST_CLUSTERS]:
        bar = "#" * max(round(_BAR * cluster["size"] / largest), 1)
        size = f"{count(cluster['size'], 'row')} ({percent(cluster['share'])})"
        lines += _wrapped(f"[{cluster['label']}] {cluster['name']}")
        lines.append(f"   {bar:<{_BAR}} {size}{_stability(cluster)}")
        for trait in cluster["traits"][:_MOST_TRAITS]:
            lines += _item(trait["sentence"], "   - ")
    if len(clusters) > _MOST_CLUSTERS:
        lines.append(f"and {count(len(clusters) - _MOST_CLUSTERS, 'more cluster')}.")
    if noise:
        lines.append(f"In no cluster: {count(noise['size'], 'row')} ({percent(noise['share'])}).")
    return lines


def _stability(cluster: dict[str, Any]) -> str:
    stability = cluster["stability"]
    return f", stability {index(stability['jaccard'])}" if stability else ""


def _trust(summary: dict[str, Any]) -> list[str]:
    lines = []
    if summary["null_replay"]:
        replay = summary["null_replay"]
        lines += _item(with_chance(replay["sentence"], replay["p_value"]))
    if summary["silhouette"]:
        lines += _item(f"The mean silhouette is {index(summary['silhouette']['mean'])}.")
    return [*_title("Can it be trusted?"), *lines] if lines else []


def _choice(summary: dict[str, Any]) -> list[str]:
    lines = []
    if summary["choice_of_k"]:
        lines += _wrapped(summary["choice_of_k"]["sentence"])
    for method in summary["methods"]:
        told = f"{method['name']}: {count(method['n_clusters'], 'cluster')}"
        if method["score"] is not None:
            told += f", score {short(method['score'])}"
        if not method["chosen"] and method["agreement"] is not None:
            told += f", agreement {index(method['agreement'])}"
        lines += _item(f"{told}; {method['note']}" if method["note"] else told,
                       "* " if method["chosen"] else "- ")  # fmt: skip
    return [*_title("Number and method"), *lines] if lines else []


def _sensitivity(summary: dict[str, Any]) -> list[str]:
    lines = []
    for item in summary["sensitivity"]:
        told = f"{item['what']}: {after(item['sentence'], item['what'])}".rstrip(".")
        found = f"{count(item['n_clusters'], 'cluster')}, agreement {index(item['agreement'])}"
        lines += _item(f"{told} ({found}).")
    return [*_title("What would change the answer"), *lines] if lines else []


def _tendency(summary: dict[str, Any]) -> list[str]:
    tendency = summary["tendency"]
    if not tendency:
        return []
    told = with_chance(tendency["verdict"], tendency["p_value"])
    return [*_title("Is there anything to find?"), *_wrapped(told)]


def _data(summary: dict[str, Any]) -> list[str]:
    lines = _wrapped(summary["source"]["how"])
    for item in (*(q["sentence"] for q in summary["quality"]), *summary["notes"]):
        lines += _item(item)
    out = [column for column in summary["columns"] if not column["used"]]
    if any(note.startswith("Left out") for note in summary["notes"]):
        out = []  # told already
    for column in out[:_MOST_COLUMNS]:
        why = column["reason"] or f"is {column['kind']}"
        lines += _item(f"Left out: '{column['name']}' {why}")
    if len(out) > _MOST_COLUMNS:
        lines += _item(f"and {count(len(out) - _MOST_COLUMNS, 'more column')} left out.")
    return [*_title("Data"), *lines] if lines else []


def _reproduce(summary: dict[str, Any]) -> list[str]:
    reproduce = summary["reproduce"]
    if not reproduce:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in reproduce["versions"].items())
    return [
        *_title("Again"),
        *_wrapped(reproduce["command"] or reproduce["python"] or "", indent="  "),
        *_wrapped(f"Seed {reproduce['seed']}; {versions}."),
    ]


def _title(words: str) -> list[str]:
    return [words, "-" * len(words)]


def _item(words: str, sign: str = "- ") -> list[str]:
    return _wrapped(words, first=sign, indent=" " * len(sign))


def _items(sentences: list[str]) -> list[str]:
    return [line for sentence in sentences for line in _item(sentence)]


def _wrapped(words: str, *, first: str | None = None, indent: str = "") -> list[str]:
    """Lines of at most 80 columns; words that are longer are broken."""
    lines = textwrap.wrap(
        _clean(words), WIDTH, initial_indent=indent if first is None else first,
        subsequent_indent=indent,
    )  # fmt: skip
    return lines or [""]


def _clean(words: Any) -> str:
    """Text without characters that would steer a terminal; line ends become spaces."""
    spaced = " ".join(str(words).split())
    return "".join(char if unicodedata.category(char)[0] != "C" else "?" for char in spaced)
