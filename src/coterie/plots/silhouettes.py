"""The picture of silhouettes: a knife for each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.plots._style import INK, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["silhouettes"]

#: More clusters than this are drawn without their numbers.
_MOST_NAMED = 30


def silhouettes(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the silhouette of every row, sorted within its cluster (Rousseeuw 1987).

    A cluster is a blade as thick as it has rows. A full blade that reaches far to the right is a
    cluster of its own; where the blade is left of 0, rows are nearer to another cluster. The dashed
    line is the mean of all rows. Rows of noise (labels below 0) are left out.

    Parameters
    ----------
    values
        Silhouettes from -1 to 1, shape (n_rows,): `coterie.evaluate.silhouette_samples`.
    labels
        Cluster of each row, shape (n_rows,), whole numbers.
    ax
        Axes to draw into; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.evaluate import silhouette_samples
    >>> from coterie.plots import silhouettes
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> labels = KMeans(2, random_state=0).fit_predict(X)
    >>> ax = silhouettes(silhouette_samples(X, labels), labels)
    >>> len(ax.collections)
    2
    """
    scores, owners = np.asarray(values, dtype=np.float64), np.asarray(labels)
    if scores.ndim != 1 or owners.shape != scores.shape or owners.dtype.kind not in "iu":
        raise ValueError(
            f"silhouettes: values have shape {scores.shape} and labels shape {owners.shape} and "
            f"type {owners.dtype}; pass a number and a whole number for each row."
        )
    kept = (owners >= 0) & np.isfinite(scores)
    scores, owners = scores[kept], owners[kept]
    if not len(scores):
        raise ValueError("silhouettes: no row is in a cluster; pass labels from 0.")
    ax = new_axes() if ax is None else ax
    clusters = distinct(owners).tolist()
    gap = max(1.0, 0.02 * len(scores))
    below, lowest = 0.0, min(0.0, float(scores.min()))
    for cluster in clusters:
        own = np.sort(scores[owners == cluster])[::-1]
        # A step for each row, so that a single row has a height, too.
        edges = below + np.arange(len(own) + 1)
        blade = np.append(own, own[-1])
        ax.fill_betweenx(edges, 0, blade, step="post", color=color_of(cluster), linewidth=0)
        if len(clusters) <= _MOST_NAMED:
            ax.annotate(
                f"{cluster}: {len(own):,} rows, mean {own.mean():.2f}",
                (1.0, below + len(own) / 2), xycoords=("axes fraction", "data"),
                xytext=(6, 0), textcoords="offset points",
                va="center", color=color_of(cluster), fontsize=11, annotation_clip=False,
            )  # fmt: skip
        below += len(own) + gap
    mean = float(scores.mean())
    ax.axvline(mean, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    ax.annotate(
        f"mean {mean:.2f}", (mean, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3),
        textcoords="offset points", ha="center", color=INK, fontsize=11,
    )  # fmt: skip
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set(xlim=(lowest - 0.02, max(0.02, 1.05 * float(scores.max()))), ylim=(below, -gap))
    ax.set(xlabel="silhouette", yticks=[])
    ax.set_title(printable(title or ""), pad=22)
    plain(ax)
    ax.spines["left"].set_visible(False)
    return ax
