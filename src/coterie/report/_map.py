"""A plane in which clusters can be seen: two columns, principal components, or discriminants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.evaluate import silhouette_score

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Rows that two planes are compared on.
_COMPARED = 1000
#: Principal components are taken while clusters are as well apart in them as this share of what
#: discriminants reach: they know nothing of the labels, so they do not flatter.
_FAIR = 0.75
#: Of the mean variance of a column: what the scatter within clusters is widened by.
_RIDGE = 0.1


@dataclass(frozen=True)
class Plane:
    """Two axes, of shape (n_places, 2), about a center; `axes` are their names."""

    method: str
    sentence: str
    names: tuple[str, str]
    center: Floats
    axes: Floats

    def at(self, rows: Floats) -> Floats:
        """Where rows are in the plane, (n_rows, 2)."""
        return np.asarray((rows - self.center) @ self.axes)


def find_plane(rows: Floats, labels: Labels, names: list[str] | None, seed: int) -> Plane:
    """The plane for some rows; `names` are those of the columns where rows are such."""
    n_rows, n_cols = rows.shape
    center = rows.mean(axis=0)
    if n_cols <= 2 and names is not None:
        axes = np.eye(n_cols, 2)
        both = (names[0], names[1] if n_cols == 2 else "")
        what = "The two columns" if n_cols == 2 else "The one column"
        return Plane("columns", f"{what}, standardised.", both, np.zeros(n_cols), axes)
    components, shares = _principal(rows - center)
    told = f"the first two principal components, {shares[:2].sum():.0%} of the variance"
    flat = Plane(
        "principal components", f"A view along {told}.",
        (_share("component 1", shares[0]), _share("component 2", shares[1])), center, components,
    )  # fmt: skip
    if len(distinct(labels)) < 2:
        return flat
    turned = Plane(
        "discriminant axes",
        "A view along the two axes that part the clusters most (linear discriminants); it knows "
        f"the labels, so clusters look farther apart than along {told}.",
        ("discriminant 1", "discriminant 2"), center, _discriminants(rows, labels, components),
    )  # fmt: skip
    some = np.sort(np.random.RandomState(seed).permutation(n_rows)[:_COMPARED])
    if len(distinct(labels[some])) < 2:
        return flat
    seen, best = (silhouette_score(one.at(rows[some]), labels[some]) for one in (flat, turned))
    return flat if seen >= _FAIR * best else turned


def _share(name: str, share: float) -> str:
    return f"{name} ({share:.0%})"


def _principal(centred: Floats) -> tuple[Floats, Floats]:
    """Two axes of most variance, (n_places, 2), and the share of each; else zeros."""
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    shares = np.square(lengths) / max(float(np.square(lengths).sum()), 1e-300)
    found = np.zeros((centred.shape[1], 2))
    kept = axes[:2]
    found[:, : len(kept)] = (kept * np.sign(kept.sum(axis=1) + 1e-300)[:, np.newaxis]).T
    return found, np.append(shares, [0.0, 0.0])


def _discriminants(rows: Floats, labels: Labels, components: Floats) -> Floats:
    """Axes of most variance between clusters in units of that within (Fisher 1936; Rao 1948).

    To the scatter within, a tenth of the mean variance of a column is added in every direction
    (Friedman 1989): a cluster that is pure in a level would otherwise shrink to a dot. Two clusters
    have one such axis; the other is the first principal component at right angles.
    """
    means = np.array([rows[labels == label].mean(axis=0) for label in distinct(labels)])
    own = np.searchsorted(distinct(labels), labels)
    within = rows - means[own]
    scatter = within.T @ within / len(rows)
    scatter += max(_RIDGE * float(rows.var(axis=0).mean()), 1e-12) * np.eye(len(scatter))
    lengths, axes = np.linalg.eigh(scatter)
    whiten = axes / np.sqrt(lengths)
    between = (means[own] - rows.mean(axis=0)) @ whiten
    _, _, turn = np.linalg.svd(between.T @ between)
    found = whiten @ turn[:2].T
    if len(means) == 2:
        first = found[:, 0] / np.linalg.norm(found[:, 0])
        second = components[:, 0] - (components[:, 0] @ first) * first
        if np.linalg.norm(second) < 1e-6:
            second = components[:, 1] - (components[:, 1] @ first) * first
        found = np.column_stack([first, second / max(float(np.linalg.norm(second)), 1e-12)])
    return np.asarray(found)
