"""A fitted model together with the columns it knows and the scaling they need."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data.scaling import Scaling, standardized
from coterie.errors import DataError

__all__ = ["Scaling", "TableModel", "standardized"]

#: Methods of estimators whose first argument is rows.
_OF_ROWS = frozenset({
    "add", "aic", "bag_of_words", "bic", "cophenetic_correlation", "distortion", "encode",
    "free_energy", "icl", "part_distortions", "predict", "predict_membership", "predict_proba",
    "recut", "score", "score_samples", "transform",
})  # fmt: skip


class TableModel:
    """A fitted model that takes rows as they stand in a table: in any order of columns, unscaled.

    `coterie.load` returns one for a file that ``coterie fit`` wrote. Every method of the model
    that takes rows is here (`predict`, `predict_proba`, `score` and so on, as far as the model has
    them) and gets the columns it knows, scaled as for its fit. Fitted attributes are those of
    the model, so centres, scores and densities are in scaled units. `sample` gives rows in the
    table's own.

    Parameters
    ----------
    model
        A fitted estimator.
    columns
        Names of the columns of its rows, in order; None if they have none.
    scaling
        ``"mean"`` and ``"scale"`` of each column, applied as ``(X - mean) / scale``; None if the
        model takes rows as they are.
    """

    def __init__(
        self,
        model: Any,
        columns: Sequence[str] | None = None,
        scaling: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        self.model = model
        self.columns = None if columns is None else [str(column) for column in columns]
        self.scaling: Scaling | None = None
        if scaling is not None:
            self.scaling = {
                key: np.asarray(scaling[key], dtype=np.float64) for key in ("mean", "scale")
            }

    def __repr__(self) -> str:
        return (
            f"TableModel({self.model!r}, columns={self.columns!r}, "
            f"scaling={'None' if self.scaling is None else 'mean and scale'})"
        )

    def __getattr__(self, name: str) -> Any:
        if name == "model" or name.startswith("__"):  # while being copied, there is no model yet
            raise AttributeError(name)
        if name in _OF_ROWS:
            return partial(self._with_rows, getattr(self.model, name))
        if name == "sample":
            return partial(self._sample, self.model.sample)
        if name.endswith("_") and not name.startswith("_"):
            return getattr(self.model, name)
        raise AttributeError(
            f"a TableModel has no {name!r}; the {type(self.model).__name__} inside is its .model"
        )

    def __dir__(self) -> list[str]:
        own = {name for name in dir(self.model) if name in _OF_ROWS or name == "sample"}
        fitted = {name for name in vars(self.model) if name.endswith("_")}
        return sorted({*super().__dir__(), *own, *fitted})

    def rows(self, X: Any) -> Any:
        """The rows of a table as the model takes them: its columns, in its order, scaled.

        Parameters
        ----------
        X
            A data frame, whose columns are found by name and may be more; or an array, whose
            columns are those of the fit, in order.
        """
        rows = self._pick(X)
        if self.scaling is None:
            return rows
        if sp.issparse(rows):
            raise DataError("TableModel: X is sparse and would be scaled; pass X.toarray().")
        try:
            values = np.asarray(rows)
            if values.dtype == object and hasattr(rows, "iloc"):  # pandas' own missing cells
                values = rows.to_numpy(dtype=np.float64, na_value=np.nan)
            if values.dtype not in (np.float32, np.float64):
                values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"TableModel: X has cells that are no numbers ({error}); clean the columns "
                f"{', '.join(self.columns or [])}."
            ) from error
        self._check_width(values)
        return standardized(values, self.scaling)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write model, columns and scaling to a file that `coterie.load` reads."""
        from coterie._files import save_model

        save_model(path, self.model, columns=self.columns, scaling=self.scaling)

    def _pick(self, X: Any) -> Any:
        """The columns of the model where X has names, else X."""
        names = getattr(X, "column_names", getattr(X, "columns", None))
        if names is None or self.columns is None:
            if not hasattr(X, "shape"):
                X = np.asarray(X)
            self._check_width(X)
            return X
        names = list(names)
        missing = [column for column in self.columns if column not in names]
        if missing:
            raise DataError(
                f"TableModel: X has no column {', '.join(map(repr, missing))}; it has "
                f"{', '.join(map(str, names[:20]))}, and the model needs {', '.join(self.columns)}."
            )
        twice = [column for column in self.columns if names.count(column) > 1]
        if twice:
            raise DataError(
                f"TableModel: X has several columns {twice[0]!r}; rename all but one of them."
            )
        return X[self.columns] if hasattr(X, "iloc") else X.select(self.columns)

    def _check_width(self, X: Any) -> None:
        n_features = getattr(self.model, "n_features_in_", None)
        width = n_features if self.scaling is None else self.scaling["mean"].size
        if width is not None and (len(X.shape) != 2 or X.shape[1] != width):
            known = "" if self.columns is None else f" ({', '.join(self.columns)})"
            raise DataError(
                f"TableModel: X has shape {tuple(X.shape)} and the model needs {width} "
                f"columns{known}; pass a row for each row to look at."
            )

    def _with_rows(self, method: Callable[..., Any], X: Any, *args: Any, **options: Any) -> Any:
        rows = self.rows(X)
        with warnings.catch_warnings():  # the names are those of `columns`
            warnings.filterwarnings("ignore", "X has feature names, but", UserWarning)
            return method(rows, *args, **options)

    def _sample(self, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        rows, labels = method(*args, **options)
        if self.scaling is not None:
            rows = rows * self.scaling["scale"] + self.scaling["mean"]
        return rows, labels
