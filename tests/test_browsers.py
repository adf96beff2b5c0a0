"""The tab of the tests waits as long as it takes, and no test waits for frames beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browsers

#: Playwright's actions that first wait until an element has kept its place for two frames, and
#: pauses that are long enough on an idle machine only.
HASTY = re.compile(
    r"(?<!mouse)\.(?:click|dblclick|hover|tap|check|uncheck|set_checked|drag_to|drag_and_drop|"
    r"scroll_into_view_if_needed|wait_for_timeout)\(|\btimeout="
)


def test_no_test_of_a_page_is_hasty() -> None:
    here = Path(__file__).parent
    found = [
        f"{path.relative_to(here)}: {line.strip()}"
        for path in sorted(here.rglob("*.py"))
        if path not in (Path(__file__), here / "browsers.py")
        and re.search(r"\b(?:browsers|page_visits|playwright)\b", text := path.read_text("utf-8"))
        for line in text.splitlines()
        if HASTY.search(line)
    ]
    assert not found, "use browsers.Tab, whose ways need no frames"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers.launched() as started:
        yield started


@pytest.fixture
def tab(browser: Any) -> Iterator[browsers.Tab]:
    context = browser.new_context()
    yield browsers.Tab(context)
    context.close()


def test_what_moves_and_is_covered_for_a_while_is_pressed(tab: browsers.Tab) -> None:
    tab.page.set_content(
        "<style>@keyframes go { to { margin-left: 300px } }"
        "button { margin-top: 3000px; animation: go 1s infinite alternate }"
        "div { position: fixed; inset: 0; background: white }</style>"
        "<button onclick='window.pressed = (window.pressed || 0) + 1'>Go</button><div></div>"
        "<script>setTimeout(() => document.querySelector('div').remove(), 300)</script>"
    )
    button = tab.page.get_by_role("button")
    tab.until(
        lambda: tab.page.evaluate("window.pressed"), lambda: tab.press(button), what="pressed"
    )
    assert tab.page.evaluate("document.querySelector('div')") is None
    assert tab.complaints == []


def test_what_never_comes_is_said(tab: browsers.Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsers, "WAIT", 300)
    n_tries = 0

    def again() -> None:
        nonlocal n_tries
        n_tries += 1

    with pytest.raises(AssertionError, match=r"not in 0\.3 s: a ghost"):
        tab.until(tab.page.locator("#ghost").is_visible, again, what="a ghost")
    assert n_tries == 1


def test_complaints_are_heard(tab: browsers.Tab) -> None:
    tab.page.set_content(
        "<script>console.error('oh'); setTimeout(() => { throw Error('no') })</script>"
    )
    tab.until(lambda: len(tab.complaints) == 2, what="both are heard")
    assert tab.complaints[0] == "oh"
    assert "no" in tab.complaints[1]
