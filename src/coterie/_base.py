"""What all estimators share: checked parameters, checked rows, files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin

from coterie import _files
from coterie._checks import Rule, check_params, is_stand_in
from coterie._config import resolve_n_threads
from coterie._doors import (
    FLOATS,
    check_csr,
    check_finite,
    check_weights,
    checked,
    dense,
    trusted,
    validated,
)
from coterie._fitted_html import fitted_html
from coterie._in_memory import rows_in_memory
from coterie._progress import Callback, both, stderr_progress
from coterie._stored import COLUMNS, Field, Sizes, check_stored
from coterie.data import OnceSource, Source, as_source, is_dask, is_elsewhere
from coterie.data import open as open_rows
from coterie.data.by_name import by_name, frame_by_name, opened_by_name
from coterie.data.scaling import Scaling, scaled_as, standardized


class Estimator(BaseEstimator):
    """Base of the estimators; a subclass declares `_rules` for its parameters and, for files,
    in `_stores` what its fitted attributes look like."""

    scaling_: Scaling

    _rules: ClassVar[Mapping[str, Rule]] = {}
    _stores: ClassVar[Mapping[str, Field]] = {}

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it what the fit found."""
        return str(super()._repr_html_inner()) + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in bundle:
            bundle["text/html"] += fitted_html(self)
        return bundle

    def _check_params(self) -> None:
        # Not by get_params, which reads the signature anew every time.
        check_params(type(self).__name__, vars(self), self._rules)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as float32 or float64, in any memory order, as given wherever possible.

        NaN and infinity are left to the first pass over the data, which sees them for free.
        """
        if isinstance(X, np.memmap) and X.dtype in FLOATS and X.ndim == 2:
            # check_array would turn a memory map into a plain view of it; keep what it is.
            validated(self, X[:1], reset=reset, dtype=FLOATS, ensure_all_finite=False)
            return X
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        rows = validated(
            self, X, accept_sparse=sparse, reset=reset, dtype=FLOATS, ensure_all_finite=False
        )
        return check_csr(type(self).__name__, rows) if sp.issparse(rows) else rows

    def _dense_rows(
        self, X: Any, *, reset: bool, finite: bool = True, copy: bool = False, at_least: int = 1
    ) -> npt.NDArray[Any]:
        """Rows as a float array, of our own if `copy`; sparse ones that would not fit are refused.

        For methods whose structure needs all rows, `at_least` so many, in memory.
        """
        who = type(self).__name__
        taken = self._taken_in(X, reset=reset, finite=finite)
        if taken is not None:
            return taken
        rows = validated(
            self, trusted(who, X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite,
            reset=reset, copy=copy and not sp.issparse(X), ensure_min_samples=at_least,
        )  # fmt: skip
        rows = dense(who, rows)
        if reset:
            self.__dict__.pop("scaling_", None)
        return standardized(rows, getattr(self, "scaling_", None))

    def _taken_in(self, X: Any, *, reset: bool, finite: bool = True) -> npt.NDArray[Any] | None:
        """Rows that are elsewhere, taken into memory; None where X has them itself."""
        if not (is_dask(X) or is_elsewhere(X) or isinstance(X, Source)):
            return None
        who = type(self).__name__
        rows = rows_in_memory(who, self._source(X, reset=reset), "this method")
        return np.asarray(checked(who, rows, dtype=FLOATS, ensure_all_finite=finite))

    def _n_threads(self) -> int:
        """Threads by `n_threads`, then scikit-learn's `n_jobs` where there is one, then options."""
        given, n_jobs = (getattr(self, name, None) for name in ("n_threads", "n_jobs"))
        return resolve_n_threads(given, type(self).__name__, n_jobs=n_jobs)

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Source:
        """Checked rows with their weights, wherever they live."""
        X = self._opened(X, reset=reset)
        X = as_source(X) if is_dask(X) else X
        if isinstance(X, Source):
            source = self._checked_source(X, sample_weight, reset=reset)
        else:
            X = self._check_rows(X, reset=reset)
            weights = check_weights(type(self).__name__, sample_weight, X.shape[0])
            source = self._blocks(X, weights)
        return self._as_for_the_fit(source, reset=reset)

    def _once(self, X: Any) -> OnceSource:
        """A source of batches that come once, each checked, with the columns of the first."""
        for name in ("scaling_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if isinstance(X, OnceSource):
            self._check_columns(X, reset=True)
            return X
        return OnceSource(X, self._check_batch, self._n_threads())

    def _check_batch(self, batch: Any, number: int) -> Any:
        """The rows of a batch with the columns of the first, or an error with its number."""
        who = type(self).__name__
        try:
            rows = self._check_rows(batch, reset=not hasattr(self, "n_features_in_"))
            check_finite(who, rows, getattr(self, "feature_names_in_", None))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            found = str(error).removeprefix(f"{who}: ")
            raise kind(f"{who}: batch {number}: {found}") from error
        return rows

    def _opened(self, X: Any, *, reset: bool) -> Any:
        """Rows as given, or a source of them where X says where they are; columns by name."""
        names = None if reset else getattr(self, "feature_names_in_", None)
        if is_dask(X):
            return X if names is None else frame_by_name(X, names.tolist())
        if not is_elsewhere(X):
            return X
        return open_rows(X) if names is None else opened_by_name(X, names.tolist())

    def _checked_source(self, source: Source, sample_weight: Any, *, reset: bool) -> Source:
        """A source with the right columns, and with these weights if there are any."""
        if not reset and hasattr(self, "feature_names_in_"):
            source = by_name(source, self.feature_names_in_.tolist())
        self._check_columns(source, reset=reset)
        n_rows = 0 if sample_weight is None else source.n_rows
        return self._blocks(source, check_weights(type(self).__name__, sample_weight, n_rows))

    def _as_for_the_fit(self, source: Source, *, reset: bool) -> Source:
        """The rows in the units of the fit, which are those of the rows it was given."""
        if reset:
            self.__dict__.pop("scaling_", None)
            if source.scaling is not None:
                self.scaling_ = dict(source.scaling)
        elif hasattr(self, "scaling_"):
            weights = source.weights
            source = self._blocks(scaled_as(source, self.scaling_))
            return source if source.weights is weights else source.weighted(weights)
        return source

    def _check_columns(self, source: Source, *, reset: bool) -> None:
        """Learn the columns of a source, or hold them to those of the fit."""
        who = type(self).__name__
        if reset:
            self.n_features_in_ = source.n_cols
            self.__dict__.pop("feature_names_in_", None)
            if source.names is not None:
                self.feature_names_in_ = np.asarray(source.names, dtype=object)
        elif source.n_cols != self.n_features_in_:
            # The first words are scikit-learn's.
            raise ValueError(
                f"X has {source.n_cols} features, but {who} is expecting {self.n_features_in_} "
                "features as input; choose the columns of the fit."
            )

    def _blocks(self, X: Any, weights: Any = None) -> Source:
        return as_source(X, weights, self._n_threads())

    def _callback(self) -> Callback | None:
        """The user's callback, and the progress line when `verbose`."""
        shown = stderr_progress(type(self).__name__) if getattr(self, "verbose", False) else None
        return both(getattr(self, "callback", None), shown)

    def _check_loaded(self) -> None:
        """Refuse parameters and fitted attributes that no fit leaves (a damaged model file)."""
        # A function is not stored; where one may stand, its stand-in is told when it is used.
        given = self.get_params(deep=False)
        lost = [name for name, value in given.items() if is_stand_in(value)]
        rules = {
            name: rule
            for name, rule in self._rules.items()
            if not (name in lost and rule.allows(len))
        }
        check_params(type(self).__name__, given, rules)
        sizes = check_stored(self, {**COLUMNS, **self._stores})
        self._check_together_loaded(sizes)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        """What of the fitted attributes the declaration cannot say."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `coterie.load` reads.

        Data only, no code: safetensors arrays and a JSON header, written atomically.
        """
        _files.save_model(path, self)


class Clusterer(ClusterMixin, Estimator):
    """Base of the estimators that give every row one label; sparse rows are welcome."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
