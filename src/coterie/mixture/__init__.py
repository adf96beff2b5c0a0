"""Mixtures of distributions, fitted by one EM."""

from coterie.mixture.gaussian import GaussianMixture

__all__ = ["GaussianMixture"]
