"""The page as text. Covers coterie.report.render_html, coterie.report._chart_data,
coterie.report._cluster_cards and coterie.report._sections.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
import summaries

from coterie.report import Study, render_html
from coterie.report._escaping import fingerprint
from coterie.report._sections import SECTIONS, sections_of

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

VOID = {"meta", "link", "br", "img", "input", "hr", "path"}


class Seen(HTMLParser):
    """What a browser would find: elements with their attributes, and ids of the sections."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def sections(self) -> list[str | None]:
        return [attributes["id"] for tag, attributes in self.tags if tag == "section"]

    @property
    def ids(self) -> list[str | None]:
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


@pytest.fixture(scope="module")
def three() -> Seen:
    return Seen(render_html.page(summaries.three()))


def test_the_page_is_well_formed_and_whole(three: Seen) -> None:
    assert three.open == []
    assert len(three.ids) == len(set(three.ids))
    assert three.sections == [section.name for section in SECTIONS]


def test_links_inside_the_page_lead_somewhere(three: Seen) -> None:
    inside = {
        str(value).lstrip("#")
        for _, attributes in three.tags
        for name, value in attributes.items()
        if name in ("href", "aria-controls", "aria-labelledby")
    }
    assert inside <= set(three.ids)


def test_nothing_comes_from_elsewhere(three: Seen) -> None:
    for tag, attributes in three.tags:
        assert "src" not in attributes, tag
        assert tag != "link"
        assert not str(attributes.get("href", "#")).startswith(("http", "//")), attributes


def test_only_the_scripts_of_the_page_may_run(three: Seen) -> None:
    policy = next(a["content"] for t, a in three.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    data, runs = [], []
    scripts = [attributes for tag, attributes in three.tags if tag == "script"]
    for attributes, text in zip(scripts, three.scripts, strict=True):
        (data if attributes.get("type") == "application/json" else runs).append(text)
    assert len(data) == 1
    assert set(re.findall(r"sha256-[^']+", policy)) == {fingerprint(text) for text in runs}
    assert "unsafe-inline" not in re.findall(r"script-src[^;]*", policy)[0]


def test_every_drawing_has_words(three: Seen) -> None:
    drawings = [a for _, a in three.tags if a.get("role") == "img"]
    assert len(drawings) > 15
    assert all(str(a.get("aria-label")).strip() for a in drawings)
    charts = {a["data-chart"] for _, a in three.tags if "data-chart" in a}
    assert charts == {
        "null_replay", "stability", "silhouette", "choice_of_k", "bic", "dendrogram",
        "k_distances", "memberships",
    }  # fmt: skip


def test_the_verdict_is_in_plain_words(three: Seen) -> None:
    told = " ".join(three.words)
    for words in ("3 clusters, well apart", "Confidence:", "moderate", "Without scaling body mass",
                  "has another value in every row", "coterie study penguins.csv --seed 0",
                  "principal components", "numpy 2.3.0"):  # fmt: skip
        assert words in told, words


@pytest.mark.parametrize(
    ("key", "empty", "section"),
    [
        ("bic", None, "bic"), ("dendrogram", None, "dendrogram"),
        ("k_distances", None, "k_distances"), ("memberships", None, "memberships"),
        ("sensitivity", [], "sensitivity"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_shown(key: str, empty: Any, section: str) -> None:
    summary = summaries.three() | {key: empty}
    assert section not in Seen(render_html.page(summary)).sections


def test_parts_of_sections_may_be_missing() -> None:
    summary = summaries.three() | {"silhouette": None, "null_replay": None, "choice_of_k": None}
    for cluster in summary["clusters"]:
        cluster |= {"stability": None, "silhouette": None, "rival": None, "traits": []}
    summary["profiles"] = []
    seen = Seen(render_html.page(summary))
    charts = {a["data-chart"] for _, a in seen.tags if "data-chart" in a}
    assert charts == {"bic", "dendrogram", "k_distances", "memberships"}
    told = [section.name for section in sections_of(summary | {"methods": [], "clusters": []})]
    assert "choice" not in told
    assert "confidence" not in told


def test_what_speaks_against_the_clusters_stands_apart() -> None:
    summary = summaries.three()
    told = " ".join(" ".join(Seen(render_html.page(summary)).words).split())
    assert "Against the clusters: One in twelve rows lies between two clusters." in told
    del summary["verdict"]["doubts"]  # as stored before there were any
    for one in (summary, summaries.nothing()):
        assert "Against the clusters" not in " ".join(Seen(render_html.page(one)).words)


def test_no_structure_decorates_nothing() -> None:
    summary = summaries.nothing()
    seen = Seen(render_html.page(summary))
    assert seen.sections == ["verdict", "map", "tendency", "data", "reproduce"]
    # Even what a summary should not hold then is not shown.
    decorated = summaries.three() | {"verdict": summary["verdict"]}
    assert Seen(render_html.page(decorated)).sections == seen.sections
    assert "heavy" not in " ".join(Seen(render_html.page(decorated)).words)


def test_a_hostile_table_adds_no_element() -> None:
    plain, hostile = Seen(render_html.page(summaries.three(120))), Seen(
        render_html.page(summaries.hostile())
    )  # fmt: skip
    assert hostile.open == []
    assert {tag for tag, _ in hostile.tags} <= {tag for tag, _ in plain.tags}
    assert len(hostile.scripts) == len(plain.scripts)
    for _, attributes in hostile.tags:
        assert not [name for name in attributes if name.startswith("on")], attributes
        assert not str(attributes.get("href")).startswith("javascript")
    island = next(text for text in hostile.scripts if text.startswith('{"title"'))
    assert not set("<>&\u2028\u2029") & set(island)


def test_a_large_table_stays_small() -> None:
    html = render_html.page(summaries.large())
    assert len(html.encode()) < 15e6
    assert html == render_html.page(summaries.large())  # the same bytes


def test_the_drawing_library_is_named_where_it_is_missing(monkeypatch: Any) -> None:
    for module, words in (("plotly.offline", "plotly"), ("jinja2", "jinja2")):
        with monkeypatch.context() as patched:
            patched.setitem(__import__("sys").modules, module, None)
            render_html._environment.cache_clear()
            render_html._drawing_library.cache_clear()
            with pytest.raises(ImportError, match=rf"{words}.*coterie\[report\]"):
                render_html.page(summaries.nothing())
    render_html._environment.cache_clear()


@pytest.mark.parametrize("name", ["three", "nothing", "hostile", "twelve", "with_noise"])
def test_the_fragment_is_short_and_runs_nothing(name: str) -> None:
    summary = getattr(summaries, name)()
    html = render_html.fragment(summary)
    seen = Seen(html)
    assert seen.open == []
    assert {tag for tag, _ in seen.tags} <= {"div", "p", "b", "table", "tr", "th", "td", "span"}
    assert all(set(a) <= {"class", "style", "scope"} for _, a in seen.tags)
    assert len(html) < 20_000
    told = " ".join(seen.words)
    assert summary["verdict"]["headline"] in told
    assert ("method" in told) == (name != "nothing")


def test_a_study_shows_itself_by_the_fragment() -> None:
    study = object.__new__(Study)
    study.summary = summaries.three()
    assert study._repr_html_() == render_html.fragment(study.summary)
    assert study.to_html() == render_html.page(study.summary)
