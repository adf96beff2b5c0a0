"""Bayesian Gaussian mixtures: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import ANY, ARRAY, CALLABLE, FLAG, NONE, Rule, one_of, positive, real, whole
from coterie._history import Recorder
from coterie._stored import Array, Field, Many, Real, Sizes
from coterie.data import Source
from coterie.mixture._arrays import given_array, rounded
from coterie.mixture._covariance import SHAPES, is_symmetric
from coterie.mixture._em import em
from coterie.mixture._estimator import MixtureModel, check_as_fitted
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._overview import Overview, check_squares, look_over
from coterie.mixture._posterior_weights import POSTERIOR_WEIGHTS, PosteriorWeights
from coterie.mixture._prior import Prior
from coterie.mixture._start import STARTS, Beginning, Rows
from coterie.mixture._stored_gaussians import GAUSSIANS, check_gaussians
from coterie.mixture._task import Bound, Model, Task
from coterie.mixture._variational import Posteriors, VariationalFamily


class BayesianGaussianMixture(MixtureModel):
    """Mixture of Gaussians whose parameters are random, by variational inference.

    Weights have a Dirichlet prior or come from a Dirichlet process, means and precisions a
    normal-Wishart prior. The posterior is approximated by q(z) q(w) prod_j q(mu_j, Lambda_j), which
    minimises the free energy F = E_q[-log p(x, z, w, mu, Lambda)] + E_q[log q]: -F is a bound on
    the log-evidence log p(X) (Bishop 2006, section 10.2; Blei & Jordan 2006). Components that the
    rows do not need keep the prior and next to no weight, and no component can collapse.

    Drop-in for `sklearn.mixture.BayesianGaussianMixture`: same parameters, attributes, arithmetic.

    Time O(n k d^2) per iteration (diag, spherical: O(n k d)), one pass over X. Memory beyond X:
    O(k d^2), nothing of n x k.

    Parameters
    ----------
    n_components : int, default=1
        The most components there can be.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix for each component, one for all, variances of the columns, or one variance each.
    tol : float, default=1e-3
        Settled once the bound changes by less than this.
    reg_covar : float, default=1e-6
        A variance every row is blurred by in the M-step. The prior does without: at zero the bound
        never falls.
    max_iter : int, default=100
        Iterations of a run, at most.
    n_init : int, default=1
        Starts, of which the one with the highest bound is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}
    weight_concentration_prior : float or None, default=None
        Below one it favours few components. None: 1 / n_components.
    mean_precision_prior : float or None, default=None
        How many rows the prior mean counts for. None: 1.
    mean_prior : array of shape (n_features,) or None, default=None
        None: the mean of the rows.
    degrees_of_freedom_prior : float or None, default=None
        How many rows `covariance_prior` counts for, more than n_features - 1. None: n_features.
    covariance_prior : float, array or None, default=None
        The scatter those rows have: (d, d) for full and tied, (d,) for diag, a number for
        spherical. None: the covariance of the rows.
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
        Expected weights.
    means_ : array of shape (n_components, n_features)
        Expected means.
    covariances_, precisions_, precisions_cholesky_ : array
        `precisions_` is the expected precision, `covariances_` its inverse. Shapes (k, d, d),
        (d, d), (k, d) or (k,) by `covariance_type`.
    weight_concentration_ : array of shape (n_components,) or tuple of two
        Parameters of the weights' Dirichlet, or of the Beta of each break of the stick.
    mean_precision_ : array of shape (n_components,)
    degrees_of_freedom_ : array of shape (n_components,), or float where tied
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_, \
covariance_prior_
        The prior that was used.
    converged_ : bool
        Whether it settled before `max_iter`.
    n_iter_ : int
        Iterations of the run that was kept.
    lower_bound_ : float
        The bound on the log-evidence, less terms that depend on nothing but the prior and the
        number of rows.
    lower_bounds_ : list of float
        The same for every iteration.
    history_ : list of dict
        One entry per iteration: minus the whole bound after each half-step, and more.
    events_ : list of dict
        What else happened.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import BayesianGaussianMixture
    >>> X = np.repeat([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], 20, axis=0)
    >>> model = BayesianGaussianMixture(2, random_state=0).fit(X)
    >>> model.means_[model.means_[:, 0].argsort()].round(1)
    array([[1.1, 2. ],
           [9.9, 2. ]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **MixtureModel._stores,
        **GAUSSIANS,
        "weight_concentration_prior_": Real(0),
        "mean_precision_prior_": Real(0),
        "mean_prior_": Array("f", ("columns",)),
        "degrees_of_freedom_prior_": Real(0),
        "covariance_prior_": Real(0)
        | Array("f", ("columns", "columns"))
        | Array("f", ("columns",), 0),
        "weight_concentration_": Array("f", ("components",), 0)
        | Many(Array("f", ("components",), 0), 2, tuple),
        "mean_precision_": Array("f", ("components",), 0),
        "degrees_of_freedom_": Array("f", ("components",), 0) | Real(0),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": whole(1),
        "covariance_type": one_of(*SHAPES),
        "tol": real(0),
        "reg_covar": real(0),
        "max_iter": whole(0),
        "n_init": whole(1),
        "init_params": one_of(*STARTS),
        "weight_concentration_prior_type": one_of(*POSTERIOR_WEIGHTS),
        "weight_concentration_prior": NONE | positive(),
        "mean_precision_prior": NONE | positive(),
        "mean_prior": NONE | ARRAY,
        "degrees_of_freedom_prior": NONE | positive(),
        "covariance_prior": NONE | ARRAY | positive(),
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
    weight_concentration_: Any
    mean_precision_: npt.NDArray[Any]
    degrees_of_freedom_: Any
    weight_concentration_prior_: float
    mean_precision_prior_: float
    mean_prior_: npt.NDArray[Any]
    degrees_of_freedom_prior_: float
    covariance_prior_: Any

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
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
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep

    def _task(self, blocks: Source, missing: bool) -> Task:
        who, shape = type(self).__name__, SHAPES[self.covariance_type]
        overview = look_over(blocks, blocks.take([0])[0], diagonal=shape.diagonal)
        check_squares(who, overview)
        model = self._model(overview)
        assert isinstance(model.family, VariationalFamily)
        nobody = np.zeros(int(self.n_components))
        blank = Mixture(nobody, model.family.blank(nobody.size))
        return Task(
            blocks,
            model,
            self.max_iter,
            self.tol,
            begin=Beginning(
                who,
                model,
                model.mixing.update(nobody, blank),
                STARTS[self.init_params],
                lambda: Rows(blocks),
                note=partial(_note_widened, overview if self.covariance_prior is None else None),
            ),
            solve=em,
            shown=lambda mixture: mixture.components.means,
            kept=partial(model.family.kept, model.mixing),
            bound=_bound(model, nobody.size),
        )

    def _model(self, overview: Overview) -> Model:
        """The family under its prior, and the rule for the weights."""
        family = VariationalFamily(
            SHAPES[self.covariance_type],
            overview.mean.size,
            overview,
            reg_covar=0.0,
            prior=self._prior(overview),
            blur=float(self.reg_covar),
        )
        concentration = self.weight_concentration_prior
        return Model(family, self._rule(concentration or 1 / self.n_components))

    def _rule(self, concentration: float) -> PosteriorWeights:
        return POSTERIOR_WEIGHTS[self.weight_concentration_prior_type](concentration)

    def _prior(self, overview: Overview) -> Prior:
        who, d = type(self).__name__, overview.mean.size
        mean = overview.mean
        if self.mean_prior is not None:
            mean = given_array(who, "mean_prior", self.mean_prior, (d,), "column of X")
        freedom = float(self.degrees_of_freedom_prior or d)
        if freedom <= d - 1:
            raise ValueError(
                f"{who}: The parameter 'degrees_of_freedom_prior' should be greater than {d - 1}, "
                f"but got {freedom:.3f}; X has {d} columns."
            )
        return Prior(mean, float(self.mean_precision_prior or 1), self._scale(overview), freedom)

    def _scale(self, overview: Overview) -> Floats:
        """The prior's scatter: a matrix, or its diagonal where that is all that matters."""
        who, d = type(self).__name__, overview.mean.size
        diagonal = SHAPES[self.covariance_type].diagonal
        if self.covariance_prior is None:
            # One less than the rows there are; but never less than half of a light weight.
            scale = overview.scatter / max(overview.weight - 1, overview.weight / 2)
            if _singular(scale):
                scale = _widened(scale, overview.floor)
            spherical = self.covariance_type == "spherical"
            return np.full_like(scale, scale.mean()) if spherical else scale
        dims: tuple[int, ...] = (d,) if diagonal else (d, d)
        if self.covariance_type == "spherical":
            dims = ()
        scale = given_array(who, "covariance_prior", self.covariance_prior, dims, "column of X")
        if _singular(np.ravel(scale) if diagonal else scale):
            raise ValueError(
                f"{who}: covariance_prior must be a symmetric positive definite matrix (diag, "
                "spherical: positive numbers); check its values."
            )
        return np.broadcast_to(scale, (d,)).copy() if diagonal else scale

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        rule, family = model.mixing, model.family
        assert isinstance(rule, PosteriorWeights)
        assert isinstance(family, VariationalFamily)
        prior = family.prior
        assert prior is not None
        self.weight_concentration_prior_ = rule.prior
        self.mean_precision_prior_ = prior.mean_precision
        self.mean_prior_ = prior.mean.astype(dtype)
        self.degrees_of_freedom_prior_ = prior.mass
        spherical = self.covariance_type == "spherical"
        self.covariance_prior_ = float(prior.scale[0]) if spherical else rounded(prior.scale, dtype)
        components: Posteriors = mixture.components
        self.means_ = components.means.astype(dtype)
        self.covariances_ = rounded(components.covariances, dtype)
        self.precisions_cholesky_ = rounded(components.factors, dtype)
        self.precisions_ = rounded(family.shape.precisions(components.factors), dtype)
        self.weight_concentration_ = mixture.mixing
        self.mean_precision_ = components.mean_precision
        freedom = components.degrees_of_freedom
        self.degrees_of_freedom_ = float(freedom[0]) if self.covariance_type == "tied" else freedom

    def _check_together_loaded(self, sizes: Sizes) -> None:
        shape = SHAPES[self.covariance_type]
        check_gaussians(self, shape)
        dims = {"full": 2, "tied": 2, "diag": 1, "spherical": 0}[self.covariance_type]
        if np.ndim(self.covariance_prior_) != dims:
            raise ValueError("covariance_prior_ is of another covariance_type")
        if np.ndim(self.degrees_of_freedom_) != int(self.covariance_type != "tied"):
            raise ValueError("degrees_of_freedom_ is of another covariance_type")
        concentrations = np.ravel(self.weight_concentration_)
        freedom = np.ravel(self.degrees_of_freedom_)
        least = min(concentrations.min(), self.mean_precision_.min(), self.mean_precision_prior_)
        if not (least > 0 and freedom.min() > sizes["columns"] - 1):
            raise ValueError("a concentration, precision or number of degrees of freedom is zero")
        super()._check_together_loaded(sizes)

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        k, d = self.means_.shape
        same = self.covariances_.shape == SHAPES[self.covariance_type].dims(k, d)
        check_as_fitted(self, same, "covariance_type")
        name = "weight_concentration_prior_type"
        process = self.weight_concentration_prior_type == "dirichlet_process"
        check_as_fitted(self, isinstance(self.weight_concentration_, tuple) == process, name)
        scale = np.asarray(self.covariance_prior_, dtype=np.float64)
        prior = Prior(
            self.mean_prior_.astype(np.float64),
            self.mean_precision_prior_,
            np.full(d, scale) if scale.ndim == 0 else scale,
            self.degrees_of_freedom_prior_,
        )
        components = Posteriors(
            self.means_.astype(np.float64),
            self.covariances_.astype(np.float64),
            self.precisions_cholesky_.astype(np.float64),
            np.zeros(k, dtype=np.intp),
            np.asarray(self.mean_precision_, dtype=np.float64),
            np.broadcast_to(np.asarray(self.degrees_of_freedom_, dtype=np.float64), (k,)),
        )
        family = VariationalFamily(SHAPES[self.covariance_type], d, prior=prior)
        rule = self._rule(self.weight_concentration_prior_)
        blank = Mixture(np.zeros(k), components)
        return Model(family, rule), rule.given(blank, self.weight_concentration_)

    def free_energy(self, X: Any, resp: Any = None, sample_weight: Any = None) -> float:
        """Minus the bound on the log-evidence of these rows, for any responsibilities.

        F = E_q[-log p(x, z | w, mu, Lambda)] + E_q[log q(z)] + KL(q(w, mu, Lambda) || p). Without
        `resp` q(z) is the best there is.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
        resp : array of shape (n_rows, n_components) or None
            Responsibilities; non-negative, each row sums to one.
        sample_weight : array of shape (n_rows,) or None
        """
        rows = super().free_energy(X, resp, sample_weight)
        model, mixture = self._fitted()
        return rows - model.log_prior(mixture)


def _bound(model: Model, k: int) -> Bound:
    """The bound on the log-evidence, less what scikit-learn leaves out of its own."""
    family, rule = model.family, model.mixing
    assert isinstance(family, VariationalFamily)
    assert isinstance(rule, PosteriorWeights)
    assert family.prior is not None
    d = family.n_cols
    by_component = family.log_prior_norm() + d / 2 * np.log(family.prior.mean_precision)
    by_component += d * (d - 1) / 4 * np.log(np.pi)
    by_row = -d / 2 * np.log(2 * np.pi)
    once = rule.log_prior_norm(k) + k * by_component

    def bound(after_expect: float, after_maximise: float, total_weight: float) -> float:
        return float(-after_maximise - (once + total_weight * by_row))

    return bound


def _note_widened(overview: Overview | None, start: Mixture, recorder: Recorder) -> None:
    """Tell of an automatic prior that these rows are too flat for."""
    if overview is not None and _singular(overview.covariance):
        recorder.event(
            "floored",
            "the rows' covariance is singular; as a prior it was widened a little",
            where="covariance_prior",
        )


def _singular(matrix: Floats) -> bool:
    """Whether a matrix, or the diagonal of one, is no covariance."""
    if matrix.ndim == 1:
        return bool(SHAPES["diag"].factor(matrix[np.newaxis])[1].any())
    return bool(SHAPES["tied"].factor(matrix)[1].any()) or not is_symmetric(matrix)


def _widened(matrix: Floats, floor: Floats) -> Floats:
    """A matrix, or the diagonal of one, that is nowhere narrower than the floor."""
    if matrix.ndim == 1:
        return SHAPES["diag"].clip(matrix[np.newaxis], floor)[0][0]
    return SHAPES["tied"].clip(matrix, floor)[0]
