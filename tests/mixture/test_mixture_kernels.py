"""The mixture passes in every build: against naive twins, for all shapes, layouts and types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mixture_twins as twins
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

FLOATS = [np.float32, np.float64]
KINDS = ["full", "tied", "diag"]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
}


@dataclass
class Mixture:
    """A random mixture of Gaussians and rows drawn about its means."""

    X: Any
    weights: Any
    log_weights: Any
    means: Any
    factors: Any
    log_norms: Any
    background: float

    @classmethod
    def some(cls, n: int, d: int, k: int, kind: str, dtype: Any, rng: Any) -> Mixture:
        means = rng.normal(scale=3, size=(k, d))
        n_factors = 1 if kind == "tied" else k
        factors = np.triu(rng.normal(size=(n_factors, d, d))) / np.sqrt(d)
        diagonal = rng.uniform(0.5, 2, size=(n_factors, d))
        factors[:, range(d), range(d)] = diagonal
        X = (means[rng.integers(k, size=n)] + rng.normal(size=(n, d))).astype(dtype)
        log_norms = np.broadcast_to(np.log(diagonal).sum(axis=1) - d / 2 * np.log(2 * np.pi), k)
        log_weights = np.log(rng.dirichlet(np.ones(k)))
        if kind == "diag":
            factors = diagonal
        return cls(X, None, log_weights, means, factors, log_norms.copy(), -np.inf)

    @property
    def model(self) -> tuple[Any, ...]:
        return self.log_weights, self.means, self.factors, self.log_norms, self.background


@dataclass
class Pass:
    """Everything one pass can give."""

    row_log_prob: Any
    resp: Any
    labels: Any
    counts: Any
    first: Any
    second: Any
    totals: tuple[float, float]

    def arrays(self) -> list[npt.NDArray[Any]]:
        some = [self.row_log_prob, self.resp, self.labels, self.counts, self.first, self.second]
        return [*(a for a in some if a is not None), np.array(self.totals)]


def run(kernels: Any, mixture: Mixture, n_threads: int = 2) -> Pass:
    """Ask a pass for everything; what it writes to starts as poison."""
    n, (k, d) = len(mixture.X), mixture.means.shape
    seconds = {3: (k, d, d), 2: (k, d)}[mixture.factors.ndim]
    wanted = [np.full(shape, np.nan) for shape in (n, (n, k), k + 1, (k, d), seconds)]
    row_log_prob, resp, counts, first, second = wanted
    labels = np.full(n, -9, dtype=np.int32)
    if k > 1 and mixture.factors.ndim == 3 and len(mixture.factors) == 1:
        second = None
    totals = kernels.gaussian_pass(
        mixture.X, mixture.weights, *mixture.model,
        row_log_prob, resp, labels, counts, first, second, n_threads,
    )  # fmt: skip
    return Pass(row_log_prob, resp, labels, counts, first, second, totals)


def assert_like_the_twin(got: Pass, mixture: Mixture) -> None:
    """Compare with the definitions, as closely as the type of the rows allows."""
    n, k = got.resp.shape
    single = mixture.X.dtype == np.float32
    log_probs = twins.gaussian_log_probs(mixture.X, *mixture.model)
    expected = twins.posterior(log_probs, mixture.weights)
    weights = np.ones(n) if mixture.weights is None else mixture.weights
    # A relative error of the scores is an absolute one of their exponentials.
    rtol = 3e-6 if single else 1e-13
    heights = mixture.log_weights + mixture.log_norms
    coarse = np.minimum(np.abs(expected.row_log_prob), 1e4 if single else np.inf)
    blur = rtol * (1 + coarse + np.abs(heights[np.isfinite(heights)]).max())
    blur += 1e-14 * np.abs(expected.row_log_prob)  # the twin rounds, too
    off = np.abs(got.row_log_prob - expected.row_log_prob)
    assert np.all(off <= blur + rtol * np.abs(expected.row_log_prob))
    assert np.all(np.abs(got.resp - expected.resp[:, :k]).max(axis=1) <= blur)
    labels = np.where(got.labels < 0, k, got.labels)
    behind = log_probs.max(axis=1) - log_probs[np.arange(n), labels]
    assert np.all(behind <= 2 * blur)
    total = weights.sum()
    lik_slack = weights @ (blur + rtol * np.abs(expected.row_log_prob))
    assert abs(got.totals[0] - expected.log_lik) <= lik_slack + 1e-300
    entropy_slack = weights @ np.minimum(5 * blur * np.log(k + 2), np.log(k + 1))
    assert abs(got.totals[1] - expected.neg_entropy) <= entropy_slack + 1e-300
    # The statistics are held to the responsibilities that the pass itself reported.
    mass = weights[:, np.newaxis] * np.column_stack([got.resp, 1 - got.resp.sum(axis=1)])
    counts, first, second = twins.moments(mixture.X, mass, mixture.means)
    atol = (1e-6 if single else 1e-13) * max(total, 1e-300)
    np.testing.assert_allclose(got.counts, counts, rtol=rtol, atol=atol)
    spread = np.abs(mixture.X.astype(np.float64)[:, np.newaxis] - mixture.means)  # n, k, d
    moved = np.einsum("nk,nkd->kd", mass[:, :k], spread)
    assert np.all(np.abs(got.first - first) <= 2 * rtol * moved + 1e-19 * total * spread.max())
    if got.second is not None:
        products = np.einsum("nk,nka,nkb->kab", mass[:, :k], spread, spread)
        if got.second.ndim == 2:
            products, second = (np.einsum("kaa->ka", a) for a in (products, second))
        slack = 1e-19 * total * spread.max() ** 2
        assert np.all(np.abs(got.second - second) <= 2 * rtol * products + slack)


@st.composite
def mixtures(draw: Any) -> Mixture:
    """Rows and mixtures of every shape, with what makes them awkward."""
    n, d, k = draw(st.integers(1, 500)), draw(st.integers(1, 40)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype, kind = draw(st.sampled_from(FLOATS)), draw(st.sampled_from(KINDS))
    mixture = Mixture.some(n, d, k, kind, dtype, rng)
    mixture.X = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](mixture.X)
    if draw(st.booleans()):
        mixture.weights = rng.integers(0, 4, size=n) * draw(st.sampled_from([0.25, 1e-60, 1e60]))
    if draw(st.booleans()):
        dead = rng.random(k) < 0.3
        dead[rng.integers(k)] = False
        mixture.log_weights[dead] = -np.inf
    if draw(st.booleans()):
        mixture.background = float(rng.normal(-2 * d, 3))
    if draw(st.booleans()):
        far = rng.random(n) < 0.2
        mixture.X[far] *= dtype(draw(st.sampled_from([1e3, 1e8, 1e20])))
    return mixture


@given(mixture=mixtures())
def test_a_pass_is_what_the_twin_says(isa_kernels: Any, mixture: Mixture) -> None:
    assert_like_the_twin(run(isa_kernels, mixture), mixture)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 16, 17, 33])
def test_many_rows(isa_kernels: Any, d: int, kind: str, dtype: Any) -> None:
    mixture = Mixture.some(5000, d, 5, kind, dtype, np.random.default_rng(d))
    assert_like_the_twin(run(isa_kernels, mixture), mixture)


@pytest.mark.parametrize("d", [1, 4, 5])
def test_the_last_row_of_a_tile_may_lie_beyond_float32(isa_kernels: Any, d: int) -> None:
    mixture = Mixture.some(3, d, 1, KINDS[0], np.float32, np.random.default_rng(d))
    mixture.X[-1] = 2e20
    got = run(isa_kernels, mixture)
    assert got.counts.tolist() == [3, 0]
    assert_like_the_twin(got, mixture)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_for_any_number_of_threads(isa_kernels: Any, kind: str, dtype: Any) -> None:
    mixture = Mixture.some(20_000, 7, 6, kind, dtype, np.random.default_rng(0))
    mixture.weights = np.random.default_rng(1).uniform(size=20_000)
    mixture.X[::50] *= dtype(1e6)
    one = run(isa_kernels, mixture, 1)
    for n_threads in (2, 3, 4):
        for expected, got in zip(
            one.arrays(), run(isa_kernels, mixture, n_threads).arrays(), strict=True
        ):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
def test_offsets_lose_nothing_beyond_the_rows_own_rounding(
    isa_kernels: Any, kind: str, dtype: Any
) -> None:
    mixture = Mixture.some(300, 3, 4, kind, dtype, np.random.default_rng(0))
    mixture.X = (mixture.X.astype(np.float64) + 1e5).astype(dtype)
    mixture.means += 1e5
    assert_like_the_twin(run(isa_kernels, mixture), mixture)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e17, 1e30])
def test_tiny_and_huge_units(isa_kernels: Any, kind: str, dtype: Any, scale: float) -> None:
    mixture = Mixture.some(300, 3, 4, kind, np.float64, np.random.default_rng(0))
    mixture.X = (mixture.X * scale).astype(dtype)
    mixture.means *= scale
    mixture.factors /= scale
    mixture.log_norms -= 3 * np.log(scale)
    assert_like_the_twin(run(isa_kernels, mixture), mixture)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_far_from_everything_still_belong_somewhere(
    isa_kernels: Any, kind: str, dtype: Any
) -> None:
    mixture = Mixture.some(40, 3, 4, kind, dtype, np.random.default_rng(0))
    mixture.X *= dtype(1e8)
    got = run(isa_kernels, mixture)
    np.testing.assert_allclose(got.resp.sum(axis=1), 1, rtol=1e-12)
    assert np.all(got.row_log_prob < -1e12)
    np.testing.assert_array_equal(got.labels, got.resp.argmax(axis=1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_that_the_background_explains_best_are_labelled_noise(
    isa_kernels: Any, dtype: Any
) -> None:
    mixture = Mixture.some(200, 2, 3, "full", dtype, np.random.default_rng(0))
    mixture.background = -15.0
    mixture.X[:50] += dtype(1e3)
    got = run(isa_kernels, mixture)
    assert np.all(got.labels[:50] == -1)
    assert got.counts[-1] >= 50
    np.testing.assert_allclose(got.row_log_prob[:50], -15, rtol=1e-6)


def test_ties_go_to_the_lower_component(isa_kernels: Any) -> None:
    mixture = Mixture.some(20, 3, 4, "tied", np.float64, np.random.default_rng(0))
    mixture.means[:] = mixture.means[0]
    mixture.log_weights[:] = np.log([0.1, 0.4, 0.4, 0.1])
    assert np.all(run(isa_kernels, mixture).labels == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_asked_for_changes_nothing(isa_kernels: Any, kind: str) -> None:
    mixture = Mixture.some(500, 6, 4, kind, np.float64, np.random.default_rng(0))
    nothing = isa_kernels.gaussian_pass(mixture.X, None, *mixture.model, *[None] * 6, 2)
    assert nothing == run(isa_kernels, mixture).totals


def test_shapes_are_checked(isa_kernels: Any) -> None:
    mixture = Mixture.some(5, 2, 3, "full", np.float64, np.random.default_rng(0))
    mixture.factors = np.ones((2, 2, 2))
    with pytest.raises(ValueError, match="factors must have the shape"):
        run(isa_kernels, mixture)
    mixture = Mixture.some(5, 2, 3, "full", np.float64, np.random.default_rng(0))
    mixture.log_weights[:] = -np.inf
    with pytest.raises(ValueError, match="all -inf"):
        run(isa_kernels, mixture)
    mixture.log_weights[:] = 0
    with pytest.raises(ValueError, match="given together"):
        isa_kernels.gaussian_pass(
            mixture.X, None, *mixture.model, None, None, None, None, None, np.ones((3, 2)), 1
        )
