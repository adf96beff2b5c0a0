"""Chromium for tests of the page; where there is none, they are skipped."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

WAIT = 30_000  # ms, for a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    for name in ("jinja2", "plotly"):
        pytest.importorskip(name)
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("there is no Chromium here")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
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
            self.see(chart)

    def see(self, chart: Any) -> None:
        """Scroll to a chart and wait until it is drawn.

        Not by Playwright's own scrolling: that waits for frames, and a busy browser without a
        screen may stop making them; asked for a picture, it makes one.
        """
        deadline = monotonic() + WAIT / 1000
        drawn = chart.locator(".main-svg").first
        while monotonic() < deadline and not drawn.is_visible():
            chart.evaluate("(chart) => chart.scrollIntoView({ behavior: 'instant' })")
            self.tab.wait_for_timeout(50)
            if not drawn.is_visible():
                self.tab.screenshot()
        assert drawn.is_visible(), f"{chart} was not drawn"
        chart.evaluate("(chart) => chart.scrollIntoView({ behavior: 'instant', block: 'center' })")

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
        context.set_default_timeout(WAIT)
        seen = Visit(context.new_page())
        seen.tab.goto(path.as_uri())
        seen.see(seen.tab.locator("#plane"))
        return seen

    yield opened
    for context in contexts:
        context.close()
