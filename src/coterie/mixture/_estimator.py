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
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._base import Estimator
from coterie._checks import check_weights, whole
from coterie._history import Event, Iteration, Recorder
from coterie._stored import RECORDS, Array, Field, Flag, Many, Real, Sizes, Whole
from coterie.centroid._space import NotFiniteError
from coterie.data import Blocks
from coterie.mixture._arrays import rounded
from coterie.mixture._em import Accelerator, Bound, EMRun, Model, Repair, em, mean_log_lik
from coterie.mixture._family import Family, Floats, Mixture
from coterie.mixture._start import STARTS, begin
from coterie.mixture._values import check_finite

Labels = npt.NDArray[np.int32]

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
        total = float(self.weights_.sum(dtype=np.float64)) + float(
            getattr(self, "noise_weight_", 0.0)
        )
        if not abs(total - 1) <= _NEAR_ONE:
            raise ValueError(f"the weights sum to {total:g}")
        self._fitted()  # which refuses parameters changed after the fit

    @abstractmethod
    def _model(self, blocks: Blocks) -> Model:
        """Family and weights' rule for these rows."""

    @abstractmethod
    def _blank(self, model: Model, blocks: Blocks) -> Mixture:
        """A mixture that says nothing yet, of the right size."""

    @abstractmethod
    def _publish_components(self, mixture: Mixture, family: Any, dtype: np.dtype[Any]) -> None:
        """Set the fitted attributes of the components, rounded to the type of X."""

    @abstractmethod
    def _fitted(self) -> tuple[Family, Mixture]:
        """Family and mixture as the fitted attributes describe them."""

    def _with_given(self, start: Mixture, model: Model) -> Mixture:
        """The start with what the user gave in its place."""
        return start

    def _to_start_from(self, blocks: Blocks) -> Blocks:
        """The rows a start is made from."""
        return blocks

    def _all_given(self) -> bool:
        """Whether the user gave the whole start."""
        return False

    def _begin(self, blocks: Blocks, model: Model, rng: np.random.RandomState) -> Mixture:
        """A start by the method that is `init_params`, where anything is left for it to say."""
        if self._all_given():
            return self._blank(model, blocks)
        n_components = int(self.n_components)
        try:
            responsible = STARTS[self.init_params](blocks, n_components, rng)
        except NotFiniteError:
            raise ValueError(
                f"{type(self).__name__}: X has values so large that squared distances overflow "
                "float64; leave such rows out (even those of weight zero), or divide X by a "
                "constant."
            ) from None
        return begin(blocks, model, self._blank(model, blocks), responsible)

    def _note_start(self, start: Mixture, recorder: Recorder) -> None:
        """Tell of a start that is odd."""

    def _solve(
        self, blocks: Blocks, model: Model, start: Mixture, recorder: Recorder, before: float
    ) -> EMRun:
        """One descent from one start; `before` is the bound it had there, if it is known."""
        return em(
            blocks,
            model,
            start,
            max_iter=self.max_iter,
            tol=self.tol,
            recorder=recorder,
            total_weight=total_weight(blocks),
            bound=self._bound(model, blocks),
            repair=self._repair(blocks, model),
            accelerate=self._accelerator(model, start),
            exact=self._exact(),
            before=before,
            shown=self._shown,
        )

    def _bound(self, model: Model, blocks: Blocks) -> Bound:
        """What a run is judged by."""
        return mean_log_lik

    def _repair(self, blocks: Blocks, model: Model) -> Repair | None:
        """What mends a mixture that degenerates."""
        return None

    def _accelerator(self, model: Model, start: Mixture) -> Accelerator | None:
        """What proposes bolder steps."""
        return None

    def _exact(self) -> bool:
        """Whether the M-step minimises the free energy, so that it may never rise."""
        return True

    def _shares(self, mixture: Mixture) -> Floats:
        """How often each component occurs."""
        return mixture.weights

    def _shown(self, mixture: Mixture) -> Any:
        """What a callback is shown of a mixture."""
        return mixture.weights

    def _rows_to_fit(self, X: Any, *, reset: bool) -> Any:
        """Rows as the family wants them, checked and finite."""
        rows = self._check_rows(X, reset=reset)
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan
        check_finite(type(self).__name__, rows, allow_nan=allow_nan, names=self._column_names)
        return rows

    @property
    def _column_names(self) -> Any:
        """The columns' names, None where they have none."""
        return getattr(self, "feature_names_in_", None)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to the rows of X.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
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
        rows = self._rows_to_fit(X, reset=not resume)
        weights = check_weights(who, sample_weight, rows.shape[0])
        _check_total(who, weights)
        blocks = self._blocks(rows, weights)
        _check_enough_rows(who, self.n_components, blocks.n_rows)
        model = self._model(blocks)
        rng = check_random_state(self.random_state)
        n_init = 1 if resume else self.n_init

        complete = blocks if resume else self._to_start_from(blocks)
        best: EMRun | None = None
        for restart in range(n_init):
            recorder = Recorder(
                self.max_iter,
                self._callback(),
                self.keep == "parameters",
                restart,
                n_init,
                objective_name="free energy",
            )
            if resume:
                start = self._fitted()[1]
            else:
                start = self._with_given(self._begin(complete, model, rng), model)
                self._note_start(start, recorder)
            before = self.lower_bound_ if resume else -np.inf
            run = self._solve(blocks, model, start, recorder, before)
            if best is None or run.bound > best.bound:
                best, kept = run, recorder
            if recorder.stopped:
                if kept is not recorder:
                    kept.events.append(recorder.events[-1])
                break
        assert best is not None
        return self._publish(best, kept, model, blocks)

    def _publish(self, run: EMRun, recorder: Recorder, model: Model, blocks: Blocks) -> Self:
        n_components = model.family.n_components(run.mixture.components)
        self.weights_ = rounded(self._shares(run.mixture)[:n_components], blocks.dtype)
        self._publish_components(run.mixture, model.family, blocks.dtype)
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

    def _known_rows(self, X: Any) -> Blocks:
        check_is_fitted(self)
        return self._blocks(self._rows_to_fit(X, reset=False))

    def predict(self, X: Any) -> Labels:
        """The likeliest component of every row; -1 where that is the background."""
        blocks = self._known_rows(X)
        family, mixture = self._fitted()
        labels = np.empty(blocks.n_rows, dtype=np.int32)
        for block in blocks:
            family.posterior(block, mixture, labels=labels[block.span])
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Responsibility of every component for every row; with a background, rows sum to less
        than one by its share.
        """
        blocks = self._known_rows(X)
        family, mixture = self._fitted()
        resp = np.empty((blocks.n_rows, family.n_components(mixture.components)))
        for block in blocks:
            family.posterior(block, mixture, resp=resp[block.span])
        return resp.astype(blocks.dtype, copy=False)

    def score_samples(self, X: Any) -> npt.NDArray[Any]:
        """Log-density of every row, in the type of X where that can hold it."""
        blocks = self._known_rows(X)
        return rounded(self._log_prob(blocks), blocks.dtype)

    def _log_prob(self, blocks: Blocks) -> Floats:
        family, mixture = self._fitted()
        log_prob = np.empty(blocks.n_rows)
        for block in blocks:
            family.posterior(block, mixture, log_prob=log_prob[block.span])
        return log_prob

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-density of the rows."""
        log_prob = self._log_prob(self._known_rows(X))
        weights = check_weights(type(self).__name__, sample_weight, log_prob.shape[0])
        return float(np.average(log_prob, weights=weights))

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
        blocks = self._known_rows(X)
        weights = check_weights(type(self).__name__, sample_weight, blocks.n_rows)
        if resp is None:
            log_prob = self._log_prob(blocks)
            return -float(log_prob.sum() if weights is None else log_prob @ weights)
        family, mixture = self._fitted()
        resp = _checked_resp(type(self).__name__, resp, blocks.n_rows, len(mixture.log_weights))
        total = 0.0
        for block in replace_weights(blocks, weights):
            for tile in family.tiles(block, mixture):
                here = resp[tile.span]
                joint = family.log_joint(mixture, tile.rows)
                with np.errstate(divide="ignore", invalid="ignore"):
                    terms = np.where(here > 0, here * (np.log(here) - joint), 0.0).sum(axis=1)
                total += float(terms.sum() if tile.weights is None else terms @ tile.weights)
        return total

    def _n_parameters(self) -> int:
        family, mixture = self._fitted()
        n_components = family.n_components(mixture.components)
        return family.n_parameters(n_components) + len(mixture.log_weights) - 1

    def bic(self, X: Any) -> float:
        """Bayesian information criterion, lower is better: -2 log L + p log n (Schwarz 1978)."""
        log_prob = self._log_prob(self._known_rows(X))
        return float(-2 * log_prob.sum() + self._n_parameters() * np.log(log_prob.size))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion, lower is better: -2 log L + 2 p (Akaike 1974)."""
        return float(-2 * self._log_prob(self._known_rows(X)).sum() + 2 * self._n_parameters())

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood, lower is better (Biernacki, Celeux & Govaert 2000).

        BIC minus twice the log-responsibility of each row's likeliest component: unlike BIC it
        also asks that the components do not overlap.
        """
        blocks = self._known_rows(X)
        family, mixture = self._fitted()
        log_lik = log_best = 0.0
        for block in blocks:
            for tile in family.tiles(block, mixture):
                joint = family.log_joint(mixture, tile.rows)
                best = joint.max(axis=1)
                norm = best + np.log(np.exp(joint - best[:, np.newaxis]).sum(axis=1))
                log_lik += float(norm.sum())
                log_best += float((best - norm).sum())
        return float(-2 * log_lik + self._n_parameters() * np.log(blocks.n_rows) - 2 * log_best)

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
        family, mixture = self._fitted()
        labels = np.arange(mixture.log_weights.size)
        if mixture.background is not None:
            labels[-1] = -1
        weights = self._shares(mixture)
        counts = rng.multinomial(n_samples, weights / weights.sum())
        rows = [
            family.draw(mixture.components, label, int(count), rng)
            for label, count in zip(labels.tolist(), counts, strict=True)
        ]
        return np.vstack(rows), np.repeat(labels, counts)


def replace_weights(blocks: Blocks, weights: Floats | None) -> Blocks:
    """The same rows with other weights."""
    return Blocks(blocks.rows, weights, blocks.n_threads)


def total_weight(blocks: Blocks) -> float:
    """How many rows there are, each as often as it counts."""
    return float(blocks.n_rows if blocks.weights is None else blocks.weights.sum())


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
