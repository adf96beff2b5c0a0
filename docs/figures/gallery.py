"""The pictures of the gallery, drawn by the lines that stand above each of them.

python docs/figures/gallery.py runs the Python of docs/gallery.md and writes gallery_*.png beside
itself: what a block leaves as `ax` is the picture that follows it.
"""

import re
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from _saving import save_small
from matplotlib import pyplot

PAGE = Path(__file__).parents[1] / "gallery.md"
#: A block of Python, and the picture below it.
BLOCK = re.compile(r"^```python\n(.*?)^```\n+(?:!\[[^\]]*\]\(figures/(\w+\.\w+)\))?", re.M | re.S)


def draw(folder: Path) -> None:
    """Run all blocks in one namespace, as a reader would."""
    names: dict[str, object] = {}
    folder = folder.resolve()
    with TemporaryDirectory() as scratch, chdir(scratch):  # for the files that blocks write
        for code, picture in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            exec(compile(code, PAGE.name, "exec"), names)
            if picture.startswith("gallery_") and picture.endswith(".png"):
                figure = names["ax"].figure
                figure.set_size_inches(7.2, 4.4)
                save_small(figure, folder / picture)
    pyplot.close("all")


if __name__ == "__main__":
    draw(Path(__file__).parent)
