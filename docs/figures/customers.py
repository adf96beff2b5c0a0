"""Which kinds of customers does a mixed mixture find? Their ages, baskets, channels and payments.

python docs/figures/customers.py writes customers.png beside itself.
"""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.ticker import PercentFormatter, ScalarFormatter

from coterie.plots._style import color_of, plain

EXAMPLE = Path(__file__).parents[2] / "examples" / "customer_table.py"


def draw(folder: Path) -> None:
    """A dot a customer whose age is known, and shares of words by component."""
    example = runpy.run_path(str(EXAMPLE))
    table, _ = example["customers"]()
    rows = example["prepared"](table)
    model = example["mixture"](4).fit(rows)
    labels = model.predict(rows)

    figure, axes = pyplot.subplots(
        1, 3, figsize=(12, 4), dpi=90, layout="constrained", width_ratios=(1.35, 1, 1.2)
    )
    for component in np.argsort(model.weights_):
        own = table[labels == component]
        name = f"{len(own)} customers"
        color = color_of(component)
        axes[0].scatter(
            own["age"], own["basket"], s=13, c=color, alpha=0.75, linewidths=0, label=name
        )
    axes[0].set(yscale="log", xlabel="age", ylabel="basket", title="What they buy", ylim=(4, 3000))
    axes[0].yaxis.set_major_formatter(ScalarFormatter())
    axes[0].legend(frameon=False, ncols=2, loc="upper center", markerscale=2)
    for ax, column, title in (
        (axes[1], "channel", "Where they buy"),
        (axes[2], "payment", "How they pay"),
    ):
        shares = pd.crosstab(labels, table[column], normalize="index")
        places = np.arange(shares.shape[1])
        for component, row in enumerate(shares.to_numpy()):
            ax.bar(places + 0.2 * component - 0.3, row, 0.18, color=color_of(component))
        ax.set(xticks=places, xticklabels=shares.columns, ylim=(0, 1), title=title)
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    for ax in axes:
        plain(ax)
    figure.savefig(folder / "customers.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
