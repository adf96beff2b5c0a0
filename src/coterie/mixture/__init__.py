"""Mixtures of distributions, fitted by one EM."""

from coterie.mixture.bernoulli import BernoulliMixture
from coterie.mixture.gaussian import GaussianMixture

__all__ = ["BernoulliMixture", "GaussianMixture"]
