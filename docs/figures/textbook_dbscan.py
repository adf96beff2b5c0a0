"""What does DBSCAN make of the textbook's eleven points at eps 2, 3 and 4?

python docs/figures/textbook_dbscan.py writes textbook_dbscan.png beside itself.
"""

import warnings
from pathlib import Path

from _saving import save_small
from matplotlib import pyplot

from coterie import DBSCAN
from coterie.errors import AdviceWarning
from coterie.plots import point_kinds

POINTS = [[1, 1], [1, 3], [1, 5], [1, 8], [3, 1], [4, 4], [4, 6], [5, 1], [6, 4], [6, 6], [7, 1]]
NAMES = [f"A{i}" for i in range(1, 12)]


def draw(folder: Path) -> None:
    """One panel for each eps; a core point has three points within it, itself among them."""
    figure, axes = pyplot.subplots(
        1, 3, figsize=(11.5, 4.5), layout="constrained", sharex=True, sharey=True
    )
    for ax, eps in zip(axes, (2, 3, 4), strict=True):
        with warnings.catch_warnings():  # that at eps = 4 all are one cluster is the point
            warnings.simplefilter("ignore", AdviceWarning)
            model = DBSCAN(eps=eps, min_samples=3).fit(POINTS)
        point_kinds(POINTS, model.labels_, model.core_sample_indices_, eps, names=NAMES, ax=ax)
        n_clusters = int(model.labels_.max()) + 1
        ax.set_title(f"eps = {eps}: {n_clusters} cluster{'s' if n_clusters > 1 else ''}")
        ax.set(xlabel="", ylabel="")
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        ax.set_xlabel(", ".join(texts))
        ax.set(xticks=range(-2, 12, 2))
        if eps < 4:
            ax.get_legend().remove()
    for text in axes[-1].get_legend().get_texts():
        text.set_text(text.get_text().split(" ")[0])
    save_small(figure, folder / "textbook_dbscan.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
