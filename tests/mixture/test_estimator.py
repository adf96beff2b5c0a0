"""How a mixture's fit reads: few hops to the kernel, few hooks, one look for missing cells."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.mixture import _bernoulli, _gaussian, _linear, _missing, _values
from coterie.mixture._estimator import MixtureModel

MIXTURES = [
    getattr(coterie, name)
    for name in coterie.__all__
    if inspect.isclass(getattr(coterie, name)) and issubclass(getattr(coterie, name), MixtureModel)
]


def rows(n: int = 60) -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 2)) + np.repeat([[-4.0], [0], [4]], n // 3, axis=0)


class Watched:
    """The kernels, noting the frames from `fit` down to each call of one of them."""

    def __init__(self, kernels: Any, name: str) -> None:
        self._kernels, self._name = kernels, name
        self.hops: list[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        kernel = getattr(self._kernels, name)
        if name != self._name:
            return kernel

        def watched(*arguments: Any) -> Any:
            stack = [frame.name for frame in traceback.extract_stack()[:-1]]
            self.hops.append(stack[len(stack) - stack[::-1].index("fit") :])
            return kernel(*arguments)

        return watched


@pytest.mark.parametrize(
    ("model", "module", "kernel"),
    [
        (coterie.GaussianMixture(3, random_state=0), _gaussian, "gaussian_pass"),
        (coterie.BayesianGaussianMixture(3, random_state=0), _gaussian, "gaussian_pass"),
        (coterie.BernoulliMixture(3, threshold=0, random_state=0), _bernoulli, "linear_pass_bits"),
        (coterie.PoissonMixture(3, random_state=0, fractions=True), _linear, "linear_pass"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_from_fit_to_the_kernel_it_is_few_hops(
    model: Any, module: Any, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(module.kernels, kernel)
    monkeypatch.setattr(module, "kernels", watched)
    model.fit(np.abs(rows()))
    assert watched.hops[-1] == ["em", "total", "expect"]
    assert all(len(hops) <= 5 for hops in watched.hops)  # those of a start, too


#: All that tells one mixture from another while it is fitted.
HOOKS = {"_to_read", "_task", "_publish_components", "_fitted"}


@pytest.mark.parametrize("mixture", MIXTURES)
def test_a_mixture_replaces_no_step_of_a_fit(mixture: Any) -> None:
    base = {name for name, value in vars(MixtureModel).items() if inspect.isfunction(value)}
    own = {
        name
        for cls in mixture.__mro__[: mixture.__mro__.index(MixtureModel)]
        for name in vars(cls)
        if name in base
    }
    public = {name for name in own if not name.startswith("_")}
    assert public <= {"sample", "free_energy"}
    assert own - public <= HOOKS | {"__init__", "__sklearn_tags__", "_check_together_loaded"}


def test_missing_cells_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(module: Any, name: str) -> None:
        wrapped = getattr(module, name)

        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return wrapped(*arguments, **options)

        monkeypatch.setattr(module, name, call)

    counted(_values, "has_missing")
    counted(_missing, "find_patterns")
    X = rows()
    model = coterie.GaussianMixture(3, random_state=0).fit(X)
    model.predict(X)
    assert calls == []  # the check that rows are finite has seen that there are none
    X[::7, 1] = np.nan
    model = coterie.GaussianMixture(3, random_state=0, max_iter=4, tol=0)
    with pytest.warns(coterie.mixture._estimator.ConvergenceWarning):
        model.fit(X)
    assert calls == ["has_missing", "find_patterns"]
