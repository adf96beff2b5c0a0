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
from coterie._doors import FLOATS, check_csr, check_weights, dense, trusted, validated
from coterie._progress import Callback, both, stderr_progress
from coterie._stored import COLUMNS, Field, Sizes, check_stored
from coterie.data import Source, as_source


class Estimator(BaseEstimator):
    """Base of the estimators; a subclass declares `_rules` for its parameters and, for files,
    in `_stores` what its fitted attributes look like."""

    _rules: ClassVar[Mapping[str, Rule]] = {}
    _stores: ClassVar[Mapping[str, Field]] = {}

    def _check_params(self) -> None:
        check_params(type(self).__name__, self.get_params(deep=False), self._rules)

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
        rows = validated(
            self, trusted(who, X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite,
            reset=reset, copy=copy and not sp.issparse(X), ensure_min_samples=at_least,
        )  # fmt: skip
        return dense(who, rows)

    def _n_threads(self) -> int:
        """Threads by `n_threads`, then scikit-learn's `n_jobs` where there is one, then options."""
        given, n_jobs = (getattr(self, name, None) for name in ("n_threads", "n_jobs"))
        return resolve_n_threads(given, type(self).__name__, n_jobs=n_jobs)

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Source:
        """Checked rows with their weights, wherever they live."""
        who = type(self).__name__
        if isinstance(X, Source):
            self._check_columns(X, reset=reset)
            n_rows = 0 if sample_weight is None else X.n_rows
            return self._blocks(X, check_weights(who, sample_weight, n_rows))
        rows = self._check_rows(X, reset=reset)
        return self._blocks(rows, check_weights(who, sample_weight, rows.shape[0]))

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
