"""Visits of the page in Chromium; where there is none, tests of it are skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browsers


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    for name in ("jinja2", "plotly"):
        pytest.importorskip(name)
    with browsers.launched() as started:
        yield started


class Visit(browsers.Tab):
    """A page of a study that was opened."""

    def see_all(self) -> None:
        """Scroll through the page, so that everything is drawn."""
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        for chart in self.page.locator(".chart").all():
            self.see(chart)

    def see(self, chart: Any) -> None:
        """Scroll to a chart and wait until it is drawn."""
        drawn = chart.locator(".main-svg").first
        self.until(drawn.is_visible, lambda: self.scroll_to(chart), what=f"{chart} is drawn")
        self.scroll_to(chart)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a place of the map is on the screen."""
        left, top = self.page.evaluate(
            "([x, y]) => { const plane = document.getElementById('plane');"
            "const { left, top } = plane.getBoundingClientRect();"
            "const { xaxis, yaxis } = plane._fullLayout;"
            "return [left + xaxis._offset + xaxis.d2p(x), top + yaxis._offset + yaxis.d2p(y)]; }",
            [x, y],
        )
        return left, top

    def point_at(self, x: float, y: float) -> Any:
        """Move the mouse to a place of the map until the values of a row are told; their box."""
        tip = self.page.locator("#tip")

        def move() -> None:
            across, down = self.at(x, y)
            self.page.mouse.move(across - 4, down - 4)
            self.page.mouse.move(across, down)

        self.see(self.page.locator("#plane"))
        self.until(tip.is_visible, move, what="the row under the mouse is told")
        return tip

    def brush(self, low: tuple[float, float], high: tuple[float, float]) -> None:
        """Draw a box between two places of the map until its rows are listed."""
        box = self.page.get_by_role("button", name="Box")
        self.press(box)
        self.until(lambda: box.get_attribute("aria-pressed") == "true", what="the box is chosen")

        def draw() -> None:
            start, end = self.at(*low), self.at(*high)
            self.page.mouse.move(*start)
            self.page.mouse.down()
            self.page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            self.page.mouse.move(*end)
            self.page.mouse.up()

        self.see(self.page.locator("#plane"))
        self.until(self.page.locator("#rows").is_visible, draw, what="rows are listed")


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a summary's page from a file, without any network."""
    from coterie.report.render_html import page as render

    contexts = []

    def opened(summary: dict[str, Any], *, policy: bool = True, **settings: Any) -> Visit:
        html = render(summary)
        if not policy:
            html, n_removed = re.subn(r"<meta http-equiv=[^>]*>", "", html)
            assert n_removed == 1
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
        )
        contexts.append(context)
        seen = Visit(context)
        seen.page.goto(path.as_uri())
        seen.see(seen.page.locator("#plane"))
        return seen

    yield opened
    for context in contexts:
        context.close()
