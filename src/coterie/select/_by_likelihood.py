"""Criteria for mixtures: likelihood with a price on parameters, or of rows held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from coterie.select._problem import Measured, Problem, smallest, take

Floats = npt.NDArray[np.float64]

#: The logarithm of the Bayes factor from which evidence is called strong.
_STRONG = 3.0
#: Rows that a component without any may seem to have by its prior.
_PRIOR_ROWS = 1.0


def by_bic(problem: Problem) -> Measured:
    """Schwarz's criterion (1978): -2 log L + p log n."""
    values = problem.each(lambda k: problem.fits.model(k).bic(problem.X))
    return smallest(problem, values, "BIC")


def by_aic(problem: Problem) -> Measured:
    """Akaike's criterion (1974): -2 log L + 2 p, which prefers more components than BIC."""
    values = problem.each(lambda k: problem.fits.model(k).aic(problem.X))
    return smallest(problem, values, "AIC")


def by_icl(problem: Problem) -> Measured:
    """The integrated completed likelihood (Biernacki, Celeux & Govaert 2000): clusters apart."""
    values = problem.each(lambda k: problem.fits.model(k).icl(problem.X))
    return smallest(problem, values, "ICL")


def by_bound(problem: Problem) -> Measured:
    """The variational bound on the log-evidence of a Bayesian mixture.

    The posterior it finds is one of many that differ in the numbering alone: with m of k components
    of a Dirichlet distribution in use there are k! / (k - m)!, whose logarithm is added (Bishop
    2006, section 10.2.4). Those of a Dirichlet process are not alike. Superfluous components cost
    next to nothing, so the bound need not fall again; chosen is the smallest k that no other
    exceeds by 3 or more, which would be strong evidence (Kass & Raftery 1995).
    """
    values = problem.each(lambda k: _evidence(problem.fits.model(k), problem))
    k = problem.ks[int(np.flatnonzero(values > values.max() - _STRONG)[0])]
    return Measured(values, k, f"no other k has a bound that exceeds that of k = {k} by 3")


def _evidence(model: Any, problem: Problem) -> float:
    """The bound, with all posteriors that only number the components in another way."""
    bound = -model.free_energy(problem.X)
    if model.weight_concentration_prior_type != "dirichlet_distribution":
        return float(bound)
    n_unused = int(np.count_nonzero(model.weights_ * problem.n_rows < 1 + _PRIOR_ROWS))
    k = len(model.weights_)
    return float(bound + gammaln(k + 1) - gammaln(n_unused + 1))


def by_held_out(problem: Problem) -> Measured:
    """The mean log-density of rows that the fit has not seen (Smyth 2000), with standard errors.

    Every row is held out once. Chosen is the smallest k that falls short of the best by no more
    than a standard error of the difference, which is taken row by row: all k are judged by the same
    rows, so what makes a fold hard for all of them does not count.
    """
    rng, n_rows = problem.draws("held_out"), problem.n_rows
    n_folds = min(problem.settings.n_folds, n_rows)
    # What is left of the rows must be enough.
    ks = tuple(k for k in problem.ks if max(2, k) <= n_rows - -(-n_rows // n_folds))
    log_prob = np.full((len(problem.ks), n_rows), np.nan)
    if not ks:
        return Measured(log_prob[:, 0], None, f"{n_rows} rows are too few to hold some out")
    for fold in np.array_split(rng.permutation(n_rows), n_folds):
        held_out = np.zeros(n_rows, dtype=bool)
        held_out[fold] = True
        fits = problem.fits_on(take(problem.X, np.flatnonzero(~held_out)), rng, ks)
        unseen = take(problem.X, np.flatnonzero(held_out))
        for place, k in enumerate(ks):
            log_prob[place, held_out] = fits.model(k).score_samples(unseen)
    values = log_prob.mean(axis=1)
    errors = log_prob.std(axis=1, ddof=1) / np.sqrt(n_rows)
    best = int(np.nanargmax(values))
    short = log_prob[best] - log_prob
    slack = short.std(axis=1, ddof=1) / np.sqrt(n_rows)
    place = int(np.argmax(short.mean(axis=1) <= slack))
    k = problem.ks[place]
    reason = f"k = {k} explains unseen rows best"
    if place != best:
        reason = f"k = {k} explains unseen rows as well as k = {problem.ks[best]} does"
    return Measured(values, k, reason, errors)


def bic_weights(bic: Any) -> Floats:
    """P(K | data) from BIC, all K being as likely beforehand: exp(-BIC / 2), made to sum to one.

    Coarse: BIC is Laplace's approximation to -2 log evidence up to a term that does not grow with
    n, which a mixture with a superfluous component, where the likelihood has no quadratic peak,
    does not even have. Kass & Raftery (1995).
    """
    half = -np.asarray(bic, dtype=np.float64) / 2
    known = ~np.isnan(half)
    weights = np.where(known, np.exp(np.where(known, half - half[known].max(), -np.inf)), 0.0)
    return np.asarray(weights / weights.sum())
