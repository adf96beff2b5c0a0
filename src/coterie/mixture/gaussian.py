"""Gaussian mixtures: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import (
    ANY,
    ARRAY,
    CALLABLE,
    FLAG,
    NONE,
    Rule,
    mapping,
    names,
    one_of,
    real,
    whole,
)
from coterie._random import check_random_state
from coterie._stored import Array, Field, Real, Sizes
from coterie.data import Source
from coterie.mixture._anderson import ACCELERATORS
from coterie.mixture._arrays import rounded
from coterie.mixture._coordinates import WEIGHTS, Coordinates
from coterie.mixture._covariance import SHAPES, diagonal_of
from coterie.mixture._em import em
from coterie.mixture._estimator import MixtureModel, check_as_fitted
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily, Gaussians
from coterie.mixture._given import GivenGaussians, given_covariances, given_means, given_weights
from coterie.mixture._lbfgs import lbfgs
from coterie.mixture._missing import CELLS, ObservedGaussianFamily, patterns_of
from coterie.mixture._mixing import Fixed, Shares, log_shares
from coterie.mixture._noise import Box, bounding_box, with_background
from coterie.mixture._overview import check_squares
from coterie.mixture._prior import PRIOR_KEYS, make_prior
from coterie.mixture._repair import Reseeding
from coterie.mixture._sgd import sgd
from coterie.mixture._start import GAUSSIAN_STARTS, Beginning, Rows, as_given, note_alike
from coterie.mixture._stored_gaussians import GAUSSIANS, check_gaussians
from coterie.mixture._task import Model, Solver, Task

#: Ways down by the names `solver=` takes.
SOLVERS: dict[str, Solver] = {"em": em, "lbfgs": lbfgs, "sgd": sgd}


class GaussianMixture(MixtureModel):
    """Mixture of Gaussians, fitted by EM.

    p(x) = sum_j w_j N(x | mu_j, Sigma_j). EM descends the free energy F = E_q[-log p(x, z)] +
    E_q[log q] by turns in the responsibilities q and in the parameters; after each E-step F is
    minus the log-likelihood (Dempster, Laird & Rubin 1977; Neal & Hinton 1998).

    Drop-in for `sklearn.mixture.GaussianMixture`: same parameters, attributes and arithmetic. Rows
    may hold NaN; they enter through what was observed (Ghahramani & Jordan 1994).

    Time O(n k d^2) per iteration (diag, spherical: O(n k d)), one pass over X; each pattern of
    missing columns adds O(k d^3). Memory beyond X: O(k d^2), nothing of n x k; where cells
    are missing, an index per row.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix for each component, one for all, variances of the columns, or one variance each.
    tol : float, default=1e-3
        Settled once the mean log-likelihood per row changes by less than this.
    reg_covar : float or "auto", default=1e-6
        A number is added to every variance. "auto" instead keeps every covariance at least a
        millionth of the rows' own: free of scale, and the exact M-step under that constraint.
        Whatever the setting, a covariance that is not positive definite is mended by the same
        floor, a component that collapses or dies begins anew, and `events_` tells.
    max_iter : int, default=100
        Iterations of a run, at most.
    n_init : int, default=1
        Starts, of which the best is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data", "rows"}, default="kmeans"
        "rows": random rows as means, a tenth of the rows' covariance, equal weights.
    weights_init, means_init, precisions_init : array or None
        Given starting values; what is not given comes from `init_params`.
    fixed : tuple of {"weights", "means", "covariances"}, default=()
        What stays as the start has it.
    prior : None, "auto" or dict, default=None
        Seek the largest posterior density instead of the largest likelihood. "auto" is Fraley &
        Raftery's (2007) choice; a dict may set "concentration" (of the weights' Dirichlet
        distribution), "mean", "mean_precision", "degrees_of_freedom" and "scale" (of the normal
        inverse Wishart distribution of means and covariances), the rest stays automatic.
    noise : bool, default=False
        Whether a uniform background over the rows' bounding box takes part; its rows have label -1.
    solver : {"em", "lbfgs", "sgd"}, default="em"
        "lbfgs" descends minus the log-likelihood by L-BFGS: fewer iterations where EM crawls.
        "sgd" does by Adam on mini-batches; an iteration is an epoch. Both keep every covariance
        above a floor, Sigma = floor + L L^T: `reg_covar` in every direction (plus a share of 1e-12
        of the rows' own covariance), or the floor of "auto". They do not re-seed components.
    weights : {"softmax", "projected"}, default="softmax"
        How these two write the weights: as logarithms up to a constant, or as plain numbers that
        are clipped and renormalised in each step.
    accelerate : {None, "anderson"}, default=None
        "anderson" extrapolates EM's steps and takes a plain one wherever F would rise.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    warm_start : bool, default=False
        Whether a second `fit` goes on from where the first ended.
    verbose : bool, default=False
        Show progress on stderr.
    verbose_interval : int, default=10
        Accepted for scikit-learn's sake.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called once per iteration with a `Progress`; returning True stops.
    keep : {None, "parameters"}, default=None
        "parameters" stores the means, weights and covariances (k, d, d) of every iteration in
        `history_`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    means_ : array of shape (n_components, n_features)
        Means of the components.
    covariances_, precisions_, precisions_cholesky_ : array
        Shapes (k, d, d), (d, d), (k, d) or (k,) by `covariance_type`.
    noise_weight_ : float
        Weight of the background, with `noise`; the others sum to the rest.
    noise_box_ : array of shape (2, n_features)
        Its lowest corner and its widths.
    converged_ : bool
        Whether it settled before `max_iter`.
    n_iter_ : int
        Iterations of the run that was kept.
    lower_bound_ : float
        Mean log-likelihood per row (with a prior: log-posterior) at the last E-step.
    lower_bounds_ : list of float
        The same for every iteration.
    history_ : list of dict
        One entry per iteration of the run that was kept: the free energy after each half-step, its
        two terms after the E-step, the log-likelihood, seconds.
    events_ : list of dict
        What else happened: repaired covariances, components begun anew, early stops.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GaussianMixture
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> GaussianMixture(2, random_state=0).fit(X).means_
    array([[10.,  2.],
           [ 1.,  2.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **MixtureModel._stores,
        **GAUSSIANS,
        "noise_weight_": Real(0, 1, optional=True),
        "noise_box_": Array("f", (2, "columns"), optional=True),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": whole(1),
        "covariance_type": one_of(*SHAPES),
        "tol": real(0),
        "reg_covar": one_of("auto") | real(0),
        "max_iter": whole(0),
        "n_init": whole(1),
        "init_params": one_of(*GAUSSIAN_STARTS),
        "weights_init": NONE | ARRAY,
        "means_init": NONE | ARRAY,
        "precisions_init": NONE | ARRAY,
        "fixed": names("weights", "means", "covariances"),
        "solver": one_of(*SOLVERS),
        "weights": one_of(*WEIGHTS),
        "accelerate": NONE | one_of("anderson"),
        "prior": NONE | one_of("auto") | mapping(*PRIOR_KEYS),
        "noise": FLAG,
        "random_state": ANY,
        "warm_start": FLAG,
        "verbose": FLAG,
        "verbose_interval": whole(1),
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
    }

    means_: npt.NDArray[Any]
    covariances_: npt.NDArray[Any]
    precisions_: npt.NDArray[Any]
    precisions_cholesky_: npt.NDArray[Any]
    noise_weight_: float
    noise_box_: Floats

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: Any = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        fixed: tuple[str, ...] = (),
        solver: str = "em",
        weights: str = "softmax",
        accelerate: str | None = None,
        prior: Any = None,
        noise: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        verbose_interval: int = 10,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.fixed = fixed
        self.solver = solver
        self.weights = weights
        self.accelerate = accelerate
        self.prior = prior
        self.noise = noise
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _task(self, blocks: Source, missing: bool) -> Task:
        return self._task_of(self._model(blocks, missing), blocks, missing)

    def _model(self, blocks: Source, missing: bool) -> Model:
        """The family for these rows, and the rule for the weights."""
        who, k = type(self).__name__, int(self.n_components)
        shape, cells = SHAPES[self.covariance_type], CELLS[missing]
        overview = cells.look_over(who, blocks, diagonal=shape.diagonal, names=self._column_names)
        check_squares(who, overview)
        prior, concentration = make_prior(who, self.prior, overview, shape, k)
        reg_covar = None if self.reg_covar == "auto" else float(self.reg_covar)
        box = None
        if self.noise:
            box = bounding_box(blocks, diagonal_of(overview.floor) + (reg_covar or 0.0))
        fixed = frozenset(self.fixed)
        family = cells.family(
            shape, blocks.n_cols, overview, reg_covar, fixed - {"weights"}, prior=prior, box=box
        )
        if isinstance(family, ObservedGaussianFamily):
            family = replace(family, patterns=patterns_of(blocks))
        return Model(family, Fixed() if "weights" in fixed else Shares(concentration))

    def _task_of(self, model: Model, blocks: Source, missing: bool) -> Task:
        """Start, solver and all else, each by the name it was given."""
        who, k, family = type(self).__name__, int(self.n_components), model.family
        assert isinstance(family, GaussianFamily)
        if self.accelerate and self.solver != "em":
            raise ValueError(
                f"{who}: accelerate={self.accelerate!r} was given with solver={self.solver!r}; it "
                "speeds up EM only: leave one of them out."
            )
        given = GivenGaussians(
            family,
            given_weights(who, self.weights_init, k),
            given_means(who, self.means_init, (k, family.n_cols)),
            given_covariances(who, family, self.precisions_init, k),
        )
        components = given.components if given.whole else family.blank(k)
        blank = Mixture(log_shares(np.ones(k)), components)
        if family.box is not None:
            blank = with_background(blank, family.box.log_density())

        def rows() -> Rows:
            return Rows(CELLS[missing].to_start_from(blocks))

        start = as_given if given.whole else GAUSSIAN_STARTS[self.init_params]
        return Task(
            blocks,
            model,
            self.max_iter,
            self.tol,
            begin=Beginning(who, model, blank, start, rows, given, note_alike),
            solve=SOLVERS[self.solver],
            shown=lambda mixture: mixture.components.means,
            kept=partial(family.kept, model.mixing),
            repair=lambda: Reseeding(blocks, model, self._own_rng),
            coordinates=lambda like: Coordinates(
                family, like, WEIGHTS[self.weights], frozenset(self.fixed)
            ),
            accelerate=ACCELERATORS[self.accelerate],
            rng=self._own_rng,
            draws=not given.whole,
        )

    def _own_rng(self) -> np.random.RandomState:
        """A generator aside from the one starts are drawn from, which they do not notice."""
        rng = np.random.RandomState()
        rng.set_state(check_random_state(self.random_state).get_state())
        return np.random.RandomState(rng.randint(2**31))

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        components, family = mixture.components, model.family
        assert isinstance(family, GaussianFamily)
        self.means_ = components.means.astype(dtype)
        self.covariances_ = rounded(components.covariances, dtype)
        self.precisions_cholesky_ = rounded(components.factors, dtype)
        self.precisions_ = rounded(family.shape.precisions(components.factors), dtype)
        if family.box is not None:
            self.noise_weight_ = float(mixture.weights[-1])
            self.noise_box_ = np.stack([family.box.lower, family.box.widths])
        elif hasattr(self, "noise_weight_"):  # of an earlier fit
            del self.noise_weight_, self.noise_box_

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        shape = SHAPES[self.covariance_type]
        dims = shape.dims(*self.means_.shape)
        check_as_fitted(self, self.covariances_.shape == dims, "covariance_type")
        check_as_fitted(self, bool(self.noise) == hasattr(self, "noise_weight_"), "noise")
        components = Gaussians(
            self.means_.astype(np.float64),
            self.covariances_.astype(np.float64),
            self.precisions_cholesky_.astype(np.float64),
            np.zeros(self.means_.shape[0], dtype=np.intp),
        )
        weights = self.weights_.astype(np.float64)
        box, background = None, None
        if self.noise:
            box = Box(self.noise_box_[0], self.noise_box_[1])
            weights = np.append(weights, self.noise_weight_)
            background = box.log_density()
        fixed = frozenset(self.fixed)
        n_cols = self.means_.shape[1]
        family = CELLS[missing].family(shape, n_cols, fixed=fixed - {"weights"}, box=box)
        model = Model(family, Fixed() if "weights" in fixed else Shares())
        return model, Mixture(log_shares(weights), components, background)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        check_gaussians(self, SHAPES[self.covariance_type])
        if hasattr(self, "noise_box_") != hasattr(self, "noise_weight_"):
            raise ValueError("noise_box_ or noise_weight_ is missing")
        if hasattr(self, "noise_box_") and not (self.noise_box_[1] > 0).all():
            raise ValueError("noise_box_ has a side of no length")
        super()._check_together_loaded(sizes)
