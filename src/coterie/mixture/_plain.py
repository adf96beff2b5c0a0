"""What the mixtures without covariances share: parameters, start, weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from coterie._checks import ANY, ARRAY, CALLABLE, FLAG, NONE, Rule, one_of, real, whole
from coterie.data import Source
from coterie.mixture._dead import note_dead
from coterie.mixture._em import em
from coterie.mixture._estimator import MixtureModel
from coterie.mixture._family import Family, Mixture
from coterie.mixture._given import Given, given_weights
from coterie.mixture._mixing import Shares, log_shares
from coterie.mixture._start import STARTS, Beginning, Rows, as_given
from coterie.mixture._task import Model, Task


class PlainMixture(MixtureModel):
    """Base of the mixtures whose only shared setting is a prior of strength `alpha`."""

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": whole(1),
        "alpha": real(0),
        "tol": real(0),
        "max_iter": whole(0),
        "n_init": whole(1),
        "init_params": one_of(*STARTS),
        "weights_init": NONE | ARRAY,
        "random_state": ANY,
        "warm_start": FLAG,
        "verbose": FLAG,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
    }

    def __init__(
        self,
        n_components: int,
        alpha: float,
        tol: float,
        max_iter: int,
        n_init: int,
        init_params: str,
        weights_init: Any,
        random_state: Any,
        warm_start: bool,
        verbose: Any,
        n_threads: int | None,
        callback: Any,
        keep: str | None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep

    def _plain_task(
        self,
        blocks: Source,
        family: Family,
        components: Any = None,
        rows: Callable[[Source], Rows] = Rows,
        shown: Callable[[Mixture], Any] = lambda mixture: mixture.components,
    ) -> Task:
        """EM for a family. `components` are given ones, `rows` are those to start from."""
        who, k = type(self).__name__, int(self.n_components)
        model = Model(family, Shares())
        given = Given(given_weights(who, self.weights_init, k), components)
        blank = Mixture(log_shares(np.ones(k)), family.blank(k))
        start = as_given if given.whole else STARTS[self.init_params]
        begin = Beginning(who, model, blank, start, lambda: rows(blocks), given)
        return Task(
            blocks, model, self.max_iter, self.tol, begin, solve=em, shown=shown, repair=note_dead
        )

    def _plainly(self, family: Family, components: Any) -> tuple[Model, Mixture]:
        """Family and published components, with the published weights."""
        weights = log_shares(self.weights_.astype(np.float64))
        return Model(family, Shares()), Mixture(weights, components)
