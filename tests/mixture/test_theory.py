"""What docs/theory_em.md says of EM, for every family: the bound, labels, exchange, logarithms."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from coterie import (
    BernoulliMixture,
    CategoricalMixture,
    GaussianMixture,
    KMeans,
    MixedMixture,
    PoissonMixture,
    StudentTMixture,
)
from coterie.mixture import Family, FamilyMixture

N_ROWS, N_COMPONENTS = 90, 3
rng = np.random.default_rng(7)
KIND = np.repeat(range(N_COMPONENTS), N_ROWS // N_COMPONENTS)
NUMBERS = rng.standard_normal((N_ROWS, 3)) @ rng.standard_normal((3, 3)) + 2.0 * KIND[:, np.newaxis]
COUNTS = rng.poisson(np.array([[1, 5, 2.0], [4, 4, 1], [9, 1, 3]])[KIND]).astype(float)
CODES = (rng.integers(0, 4, (N_ROWS, 5)) + KIND[:, np.newaxis]) % 4
BITS = (CODES > 1).astype(float)
HOLES = np.where(rng.uniform(size=NUMBERS.shape) < 0.2, np.nan, NUMBERS)
TABLE = np.column_stack([HOLES, np.array(list("abcd"), dtype=object)[CODES[:, :2]]])
TABLE[rng.uniform(size=TABLE.shape) < 0.1] = None
CODES_WITH_HOLES = np.where(rng.uniform(size=CODES.shape) < 0.2, None, CODES.astype(object))


class Exponential(Family):
    """One distribution that is not among the package's."""

    def log_prob(self, components: Any, rows: Any) -> Any:
        return np.log(components["rates"]).sum(axis=1) - rows @ components["rates"].T

    def summarise(self, components: Any, rows: Any, mass: Any) -> Any:
        return mass.T @ rows

    def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
        return {"rates": counts[:, np.newaxis] / summary}

    def expected_log_prob(self, components: Any, counts: Any, summary: Any, before: Any) -> Any:
        rates = components["rates"]
        return counts * np.log(rates).sum(axis=1) - (rates * summary).sum(axis=1)


def gaussian(**params: Any) -> Callable[..., Any]:
    return lambda **more: GaussianMixture(N_COMPONENTS, reg_covar=0, **params, **more)


def student(**params: Any) -> Callable[..., Any]:
    return lambda **more: StudentTMixture(N_COMPONENTS, reg_covar=0, **params, **more)


def counted(mixture: Any) -> Callable[..., Any]:
    return lambda **more: mixture(N_COMPONENTS, alpha=0, **more)


SHAPES = ("full", "tied", "diag", "spherical")
#: How each family is made, without a prior, and rows it can be fitted to.
CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    **{shape: (gaussian(covariance_type=shape), NUMBERS) for shape in SHAPES},
    **{f"{shape}, holes": (gaussian(covariance_type=shape), HOLES) for shape in SHAPES},
    "full, noise": (gaussian(noise=True), NUMBERS),
    **{f"t {shape}": (student(covariance_type=shape), NUMBERS) for shape in SHAPES},
    "t full, noise": (student(noise=True), NUMBERS),
    "bernoulli": (counted(BernoulliMixture), BITS),
    "poisson": (counted(PoissonMixture), COUNTS),
    "categorical": (counted(CategoricalMixture), CODES),
    "categorical, holes": (counted(CategoricalMixture), CODES_WITH_HOLES),
    "mixed, holes": (counted(MixedMixture), TABLE),
    "one's own": (lambda **more: FamilyMixture(Exponential(), N_COMPONENTS, **more), COUNTS + 0.1),
}
#: Those whose E-step also finds what else is hidden: missing cells, or the scale of a row.
MORE_HIDDEN = [name for name in CASES if name.startswith("t ") or name in
               {f"{shape}, holes" for shape in SHAPES}]  # fmt: skip
every_case = pytest.mark.parametrize("name", CASES)


def fitted(name: str, max_iter: int = 3) -> tuple[Any, Any]:
    """Far from settled, so that nothing holds only at an optimum."""
    make, X = CASES[name]
    return quietly(make(random_state=0, init_params="k-means++", max_iter=max_iter, tol=0), X), X


