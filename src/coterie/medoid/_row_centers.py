"""Estimators whose centres are rows: what they keep of these, and how new rows are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._doors import check_weights, validated
from coterie._history import Event, Stage
from coterie._stored import RECORDS, Array, Field, Parts, Sizes
from coterie.data import Source, is_elsewhere
from coterie.data.written import given_or_written
from coterie.distance import NAMES, Metric, as_metric, learns
from coterie.medoid._gower_rows import rows_of_table
from coterie.medoid._nearest import KnownMedoids, measure_block


class RowCenters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base of estimators with a `metric` and rows as centres."""

    metric: Any
    metric_params: Mapping[str, Any] | None
    center_rows_: npt.NDArray[Any]
    labels_: Any
    gower_: dict[str, Any]
    metric_params_: dict[str, Any]
    history_: list[Stage]
    events_: list[Event]
    _n_features_out: int

    _stores: ClassVar[Mapping[str, Field]] = {
        "center_rows_": Array("f", ("clusters", "columns"), nan=True, optional=True),
        "gower_": Parts(optional=True),
        "metric_params_": Parts(optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }

    @property
    def _who(self) -> str:
        return type(self).__name__

    def _forget(self) -> None:
        """What only some fits leave."""
        for name in ("center_rows_", "gower_", "metric_params_"):
            self.__dict__.pop(name, None)

    def _can_stream(self, X: Any) -> bool:
        """Whether the rows are not in memory and need not be, since the metric is known."""
        known = not learns(self.metric, self.metric_params or {})
        return known and (is_elsewhere(X) or isinstance(X, Source))

    def _metric(self, X: Any, **learned: Any) -> Metric:
        params = {**(self.metric_params or {}), **learned}
        return as_metric(self.metric, X, who=self._who, **params)

    def _rows_and_metric(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Metric]:
        """Checked rows in memory, the same as they are compared, and the metric."""
        if self.metric == "gower":  # of mixed tables with missing cells; knows how to read them
            validated(self, X, skip_check_array=True)
            metric = self._metric(X)
            self.gower_ = dict(metric.learned)
            prepared = metric.prepare(X)
            return prepared, prepared, metric
        rows = self._dense_rows(X, reset=True, finite=self.metric != "nan_euclidean")
        metric = self._metric(rows)
        self.metric_params_ = dict(metric.learned)
        return rows, metric.prepare(rows), metric

    def _known(self) -> KnownMedoids:
        """The centres and the metric of the fit."""
        if self.metric == "gower":
            metric = as_metric("gower", who=self._who, **self.gower_)
            return KnownMedoids(metric, self.center_rows_, self._who)
        metric = self._metric(self.center_rows_, **self.metric_params_)
        return KnownMedoids(metric, metric.prepare(self.center_rows_), self._who)

    def _like_the_fit(self, X: Any, sample_weight: Any = None) -> tuple[Source, KnownMedoids]:
        """Rows like those of the fit, and what they are compared with."""
        check_is_fitted(self)
        known = self._known()
        if self.metric != "gower":
            return self._source(X, sample_weight, reset=False), known
        validated(self, X, skip_check_array=True, reset=False)
        rows = known.metric.prepare(X)
        weights = check_weights(self._who, sample_weight, rows.shape[0])
        return self._blocks(rows, weights), replace(known, metric=known.metric.of_prepared())

    @property
    def cluster_centers_(self) -> npt.NDArray[Any]:
        """The rows that are centres."""
        if "center_rows_" not in self.__dict__:
            raise AttributeError(
                f"{self._who} has cluster_centers_ after a fit to rows; given distances have none."
            )
        if self.metric == "gower":
            return rows_of_table(self.center_rows_, self.gower_["categories"])
        return self.center_rows_

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """Distance of every row to every centre, (n_rows, n_clusters); see `predict`."""
        blocks, known = self._like_the_fit(X)
        names = [f"distance_{center}" for center in range(known.prepared.shape[0])]
        return given_or_written(blocks, out, names, measure_block, known, dtype=blocks.dtype)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then `transform` the same rows."""
        return self.fit(X).transform(X)

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit and return `labels_`."""
        return self.fit(X).labels_

    def _check_together_loaded(self, sizes: Sizes) -> None:
        given = self.metric in ("precomputed", "geodesic")
        if given != ("center_rows_" not in self.__dict__):
            raise ValueError("center_rows_ is missing, or there are some of a precomputed metric")
        if (self.metric == "gower") != hasattr(self, "gower_"):
            raise ValueError("gower_ is missing, or there is one under another metric")
        if sizes["clusters"] < 1:
            raise ValueError("there is no centre")
        if not given and self.metric != "gower" and not hasattr(self, "metric_params_"):
            raise ValueError("metric_params_ is missing")
        for name, learned in getattr(self, "metric_params_", {}).items():
            if getattr(learned, "dtype", np.float64) != np.float64:
                raise ValueError(f"metric_params_[{name!r}] is not of type float64")
        if not given and self.metric in NAMES:
            self._known()  # refuses what is no metric
        self._n_features_out = sizes["clusters"]
