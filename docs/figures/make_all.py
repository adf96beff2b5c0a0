"""Draw every figure of the documentation.

python docs/figures/make_all.py [FOLDER] writes into FOLDER, by default beside this file.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import descent
import faithful
import linkages
import seedings


def make_all(folder: Path) -> None:
    """Run every script of this directory that draws."""
    for script in (descent, faithful, linkages, seedings):
        script.draw(folder)


if __name__ == "__main__":
    make_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
