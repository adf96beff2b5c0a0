"""Mixtures of a distribution of the user's own: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from coterie._checks import ANY, ARRAY, CALLABLE, FLAG, NONE, Rule, one_of, real, whole
from coterie._in_memory import rows_in_memory
from coterie._stored import Field, Parts, Sizes
from coterie.data import Source
from coterie.mixture._em import em
from coterie.mixture._estimator import MixtureModel
from coterie.mixture._family import Family, Mixture
from coterie.mixture._given import Given, given_weights
from coterie.mixture._guarded import GuardedFamily, NoteFalls, Own
from coterie.mixture._mixing import Shares, log_shares
from coterie.mixture._start import STARTS, Beginning, Rows, as_given
from coterie.mixture._task import Model, Task

_FAMILY = Rule(
    lambda value: isinstance(value, Family),
    "an object of a class derived from coterie.mixture.Family",
)
_MAPPING = Rule(lambda value: isinstance(value, Mapping), "a dict of arrays")


class FamilyMixture(MixtureModel):
    """Mixture of a distribution of your own, fitted by EM.

    p(x) = sum_j w_j p(x | parameters_j), with whatever density a `Family` says. Everything else is
    as in the other mixtures: starts and restarts, `sample_weight`, history, criteria, memory maps.
    What the family returns is checked; an M-step that lets the likelihood fall is told in
    `events_`.

    Time: that of the family's functions, in Python, a tile of rows at a time. Memory beyond X: a
    tile of rows and components, nothing of n x k.

    Parameters
    ----------
    family : Family
        What a component is: see `coterie.mixture.Family`.
    n_components : int, default=1
        k, the number of components.
    tol, max_iter, n_init, random_state, warm_start, verbose, n_threads, callback
        As in `GaussianMixture`.
    init_params : {"kmeans", "k-means++", "random", "random_from_data", "family"}, default="kmeans"
        Who is responsible for which row at first: the clusters of k-means, random shares, or one
        row each. "family": what the family's own `start` says.
    weights_init : array of shape (n_components,) or None
        Shares of the components to start from, with a sum of one.
    parameters_init : dict of arrays or None
        Given starting values; what is not given comes from `init_params`.
    keep : {None, "parameters"}, default=None
        "parameters" stores the weights of every iteration in `history_`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    parameters_ : dict of arrays
        What the family's M-step returned, in float64, an entry per component along the first axis.
    converged_, n_iter_, lower_bounds_, history_, events_
        As in `GaussianMixture`; after the M-step the free energy is that of the E-step, unless
        the family has `expected_log_prob`. The event "fell" tells of a likelihood that fell.
    lower_bound_ : float
        Mean log-likelihood per row plus the log-prior's share, at the last E-step.

    Notes
    -----
    A model file holds data and no code, so a loaded model has no family: give it back with
    ``model.set_params(family=...)``.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.mixture import Family, FamilyMixture
    >>> class Exponential(Family):
    ...     def log_prob(self, components, rows):
    ...         rates = components["rates"]
    ...         return np.log(rates).sum(axis=1) - rows @ rates.T
    ...     def summarise(self, components, rows, mass):
    ...         return mass.T @ rows
    ...     def maximise(self, counts, summary, before):
    ...         return {"rates": counts[:, np.newaxis] / summary}
    >>> X = np.array([[1.0], [2], [3], [100], [200], [300]])
    >>> model = FamilyMixture(Exponential(), 2, random_state=0).fit(X)
    >>> (1 / model.parameters_["rates"]).round()
    array([[  2.],
           [194.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {**MixtureModel._stores, "parameters_": Parts()}
    _rules: ClassVar[Mapping[str, Rule]] = {
        "family": NONE | _FAMILY,
        "n_components": whole(1),
        "tol": real(0),
        "max_iter": whole(0),
        "n_init": whole(1),
        "init_params": one_of(*STARTS, "family"),
        "weights_init": NONE | ARRAY,
        "parameters_init": NONE | _MAPPING,
        "random_state": ANY,
        "warm_start": FLAG,
        "verbose": FLAG,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
    }

    parameters_: dict[str, Any]

    def __init__(
        self,
        family: Any = None,
        n_components: int = 1,
        *,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        parameters_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        self.family = family
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.parameters_init = parameters_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep

    def _guarded(self, n_cols: int) -> GuardedFamily:
        who = type(self).__name__
        if self.family is None:
            raise ValueError(
                f"{who}: there is no family, which says what a component is (a model file holds no "
                "code, so a loaded model has none); give one with set_params(family=...)."
            )
        return GuardedFamily(who, self.family, n_cols)

    def _task(self, blocks: Source, missing: bool) -> Task:
        who, k, family = type(self).__name__, int(self.n_components), self._guarded(blocks.n_cols)
        model = Model(family, Shares())
        components = None
        if self.parameters_init is not None:
            components = Own(k, family.checked(self.parameters_init, k, "parameters_init"))
        given = Given(given_weights(who, self.weights_init, k), components)
        blank = Mixture(log_shares(np.ones(k)), family.blank(k))
        start = as_given if given.whole else {**STARTS, "family": by_family}[self.init_params]
        begin = Beginning(who, model, blank, start, lambda: Rows(blocks), given)
        return Task(
            blocks,
            model,
            self.max_iter,
            self.tol,
            begin,
            solve=em,
            shown=lambda mixture: mixture.weights,
            repair=lambda: NoteFalls(model),
        )

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        self.parameters_ = dict(mixture.components.parameters)

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        components = Own(len(self.weights_), self.parameters_)
        weights = log_shares(self.weights_.astype(np.float64))
        model = Model(self._guarded(self.n_features_in_), Shares())
        return model, Mixture(weights, components)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        for name, values in self.parameters_.items():
            if not isinstance(values, np.ndarray) or values.dtype != np.float64:
                raise ValueError(f"parameters_[{name!r}] is no array of float64")
            if values.shape[:1] != (sizes["components"],) or not np.isfinite(values).all():
                raise ValueError(f"parameters_[{name!r}] is of other size or not finite")
        self._check_shares_loaded()


def by_family(rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState) -> Mixture:
    """The family's own start, with equal weights."""
    family, k = model.family, blank.components.n_components
    assert isinstance(family, GuardedFamily)
    if type(family.own).start is Family.start:
        raise ValueError(
            f"{family.who}: init_params='family' was given, but {type(family.own).__name__} has no "
            "start; define it, or choose another init_params."
        )
    given = family.own.start(
        rows_in_memory("FamilyMixture", rows.blocks, 'init_params="family"'), k, rng
    )
    return Mixture(blank.log_weights, Own(k, family.checked(given, k, "start")))
