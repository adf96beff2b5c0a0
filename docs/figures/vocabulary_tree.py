"""What does a vocabulary tree look like? Its levels as circles around the root.

python docs/figures/vocabulary_tree.py writes vocabulary_tree.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import HierarchicalKMeans
from coterie.plots import vocabulary_tree


def draw(folder: Path, n_rows: int = 4000) -> None:
    """A tree of up to 6^3 leaves over rows around forty places."""
    rng = np.random.default_rng(0)
    places = rng.normal(scale=4, size=(40, 8))
    X = places[rng.integers(40, size=n_rows)] + rng.normal(size=(n_rows, 8))
    model = HierarchicalKMeans(branching=6, depth=3, random_state=0).fit(X)
    figure, ax = pyplot.subplots(figsize=(6, 6), dpi=90, layout="constrained")
    vocabulary_tree(model, ax=ax)
    figure.savefig(folder / "vocabulary_tree.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