def quietly(model: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def posterior(model: Any, X: Any) -> Any:
    """Responsibilities that sum to one: of the components and, last, of the background."""
    proba = model.predict_proba(X).astype(float)
    if getattr(model, "noise", False):
        proba = np.column_stack([proba, np.clip(1 - proba.sum(axis=1), 0, None)])
    return proba


def divergence(q: Any, p: Any) -> float:
    """KL(q || p), summed over the rows."""
    return float((q * (np.log(q) - np.log(p))).sum())


@every_case
def test_the_log_likelihood_is_the_bound_and_the_divergence(name: str) -> None:
    model, X = fitted(name)
    log_lik, p = model.score_samples(X).sum(), posterior(model, X)
    n_sides = p.shape[1]
    assert model.free_energy(X) == pytest.approx(-log_lik, rel=1e-12)
    drawn = np.random.default_rng(0)
    for q in (
        np.full((N_ROWS, n_sides), 1 / n_sides),
        drawn.dirichlet(np.ones(n_sides), N_ROWS),
        drawn.dirichlet(np.full(n_sides, 30.0), N_ROWS),
        (p + 1 / n_sides) / 2,
    ):
        bound, gap = -model.free_energy(X, q), divergence(q, p)
        assert gap > 0
        assert bound + gap == pytest.approx(log_lik, rel=1e-9)
    # Hard labels: the gap is what they cost, minus the log of the posterior at each label.
    hard = np.eye(n_sides)[p.argmax(axis=1)]
    gap = -np.log(p.max(axis=1)).sum()
    assert -model.free_energy(X, hard) + gap == pytest.approx(log_lik, rel=1e-9)


@every_case
def test_q_rises_so_the_bound_rises_so_the_likelihood_rises(name: str) -> None:
    model, X = fitted(name)
    before, q = model.score_samples(X).sum(), posterior(model, X)
    model.set_params(warm_start=True, max_iter=1)
    entry = quietly(model, X).history_[0]
    after, p = model.score_samples(X).sum(), posterior(model, X)

    touching, raised = -entry["objective_assign"], -entry["objective_update"]
    entropy = -entry["neg_entropy"]  # of q, which the M-step leaves alone
    assert touching == pytest.approx(before, rel=1e-10)
    assert -entry["energy"] + entropy == pytest.approx(touching, rel=1e-12)  # Q + H
    assert raised - entropy > -entry["energy"]  # Q rises
    assert before < raised < after + 1e-9 * abs(after)  # and what it bounds rises more
    if name in MORE_HIDDEN:
        # `raised` still has what was hidden as the old parameters saw it, one more divergence.
        assert raised < -model.free_energy(X, q) + 1e-9 * abs(after)
    else:
        assert raised == pytest.approx(-model.free_energy(X, q), rel=1e-9)
        assert after - raised == pytest.approx(divergence(q, p), rel=1e-6)


def test_the_bound_is_that_of_densities_written_by_others() -> None:
    """Q and H of SciPy's densities: neither term is made of our own."""
    model, X = fitted("full")
    q = np.random.default_rng(1).dirichlet(np.ones(3), N_ROWS)
    joint = np.log(model.weights_) + np.column_stack(
        [
            stats.multivariate_normal(mean, covariance).logpdf(X)
            for mean, covariance in zip(model.means_, model.covariances_, strict=True)
        ]
    )
    assert -model.free_energy(X, q) == pytest.approx(
        (q * joint).sum() + stats.entropy(q, axis=1).sum(), rel=1e-12
    )
    model, X = fitted("poisson")
    joint = np.log(model.weights_) + stats.poisson(model.rates_).logpmf(X[:, np.newaxis]).sum(
        axis=2
    )
    assert -model.free_energy(X, q) == pytest.approx(
        (q * joint).sum() + stats.entropy(q, axis=1).sum(), rel=1e-12
    )


def as_start(model: Any, order: list[int]) -> dict[str, Any]:
    """The fitted parameters in another order, as a start."""
    start = {"weights_init": model.weights_[order]}
    if hasattr(model, "means_"):
        precisions = model.precisions_
        tied = model.covariance_type == "tied"
        start |= {
            "means_init": model.means_[order],
            "precisions_init": precisions if tied else precisions[order],
        }
    if hasattr(model, "rates_"):
        start["rates_init"] = model.rates_[order]
    if hasattr(model, "probabilities_"):
        tables = model.probabilities_
        start["probabilities_init"] = (
            [own[order] for own in tables] if isinstance(tables, list) else tables[order]
        )
    return start


@pytest.mark.parametrize(
    "name", [*SHAPES, "full, holes", "t full", "bernoulli", "poisson", "categorical"]
)
def test_each_of_the_k_factorial_orders_is_as_good(name: str) -> None:
    model, X = fitted(name)
    if name == "t full":
        model, X = quietly(CASES[name][0](degrees_of_freedom=4.0, max_iter=3), NUMBERS), NUMBERS
    log_lik, proba = model.score_samples(X).sum(), model.predict_proba(X)
    seen = set()
    for order in itertools.permutations(range(N_COMPONENTS)):
        twin = CASES[name][0](max_iter=0, **as_start(model, list(order)))
        if name == "t full":
            twin.set_params(degrees_of_freedom=4.0)
        twin.fit(X)
        assert twin.score_samples(X).sum() == pytest.approx(log_lik, rel=1e-9)
        np.testing.assert_allclose(twin.predict_proba(X), proba[:, order], atol=1e-9)
        seen.add(tuple(twin.weights_))
    assert len(seen) == 6


def test_between_two_of_these_solutions_the_likelihood_is_lower() -> None:
    """So it has k! peaks, and no average of solutions is one."""
    means = np.array([-10.0, 10.0])
    X = np.concatenate([stats.norm(mean, 5).ppf((np.arange(100) + 0.5) / 100) for mean in means])
    X = X[:, np.newaxis]

    def log_lik(centers: Any) -> float:
        model = GaussianMixture(
            2,
            weights_init=[0.5, 0.5],
            means_init=np.reshape(centers, (2, 1)),
            precisions_init=np.full((2, 1, 1), 1 / 25),
            max_iter=0,
        )
        return float(model.fit(X).score_samples(X).sum())

    one, other, middle = log_lik(means), log_lik(means[::-1]), log_lik([0, 0])
    assert one == pytest.approx(other, rel=1e-14)
    assert middle < one - 100


#: p(x) = N(x | -10, 5^2) / 2 + N(x | 10, 5^2) / 2, and who is responsible at x.
DENSITY = {-10: 0.03990761106272, -5: 0.024640257293108, 0: 0.010798193302638}
RESPONSIBILITY = {-10: 0.999664649869534, -5: 0.982013790037908, -1: 0.689974481127612, 0: 0.5}


def test_two_gaussians_in_one_dimension() -> None:
    model = GaussianMixture(
        2,
        weights_init=[0.5, 0.5],
        means_init=[[-10], [10]],
        precisions_init=np.full((2, 1, 1), 1 / 25),
        max_iter=0,
    ).fit([[-1.0], [1.0]])
    for x, density in DENSITY.items():
        for sign in (1.0, -1.0):
            assert np.exp(model.score_samples([[sign * x]])) == pytest.approx(density, rel=1e-12)
    for x, share in RESPONSIBILITY.items():
        assert model.predict_proba([[x]])[0, 0] == pytest.approx(share, rel=1e-12)
        assert model.predict_proba([[-x]])[0, 0] == pytest.approx(1 - share, rel=1e-11)


def from_labels(X: Any, labels: Any, covariance_type: str) -> Any:
    """One M-step given labels, which is a mixture of one for each class, and no step of EM."""
    shares = np.bincount(labels) / len(labels)
    shape = "diag" if covariance_type == "diag" else "full"
    own = [
        GaussianMixture(1, covariance_type=shape, reg_covar=0).fit(X[labels == label])
        for label in range(len(shares))
    ]
    covariances = np.concatenate([model.covariances_ for model in own])
    if covariance_type == "tied":
        covariances = np.einsum("j,jab->ab", shares, covariances)
    return GaussianMixture(
        len(shares),
        covariance_type=covariance_type,
        reg_covar=0,
        weights_init=shares,
        means_init=np.concatenate([model.means_ for model in own]),
        precisions_init=1 / covariances if shape == "diag" else np.linalg.inv(covariances),
        max_iter=0,
    ).fit(X)


def test_with_labels_a_step_of_em_is_quadratic_discriminant_analysis() -> None:
    X, labels = load_iris(return_X_y=True)
    keep = np.arange(150) % 50 < np.array([50, 35, 20])[labels]  # classes of different sizes
    X, labels = X[keep], labels[keep]
    model = from_labels(X, labels, "full")
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, labels)
    for label, size in enumerate(np.bincount(labels)):
        # Some versions of scikit-learn divide by n - 1; maximum likelihood divides by n.
        ours = np.cov(X[labels == label].T, bias=True)
        excess = np.trace(theirs.covariance_[label]) / np.trace(ours)
        assert excess == pytest.approx(1) or excess == pytest.approx(size / (size - 1))
        np.testing.assert_allclose(theirs.covariance_[label], excess * ours, rtol=1e-9)
        theirs.scalings_[label] /= excess
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))

    # With n - 1 the posteriors are others: this is no test of a rounding error.
    for label, size in enumerate(np.bincount(labels)):
        theirs.scalings_[label] *= size / (size - 1)
    assert np.abs(model.predict_proba(X) - theirs.predict_proba(X)).max() > 1e-3


def test_tied_it_is_linear_and_diagonal_it_is_naive_bayes() -> None:
    X, labels = load_iris(return_X_y=True)
    pooled = LinearDiscriminantAnalysis(solver="lsqr").fit(X, labels)
    np.testing.assert_allclose(
        from_labels(X, labels, "tied").predict_proba(X), pooled.predict_proba(X), atol=1e-9
    )
    naive = GaussianNB(var_smoothing=0).fit(X, labels)
    np.testing.assert_allclose(
        from_labels(X, labels, "diag").predict_proba(X), naive.predict_proba(X), atol=1e-9
    )


def test_of_bits_it_is_bernoulli_naive_bayes() -> None:
    X, labels = BITS, KIND
    theirs = BernoulliNB(alpha=1).fit(X, labels)
    own = [BernoulliMixture(1, alpha=1).fit(X[labels == label]) for label in range(3)]
    model = BernoulliMixture(
        3,
        weights_init=np.bincount(labels) / len(labels),
        probabilities_init=np.concatenate([model.probabilities_ for model in own]),
        max_iter=0,
    ).fit(X)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


def test_densities_that_underflow_have_responsibilities() -> None:
    """Three components for which -log(w p(x)) is 1000, 1001 and 1002."""
    beta = np.array([1000.0, 1001, 1002])
    assert np.exp(-beta).sum() == 0
    assert np.exp(-800.0) == 0
    means = np.sqrt(2 * (beta - np.log(3) - 0.5 * np.log(2 * np.pi)))
    model = GaussianMixture(
        3,
        weights_init=np.full(3, 1 / 3),
        means_init=means[:, np.newaxis],
        precisions_init=np.ones((3, 1, 1)),
        max_iter=0,
    ).fit(means[:, np.newaxis])
    assert model.score_samples([[0.0]])[0] == pytest.approx(-999.592394035556, rel=1e-13)
    np.testing.assert_allclose(
        model.predict_proba([[0.0]])[0],
        [0.66524095577479, 0.244728471054786, 0.090030573170376],
        rtol=1e-10,
    )


