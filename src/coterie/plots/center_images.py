"""The picture of centres that are images: each as it looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._style import INK, new_axes, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["center_images"]


def center_images(
    centers: npt.ArrayLike,
    shape: tuple[int, ...],
    *,
    names: Sequence[Any] | None = None,
    n_across: int | None = None,
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw centres as images in a grid: what the classes of a Bernoulli mixture look like.

    Parameters
    ----------
    centers
        Shape (n_clusters, height * width) or, in colour, (n_clusters, height * width * 3):
        `probabilities_` of a BernoulliMixture, `cluster_centers_` of k-means.
    shape
        (height, width) or (height, width, 3) of an image.
    names
        What to write above each, such as its weight; None for its number.
    n_across
        Images in a line; None for nearly a square.
    limits
        The values that are white and black; None for the least and greatest of all centres. In
        colour, those that are 0 and 1.
    ax
        Axes to draw into; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into, with an image and a name for each centre.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from coterie import BernoulliMixture
    >>> from coterie.plots import center_images
    >>> X = load_digits().data > 7
    >>> model = BernoulliMixture(10, tol=0.1, random_state=0).fit(X)
    >>> names = [f"{weight:.0%}" for weight in model.weights_]
    >>> len(center_images(model.probabilities_, (8, 8), names=names, limits=(0, 1)).images)
    10
    """
    tiles = np.asarray(centers, dtype=np.float64)
    n_values = int(np.prod(shape))
    if tiles.ndim != 2 or tiles.shape[1] != n_values or len(shape) not in (2, 3) or not len(tiles):
        raise ValueError(
            f"center_images: centers have shape {tiles.shape} and images of shape {tuple(shape)} "
            f"have {n_values} values; pass (n_clusters, {n_values})."
        )
    n_tiles = len(tiles)
    words = range(n_tiles) if names is None else names
    if len(words) != n_tiles:
        raise ValueError(
            f"center_images: {len(words)} names were given for {n_tiles} centres; give one each."
        )
    low, high = (float(tiles.min()), float(tiles.max())) if limits is None else limits
    shown = np.clip((tiles - low) / ((high - low) or 1.0), 0, 1).reshape(n_tiles, *shape)
    across = n_across or int(np.ceil(np.sqrt(1.8 * n_tiles)))
    height, width = shape[:2]
    ax = new_axes() if ax is None else ax
    for place, (tile, word) in enumerate(zip(shown, words, strict=True)):
        down, right = divmod(place, across)
        # Tiles are one wide; the lines leave room for the names.
        left, top = 1.12 * right, -(height / width + 0.34) * down
        ax.imshow(
            tile, extent=(left, left + 1, top - height / width, top), cmap="gray_r", vmin=0, vmax=1,
            interpolation="nearest",
        )  # fmt: skip
        ax.text(left + 0.5, top + 0.05, printable(word), ha="center", color=INK, fontsize=10)
    n_down = -(-n_tiles // across)
    ax.set(xlim=(-0.05, 1.12 * min(across, n_tiles) - 0.07))
    ax.set(ylim=(-(height / width + 0.34) * n_down + 0.29, 0.34), aspect="equal")
    ax.set_axis_off()
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax
