"""Choosing a mixture: the number of components, the covariance type and the family at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import CALLABLE, NONE, check_params, one_of, real, whole
from coterie._doors import FLOATS
from coterie._progress import says_stop
from coterie._random import check_random_state
from coterie.data import as_source
from coterie.mixture import GaussianMixture, StudentTMixture
from coterie.select._axes import legend_above, some_ticks
from coterie.select._by_likelihood import bic_weights
from coterie.select._fits import OneByOne, n_rows_of
from coterie.select._label_starts import LabelStarts, label_starts
from coterie.select._numbers import numbers_of_clusters
from coterie.select._problem import in_memory, is_remote
from coterie.select.k_choice import SelectionProgress

Floats = npt.NDArray[np.float64]

#: Families of densities on the same rows, whose likelihoods can be compared.
FAMILIES = {"gaussian": GaussianMixture, "student-t": StudentTMixture}
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")
#: A component this much narrower than the rows, in some direction, has collapsed.
_COLLAPSED = 1e-5

_RULES = {
    "criterion": one_of("bic", "icl"),
    "n_init": whole(1),
    "tol": real(0),
    "max_iter": whole(1),
    "callback": NONE | CALLABLE,
}


@dataclass(frozen=True)
class Candidate:
    """A mixture that was tried; `degenerate` ones, with a collapsed component, are not chosen."""

    family: str
    covariance_type: str
    k: int
    log_likelihood: float
    n_parameters: int
    bic: float
    icl: float
    degenerate: bool
    probability: float


@dataclass(frozen=True)
class MixtureChoice:
    """Mixtures compared; `select_mixture` makes one.

    Attributes
    ----------
    model : estimator
        The best, fitted.
    best : Candidate
        What it is.
    candidates : list of Candidate
        All that were tried, best first.
    criterion : str
    """

    model: Any
    best: Candidate
    candidates: list[Candidate]
    criterion: str

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for every candidate, best first, to look at or to make a data frame of."""
        return [dict(vars(candidate)) for candidate in self.candidates]

    @property
    def k(self) -> int:
        """Components of the best."""
        return self.best.k

    @property
    def probabilities(self) -> dict[int, float]:
        """P(K | data) from BIC weights, summed over covariance types and families."""
        ks = sorted({candidate.k for candidate in self.candidates})
        return {k: sum(c.probability for c in self.candidates if c.k == k) for k in ks}

    @property
    def summary(self) -> str:
        """The best, by how much, and how sure that is."""
        best, rest = self.best, [c for c in self.candidates[1:] if not c.degenerate]
        words = f"{_words(best)} has the lowest {self.criterion.upper()}"
        if rest:
            gap = getattr(rest[0], self.criterion) - getattr(best, self.criterion)
            strength = "hardly" if gap < 2 else "clearly" if gap < 10 else "by far"
            words += f", {strength} lower (by {gap:.1f}) than {_words(rest[0])}"
        n_left_out = sum(candidate.degenerate for candidate in self.candidates)
        if n_left_out:
            words += f"; {n_left_out} with a collapsed component were left out"
        chance = self.probabilities[best.k]
        return f"{words}. By BIC weights, a coarse guide, P(K = {best.k} | data) = {chance:.2f}."

    def plot(self, ax: Any) -> Any:
        """Draw the criterion along k into matplotlib axes: a line a model, a ring at the best."""
        sound = sorted((c for c in self.candidates if not c.degenerate), key=lambda c: c.k)
        for family, kind in dict.fromkeys((c.family, c.covariance_type) for c in self.candidates):
            line = [c for c in sound if (c.family, c.covariance_type) == (family, kind)]
            values = [getattr(c, self.criterion) for c in line]
            ax.plot([c.k for c in line], values, ".-", linewidth=1.5, label=f"{family} {kind}")
        ax.plot([self.k], [getattr(self.best, self.criterion)], "o", color="#333333", markersize=8,
                fillstyle="none")  # fmt: skip
        ax.set(xlabel="components", ylabel=f"{self.criterion.upper()}, lower is better",
               xticks=some_ticks(sorted({c.k for c in self.candidates})))  # fmt: skip
        legend_above(ax)
        return ax


def select_mixture(
    X: Any,
    k: Any = None,
    *,
    covariance_types: Iterable[str] = COVARIANCE_TYPES,
    families: Iterable[str] = ("gaussian",),
    criterion: str = "bic",
    n_init: int = 1,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: Any = None,
    callback: Callable[[SelectionProgress], Any] | None = None,
) -> MixtureChoice:
    """Fit mixtures with every number of components and covariance type, and choose one.

    Model-based clustering (Fraley & Raftery 1998): BIC = -2 log L + p log n compares numbers of
    components and shapes of covariances at once, and, unlike cross-validation, needs one fit of
    each on all rows. Each is fitted from clusters of k-means, which all covariance types share,
    from the mixture with one component less, that component split which pays most, and, up to 3000
    rows, from Ward's tree, one for all; the likeliest is kept. A mixture with a component that
    collapsed onto a few rows owes its likelihood to that, and is left out.

    Time: some four fits for each. Memory: that of a fit, and the tree's.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features), path, Dask collection or source
        May hold NaN, as for `GaussianMixture`.
    k : iterable of int, int or None, default=None
        Numbers of components; a number m stands for 1, ..., m, None for 1, ..., 9.
    covariance_types : names, default=("full", "tied", "diag", "spherical")
    families : names out of "gaussian" and "student-t", default=("gaussian",)
    criterion : {"bic", "icl"}, default="bic"
        ICL prefers components that do not overlap.
    n_init : int, default=1
        Fresh starts.
    tol, max_iter
        See `GaussianMixture`; tighter than there, since likelihoods are compared.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    callback : callable or None, default=None
        Called after every fit with a `SelectionProgress`; returning True ends the search with what
        is there.

    Returns
    -------
    MixtureChoice
        `model`, `best`, `table`, `summary`, `probabilities`, `plot(ax)`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.select import select_mixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 1.0, (100, 2)) for m in (0, 8)])
    >>> select_mixture(X, 4, random_state=0).best.k
    2
    """
    who = "select_mixture"
    given = {name: value for name, value in locals().items() if name in _RULES}
    check_params(who, given, _RULES)
    kinds = _names(who, "covariance_types", covariance_types, COVARIANCE_TYPES)
    lines = _names(who, "families", families, tuple(FAMILIES))
    X = in_memory(who, X)
    ks = numbers_of_clusters(who, k, None if is_remote(X) else int(X.shape[0]), up_to=9)
    seed = int(check_random_state(random_state).randint(2**31))
    starts = label_starts(X, seed, n_init)
    quick = isinstance(X, np.ndarray) and X.dtype in FLOATS and starts
    search = _Search(as_source(X) if quick else X, ks, starts, callback)  # a table keeps its names
    for line in lines:
        for kind in kinds:
            search.walk(line, FAMILIES[line](
                covariance_type=kind, tol=tol, max_iter=max_iter, reg_covar="auto", n_init=n_init,
                random_state=seed,
            ))  # fmt: skip
            if search.stopped:
                return search.choice(who, criterion)
    return search.choice(who, criterion)


