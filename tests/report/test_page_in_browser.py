"""The page in a real browser: it opens, in any light and width and on paper, and it is safe.

Covers coterie.report.render_html.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import page_visits
import pytest
import summaries

browser, visit = page_visits.browser, page_visits.visit


@pytest.mark.parametrize("name", ["three", "twelve", "with_noise", "nothing", "large"])
def test_it_opens_quietly_and_asks_no_network(visit: Any, name: str) -> None:
    seen = visit(getattr(summaries, name)())
    seen.see_all()
    assert seen.complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests)
    assert len([url for url in seen.requests if url.startswith("file:")]) == 1


def _brightness(page: Any, element: str) -> float:
    shade = page.evaluate(f"getComputedStyle(document.querySelector('{element}')).backgroundColor")
    return sum(map(float, re.findall(r"[\d.]+", shade)[:3])) / 3


def test_light_and_dark(visit: Any) -> None:
    seen = visit(summaries.three(), color_scheme="dark")
    ink = "document.getElementById('plane')._fullLayout.font.color"
    assert _brightness(seen.page, "body") < 60
    in_the_dark = seen.page.evaluate(ink)
    button = seen.page.locator("#theme")
    seen.press(button)  # from the system's colours to light ones
    assert _brightness(seen.page, "body") > 200
    assert seen.page.evaluate(ink) != in_the_dark
    seen.press(button)
    assert _brightness(seen.page, "body") < 60
    seen.page.reload()  # what was chosen lasts
    assert seen.page.locator("#theme-name").inner_text() == "dark"
    assert seen.complaints == []


def test_on_paper_everything_is_there_in_light_colours(visit: Any, tmp_path: Path) -> None:
    seen = visit(summaries.three(), color_scheme="dark")
    # What the print itself looked like, as it was made.
    seen.page.evaluate(
        "window.addEventListener('beforeprint', () => {"
        "  const plane = document.getElementById('plane');"
        "  const drawn = document.querySelectorAll('.chart .main-svg').length;"
        "  const theme = document.documentElement.dataset.theme;"
        "  window.printed = [theme, plane._fullLayout.width, drawn];"
        "})"
    )
    path = tmp_path / "report.pdf"
    seen.page.pdf(path=str(path), format="A4")
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_size > 50_000
    theme, width, n_drawn = seen.page.evaluate("window.printed")
    assert theme == "light"
    assert width <= 690
    assert n_drawn >= 9
    assert _brightness(seen.page, "body") < 60  # as before
    seen.page.emulate_media(media="print")
    assert seen.page.locator(".card:visible").count() == 3
    assert not seen.page.locator(".tools").is_visible()
    assert seen.complaints == []


@pytest.mark.parametrize("name", ["three", "twelve", "hostile", "nothing"])
def test_a_narrow_screen_does_not_overflow(visit: Any, name: str) -> None:
    seen = visit(getattr(summaries, name)(), viewport={"width": 360, "height": 740})
    seen.see_all()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.page.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart')]"
        ".map((chart) => chart.getBoundingClientRect().right))"
    ) <= 360  # fmt: skip


@pytest.mark.parametrize("policy", [True, False])
def test_a_hostile_table_runs_nothing(visit: Any, policy: bool) -> None:
    """With the policy and, by escaping alone, without it."""
    summary = summaries.hostile()
    seen = visit(summary, policy=policy)
    seen.see_all()
    for option in seen.page.locator("#color-by option").all():
        seen.page.locator("#color-by").select_option(value=option.get_attribute("value"))
    for label in (0, 1, 2):
        seen.press(seen.page.locator(f"#chips [data-cluster='{label}']"))
    seen.page.keyboard.press("Escape")
    assert "<script>" in seen.point_at(*summaries.lonely_point(summary)).inner_text()
    seen.press(seen.page.get_by_role("button", name="List rows in view"))
    assert "<script>" in seen.page.locator("#rows-table").inner_text()
    for chart in seen.page.locator(".chart").all():
        seen.see(chart)
        corner = chart.bounding_box()
        seen.page.mouse.move(corner["x"] + 200, corner["y"] + 60)
    for axis, title in zip((".g-xtitle", ".g-ytitle"), summary["map"]["axes"], strict=True):
        assert seen.page.locator(f"#plane {axis}").text_content()[:38] == title[:38]
    assert seen.page.locator(".chart svg a").count() == 0
    assert seen.page.evaluate("window.ran") is None
    assert seen.page.locator("img, iframe, object, [onerror], [onload], [onmouseover]").count() == 0
    assert seen.page.locator("a[href^='javascript'], a[*|href^='javascript']").count() == 0
    assert seen.complaints == []
    assert len(seen.requests) == 1


def test_the_keyboard_reaches_everything(visit: Any) -> None:
    seen = visit(summaries.three())
    seen.page.evaluate("scrollTo(0, 0)")
    reached = []
    for _ in range(80):
        seen.page.keyboard.press("Tab")
        reached.append(
            seen.page.evaluate(
                "(({ id, className, dataset, tagName }) => id || dataset.cluster || dataset.drag ||"
                "className || tagName)(document.activeElement)"
            )
        )
    for what in ("skip", "theme", "color-by", "pan", "lasso", "zoom-in", "rows-in-view", "0", "2",
                 "plane", "tab-0", "card-0"):  # fmt: skip
        assert what in reached, what
    assert reached.index("color-by") < reached.index("plane") < reached.index("tab-0")

    seen.page.locator("#plane").focus()
    ranges = "document.getElementById('plane').layout.xaxis.range"
    before = seen.page.evaluate(ranges)
    seen.page.keyboard.press("+")
    zoomed = seen.page.evaluate(ranges)
    assert zoomed[1] - zoomed[0] < before[1] - before[0]
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.evaluate(ranges)[0] > zoomed[0]
    seen.page.keyboard.press("Enter")
    assert "in view" in seen.page.locator("#rows-title").inner_text()
    assert seen.page.evaluate("document.activeElement.id") == "rows-title"
    assert seen.complaints == []
