"""What does `coterie fit` draw? Old Faithful in two clusters.

python docs/figures/faithful.py writes faithful.png beside itself.
"""

from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from coterie import KMeans
from coterie.plots import save_scatter

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


def draw(folder: Path) -> None:
    """Cluster standardised rows, draw them in minutes."""
    rows = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    scaler = StandardScaler().fit(rows)
    model = KMeans(2, n_init=10, random_state=0).fit(scaler.transform(rows))
    save_scatter(
        folder / "faithful.png",
        rows,
        model.labels_,
        scaler.inverse_transform(model.cluster_centers_),
        feature_names=["eruption, minutes", "wait for the next, minutes"],
        title="Old Faithful: short eruptions and long ones",
    )


if __name__ == "__main__":
    draw(Path(__file__).parent)
