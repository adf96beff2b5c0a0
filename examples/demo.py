"""What does coterie do? Cluster the eruptions of Old Faithful, then read the result.

    python examples/demo.py [OUTDIR]

Old Faithful is a geyser. The 272 rows give how long an eruption lasted and how long the wait for
the next one was, both in minutes (Azzalini and Bowman, 1990).
"""

import sys
from pathlib import Path

import numpy as np

import coterie
from coterie.cli import main

FAITHFUL = Path(__file__).parent / "data" / "faithful.csv"


def demo(outdir: Path) -> int:
    """Fit, write labels, model and picture into `outdir`, and say what they show."""
    print(f"$ coterie fit {FAITHFUL.name} -k 2 -o {outdir}\n")
    code = main(["fit", str(FAITHFUL), "-k", "2", "-o", str(outdir)])
    if code:
        return code

    rows = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    labels = np.loadtxt(outdir / "labels.csv", dtype=int, skiprows=1)
    model = coterie.load(outdir / "model.coterie").model
    print(f"\nOld Faithful erupts in {model.n_clusters} ways:")
    for cluster in range(model.n_clusters):
        own = rows[labels == cluster]
        lasted, waited = own.mean(axis=0)
        print(
            f"  {len(own)} eruptions of {lasted:.1f} minutes, then a wait of {waited:.0f} minutes"
        )
    print(f"See the picture: {outdir / 'clusters.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo")))
