"""What does a mixture of mixed columns find among the penguins?

python docs/figures/penguins.py writes penguins.png beside itself.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot

from coterie import MixedMixture
from coterie.plots._style import INK, color_of, plain

PENGUINS = Path(__file__).parents[2] / "examples" / "data" / "penguins.csv"
MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def draw(folder: Path) -> None:
    """Two of the measured columns by component, and where each component lives."""
    table = pd.read_csv(PENGUINS)
    model = MixedMixture(3, n_init=5, random_state=0).fit(table[["island", *MEASURES]])
    labels = model.predict(table[["island", *MEASURES]])
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.9), dpi=90, layout="constrained")
    for j in range(3):
        own = labels == j
        left.scatter(table.bill_length_mm[own], table.flipper_length_mm[own], s=16,
                     c=color_of(j), marker="os^"[j], linewidths=0)  # fmt: skip
    left.set(xlabel="bill length, mm", ylabel="flipper length, mm")
    islands = sorted(table.island.dropna().unique())
    for j in range(3):
        shares = [np.mean(table.island[labels == j] == island) for island in islands]
        right.bar(np.arange(3) + 0.27 * (j - 1), shares, width=0.25, color=color_of(j),
                  label=f"component {j}: {np.sum(labels == j)} rows")  # fmt: skip
    right.set(xticks=range(3), xticklabels=islands, ylabel="share of the component's rows",
              yticks=np.linspace(0, 1, 6), ylim=(0, 1.3))  # fmt: skip
    right.legend(frameon=False, labelcolor=INK)
    plain(left)
    plain(right)
    figure.savefig(folder / "penguins.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