#: Weights, means and precisions from which EM finds the groups of `mirrored_rows`.
START: dict[str, Any] = {"weights_init": np.full(3, 1 / 3), "precisions_init": np.ones((3, 1, 1))}
MEANS = np.array([[-3.0], [1], [4]])


def mirrored_rows() -> Any:
    """Three groups of mirrored rows, so that the middle one's mean is zero at the optimum."""
    half = np.random.default_rng(0).normal(size=(200, 1))
    return np.vstack([half, -half, half + 4, -half - 4])


def test_relative_changes_do_not_settle_near_zero_and_settle_at_once_far_away() -> None:
    X, changes, bounds = mirrored_rows(), [], []
    for offset in (0.0, 1e6):
        model = GaussianMixture(
            3, means_init=MEANS + offset, reg_covar=0, tol=0, max_iter=60, keep="parameters",
            **START,
        )  # fmt: skip
        quietly(model, X + offset)
        middle = np.array([entry["parameters"][1, 0] for entry in model.history_])
        changes.append(np.abs(np.diff(middle) / middle[:-1]))
        bounds.append(np.diff(model.lower_bounds_))
    assert bounds[0][50] < 1e-12  # nothing left to gain
    np.testing.assert_allclose(changes[0][20:50], 0.4, atol=0.01)  # and the rule sees 40%
    assert changes[1][0] < 1e-6 < 1e-3 < bounds[1][0]  # settled before it began


def test_our_rules_stop_at_the_same_iteration_wherever_the_rows_lie() -> None:
    X, offsets = mirrored_rows(), (0.0, 1e6)
    mixtures = [
        GaussianMixture(
            3, means_init=MEANS + offset, reg_covar=0, tol=1e-6, max_iter=500, **START
        ).fit(X + offset)
        for offset in offsets
    ]
    assert [model.n_iter_ for model in mixtures] == [25, 25]
    runs = [KMeans(3, init=MEANS + offset).fit(X + offset) for offset in offsets]
    assert runs[0].n_iter_ == runs[1].n_iter_ > 2
