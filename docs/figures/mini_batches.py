"""How far do mini-batches come while k-means passes over the rows once?

python docs/figures/mini_batches.py writes mini_batches.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import KMeans, MiniBatchKMeans, kmeans_plusplus
from coterie.plots._style import INK, color_of, plain


def draw(folder: Path, n_rows: int = 100_000) -> None:
    """SSE above the best against rows looked at, in passes over all of them; one start for all."""
    rng = np.random.RandomState(0)
    places = rng.normal(scale=1.6, size=(30, 8))
    rows = places[rng.randint(30, size=n_rows)] + rng.normal(size=(n_rows, 8))
    start = kmeans_plusplus(rows[:2000], 30, random_state=0, n_local_trials=1)[0]
    full = KMeans(30, init=start, tol=0, max_iter=60).fit(rows)
    curves = {"k-means": (
        [entry["iteration"] for entry in full.history_],
        [entry["objective_update"] for entry in full.history_],
    )}  # fmt: skip
    for batch_size in (1000, 10_000):
        model = MiniBatchKMeans(30, init=start, batch_size=batch_size, random_state=0)
        model.set_params(max_iter=10, tol=0, max_no_improvement=None, reassignment_ratio=0)
        passes, sse = [], []

        def note(progress, passes=passes, sse=sse, batch_size=batch_size):
            seen = progress.iteration * batch_size / n_rows
            if not passes or seen > 1.3 * passes[-1]:
                passes.append(seen)
                centers = np.asarray(progress.parameters)
                found = KMeans(30, init=centers, max_iter=1, tol=0).fit(rows)
                sse.append(found.history_[0]["objective_assign"])

        model.set_params(callback=note).fit(rows)
        curves[f"mini-batches of {batch_size:,}"] = (passes, sse)
    best = min(min(values) for _, values in curves.values())
    figure, ax = pyplot.subplots(figsize=(8, 4), dpi=90, layout="constrained")
    for j, (name, (passes, values)) in enumerate(curves.items()):
        ax.plot(passes, np.array(values) / best, ".-", color=color_of(j), label=name)
    ax.set(xscale="log", xlabel="rows looked at, in passes over all rows",
           ylabel="SSE, of the lowest seen", ylim=(0.98, None))  # fmt: skip
    ax.legend(frameon=False, labelcolor=INK)
    plain(ax)
    figure.savefig(folder / "mini_batches.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
