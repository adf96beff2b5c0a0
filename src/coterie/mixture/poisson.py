"""Mixtures of Poisson distributions: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import ARRAY, FLAG, NONE, Rule
from coterie._stored import Array, Field
from coterie.data import Source
from coterie.mixture._family import Mixture
from coterie.mixture._given import given_within
from coterie.mixture._linear import mean_carrier
from coterie.mixture._plain import PlainMixture
from coterie.mixture._poisson import PoissonFamily, usual_rates
from coterie.mixture._task import Model, Task
from coterie.mixture._values import Counts, Reading


class PoissonMixture(PlainMixture):
    """Mixture of independent Poisson columns for counts, fitted by EM.

    p(x) = sum_j w_j prod_c rate_jc^x_c exp(-rate_jc) / x_c!. Dense rows and CSR, which is never
    made dense: then a zero costs nothing.

    Time O(n k d) per iteration (CSR: k times the stored values), one pass over X. Memory beyond X:
    O(k d), nothing of n x k.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    alpha : float, default=0.01
        Strength of the prior: rate = (events + alpha) / (mass + alpha / m) with m the column's
        mean over all rows, the mode under a Gamma prior that draws the rates towards m. With 0,
        maximum likelihood, a component that saw no event expects none: a rate of 2^-53, so that
        logarithms stay finite.
    fractions : bool, default=False
        Whether counts may be fractions, such as averages; they enter the same formula, with
        Gamma(x + 1) for x!. False: X must hold whole numbers.
    tol, max_iter, n_init, init_params, random_state, warm_start, verbose, n_threads, callback
        As in `GaussianMixture`.
    weights_init, rates_init : array or None
        Given starting values; what is not given comes from `init_params`.
    keep : {None, "parameters"}, default=None
        "parameters" stores the rates of every iteration in `history_`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    rates_ : array of shape (n_components, n_features)
        Expected counts, in float64.
    converged_, n_iter_, lower_bounds_, history_, events_
        As in `GaussianMixture`.
    lower_bound_ : float
        Mean log-likelihood per row plus the log-prior's share, at the last E-step.

    References
    ----------
    Everitt & Hand (1981), Finite Mixture Distributions, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import PoissonMixture
    >>> X = np.array([[9, 1], [11, 1], [10, 1], [0, 19], [0, 21], [0, 20]])
    >>> rates = PoissonMixture(2, random_state=0).fit(X).rates_
    >>> rates[rates[:, 0].argsort()].round(1)
    array([[ 0., 20.],
           [10.,  1.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **PlainMixture._stores,
        "rates_": Array("f8", ("components", "columns"), 0),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **PlainMixture._rules,
        "fractions": FLAG,
        "rates_init": NONE | ARRAY,
    }

    rates_: npt.NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 0.01,
        fractions: bool = False,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        rates_init: Any = None,
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
        self.fractions = fractions
        self.rates_init = rates_init

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _to_read(self, X: Any, sample_weight: Any = None, *, reset: bool) -> tuple[Source, Reading]:
        source = self._source(X, sample_weight, reset=reset)
        who, names = type(self).__name__, self._column_names
        return source, Counts(who, names, fractions=bool(self.fractions))

    def _task(self, blocks: Source, missing: bool) -> Task:
        family = PoissonFamily(blocks.n_cols, alpha=self.alpha, usual=usual_rates(blocks))
        family = replace(family, mean_carrier=mean_carrier(family, blocks))
        given = self.rates_init
        if given is not None:
            shape = int(self.n_components), blocks.n_cols
            given = given_within(type(self).__name__, "rates_init", given, shape, 0.0)
            given = family.within(given)
        return self._plain_task(blocks, family, given)

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        self.rates_ = mixture.components

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        return self._plainly(PoissonFamily(self.rates_.shape[1]), self.rates_)
