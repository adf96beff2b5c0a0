"""Draw every figure of the documentation.

python docs/figures/make_all.py [FOLDER] writes into FOLDER, by default beside this file.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import bernoulli_digits
import descent
import faithful
import few_colors
import gaussian
import held_out
import k_distances
import karate
import leaders
import linkages
import medoids
import seedings
import vocabulary_tree


def make_all(folder: Path) -> None:
    """Run every script of this directory that draws."""
    scripts = (
        bernoulli_digits, descent, faithful, few_colors, gaussian, held_out, k_distances, karate,
        leaders, linkages, medoids, seedings, vocabulary_tree,
    )  # fmt: skip
    for script in scripts:
        script.draw(folder)


if __name__ == "__main__":
    make_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
