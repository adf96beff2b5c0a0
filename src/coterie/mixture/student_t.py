"""Mixtures of Student's t-distributions: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import Rule, one_of, real
from coterie._stored import Array, Field
from coterie.data import Source
from coterie.mixture._family import Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._student import StudentFamily
from coterie.mixture._task import Model, Task
from coterie.mixture.gaussian import GaussianMixture


class StudentTMixture(GaussianMixture):
    """Mixture of multivariate t-distributions, fitted by EM: Gaussians with heavy tails.

    p(x) = sum_j w_j t(x | mu_j, Sigma_j, v_j). A t-distribution is a Gaussian whose covariance is
    Sigma / u with a hidden u ~ Gamma(v / 2, v / 2) for every row; far rows get a small u and
    hardly move the parameters. The free energy counts u among the hidden variables, so it falls
    as for Gaussians and equals minus the log-likelihood after each E-step. The M-step is two
    conditional steps (ECM): locations and scale matrices, then the degrees of freedom of every
    component by a one-dimensional root in [0.5, 10^4]. The two do not interact, so together they
    are the exact M-step.

    Time O(n k d^2) per iteration (diag, spherical: O(n k d)), in NumPy, a tile of rows at a time.
    Memory beyond X: O(k d^2) and a tile, nothing of n x k.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the scale matrices.
    degrees_of_freedom : "estimate" or float, default="estimate"
        A number is the same for all components and stays; 1 is the Cauchy distribution, and from
        about 100 on it is nearly Gaussian.
    noise : bool, default=False
        Whether a uniform background takes rows that fit no component: label -1.
    tol, reg_covar, max_iter, n_init, init_params, weights_init, means_init, precisions_init
        As in `GaussianMixture`.
    fixed, random_state, warm_start, verbose, n_threads, callback, keep
        As in `GaussianMixture`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    means_ : array of shape (n_components, n_features)
        Locations: the means where v > 1.
    covariances_ : array
        Scale matrices, in the shape of `covariance_type`. The covariance is v / (v - 2) times
        that where v > 2, and infinite otherwise.
    precisions_, precisions_cholesky_ : array
        Their inverses, and the factors of those.
    degrees_of_freedom_ : array of shape (n_components,)
    noise_weight_, noise_box_
        Share and box (lower corner, widths) of the background, with ``noise=True``.
    converged_, n_iter_, lower_bound_, lower_bounds_, history_, events_
        As in `GaussianMixture`.

    References
    ----------
    Peel & McLachlan (2000), Robust mixture modelling using the t distribution, Statistics and
    Computing 10; Liu & Rubin (1995), ML estimation of the t distribution using EM and its
    extensions, ECM and ECME, Statistica Sinica 5.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import StudentTMixture
    >>> X = np.array([[1.0], [1.1], [0.9], [1.05], [0.95], [50]])
    >>> StudentTMixture(degrees_of_freedom=2).fit(X).means_.round(1)
    array([[1.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **GaussianMixture._stores,
        "degrees_of_freedom_": Array("f", ("components",), 1e-3, finite=False),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **{
            name: GaussianMixture._rules[name]
            for name in (
                "n_components", "covariance_type", "tol", "reg_covar", "max_iter", "n_init",
                "init_params", "weights_init", "means_init", "precisions_init", "fixed", "noise",
                "random_state", "warm_start", "verbose", "n_threads", "callback", "keep",
            )
        },
        "degrees_of_freedom": one_of("estimate") | real(0.1, 1e6),
    }  # fmt: skip

    degrees_of_freedom_: npt.NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        degrees_of_freedom: Any = "estimate",
        tol: float = 1e-3,
        reg_covar: Any = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        fixed: tuple[str, ...] = (),
        noise: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        super().__init__(
            n_components, covariance_type=covariance_type, tol=tol, reg_covar=reg_covar,
            max_iter=max_iter, n_init=n_init, init_params=init_params, weights_init=weights_init,
            means_init=means_init, precisions_init=precisions_init, fixed=fixed, noise=noise,
            random_state=random_state, warm_start=warm_start, verbose=verbose,
            n_threads=n_threads, callback=callback, keep=keep,
        )  # fmt: skip
        self.degrees_of_freedom = degrees_of_freedom

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    @property
    def _given_dof(self) -> float | None:
        estimated = isinstance(self.degrees_of_freedom, str)
        return None if estimated else float(self.degrees_of_freedom)

    def _task(self, blocks: Source, missing: bool) -> Task:
        return self._task_of(self._with_tails(self._model(blocks, missing)), blocks, missing)

    def _with_tails(self, model: Model) -> Model:
        assert isinstance(model.family, GaussianFamily)
        return replace(model, family=StudentFamily.like(model.family, self._given_dof))

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        super()._publish_components(mixture, model, dtype)
        self.degrees_of_freedom_ = mixture.components.dof

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        gaussian, mixture = super()._fitted(missing)
        model = self._with_tails(gaussian)
        assert isinstance(model.family, StudentFamily)
        components = model.family.with_dof(mixture.components, self.degrees_of_freedom_)
        return model, replace(mixture, components=components)
