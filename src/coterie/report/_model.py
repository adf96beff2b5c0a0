"""From the chosen partition to a model of all rows, and what its clusters mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data.raw_table import RawTable
from coterie.report._chosen import Candidate
from coterie.report._new_rows import Placed, StudyModel, told_code
from coterie.report._plan import Plan
from coterie.report._prepared import Prepared
from coterie.report._space import Space
from coterie.select.explain import Explanation, explain

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Rows and columns that clusters are explained by; of more, those of the largest effect.
_EXPLAINED_ROWS, _EXPLAINED_COLUMNS = 10_000, 60


def one_cluster(ready: Prepared, space: Space, studied: Labels) -> StudyModel:
    """The model of a table without structure: every row is in cluster 0."""
    rows = space.rows(ready.points[studied])
    return _model(ready, space, rows.mean(axis=0)[np.newaxis])


def make_model(
    table: RawTable,
    ready: Prepared,
    space: Space,
    studied: Labels,
    compared: Labels,
    best: Candidate,
    plan: Plan,
) -> tuple[StudyModel, Placed]:
    """A model that labels rows as the best candidate does, and all rows of the table labelled.

    Centres and mixtures are fitted again to all studied rows. Trees and densities know only rows
    they have seen: the rows that were compared label the others, each row by its nearest.
    Clusters are numbered by their size.
    """  # fmt: skip
    n_clusters = int(best.labels.max()) + 1
    model = _fitted(table, ready, space, studied, best, n_clusters)
    if model is None:
        rows = np.ascontiguousarray(space.rows(ready.points[compared]))
        model = _model(
            ready, space, _means(rows, best.labels, n_clusters),
            rows_=rows[: plan.n_labelling], row_labels_=best.labels[: plan.n_labelling].copy(),
        )  # fmt: skip
    placed = model.place(table)
    order = np.argsort(-np.bincount(placed.labels, minlength=n_clusters), kind="stable")
    rank = np.argsort(order, kind="stable").astype(np.int64)
    model.means_ = np.ascontiguousarray(model.means_[order])
    model.order_ = rank[model.order_]
    if model.row_labels_ is not None:
        model.row_labels_ = rank[model.row_labels_]
    return model, Placed(rank[placed.labels], placed.confidence, placed.distance)


def _fitted(
    table: RawTable,
    ready: Prepared,
    space: Space,
    studied: Labels,
    best: Candidate,
    n_clusters: int,
) -> StudyModel | None:
    """The recipe fitted to all studied rows; None where it cannot label other rows."""  # fmt: skip
    if not best.recipe.is_centred:
        return None
    rows = np.ascontiguousarray(space.rows(ready.points[studied]))
    cells = ready.cells(table).take(studied)
    inner = best.recipe.fit(rows, cells)
    labels = np.asarray(inner.predict(cells if best.recipe.on_cells else rows), dtype=np.int64)
    if len(distinct(labels)) < n_clusters:  # a cluster got lost among more rows
        return None
    if hasattr(inner, "history_"):  # which has times in it: files of one study would differ
        inner.history_ = []
    return _model(
        ready, space, _means(rows, labels, n_clusters), model_=inner,
        takes_cells_=best.recipe.on_cells,
    )  # fmt: skip


def _model(ready: Prepared, space: Space, means: Floats, **fitted: Any) -> StudyModel:
    model = StudyModel()
    used = ready.used
    told: dict[str, Any] = {
        "columns_": [kind.name for kind in used], "n_columns_": len(ready.kinds),
        "places_": [kind.place for kind in used], "codes_": [told_code(c) for c in ready.codes],
        "center_": space.center, "axes_": space.axes, "means_": np.ascontiguousarray(means),
        "model_": None, "takes_cells_": False,
        "order_": np.arange(len(means), dtype=np.int64), "rows_": None, "row_labels_": None,
        **fitted,
    }  # fmt: skip
    for name, value in told.items():
        setattr(model, name, value)
    return model


def _means(rows: Floats, labels: Labels, n_clusters: int) -> Floats:
    return np.array([rows[labels == label].mean(axis=0) for label in range(n_clusters)])


def explain_clusters(
    cells: RawTable, ready: Prepared, studied: Labels, labels: Labels
) -> Explanation:
    """What sets clusters apart, by the columns as they stand; row numbers are those studied."""
    if len(studied) > _EXPLAINED_ROWS:
        step = len(studied) / _EXPLAINED_ROWS
        studied = studied[(np.arange(_EXPLAINED_ROWS) * step).astype(np.int64)]
    names = telling_columns(ready, studied, labels)[:_EXPLAINED_COLUMNS]
    kept = [name for name in cells.names if name in set(names)]
    found = explain(cells.pick(kept).take(studied), labels[studied], n_traits=6, n_examples=5)
    clusters = tuple(_renumbered(cluster, studied) for cluster in found.clusters)
    return Explanation(clusters, found.n_rows, found.n_noise)


def _renumbered(cluster: Any, studied: Labels) -> Any:
    from dataclasses import replace

    return replace(
        cluster,
        typical=tuple(int(studied[row]) for row in cluster.typical),
        ambiguous=tuple(int(studied[row]) for row in cluster.ambiguous),
    )


def telling_columns(ready: Prepared, studied: Labels, labels: Labels) -> list[str]:
    """The columns that count, those whose clusters differ most first.

    By the variance of the means of clusters, in units of that of the column.
    """
    points, own = ready.points[studied], labels[studied]
    between = np.zeros(points.shape[1])
    for label in distinct(own):
        mine = own == label
        between += mine.mean() * np.square(points[mine].mean(axis=0) - points.mean(axis=0))
    ends = np.cumsum([len(code.places) for code in ready.codes])
    shares = np.array([part.sum() for part in np.split(between, ends[:-1])])
    order = np.argsort(-np.round(shares, 12), kind="stable")
    return [ready.codes[place].name for place in order]
