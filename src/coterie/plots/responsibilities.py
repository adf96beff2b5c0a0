"""The picture of responsibilities: an image with a line per row, beside the rows themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.plots._plane import even_sample
from coterie.plots._style import INK, color_of, new_axes, panels, plain, printable
from coterie.plots.memberships import checked_shares, memberships

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["responsibilities"]

Floats = npt.NDArray[np.float64]


def responsibilities(
    shares: npt.ArrayLike,
    X: npt.ArrayLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    max_rows: int = 2000,
    title: str | None = None,
) -> Axes:
    """Draw responsibilities as an image: a line for each row, a column for each component.

    White is 0 and the full colour of the component 1. Rows are sorted by their likeliest component
    and within it from the surest to the least sure, so sharp clusters are solid blocks and doubtful
    rows run out into the neighbouring columns. With X, the rows stand beside it in mixed colours.

    Parameters
    ----------
    shares
        Responsibilities, shape (n_rows, n_components), at most 1 per row: `predict_proba` of a
        mixture.
    X
        The same rows, shape (n_rows, n_columns >= 2), to be drawn beside the image; None for the
        image alone.
    feature_names
        Names of the columns of X.
    ax
        Axes to draw into, and to divide where X is given; None for a new figure.
    max_rows
        Lines of the image at most; of more rows an even sample is drawn, and the axis says so.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into. With X its `child_axes` are the scatter plot and the image.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GaussianMixture
    >>> from coterie.plots import responsibilities
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(3, 1, (50, 2))])
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> ax = responsibilities(model.predict_proba(X), X)
    >>> ax.child_axes[1].images[0].get_array().shape
    (100, 2, 3)
    """
    own = checked_shares(shares, None if X is None else len(np.asarray(X)), "responsibilities")
    ax = new_axes() if ax is None else ax
    if X is None:
        _draw_image(ax, own, max_rows)
    else:
        left, right = panels(ax, (2, 1), gap=0.12)
        memberships(X, own, feature_names=feature_names, ax=left)
        legend = left.get_legend()
        if legend is not None:  # the image beside it names the colours
            legend.remove()
        _draw_image(right, own, max_rows)
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax


def _draw_image(ax: Axes, shares: Floats, max_rows: int) -> None:
    """Sorted responsibilities, each column in the colour of its component."""
    from matplotlib.colors import to_rgb
    from matplotlib.ticker import MaxNLocator

    drawn = shares[even_sample(len(shares), max_rows)]
    likeliest = drawn.argmax(axis=1)
    drawn = drawn[np.lexsort((-drawn.max(axis=1), likeliest))]
    pure = np.array([to_rgb(color_of(component)) for component in range(drawn.shape[1])])
    shown = np.clip(1 - drawn[:, :, np.newaxis] * (1 - pure), 0, 1)
    ax.imshow(shown, aspect="auto", interpolation="nearest")
    sampled = f" ({len(drawn):,} of {len(shares):,})" if len(drawn) < len(shares) else ""
    ax.set(
        xlabel="component\n(white 0, full colour 1)",
        ylabel=f"rows, sorted{sampled}",
    )
    if drawn.shape[1] <= 16:
        ax.set_xticks(range(drawn.shape[1]))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    for component in range(1, drawn.shape[1]):
        ax.axvline(component - 0.5, color="white", linewidth=1)
    plain(ax)