@dataclass
class _Search:
    """A walk over models, which remembers the best of each criterion alone."""

    X: Any
    ks: tuple[int, ...]
    starts: tuple[LabelStarts, ...]
    callback: Callable[[SelectionProgress], Any] | None

    def __post_init__(self) -> None:
        self.found: list[tuple[Candidate, Any]] = []
        self.stopped = False
        self.n_fits = 0

    def walk(self, family: str, estimator: Any) -> None:
        """Fit one family and covariance type along k."""
        fits = OneByOne(estimator, self.X, self.ks, lambda what, k: None, self.starts)
        for k in self.ks:
            model = fits.model(k)
            if not (k == 1 and estimator.covariance_type == "tied" and self._has_full(family)):
                self.found.append(self._judged(family, model, k))
            self.n_fits += 1
            told = SelectionProgress(f"{family} {estimator.covariance_type}", k, self.n_fits)
            if self.callback is not None and says_stop(self.callback(told)):
                self.stopped = True
                return

    def _has_full(self, family: str) -> bool:
        """Whether the one covariance of one component has been tried by its other name."""
        return any((one.family, one.covariance_type, one.k) == (family, "full", 1)
                   for one, _ in self.found)  # fmt: skip

    def _judged(self, family: str, model: Any, k: int) -> tuple[Candidate, Any]:
        n_parameters, n_rows = model._n_parameters(), n_rows_of(self.X)
        icl, log_lik = model.icl(self.X), -model.free_energy(self.X)
        bic = float(-2 * log_lik + n_parameters * np.log(n_rows))
        kind, collapsed = model.covariance_type, has_collapsed(model)
        return (
            Candidate(family, kind, k, log_lik, n_parameters, bic, icl, collapsed, 0.0), model
        )  # fmt: skip

    def choice(self, who: str, criterion: str) -> MixtureChoice:
        """All candidates by merit, and the model of the best that is sound."""
        if all(candidate.degenerate for candidate, _ in self.found):
            raise ValueError(
                f"{who}: every mixture had a component that collapsed onto a few rows; ask for "
                "fewer components, or add k = 1."
            )
        bic = [np.nan if one.degenerate else one.bic for one, _ in self.found]
        weights = bic_weights(bic)
        ranked = sorted(
            (
                (Candidate(**{**vars(one), "probability": float(share)}), model)
                for (one, model), share in zip(self.found, weights, strict=True)
            ),
            key=lambda pair: (pair[0].degenerate, getattr(pair[0], criterion)),
        )
        return MixtureChoice(ranked[0][1], ranked[0][0], [one for one, _ in ranked], criterion)


def has_collapsed(model: Any) -> bool:
    """Whether a component is next to flat in some direction, measured by the spread of the mixture.

    The widths of the components are compared with the covariance of the whole mixture, direction by
    direction, so that no linear map of the columns changes the answer.
    """
    means, weights = model.means_.astype(np.float64), model.weights_.astype(np.float64)
    weights = weights / weights.sum()
    covariances = full_covariances(model)
    centred = means - weights @ means
    spread = np.einsum("k,kij->ij", weights, covariances)
    spread += np.einsum("k,ki,kj->ij", weights, centred, centred)
    lengths, axes = np.linalg.eigh(spread)
    wide = lengths > 1e-12 * max(lengths[-1], 0.0)
    whiten = axes[:, wide] / np.sqrt(lengths[wide])
    narrowest = np.linalg.eigvalsh(whiten.T @ covariances @ whiten)[:, 0]
    return bool((narrowest < _COLLAPSED).any())


def full_covariances(model: Any) -> Floats:
    """Covariances of every component, (k, d, d), whatever the covariance type."""
    k, n_cols = model.means_.shape
    own = model.covariances_.astype(np.float64)
    if model.covariance_type == "full":
        return np.asarray(own)
    if model.covariance_type == "tied":
        return np.repeat(own[np.newaxis], k, axis=0)
    variances = own if own.ndim == 2 else np.repeat(own[:, np.newaxis], n_cols, axis=1)
    return np.asarray(variances[:, :, np.newaxis] * np.eye(n_cols))


def _names(who: str, name: str, given: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    """Names as asked for, each once."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    asked = tuple(given) if several else (given,)
    if not asked or not set(asked) <= set(known):
        raise ValueError(f"{who}: {name}={given!r} was given; use names out of {', '.join(known)}.")
    return tuple(dict.fromkeys(asked))


def _words(candidate: Candidate) -> str:
    components = "component" if candidate.k == 1 else "components"
    return f"{candidate.family} {candidate.covariance_type} with {candidate.k} {components}"
