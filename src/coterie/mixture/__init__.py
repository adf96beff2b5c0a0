"""Mixtures of distributions, fitted by one EM."""

from coterie.mixture._family import Family
from coterie.mixture.bayesian import BayesianGaussianMixture
from coterie.mixture.bernoulli import BernoulliMixture
from coterie.mixture.categorical import CategoricalMixture
from coterie.mixture.family import FamilyMixture
from coterie.mixture.gaussian import GaussianMixture
from coterie.mixture.mixed import MixedMixture
from coterie.mixture.poisson import PoissonMixture
from coterie.mixture.student_t import StudentTMixture

__all__ = [
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "CategoricalMixture",
    "Family",
    "FamilyMixture",
    "GaussianMixture",
    "MixedMixture",
    "PoissonMixture",
    "StudentTMixture",
]
