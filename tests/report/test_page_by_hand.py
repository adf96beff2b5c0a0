"""What a reader can do with the page in a real browser: point, choose, brush, copy, colour.

Covers coterie.report.render_html.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import page_visits
import pytest
import summaries

browser, visit = page_visits.browser, page_visits.visit


def test_hovering_shows_the_values_of_the_row(visit: Any) -> None:
    summary = summaries.three()
    seen = visit(summary)
    x, y = summaries.lonely_point(summary)
    tip = seen.point_at(x, y)
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
    cards = seen.page.locator(".card:visible")
    assert cards.count() == 1
    assert "heavy" in cards.inner_text()
    seen.press(seen.page.locator("#chips [data-cluster='2']"))
    assert cards.count() == 1
    assert "small" in cards.locator("h4").inner_text()
    faded = (
        "Array.from(document.getElementById('plane').data).slice(1).map((t) => t.marker.opacity)"
    )
    assert seen.page.get_by_role("link", name="What distinguishes small").is_visible()
    opacities = seen.page.evaluate(faded)
    assert opacities[0] == opacities[1] < opacities[2]
    seen.page.keyboard.press("Escape")
    assert len(set(seen.page.evaluate(faded))) == 1

    seen.page.locator("[role=tab][aria-selected=true]").focus()
    seen.page.keyboard.press("ArrowLeft")
    assert "long-billed" in cards.locator("h4").inner_text()
    assert seen.page.locator("#chips [data-cluster='1']").get_attribute("aria-pressed") == "true"
    assert seen.complaints == []


def test_clicking_a_point_chooses_its_cluster(visit: Any) -> None:
    summary = summaries.three()
    seen = visit(summary)
    x, y = summaries.lonely_point(summary)
    label = summary["map"]["label"][summary["map"]["x"].index(x)]
    chip = seen.page.locator(f"#chips [data-cluster='{label}'][aria-pressed=true]")
    seen.until(
        chip.is_visible, lambda: seen.page.mouse.click(*seen.at(x, y)), what="the cluster is chosen"
    )


@pytest.mark.parametrize("name", ["three", "large"])
def test_a_brushed_region_gives_its_rows(visit: Any, name: str) -> None:
    summary = getattr(summaries, name)()
    seen = visit(summary)
    seen.brush((1.5, -2.5), (6.0, 2.5))
    given = summary["map"]
    sure = [
        row
        for row, x, y in zip(given["row"], given["x"], given["y"], strict=True)
        if 1.6 < x < 5.9 and -2.4 < y < 2.4
    ]
    title = seen.page.locator("#rows-title").inner_text()
    n_rows = int(title.split()[0])
    assert 0 < len(sure) <= n_rows < len(given["row"])
    assert seen.page.locator("#rows-table tbody tr").count() == min(n_rows, 200)

    with seen.page.expect_download() as download:
        seen.press(seen.page.get_by_role("button", name="Download CSV"))
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
    seen.press(seen.page.get_by_role("button", name="Close"))
    assert not seen.page.locator("#rows").is_visible()
    assert seen.complaints == []


def test_rows_are_copied(visit: Any) -> None:
    seen = visit(summaries.three(), permissions=["clipboard-read", "clipboard-write"])
    seen.press(seen.page.locator(".card:visible").get_by_role("button", name="List its rows"))
    seen.press(seen.page.get_by_role("button", name="Copy as CSV"))
    seen.page.get_by_text("Copied 101 rows.").wait_for()
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert len(copied.splitlines()) == 102


def test_colour_by_a_column(visit: Any) -> None:
    seen = visit(summaries.three())
    choice = seen.page.locator("#color-by")
    colors = "Array.from(document.getElementById('plane').data[1].marker.color)"
    choice.select_option(label="body mass (g)")
    legend = seen.page.locator("#legend")
    assert "body mass (g)" in legend.inner_text()
    assert "missing (" in legend.inner_text()
    shades = seen.page.evaluate(colors)
    assert len(set(shades)) > 20
    assert min(shades) == -0.25  # a missing cell
    choice.select_option(label="island")
    assert "Torgersen (" in legend.inner_text()
    assert len(set(seen.page.evaluate(colors))) <= 4
    choice.select_option(label="cluster")
    assert not legend.is_visible()
    assert seen.complaints == []
