"""What does a Bernoulli mixture learn of handwritten digits? Its centres, drawn as images.

python docs/figures/bernoulli_digits.py writes bernoulli_digits.png beside itself.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from coterie import BernoulliMixture

N_COMPONENTS = 20


def draw(folder: Path, n_init: int = 20) -> None:
    """Fit scikit-learn's 8 x 8 digits, black or white, and draw each component's probabilities."""
    digits = load_digits()
    model = BernoulliMixture(
        N_COMPONENTS, alpha=1, threshold=7.5, n_init=n_init, max_iter=300, random_state=0
    ).fit(digits.data)
    labels = model.predict(digits.data)
    usual = [np.bincount(digits.target[labels == j], minlength=10).argmax() for j in range(20)]

    figure, axes = plt.subplots(2, N_COMPONENTS // 2, figsize=(9, 2.3), layout="constrained")
    for axis, j in zip(axes.flat, np.argsort(usual, kind="stable"), strict=True):
        axis.imshow(model.probabilities_[j].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axis.set_title(f"{model.weights_[j]:.0%}", fontsize=9)
        axis.set_axis_off()
    figure.savefig(folder / "bernoulli_digits.png", dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
