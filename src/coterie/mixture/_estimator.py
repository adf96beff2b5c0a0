"""What all mixture models share: the story of a fit, and everything after it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from coterie._base import Estimator
from coterie._checks import whole
from coterie._history import Event, Iteration, Recorder
from coterie._random import check_random_state
from coterie._restarts import best_of, recorders
from coterie._stored import RECORDS, Array, Field, Flag, Many, Real, Sizes, Whole
from coterie.data import Source
from coterie.data.written import given_or_written
from coterie.mixture._arrays import rounded
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._judge import (
    Judge,
    fill_labels,
    fill_log_prob,
    fill_resp,
    sum_completed,
    sum_free_energy,
    sum_log_prob,
)
from coterie.mixture._task import EMRun, Model, Task
from coterie.mixture._values import Reading, Values

Labels = npt.NDArray[np.int64]

#: Rounding that shares of a file may have suffered.
_NEAR_ONE = 1e-3


class MixtureModel(DensityMixin, Estimator):
    """Base of the mixture models; a subclass says what its components are."""

    weights_: npt.NDArray[Any]
    converged_: bool
    n_iter_: int
    lower_bound_: float
    lower_bounds_: list[float]
    history_: list[Iteration]
    events_: list[Event]

    _stores: ClassVar[Mapping[str, Field]] = {
        "weights_": Array("f", ("components",), 0, 1 + _NEAR_ONE),
        "converged_": Flag(),
        "n_iter_": Whole(),
        "lower_bound_": Real(finite=False),
        "lower_bounds_": Many(Real(finite=False)),
        "history_": RECORDS,
        "events_": RECORDS,
    }

    def _check_together_loaded(self, sizes: Sizes) -> None:
        self._check_shares_loaded()
        self._fitted()  # which refuses parameters changed after the fit

    def _check_shares_loaded(self) -> None:
        total = float(self.weights_.sum(dtype=np.float64)) + float(
            getattr(self, "noise_weight_", 0.0)
        )
        if not abs(total - 1) <= _NEAR_ONE:
            raise ValueError(f"the weights sum to {total:g}")

    @abstractmethod
    def _task(self, blocks: Source, missing: bool) -> Task:
        """What is fitted to these rows, and how; `missing` tells whether they have holes."""

    @abstractmethod
    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        """Set the fitted attributes of the components, rounded to the type of X."""

    @abstractmethod
    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        """What the fitted attributes describe, for rows that may have holes."""

    def _to_read(self, X: Any, sample_weight: Any = None, *, reset: bool) -> tuple[Source, Reading]:
        """Rows wherever they live, and how they are read: checked, and as the family wants them."""
        source = self._source(X, sample_weight, reset=reset)
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan
        return source, Values(type(self).__name__, self._column_names, allow_nan)

    @property
    def _column_names(self) -> Any:
        """The columns' names, None where they have none."""
        return getattr(self, "feature_names_in_", None)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to the rows of X.

        Parameters
        ----------
        X : array of shape (n_rows, n_features), path, Dask collection or source of rows
            Rows that are not in memory are passed over block by block; nothing of their number
            is kept but `sample_weight`.
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts.

        Returns
        -------
        self
        """
        who = type(self).__name__
        self._check_params()
        resume = bool(self.warm_start) and hasattr(self, "converged_")
        if resume:
            check_as_fitted(self, len(self.weights_) == self.n_components, "n_components")
        source, reading = self._to_read(X, sample_weight, reset=not resume)
        _check_total(who, source.weights)
        blocks, missing = reading.all(source)
        _check_enough_rows(who, self.n_components, blocks.n_rows)
        task = self._task(blocks, missing)
        rng = self._rng(task)
        n_init = 1 if resume else self.n_init

        best: tuple[EMRun, Recorder] | None = None
        keep = self.keep == "parameters"
        for recorder in recorders(n_init, self.max_iter, self._callback(), keep, "free energy"):
            if resume:
                run = task.solve(task, self._fitted()[1], recorder, self.lower_bound_)
            else:
                run = task.solve(task, task.begin(rng, recorder), recorder, -np.inf)
            best = best_of(best, run, recorder, lambda run, best: run.bound > best.bound)
        assert best is not None
        return self._publish(*best, task)

    def _rng(self, task: Task) -> np.random.RandomState:
        """Random numbers for the starts.

        Where nothing is drawn a number does not become a generator, which takes as long as some
        iterations of a small fit; anything else is still looked at.
        """
        unused = not task.draws and isinstance(self.random_state, int)
        return check_random_state(None if unused else self.random_state)

    def _publish(self, run: EMRun, recorder: Recorder, task: Task) -> Self:
        model, dtype = task.model, task.blocks.dtype
        n_components = model.family.n_components(run.mixture.components)
        self.weights_ = rounded(model.mixing.shares(run.mixture)[:n_components], dtype)
        self._publish_components(run.mixture, model, dtype)
        self.converged_ = run.settled
        self.n_iter_ = run.n_iter
        self.lower_bound_ = run.bound
        self.lower_bounds_ = run.bounds
        self.history_, self.events_ = recorder.history, recorder.events
        if not run.settled and not recorder.stopped and self.max_iter > 0:
            recorder.event(
                "not settled",
                f"the bound still rose after max_iter={self.max_iter} iterations",
                iteration=run.n_iter,
            )
            warnings.warn(
                f"{type(self).__name__}: the best of {self.n_init} starts did not converge in "
                f"max_iter={self.max_iter} iterations; raise max_iter or tol, or look for "
                "degenerate components in events_.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Fit, then `predict` the same rows."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def _judged(self, X: Any, sample_weight: Any = None) -> tuple[Source, Judge]:
        """Rows to be judged by the fitted mixture, and what does."""
        check_is_fitted(self)
        source, reading = self._to_read(X, sample_weight, reset=False)
        (whole, mixture), (holed, same) = self._fitted(), self._fitted(missing=True)
        return source, Judge(reading, (whole.family, mixture), (holed.family, same))

    def predict(self, X: Any, *, out: Any = None) -> Any:
        """The likeliest component of every row; -1 where that is the background.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features), path or source
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int64 array of shape (n_rows,), lazy where X is Dask's; or the path of `out`
        """
        source, judge = self._judged(X)
        # The type is that of scikit-learn's mixtures.
        return given_or_written(source, out, "label", fill_labels, judge, dtype=np.int64)

    def predict_proba(self, X: Any, *, out: Any = None) -> Any:
        """Responsibility of every component for every row; with a background, rows sum to less
        than one by its share. For `out` see `predict`.
        """
        source, judge = self._judged(X)
        names = [f"component_{place}" for place in range(len(self.weights_))]
        return given_or_written(source, out, names, fill_resp, judge, dtype=source.dtype)

    def score_samples(self, X: Any, *, out: Any = None) -> Any:
        """Log-density of every row, in the type of X where that can hold it.

        In a file (for `out` see `predict`) and for rows of Dask's, of which not all are known at
        once, float64.
        """
        source, judge = self._judged(X)
        found = given_or_written(source, out, "log_density", fill_log_prob, judge, dtype=np.float64)
        return rounded(found, source.dtype) if isinstance(found, np.ndarray) else found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-density of the rows."""
        source, judge = self._judged(X, sample_weight)
        fit = source.total(sum_log_prob, judge)
        return fit.log_lik / fit.weight

    def free_energy(self, X: Any, resp: Any = None, sample_weight: Any = None) -> float:
        """F = E_q[-log p(x, z)] + E_q[log q] for any responsibilities q, summed over the rows.

        F is minus the log-likelihood plus KL(q || p(z | x)), so never less than the former; the
        evidence lower bound is -F. Without `resp`, q is the posterior and F is minus the
        log-likelihood itself.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
        resp : array of shape (n_rows, n_components) or None
            Responsibilities; non-negative, each row sums to one.
        sample_weight : array of shape (n_rows,) or None
        """
        source, judge = self._judged(X, sample_weight)
        if resp is None:
            return -source.total(sum_log_prob, judge).log_lik
        n_components = len(judge.whole[1].log_weights)
        resp = _checked_resp(type(self).__name__, resp, source.n_rows, n_components)
        return source.total(sum_free_energy, judge, resp)

    def bic(self, X: Any) -> float:
        """Bayesian information criterion, lower is better: -2 log L + p log n (Schwarz 1978)."""
        source, judge = self._judged(X)
        n_parameters = self._n_parameters()
        log_lik = source.total(sum_log_prob, judge).log_lik
        return float(-2 * log_lik + n_parameters * np.log(source.n_rows))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion, lower is better: -2 log L + 2 p (Akaike 1974)."""
        source, judge = self._judged(X)
        n_parameters = self._n_parameters()
        return -2 * source.total(sum_log_prob, judge).log_lik + 2 * n_parameters

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood, lower is better (Biernacki, Celeux & Govaert 2000).

        BIC minus twice the log-responsibility of each row's likeliest component: unlike BIC it
        also asks that the components do not overlap.
        """
        source, judge = self._judged(X)
        n_parameters = self._n_parameters()
        fit = source.total(sum_completed, judge)
        log_n_rows = np.log(source.n_rows)
        return float(-2 * fit.log_lik + n_parameters * log_n_rows - 2 * fit.log_best)

    def _n_parameters(self) -> int:
        """Free parameters of the fitted mixture."""
        model, mixture = self._fitted()
        return model.n_parameters(mixture)

    def sample(self, n_samples: int = 1) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Random rows from the fitted mixture, and the component each came from (-1: noise)."""
        check_is_fitted(self)
        a_number = whole(1)
        if not a_number.allows(n_samples):
            raise ValueError(
                f"{type(self).__name__}: Invalid value for 'n_samples': {n_samples!r}; ask for "
                f"{a_number.words}."
            )
        rng = check_random_state(self.random_state)
        model, mixture = self._fitted()
        labels = np.arange(mixture.log_weights.size)
        if mixture.background is not None:
            labels[-1] = -1
        weights = model.mixing.shares(mixture)
        counts = rng.multinomial(n_samples, weights / weights.sum())
        rows = [
            model.family.draw(mixture.components, label, int(count), rng)
            for label, count in zip(labels.tolist(), counts, strict=True)
        ]
        return np.vstack(rows), np.repeat(labels, counts)


def check_as_fitted(model: Any, same: bool, name: str) -> None:
    """Refuse a parameter that was changed after the fit that is to be used or gone on with."""
    if not same:
        raise ValueError(
            f"{type(model).__name__}: {name}={getattr(model, name)!r} was set after a fit with "
            "another; set it back, or fit anew with warm_start=False."
        )


def _check_total(who: str, weights: Floats | None) -> None:
    """Refuse weights without a sum."""
    with np.errstate(over="ignore"):
        total = 1.0 if weights is None else float(weights.sum())
    if not np.isfinite(total):
        raise ValueError(
            f"{who}: the sum of sample_weight overflows float64; divide the weights by the "
            "largest of them."
        )


def _check_enough_rows(who: str, n_components: int, n_rows: int) -> None:
    # scikit-learn asks for two rows even of one component: a single row has no spread.
    if n_rows < max(2, n_components):
        raise ValueError(
            f"{who}: Expected n_samples >= n_components but got n_components = {n_components}, "
            f"n_samples = {n_rows} (a minimum of 2 is required); lower n_components or pass more "
            "rows."
        )


def _checked_resp(who: str, resp: Any, n_rows: int, n_components: int) -> Floats:
    resp = np.asarray(resp, dtype=np.float64)
    if resp.shape != (n_rows, n_components):
        raise ValueError(
            f"{who}: resp has shape {resp.shape}, expected {(n_rows, n_components)}; give a "
            "responsibility for each row and component."
        )
    if not ((resp >= 0).all() and np.allclose(resp.sum(axis=1), 1)):
        raise ValueError(
            f"{who}: resp must be non-negative and sum to one in each row; divide each row by its "
            "sum."
        )
    return resp
