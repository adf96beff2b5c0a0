"""Mixtures of Bernoulli distributions: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import ARRAY, NONE, Rule, real
from coterie._stored import Array, Field
from coterie.data import Source
from coterie.mixture._bernoulli import BernoulliFamily
from coterie.mixture._bits import Binary
from coterie.mixture._family import Mixture
from coterie.mixture._given import given_within
from coterie.mixture._plain import PlainMixture
from coterie.mixture._task import Model, Task
from coterie.mixture._values import Above, Reading


class BernoulliMixture(PlainMixture):
    """Mixture of independent Bernoulli columns for binary data, fitted by EM.

    p(x) = sum_j w_j prod_c theta_jc^x_c (1 - theta_jc)^(1 - x_c). Dense rows and CSR, which is
    never made dense: then a zero costs nothing.

    Time O(n k d) per iteration (CSR: k times the stored values), one pass over X. Memory beyond X:
    O(k d), nothing of n x k; with a `threshold` also one copy of X.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    alpha : float, default=0.01
        Strength of the prior: theta = (ones + alpha) / (mass + 2 alpha), the mode under a
        Beta(1 + alpha, 1 + alpha) prior. With 0, maximum likelihood, a pixel that no row of a
        component has set is impossible there: 2^-53, so that logarithms stay finite.
    threshold : float or None, default=None
        Values above it count as 1, others as 0. None: X must hold only 0 and 1.
    tol, max_iter, n_init, init_params, random_state, warm_start, verbose, n_threads, callback
        As in `GaussianMixture`.
    weights_init, probabilities_init : array or None
        Given starting values; what is not given comes from `init_params`.
    keep : {None, "parameters"}, default=None
        "parameters" stores the probabilities of every iteration in `history_`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    probabilities_ : array of shape (n_components, n_features)
        Probability of a one, in float64.
    converged_, n_iter_, lower_bounds_, history_, events_
        As in `GaussianMixture`.
    lower_bound_ : float
        Mean log-likelihood per row plus the log-prior's share, at the last E-step.

    References
    ----------
    Bishop (2006), Pattern Recognition and Machine Learning, section 9.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import BernoulliMixture
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    >>> BernoulliMixture(2, random_state=0).fit(X).probabilities_.round(2)
    array([[0., 0., 1., 1.],
           [1., 1., 0., 0.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **PlainMixture._stores,
        "probabilities_": Array("f8", ("components", "columns"), 0, 1),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **PlainMixture._rules,
        "threshold": NONE | real(-np.inf),
        "probabilities_init": NONE | ARRAY,
    }

    probabilities_: npt.NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 0.01,
        threshold: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        probabilities_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        super().__init__(
            n_components, alpha, tol, max_iter, n_init, init_params, weights_init, random_state,
            warm_start, verbose, n_threads, callback, keep,
        )  # fmt: skip
        self.threshold = threshold
        self.probabilities_init = probabilities_init

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _to_read(self, X: Any, sample_weight: Any = None, *, reset: bool) -> tuple[Source, Reading]:
        who, source = type(self).__name__, self._source(X, sample_weight, reset=reset)
        if self.threshold is not None:
            return source, Above(who, self._column_names, threshold=self.threshold)
        return source, Binary(who, self._column_names)

    def _task(self, blocks: Source, missing: bool) -> Task:
        who, given = type(self).__name__, self.probabilities_init
        bits = Binary(who, self._column_names).packed(blocks)
        family = BernoulliFamily(blocks.n_cols, alpha=self.alpha, packed=bits)
        if given is not None:
            shape = int(self.n_components), blocks.n_cols
            given = family.within(given_within(who, "probabilities_init", given, shape, 0.0, 1.0))
        return self._plain_task(blocks, family, given)

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        self.probabilities_ = mixture.components

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        family = BernoulliFamily(self.probabilities_.shape[1])
        return self._plainly(family, self.probabilities_)
