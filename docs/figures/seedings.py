"""How good is each seeding? The SSE of 100 single runs, and where the worst run went wrong.

python docs/figures/seedings.py writes seedings.png and worst_starts.png beside itself.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from _clusters import N_CLUSTERS, fifteen_clusters, with_strays
from matplotlib import pyplot
from matplotlib.axes import Axes

from coterie import KMeans
from coterie.centroid._passes import choose_space
from coterie.centroid._seeding import SEEDINGS
from coterie.data import as_source
from coterie.plots._style import INK, NOISE_COLOR, color_of, plain

Floats = npt.NDArray[np.float64]

#: What each row of the figure is called, and the parameters it stands for.
STARTS: Mapping[str, Mapping[str, Any]] = {
    "k-means++\n(greedy)": {"init": "k-means++"},
    "k-means||": {"init": "k-means||"},
    "farthest-first": {"init": "farthest-first"},
    "k-means++\n(one trial)": {"init": "k-means++", "n_local_trials": 1},
    "box": {"init": "box"},
    "random\n(rows)": {"init": "random"},
    "random-labels": {"init": "random-labels"},
}

#: A run this close to the best is counted as having found it.
FOUND = 1.01


def sse_of_runs(rows: Floats, n_seeds: int) -> dict[str, Floats]:
    """For each start, the SSE of one run for each random state, ``KMeans(n_init=1)``."""
    return {
        name: np.array(
            [
                KMeans(N_CLUSTERS, n_init=1, random_state=seed, **start).fit(rows).inertia_
                for seed in range(n_seeds)
            ]
        )
        for name, start in STARTS.items()
    }


def strips(ax: Axes, runs: Mapping[str, Floats], title: str) -> None:
    """One dot a run, by its SSE over the lowest SSE of all; a bar at the median."""
    best = min(sse.min() for sse in runs.values())
    rng = np.random.RandomState(0)
    for line, sse in enumerate(runs.values()):
        ratio = sse / best
        jitter = rng.uniform(-0.26, 0.26, size=len(ratio))
        middle = np.median(ratio)
        ax.vlines(middle, line - 0.4, line + 0.4, color=color_of(1), linewidth=6, zorder=1)
        ax.scatter(ratio, line + jitter, s=16, c=color_of(0), alpha=0.5, linewidths=0, zorder=2)
        found = np.count_nonzero(ratio < FOUND)
        ax.annotate(
            f"{found} of {len(ratio)}",
            (1.02, line),
            xycoords=("axes fraction", "data"),
            color=INK,
            va="center",
            fontsize=10,
        )
        ax.axhline(line + 0.5, color=NOISE_COLOR, linewidth=0.4, alpha=0.5)
    ax.annotate(
        "found\nthe best",
        (1.02, 1.01),
        xycoords="axes fraction",
        color=INK,
        va="bottom",
        fontsize=10,
    )
    ax.set(xscale="log", xlabel="SSE relative to the lowest of all runs", title=title)
    ax.set_xlim(0.96, 9)
    ticks = [1, 1.5, 2, 3, 4, 6, 8]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set_ylim(len(runs) - 0.5, -0.5)
    plain(ax)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def draw_strips(path: Path, n_seeds: int) -> dict[str, Floats]:
    """The figure of all runs; returns the SSE of those without strays."""
    rows = fifteen_clusters()
    runs = sse_of_runs(rows, n_seeds)
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(12, 5.4), dpi=100, sharey=True, layout="constrained"
    )
    strips(left, runs, "15 clusters, 5000 rows")
    strips(right, sse_of_runs(with_strays(rows), n_seeds), "the same and 50 stray rows")
    left.plot([], [], color=color_of(1), linewidth=6, label="median")
    left.scatter([], [], s=16, c=color_of(0), alpha=0.7, label="a run")
    left.legend(loc="upper right", frameon=False, labelcolor=INK, fontsize=10)
    figure.savefig(path)
    pyplot.close(figure)
    return runs


def start_of(rows: Floats, seed: int, *, init: str, n_local_trials: int | None = None) -> Floats:
    """The centres that ``KMeans(init=init, random_state=seed)`` starts from."""
    blocks = as_source(rows)
    seeding: Callable[..., Any] = SEEDINGS[init]
    rng = np.random.RandomState(seed)
    space = choose_space(blocks)[1]
    return seeding(blocks, space, N_CLUSTERS, rng, n_local_trials=n_local_trials).centers


def path_of_centers(ax: Axes, rows: Floats, start: Floats, end: Floats, title: str) -> None:
    """Where the centres began, where they ended, and the rows behind."""
    ax.scatter(*rows[::3].T, s=3, c=NOISE_COLOR, alpha=0.5, linewidths=0, rasterized=True)
    for here, there in zip(start, end, strict=True):
        ax.plot(*zip(here, there, strict=True), color=INK, linewidth=0.9, zorder=2)
    ax.scatter(
        *start.T, s=34, c="white", edgecolors=color_of(0), linewidths=1.6, zorder=3, label="start"
    )
    ax.scatter(*end.T, s=60, c=color_of(1), marker="X", edgecolors="white", zorder=4, label="end")
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.12, 1.12))
    plain(ax)
    ax.set_title(title, fontsize=11)
    ax.spines[:].set_visible(False)


def draw_worst_starts(path: Path, runs: Mapping[str, Floats]) -> None:
    """The worst run of each seeding on the clusters without strays."""
    rows = fifteen_clusters()
    best = min(sse.min() for sse in runs.values())
    figure, axes = pyplot.subplots(2, 4, figsize=(12, 6.3), dpi=100, layout="compressed")
    for ax, (name, sse) in zip(axes.flat, runs.items(), strict=False):
        worst = int(np.argmax(sse))
        start = start_of(rows, worst, **STARTS[name])
        end = KMeans(N_CLUSTERS, init=start).fit(rows).cluster_centers_
        one_line = name.replace("\n", " ")
        path_of_centers(ax, rows, start, end, f"{one_line}: {sse[worst] / best:.1f} x the best")
    last = axes.flat[-1]
    last.axis("off")
    last.legend(
        *axes.flat[0].get_legend_handles_labels(),
        loc="center",
        frameon=False,
        labelcolor=INK,
        fontsize=12,
        title="a centre's",
    )
    figure.savefig(path)
    pyplot.close(figure)


def draw(folder: Path, n_seeds: int = 100) -> None:
    """Write both figures into `folder`."""
    runs = draw_strips(folder / "seedings.png", n_seeds)
    draw_worst_starts(folder / "worst_starts.png", runs)


if __name__ == "__main__":
    draw(Path(__file__).parent)
