"""What the mixtures without covariances share: parameters, start, weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from coterie._checks import ANY, ARRAY, CALLABLE, FLAG, NONE, Rule, one_of, real, whole
from coterie.data import Blocks
from coterie.mixture._dead import note_dead
from coterie.mixture._em import Model, Repair
from coterie.mixture._estimator import MixtureModel
from coterie.mixture._family import Mixture
from coterie.mixture._given import with_given_weights
from coterie.mixture._mixing import log_shares
from coterie.mixture._start import STARTS


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

    def _blank(self, model: Model, blocks: Blocks) -> Mixture:
        even = np.ones(self.n_components)
        return Mixture(log_shares(even), model.family.blank(self.n_components))

    def _with_given(self, start: Mixture, model: Model) -> Mixture:
        return with_given_weights(type(self).__name__, start, self.weights_init)

    def _repair(self, blocks: Blocks, model: Model) -> Repair:
        return note_dead()

    def _published_weights(self) -> Any:
        return log_shares(self.weights_.astype(np.float64))
