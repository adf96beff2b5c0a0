"""What does coterie do? Study the penguins of the Palmer archipelago, from a raw file to a page.

    python examples/demo.py [OUTDIR]

The 344 rows are penguins of three species on three islands, measured by Dr. Kristen Gorman and the
Palmer Station LTER (Horst, Hill & Gorman 2020, palmerpenguins, CC0): lengths in mm, mass in g,
sex and year, some cells missing. The column of species is set aside: the study is told nothing of
it, and says in the end how far the clusters that it finds agree with it.
"""

import sys
from pathlib import Path

from coterie.cli import main

PENGUINS = Path(__file__).parent / "data" / "penguins.csv"


def demo(outdir: Path) -> int:
    """Study the penguins, write page, labels and model into `outdir`, and say where they are."""
    print(f"$ coterie study {PENGUINS.name} --without species -o {outdir}\n")
    code = main(["study", str(PENGUINS), "--without", "species", "-o", str(outdir)])
    if code:
        return code
    page = outdir / "report.html"
    if page.exists():
        print(f"\nOpen the page in a browser: {page.resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo")))
