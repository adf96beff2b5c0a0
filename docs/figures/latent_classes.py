"""What does a categorical mixture find in a survey? The answers of its three classes.

python docs/figures/latent_classes.py writes latent_classes.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import CategoricalMixture
from coterie.plots._style import INK, color_of, plain

ANSWERS = ("no", "partly", "yes")


def survey(n_rows: int) -> np.ndarray:
    """Answers to six questions by people of three kinds, in shares of a half, 30% and 20%."""
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([0.5, 0.5, 0.5], size=(3, 6))
    kinds = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    ladder = chances[kinds].cumsum(axis=2)
    codes = (rng.uniform(size=(n_rows, 6, 1)) > ladder).sum(axis=2)
    return np.array(ANSWERS, dtype=object)[np.minimum(codes, 2)]


def draw(folder: Path, n_rows: int = 2000) -> None:
    """A panel for each class: the chance of each answer, question by question."""
    model = CategoricalMixture(3, n_init=10, random_state=0, categories=[list(ANSWERS)] * 6)
    model.fit(survey(n_rows))
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.4), dpi=90, sharey=True,
                                   layout="constrained")  # fmt: skip
    for ax, j in zip(axes, np.argsort(-model.weights_), strict=True):
        chances = np.array([table[j] for table in model.probabilities_])
        base = np.zeros(6)
        for answer, share in enumerate(chances.T):
            ax.bar(range(1, 7), share, bottom=base, width=0.8, color=color_of((5, 4, 1)[answer]),
                   label=ANSWERS[answer])  # fmt: skip
            base += share
        ax.set(xlabel="question", xticks=range(1, 7))
        ax.set_title(f"class of {model.weights_[j]:.0%} of the rows", color=INK, fontsize=12)
        plain(ax)
        ax.title.set_fontsize(12)
    axes[0].set_ylabel("chance of the answer")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False,
                  labelcolor=INK)  # fmt: skip
    figure.savefig(folder / "latent_classes.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
