"""What does the report of a study look like? Wines, from the top of the page to the map.

python docs/figures/report.py writes report.png beside itself. It needs Chromium, so it is not one
of those that make_all.py draws.
"""

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_wine

import coterie
from coterie.report.render_html import page

WIDTH, HEIGHT = 1180, 1730


def draw(folder: Path) -> None:
    """Study the wines and take a picture of the page."""
    found = coterie.study(load_wine(as_frame=True).data, random_state=0, name="wine")
    photograph(found.summary, folder / "report.png")


def photograph(summary: dict, path: Path) -> None:
    """The top of the page of a summary, in few colours."""
    with TemporaryDirectory() as scratch, sync_playwright() as playwright:
        html = Path(scratch) / "report.html"
        html.write_text(page(summary), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(html.as_uri())
        tab.locator("#plane .main-svg").first.wait_for()
        tab.wait_for_timeout(500)
        picture = Image.open(io.BytesIO(tab.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(96).save(path, optimize=True)


if __name__ == "__main__":
    draw(Path(__file__).parent)
