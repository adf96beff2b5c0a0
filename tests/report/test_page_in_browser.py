"""The page in a real browser: it runs, it is reachable, it is safe. Covers
coterie.report.render_html.

Needs Chromium; where there is none, all of it is skipped.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import summaries

from coterie.report.render_html import page as render

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")

WAIT = 30_000  # ms, for a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


class Visit:
    """A page that was opened, with all that it did besides showing itself."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.complaints: list[str] = []
        self.requests: list[str] = []
        tab.on("console", self._heard)
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        tab.on("request", lambda request: self.requests.append(request.url))

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def see_all(self) -> None:
        """Scroll through the page, so that everything is drawn."""
        self.tab.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        for chart in self.tab.locator(".chart").all():
            chart.scroll_into_view_if_needed()
            chart.locator(".main-svg").first.wait_for(timeout=WAIT)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a place of the map is on the screen."""
        box, place = self.tab.locator("#plane").bounding_box(), self.tab.evaluate(
            "([x, y]) => { const { xaxis, yaxis } = document.getElementById('plane')._fullLayout;"
            "return [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(y)]; }", [x, y]
        )  # fmt: skip
        return box["x"] + place[0], box["y"] + place[1]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a summary's page from a file, without any network."""
    contexts = []

    def opened(summary: dict[str, Any], *, policy: bool = True, **settings: Any) -> Visit:
        html = render(summary)
        if not policy:
            html, n_removed = re.subn(r"<meta http-equiv=[^>]*>", "", html)
            assert n_removed == 1
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        context.set_default_timeout(WAIT)
        seen = Visit(context.new_page())
        seen.tab.goto(path.as_uri())
        seen.tab.locator("#plane").scroll_into_view_if_needed()
        seen.tab.locator("#plane .main-svg").first.wait_for(timeout=WAIT)
        return seen

    yield opened
    for context in contexts:
        context.close()


def _first_point(summary: dict[str, Any]) -> tuple[float, float]:
    """A point that no other lies near."""
    x, y = summary["map"]["x"], summary["map"]["y"]
    return max(
        zip(x, y, strict=True),
        key=lambda p: sorted((p[0] - a) ** 2 + (p[1] - b) ** 2 for a, b in zip(x, y, strict=True))[
            1
        ],
    )


@pytest.mark.parametrize("name", ["three", "twelve", "with_noise", "nothing", "large"])
def test_it_opens_quietly_and_asks_no_network(visit: Any, name: str) -> None:
    seen = visit(getattr(summaries, name)())
    seen.see_all()
    assert seen.complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests)
    assert len([url for url in seen.requests if url.startswith("file:")]) == 1


def test_hovering_shows_the_values_of_the_row(visit: Any) -> None:
    summary = summaries.three()
    seen = visit(summary)
    x, y = _first_point(summary)
    seen.tab.mouse.move(*seen.at(x, y))
    tip = seen.tab.locator("#tip")
    tip.wait_for()
    at = summary["map"]["x"].index(x)
    told = tip.inner_text()
    assert f"row {summary['map']['row'][at]}" in told
    mass, bill, island = (column["values"][at] for column in summary["map"]["columns"])
    assert (str(mass) if mass is not None else "missing") in told
    assert f"{bill:g}" in told
    assert (["Biscoe", "Dream", "Torgersen"][island] if island is not None else "missing") in told
    assert seen.complaints == []


def test_choosing_a_cluster_shows_its_profile(visit: Any) -> None:
    seen = visit(summaries.three())
    cards = seen.tab.locator(".card:visible")
    assert cards.count() == 1
    assert "heavy" in cards.inner_text()
    seen.tab.locator("#chips [data-cluster='2']").click()
    assert cards.count() == 1
    assert "small" in cards.locator("h4").inner_text()
    faded = (
        "Array.from(document.getElementById('plane').data).slice(1).map((t) => t.marker.opacity)"
    )
    assert seen.tab.get_by_role("link", name="What distinguishes small").is_visible()
    opacities = seen.tab.evaluate(faded)
    assert opacities[0] == opacities[1] < opacities[2]
    seen.tab.keyboard.press("Escape")
    assert len(set(seen.tab.evaluate(faded))) == 1

    seen.tab.locator("[role=tab][aria-selected=true]").focus()
    seen.tab.keyboard.press("ArrowLeft")
    assert "long-billed" in cards.locator("h4").inner_text()
    assert seen.tab.locator("#chips [data-cluster='1']").get_attribute("aria-pressed") == "true"
    assert seen.complaints == []


