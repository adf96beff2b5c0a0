"""What does the report of a study look like? Wines and penguins, from the top to the map.

python docs/figures/report.py writes report.png and study.png beside itself. It needs Chromium, so
it is not one of those that make_all.py draws.
"""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_wine

import coterie
from coterie.report.render_html import page

PENGUINS = Path(__file__).parents[2] / "examples" / "data" / "penguins.csv"
BACKGROUND = "#fbfaf7"  # of the page


def draw(folder: Path) -> None:
    """Study the wines for the page of the report, the penguins for the README."""
    wines = coterie.study(load_wine(as_frame=True).data, random_state=0, time=None, name="wine")
    with opened(wines.summary) as show:
        save(picture(show(1180, 1730)), folder / "report.png")
    penguins = coterie.study(PENGUINS, random_state=0, time=None, without=["species"])
    with opened(penguins.summary) as show:
        words = part(show(640, 1000), "#verdict", "#verdict")
        map_ = part(show(800, 830), "#chips", ".map-box")
    save(beside(words, map_), folder / "study.png")


@contextmanager
def opened(summary: dict) -> Iterator[Callable[[int, int], Page]]:
    """A function that shows the page of a summary in a window of some width and height."""
    with TemporaryDirectory() as scratch, sync_playwright() as playwright:
        html = Path(scratch) / "report.html"
        html.write_text(page(summary), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def show(width: int, height: int) -> Page:
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(html.as_uri())
            tab.locator("#plane .main-svg").first.wait_for()
            tab.wait_for_timeout(500)
            return tab

        yield show
        browser.close()


def picture(tab: Page, **options: object) -> Image.Image:
    """What the window shows."""
    return Image.open(io.BytesIO(tab.screenshot(**options)))


def part(tab: Page, first: str, last: str) -> Image.Image:
    """The page from the top of one element to the bottom of another."""
    top = tab.locator(first).bounding_box()
    bottom = tab.locator(last).bounding_box()
    clip = {**top, "height": bottom["y"] + bottom["height"] - top["y"]}
    return picture(tab, clip=clip, full_page=True)


def beside(left: Image.Image, right: Image.Image, margin: int = 24) -> Image.Image:
    """Two pictures side by side, each in the middle of the height."""
    height = max(left.height, right.height) + 2 * margin
    both = Image.new("RGB", (left.width + right.width + 3 * margin, height), BACKGROUND)
    both.paste(left, (margin, (height - left.height) // 2))
    both.paste(right, (left.width + 2 * margin, (height - right.height) // 2))
    return both


def save(image: Image.Image, path: Path) -> None:
    """In few colours, but enough that clusters keep theirs."""
    image.convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    draw(Path(__file__).parent)
