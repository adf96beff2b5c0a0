"""Chromium for tests, and a tab that is pressed, pointed at and waited for without haste.

Playwright's own clicks, hovers and scrolling first wait until an element has kept its place for two
frames, which a browser without a screen on a busy machine may not make. Here nothing waits for
frames: elements are scrolled to by script, the page tells whether the mouse would meet them, and
the mouse then moves for real. What may take its time is asked again and again, until `WAIT`, and
the action that should bring it about is repeated; a picture, taken in between, makes a frame.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest

WAIT = 240_000  # ms: passes only where something is wrong
TURN = 5  # s until an action is repeated


@contextmanager
def launched() -> Iterator[Any]:
    """The Chromium of this machine; where there is none, the test is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("there is no Chromium here")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=WAIT
        )
        yield browser
        browser.close()


class Tab:
    """A tab, and all that its page did besides showing itself."""

    def __init__(self, context: Any) -> None:
        context.set_default_timeout(WAIT)
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def until(
        self, done: Callable[[], Any], again: Callable[[], Any] = lambda: None, *, what: str
    ) -> None:
        """Do `again` and wait until `done` is true; `what` is said where it never is."""
        deadline = monotonic() + WAIT / 1000
        while monotonic() < deadline and not done():
            again()
            turn = min(monotonic() + TURN, deadline)
            while monotonic() < turn and not done():
                self.page.wait_for_timeout(50)
                if not done():
                    self.page.screenshot()
        assert done(), f"not in {WAIT / 1000:g} s: {what}"

    def scroll_to(self, element: Any) -> None:
        """Bring an element to the middle of the window."""
        element.evaluate("(it) => it.scrollIntoView({ behavior: 'instant', block: 'center' })")

    def press(self, element: Any) -> None:
        """Click an element with the mouse, once nothing lies over its middle."""

        def place() -> tuple[float, float] | None:
            """Where the element can be pressed; None while it is hidden or covered."""
            found: tuple[float, float] | None = element.evaluate(
                "(it) => { it.scrollIntoView({ behavior: 'instant', block: 'center' });"
                "const { left, top, width, height } = it.getBoundingClientRect();"
                "const at = [left + width / 2, top + height / 2];"
                "return width && it.contains(document.elementFromPoint(...at)) ? at : null; }"
            )
            return found

        self.until(place, what=f"{element} can be pressed")
        at = place()
        assert at is not None
        self.page.mouse.click(*at)
