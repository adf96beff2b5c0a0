"""What the pictures of a report are drawn from: histograms, silhouettes, trees, curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import AgglomerativeClustering
from coterie._distinct import distinct
from coterie.data.columns import codes
from coterie.data.encoding import finite
from coterie.evaluate import silhouette_samples
from coterie.plots._branches import draw_last, lay_branches
from coterie.report._chosen import Chosen
from coterie.report._column_kinds import ColumnKind
from coterie.report._findings import Findings
from coterie.report._model import telling_columns
from coterie.report._plain import floats, level_text, plain
from coterie.select.eps import suggest_eps

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_BINS = 24
#: Whole numbers in a bin, from which on one more or less is not seen.
_FEW_PER_BIN = 10
#: Columns whose histograms are shown, those that tell clusters apart first.
_MOST_PROFILES = 60
#: Silhouettes of a cluster, leaves of a tree, points of a curve, rows with soft memberships.
_MOST_SILHOUETTES, _MOST_LEAVES, _MOST_POINTS, _MOST_MEMBERS = 300, 60, 1000, 400
#: Rows whose silhouettes are measured, by all pairs.
_MEASURED = 2000


def profiles(found: Findings) -> list[dict[str, Any]]:
    """Histograms of columns over all rows and in each cluster."""
    labels, k = found.placed.labels, found.n_clusters
    names = telling_columns(found.ready, found.studied, labels)[:_MOST_PROFILES]
    kinds = {kind.name: kind for kind in found.ready.used}
    return [_profile(kinds[name], found.given.table[name], labels, k) for name in names]


def _profile(kind: ColumnKind, column: Any, labels: Labels, k: int) -> dict[str, Any]:
    edges, least, most = None, None, None
    if kind.levels:
        bins, n_bins = codes(column, kind.levels).astype(np.int64), len(kind.levels)
    else:
        values = finite(column)
        known = values[np.isfinite(values)]
        least, most = (known.min(), known.max()) if known.size else (0.0, 1.0)
        edges = _edges(known, float(least), float(most))
        n_bins = len(edges) - 1
        bins = np.searchsorted(edges, values, side="right") - 1
        bins = np.where(np.isfinite(values), np.clip(bins, 0, n_bins - 1), -1)
    there = bins >= 0
    table = np.bincount(labels[there] * n_bins + bins[there], minlength=k * n_bins)
    table = table.reshape(k, n_bins)
    return {
        "column": kind.name,
        "kind": "levels" if kind.levels else "numeric",
        "edges": None if edges is None else floats(edges, 12),
        "least": plain(least), "most": plain(most),
        "levels": [level_text(level) for level in kind.levels] if kind.levels else None,
        "all": table.sum(axis=0).tolist(),
        "by_cluster": table.tolist(),
        "missing": np.bincount(labels[~there], minlength=k).tolist(),
    }  # fmt: skip


def _edges(known: Floats, least: float, most: float) -> Floats:
    """Edges of bins of one width; in each as many whole numbers, where cells are whole and few."""
    n_values = most - least + 1
    if n_values <= _FEW_PER_BIN * _BINS and (known == np.rint(known)).all():
        widths = range(-(-int(n_values) // _BINS), int(n_values) // (_BINS // 2) + 1)
        width = min(widths, key=lambda width: -n_values % width, default=1)
        return least - 0.5 + width * np.arange(-(-n_values // width) + 1)
    return np.linspace(least, most if most > least else least + 1, _BINS + 1)


def silhouettes(found: Findings) -> dict[str, Any] | None:
    """Silhouettes of some rows, cluster by cluster, the largest first."""
    compared = found.compared
    step = max(1, -(-len(compared) // _MEASURED))
    rows, labels = compared[::step], found.placed.labels[compared[::step]]
    if len(distinct(labels)) < 2:
        return None
    values = silhouette_samples(
        np.ascontiguousarray(found.space.rows(found.ready.points[rows])), labels
    )
    parts = []
    for label in range(found.n_clusters):
        own = np.sort(values[labels == label])[::-1]
        parts.append({"label": label, "values": floats(_thinned(own, _MOST_SILHOUETTES), 4)})
    return {"mean": plain(float(values.mean())), "by_cluster": parts}


def _thinned(values: Any, most: int) -> Any:
    """So many of the values at most, evenly, ends included."""
    if len(values) <= most:
        return values
    return values[np.round(np.linspace(0, len(values) - 1, most)).astype(np.int64)]


def dendrogram(found: Findings, chosen: Chosen) -> dict[str, Any] | None:
    """The last merges of the tree, where the method has one; Genie's heights do not rise."""
    best = chosen.best.recipe
    if not isinstance(best.estimator, AgglomerativeClustering) or best.family == "Genie":
        return None
    rows = np.ascontiguousarray(found.space.rows(found.ready.points[found.compared]))
    Z = best.fit(rows, found.given.table).Z_
    n_leaves = min(_MOST_LEAVES, len(Z) + 1)
    laid = lay_branches(Z, draw_last(Z, n_leaves))
    sizes = [1 if node <= len(Z) else int(Z[node - len(Z) - 1, 3]) for node in laid.leaves.tolist()]
    k = chosen.n_clusters
    cut = float(Z[-k : len(Z) - k + 2, 2].mean()) if k <= len(Z) else 0.0
    segments = [
        [floats(across), floats(heights)]
        for across, heights in zip(laid.across, laid.heights, strict=True)
    ]
    return {
        "method": best.name, "segments": segments, "leaf_sizes": sizes, "cut": plain(cut),
        "sentence": f"The last {n_leaves - 1} merges of {best.name}; a leaf stands for as many "
        f"rows as it says, and the cut leaves {k} clusters.",
    }  # fmt: skip


