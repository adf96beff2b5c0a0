"""Mixtures of distributions, fitted by one EM."""

from coterie.mixture.bayesian import BayesianGaussianMixture
from coterie.mixture.gaussian import GaussianMixture

__all__ = ["BayesianGaussianMixture", "GaussianMixture"]
