"""The lecture's two Gaussians on a line, 0.5 N(-10, 5^2) + 0.5 N(10, 5^2), in numbers."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coterie import GaussianMixture

#: Where, the density there, and the responsibility of the component at -10, as printed.
DENSITY = {
    -10: 0.03990761106272,
    -5: 0.024640257293108,
    0: 0.010798193302638,
    5: 0.024640257293108,
    10: 0.03990761106272,
}
RESPONSIBILITY = {
    -10: 0.999664649869534,
    -5: 0.982013790037908,
    -1: 0.689974481127612,
    0: 0.5,
    1: 0.310025518872388,
    5: 0.017986209962092,
    10: 0.000335350130466,
}


@pytest.fixture(params=["full", "tied", "diag", "spherical"])
def mixture(request):
    """A model with these parameters, whatever its rows were."""
    spread = np.array([-1.0, 1.0]) * 5
    X = np.concatenate([m + spread for m in (-10.0, 10.0)])[:, None]
    model = GaussianMixture(
        2, covariance_type=request.param, means_init=[[-10], [10]], max_iter=1, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    own = {"full": (2, 1, 1), "tied": (1, 1), "diag": (2, 1), "spherical": (2,)}
    model.weights_, model.means_ = np.array([0.5, 0.5]), np.array([[-10.0], [10.0]])
    model.covariances_ = np.full(own[request.param], 25.0)
    model.precisions_ = 1 / model.covariances_
    model.precisions_cholesky_ = np.sqrt(model.precisions_)
    return model


def test_the_density_is_the_printed_one(mixture):
    X = np.array(list(DENSITY), dtype=float)[:, None]
    np.testing.assert_allclose(np.exp(mixture.score_samples(X)), list(DENSITY.values()), rtol=1e-12)


def test_responsibilities_are_the_printed_ones(mixture):
    X = np.array(list(RESPONSIBILITY), dtype=float)[:, None]
    resp = mixture.predict_proba(X)
    np.testing.assert_allclose(resp[:, 0], list(RESPONSIBILITY.values()), rtol=1e-11)
    np.testing.assert_allclose(resp.sum(axis=1), 1, rtol=1e-15)


def test_components_that_swap_names_are_the_same_density(mixture):
    X = np.linspace(-20, 20, 41)[:, None]
    before, resp = mixture.score_samples(X), mixture.predict_proba(X)
    mixture.means_ = mixture.means_[::-1].copy()
    np.testing.assert_allclose(mixture.score_samples(X), before, rtol=1e-14)
    np.testing.assert_allclose(mixture.predict_proba(X), resp[:, ::-1], rtol=1e-12)