def k_distances(found: Findings, chosen: Chosen) -> dict[str, Any] | None:
    """The sorted distances to a neighbour, where the method goes by density."""
    if chosen.best.recipe.family != "HDBSCAN":
        return None
    min_samples = int(chosen.best.recipe.estimator.min_samples)
    rows = np.ascontiguousarray(found.space.rows(found.ready.points[found.compared]))
    try:
        told = suggest_eps(rows, min_samples)
    except ValueError:  # all rows are copies
        return None
    return {
        "k": min_samples - 1, "values": floats(_thinned(told.curve, _MOST_POINTS)),
        "eps": plain(told.eps), "sentence": told.reason,
    }  # fmt: skip


def bic(chosen: Chosen) -> dict[str, Any] | None:
    """BIC of mixtures along their number of components."""
    if chosen.mixtures is not None:
        all_of = chosen.mixtures.candidates
        ks = sorted({one.k for one in all_of})
        kinds = list(dict.fromkeys((one.family, one.covariance_type) for one in all_of))
        values = {(one.family, one.covariance_type, one.k): one.bic for one in all_of
                  if not one.degenerate}  # fmt: skip
        curves = [
            {"name": f"{family} {kind}",
             "values": [plain(values.get((family, kind, k))) for k in ks]}
            for family, kind in sorted(kinds)
        ]  # fmt: skip
        best = chosen.mixtures.best
        told = {"name": f"{best.family} {best.covariance_type}", "k": best.k}
        return {
            "k": ks, "curves": curves, "best": told, "sentence": chosen.mixtures.summary,
        }  # fmt: skip
    if chosen.by_cells is None or "bic" not in chosen.by_cells.curves:
        return None
    curve = chosen.by_cells.curves["bic"]
    pick = curve.pick or int(chosen.by_cells.ks[0])
    return {
        "k": list(chosen.by_cells.ks),
        "curves": [{"name": "mixed mixture", "values": floats(curve.values)}],
        "best": {"name": "mixed mixture", "k": pick},
        "sentence": f"Of mixed mixtures the one with {pick} components has the lowest BIC; a "
                    "cluster may take several.",
    }  # fmt: skip


def memberships(found: Findings) -> dict[str, Any] | None:
    """Probabilities of the clusters for some rows, where a mixture gives them."""
    model = found.model
    if model.model_ is None or not hasattr(model.model_, "predict_proba"):
        return None
    rows = _thinned(found.studied, _MOST_MEMBERS)
    where: Any = found.space.rows(found.ready.points[rows])
    if model.takes_cells_:
        where = found.ready.cells(found.given.table).take(rows)
    chances = np.empty((len(rows), found.n_clusters))
    chances[:, model.order_] = model.model_.predict_proba(where)
    labels = found.placed.labels[rows]
    order = np.lexsort((-chances.max(axis=1), labels))
    return {
        "sentence": f"Probabilities of the clusters for {len(rows):,} rows under the mixture.",
        "row": rows[order].tolist(), "label": labels[order].tolist(),
        "values": [floats(row, 4) for row in chances[order]],
    }  # fmt: skip
