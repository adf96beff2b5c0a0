"""The passes of linear mixtures in every build: dense and compressed rows against a naive twin.

Covers coterie.mixture._bits and coterie.mixture._linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mixture_twins as twins
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

FLOATS = [np.float32, np.float64]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
}


@dataclass
class Mixture:
    """A random mixture of Bernoulli-like components and rows of small counts."""

    X: Any
    weights: Any
    offsets: Any
    slopes: Any

    @classmethod
    def some(cls, n: int, d: int, k: int, dtype: Any, rng: Any, steep: float = 2) -> Mixture:
        X = rng.poisson(0.5, size=(n, d)).astype(dtype)
        offsets = np.log(rng.dirichlet(np.ones(k))) - rng.uniform(0, d, size=k)
        return cls(X, None, offsets, rng.normal(scale=steep, size=(k, d)))


@dataclass
class Pass:
    """Everything one pass can give."""

    row_log_prob: Any
    resp: Any
    labels: Any
    counts: Any
    first: Any
    totals: tuple[float, float]

    def arrays(self) -> list[Any]:
        return [self.row_log_prob, self.resp, self.labels, self.counts, self.first, self.totals]


def run(kernels: Any, mixture: Mixture, n_threads: int = 2, index: Any = None) -> Pass:
    """Ask a pass for everything, of dense rows, compressed ones with indices of a type, or bits."""
    n, (k, d) = len(mixture.X), mixture.slopes.shape
    outputs = [np.full(shape, np.nan) for shape in (n, (n, k), k, (k, d))]
    row_log_prob, resp, counts, first = outputs
    labels = np.full(n, -9, dtype=np.int32)
    model = (mixture.weights, mixture.offsets, mixture.slopes)
    wanted = (row_log_prob, resp, labels, counts, first, n_threads)
    if index is None:
        totals = kernels.linear_pass(mixture.X, *model, *wanted)
    elif index == "bits":
        bits = np.full((n, -(-d // 8)), 255, dtype=np.uint8)
        assert kernels.pack_bits(mixture.X, bits, n_threads) == -1
        totals = kernels.linear_pass_bits(bits, d, *model, *wanted)
    else:
        csr = sp.csr_array(mixture.X)
        csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
        totals = kernels.linear_pass(csr, *model, *wanted)
    return Pass(row_log_prob, resp, labels, counts, first, totals)


def assert_like_the_twin(got: Pass, mixture: Mixture) -> None:
    weights = np.ones(len(mixture.X)) if mixture.weights is None else mixture.weights
    log_probs = twins.linear_log_probs(mixture.X, mixture.offsets, mixture.slopes)
    expected = twins.posterior(log_probs, weights)
    blur = 1e-14 * (1 + np.abs(mixture.X).sum(axis=1).max() * np.abs(mixture.slopes).max())
    np.testing.assert_allclose(got.row_log_prob, expected.row_log_prob, rtol=1e-13, atol=blur)
    np.testing.assert_allclose(got.resp, expected.resp, rtol=0, atol=blur)
    behind = log_probs.max(axis=1) - log_probs[np.arange(len(log_probs)), got.labels]
    assert np.all(behind <= 2 * blur)
    total = weights.sum()
    np.testing.assert_allclose(got.totals[0], expected.log_lik, rtol=1e-12, atol=total * blur)
    np.testing.assert_allclose(
        got.totals[1], expected.neg_entropy, rtol=1e-10, atol=total * blur * 10
    )
    mass = weights[:, np.newaxis] * got.resp
    np.testing.assert_allclose(got.counts, mass.sum(axis=0), rtol=1e-12, atol=1e-18 * total)
    np.testing.assert_allclose(
        got.first, mass.T @ mixture.X.astype(np.float64), rtol=1e-12, atol=1e-16 * total
    )


@st.composite
def mixtures(draw: Any) -> Mixture:
    n, d, k = draw(st.integers(1, 500)), draw(st.integers(1, 70)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    steep = draw(st.sampled_from([0.01, 2, 700]))
    mixture = Mixture.some(n, d, k, draw(st.sampled_from(FLOATS)), rng, steep)
    mixture.X = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](mixture.X)
    if draw(st.booleans()):
        mixture.weights = rng.integers(0, 4, size=n) / 4
    if draw(st.booleans()):
        dead = rng.random(k) < 0.3
        dead[rng.integers(k)] = False
        mixture.offsets[dead] = -np.inf
    return mixture


@pytest.mark.parametrize("index", [None, np.int32, np.int64, "bits"])
@given(mixture=mixtures())
def test_a_pass_is_what_the_twin_says(isa_kernels: Any, index: Any, mixture: Mixture) -> None:
    if index == "bits":
        mixture.X = np.minimum(mixture.X, 1)
    assert_like_the_twin(run(isa_kernels, mixture, index=index), mixture)


@pytest.mark.parametrize("index", [None, np.int32, "bits"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("d", "k"), [(3, 200), (784, 10), (3000, 3)])
def test_many_columns_or_components(
    isa_kernels: Any, d: int, k: int, dtype: Any, index: Any
) -> None:
    mixture = Mixture.some(1500, d, k, dtype, np.random.default_rng(0), steep=0.1)
    if index == "bits":
        mixture.X = np.minimum(mixture.X, 1)
    assert_like_the_twin(run(isa_kernels, mixture, index=index), mixture)


@pytest.mark.parametrize("index", [None, np.int64, "bits"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_same_bits_for_any_number_of_threads(isa_kernels: Any, dtype: Any, index: Any) -> None:
    mixture = Mixture.some(20_000, 30, 6, dtype, np.random.default_rng(0), steep=0.3)
    mixture.X = np.minimum(mixture.X, 1)
    mixture.weights = np.random.default_rng(1).uniform(size=20_000)
    one = run(isa_kernels, mixture, 1, index)
    for n_threads in (2, 3, 4):
        again = run(isa_kernels, mixture, n_threads, index)
        for expected, got in zip(one.arrays(), again.arrays(), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_what_is_not_asked_for_changes_nothing(isa_kernels: Any) -> None:
    mixture = Mixture.some(500, 6, 4, np.float64, np.random.default_rng(0))
    model = (mixture.X, None, mixture.offsets, mixture.slopes)
    nothing = isa_kernels.linear_pass(*model, None, None, None, None, None, 2)
    assert nothing == run(isa_kernels, mixture).totals


def test_shapes_are_checked(isa_kernels: Any) -> None:
    mixture = Mixture.some(5, 2, 3, np.float64, np.random.default_rng(0))
    slopes, mixture.slopes = mixture.slopes, np.ones((3, 3))
    with pytest.raises(ValueError, match="slopes must have the columns"):
        run(isa_kernels, mixture)
    mixture.slopes, mixture.offsets = slopes, np.full(3, -np.inf)
    with pytest.raises(ValueError, match="all -inf"):
        run(isa_kernels, mixture)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [1, 7, 8, 9, 64, 131])
def test_bits_are_those_of_numpy(isa_kernels: Any, d: int, dtype: Any, layout: str) -> None:
    X = np.random.default_rng(0).integers(0, 2, (700, d))
    bits = np.full((700, -(-d // 8)), 255, dtype=np.uint8)
    rows = LAYOUTS[layout](X.astype(dtype))
    assert isa_kernels.pack_bits(rows, bits, 2) == -1
    np.testing.assert_array_equal(bits, np.packbits(X.astype(bool), axis=1, bitorder="little"))


@pytest.mark.parametrize("odd", [0.5, -1, 2, 1e-300, np.nan, np.inf])
def test_the_first_row_of_anything_but_bits(isa_kernels: Any, odd: float) -> None:
    X = np.ones((50_000, 11))
    bits = np.empty((50_000, 2), dtype=np.uint8)
    X[[41_234, 49_000], 10] = odd
    X[45_000, 3] = odd
    assert isa_kernels.pack_bits(X, bits, 2) == 41_234