def test_clicking_a_point_chooses_its_cluster(visit: Any) -> None:
    summary = summaries.three()
    seen = visit(summary)
    x, y = _first_point(summary)
    label = summary["map"]["label"][summary["map"]["x"].index(x)]
    seen.tab.mouse.click(*seen.at(x, y))
    chip = seen.tab.locator(f"#chips [data-cluster='{label}'][aria-pressed=true]")
    chip.wait_for()


@pytest.mark.parametrize("name", ["three", "large"])
def test_a_brushed_region_gives_its_rows(visit: Any, name: str) -> None:
    summary = getattr(summaries, name)()
    seen = visit(summary)
    seen.tab.get_by_role("button", name="Box").click()
    low, high = seen.at(1.5, -2.5), seen.at(6.0, 2.5)
    seen.tab.mouse.move(*low)
    seen.tab.mouse.down()
    seen.tab.mouse.move((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
    seen.tab.mouse.move(*high)
    seen.tab.mouse.up()
    seen.tab.locator("#rows").wait_for()
    given = summary["map"]
    sure = [
        row
        for row, x, y in zip(given["row"], given["x"], given["y"], strict=True)
        if 1.6 < x < 5.9 and -2.4 < y < 2.4
    ]
    title = seen.tab.locator("#rows-title").inner_text()
    n_rows = int(title.split()[0])
    assert 0 < len(sure) <= n_rows < len(given["row"])
    assert seen.tab.locator("#rows-table tbody tr").count() == min(n_rows, 200)

    with seen.tab.expect_download() as download:
        seen.tab.get_by_role("button", name="Download CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    names = [column["name"] for column in given["columns"]]
    assert lines[0] == ",".join(["row", "cluster", "confidence", *names])
    rows = [int(line.split(",")[0]) for line in lines[1:]]
    assert len(rows) == n_rows
    assert set(sure) <= set(rows)
    at = given["row"].index(rows[0])
    for text, column in zip(lines[1].split(",")[3:], given["columns"], strict=True):
        value = column["values"][at]
        if value is None or column["levels"]:
            assert text == ("" if value is None else column["levels"][value])
        else:
            assert float(text) == (value if name == "three" else pytest.approx(value, rel=1e-6))
    seen.tab.get_by_role("button", name="Close").click()
    assert not seen.tab.locator("#rows").is_visible()
    assert seen.complaints == []


def test_rows_are_copied(visit: Any) -> None:
    seen = visit(summaries.three(), permissions=["clipboard-read", "clipboard-write"])
    seen.tab.locator(".card:visible").get_by_role("button", name="List its rows").click()
    seen.tab.get_by_role("button", name="Copy as CSV").click()
    seen.tab.get_by_text("Copied 101 rows.").wait_for()
    copied = seen.tab.evaluate("navigator.clipboard.readText()")
    assert len(copied.splitlines()) == 102


def test_colour_by_a_column(visit: Any) -> None:
    seen = visit(summaries.three())
    choice = seen.tab.locator("#color-by")
    colors = "Array.from(document.getElementById('plane').data[1].marker.color)"
    choice.select_option(label="body mass (g)")
    legend = seen.tab.locator("#legend")
    assert "body mass (g)" in legend.inner_text()
    assert "missing (" in legend.inner_text()
    shades = seen.tab.evaluate(colors)
    assert len(set(shades)) > 20
    assert min(shades) == -0.25  # a missing cell
    choice.select_option(label="island")
    assert "Torgersen (" in legend.inner_text()
    assert len(set(seen.tab.evaluate(colors))) <= 4
    choice.select_option(label="cluster")
    assert not legend.is_visible()
    assert seen.complaints == []


def _brightness(tab: Any, element: str) -> float:
    shade = tab.evaluate(f"getComputedStyle(document.querySelector('{element}')).backgroundColor")
    return sum(map(float, re.findall(r"[\d.]+", shade)[:3])) / 3


def test_light_and_dark(visit: Any) -> None:
    seen = visit(summaries.three(), color_scheme="dark")
    ink = "document.getElementById('plane')._fullLayout.font.color"
    assert _brightness(seen.tab, "body") < 60
    in_the_dark = seen.tab.evaluate(ink)
    button = seen.tab.locator("#theme")
    button.click()  # from the system's colours to light ones
    assert _brightness(seen.tab, "body") > 200
    assert seen.tab.evaluate(ink) != in_the_dark
    button.click()
    assert _brightness(seen.tab, "body") < 60
    seen.tab.reload()  # what was chosen lasts
    assert seen.tab.locator("#theme-name").inner_text() == "dark"
    assert seen.complaints == []


def test_on_paper_everything_is_there_in_light_colours(visit: Any, tmp_path: Path) -> None:
    seen = visit(summaries.three(), color_scheme="dark")
    # What the print itself looked like, as it was made.
    seen.tab.evaluate(
        "window.addEventListener('beforeprint', () => {"
        "  const plane = document.getElementById('plane');"
        "  const drawn = document.querySelectorAll('.chart .main-svg').length;"
        "  const theme = document.documentElement.dataset.theme;"
        "  window.printed = [theme, plane._fullLayout.width, drawn];"
        "})"
    )
    path = tmp_path / "report.pdf"
    seen.tab.pdf(path=str(path), format="A4")
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_size > 50_000
    theme, width, n_drawn = seen.tab.evaluate("window.printed")
    assert theme == "light"
    assert width <= 690
    assert n_drawn >= 9
    assert _brightness(seen.tab, "body") < 60  # as before
    seen.tab.emulate_media(media="print")
    assert seen.tab.locator(".card:visible").count() == 3
    assert not seen.tab.locator(".tools").is_visible()
    assert seen.complaints == []


@pytest.mark.parametrize("name", ["three", "twelve", "hostile", "nothing"])
def test_a_narrow_screen_does_not_overflow(visit: Any, name: str) -> None:
    seen = visit(getattr(summaries, name)(), viewport={"width": 360, "height": 740})
    seen.see_all()
    assert seen.tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.tab.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart')]"
        ".map((chart) => chart.getBoundingClientRect().right))"
    ) <= 360  # fmt: skip


@pytest.mark.parametrize("policy", [True, False])
def test_a_hostile_table_runs_nothing(visit: Any, policy: bool) -> None:
    """With the policy and, by escaping alone, without it."""
    summary = summaries.hostile()
    seen = visit(summary, policy=policy)
    seen.see_all()
    for option in seen.tab.locator("#color-by option").all():
        seen.tab.locator("#color-by").select_option(value=option.get_attribute("value"))
    for label in (0, 1, 2):
        seen.tab.locator(f"#chips [data-cluster='{label}']").click()
    seen.tab.keyboard.press("Escape")
    seen.tab.locator("#plane").scroll_into_view_if_needed()
    seen.tab.mouse.move(*seen.at(*_first_point(summary)))
    seen.tab.locator("#tip").wait_for()
    assert "<script>" in seen.tab.locator("#tip").inner_text()
    seen.tab.get_by_role("button", name="List rows in view").click()
    assert "<script>" in seen.tab.locator("#rows-table").inner_text()
    for chart in seen.tab.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        chart.hover(position={"x": 200, "y": 60}, force=True)
    for axis, title in zip((".g-xtitle", ".g-ytitle"), summary["map"]["axes"], strict=True):
        assert seen.tab.locator(f"#plane {axis}").text_content()[:38] == title[:38]
    assert seen.tab.locator(".chart svg a").count() == 0
    assert seen.tab.evaluate("window.ran") is None
    assert seen.tab.locator("img, iframe, object, [onerror], [onload], [onmouseover]").count() == 0
    assert seen.tab.locator("a[href^='javascript'], a[*|href^='javascript']").count() == 0
    assert seen.complaints == []
    assert len(seen.requests) == 1


def test_the_keyboard_reaches_everything(visit: Any) -> None:
    seen = visit(summaries.three())
    seen.tab.evaluate("scrollTo(0, 0)")
    reached = []
    for _ in range(80):
        seen.tab.keyboard.press("Tab")
        reached.append(
            seen.tab.evaluate(
                "(({ id, className, dataset, tagName }) => id || dataset.cluster || dataset.drag ||"
                "className || tagName)(document.activeElement)"
            )
        )
    for what in ("skip", "theme", "color-by", "pan", "lasso", "zoom-in", "rows-in-view", "0", "2",
                 "plane", "tab-0", "card-0"):  # fmt: skip
        assert what in reached, what
    assert reached.index("color-by") < reached.index("plane") < reached.index("tab-0")

    seen.tab.locator("#plane").focus()
    ranges = "document.getElementById('plane').layout.xaxis.range"
    before = seen.tab.evaluate(ranges)
    seen.tab.keyboard.press("+")
    zoomed = seen.tab.evaluate(ranges)
    assert zoomed[1] - zoomed[0] < before[1] - before[0]
    seen.tab.keyboard.press("ArrowRight")
    assert seen.tab.evaluate(ranges)[0] > zoomed[0]
    seen.tab.keyboard.press("Enter")
    assert "in view" in seen.tab.locator("#rows-title").inner_text()
    assert seen.tab.evaluate("document.activeElement.id") == "rows-title"
    assert seen.complaints == []
