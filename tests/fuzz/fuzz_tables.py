"""Tables of rows as users, files and other programs bring them, drawn from a generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

Draw = np.random.Generator


def _wild(rng: Draw, n: int, d: int) -> Any:
    """Magnitudes from the least to the largest double."""
    return rng.choice([-1, 1], (n, d)) * 10.0 ** rng.uniform(-320, 308, (n, d))


VALUES: dict[str, Callable[[Draw, int, int], Any]] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "blobs": lambda rng, n, d: rng.normal(size=(n, d)) + 9 * rng.integers(3, size=(n, 1)),
    "integers": lambda rng, n, d: rng.integers(-3, 4, (n, d)).astype(float),
    "bits": lambda rng, n, d: rng.integers(0, 2, (n, d)).astype(float),
    "counts": lambda rng, n, d: rng.poisson(3.0, (n, d)).astype(float),
    "decimals": lambda rng, n, d: np.round(rng.normal(size=(n, d)), 1),
    "constant": lambda rng, n, d: np.full((n, d), rng.normal()),
    "constant columns": lambda rng, n, d: rng.normal(size=(n, d)) * rng.integers(0, 2, d),
    "two rows": lambda rng, n, d: rng.normal(size=(2, d))[rng.integers(0, 2, n)],
    "zeros": lambda rng, n, d: rng.choice([0.0, -0.0], (n, d)),
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** -rng.integers(20, 320),
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(20, 307),
    "largest": lambda rng, n, d: rng.choice([-1.7e308, 0, 1.7e308], (n, d)),
    "offset": lambda rng, n, d: rng.normal(size=(n, d)) + 10.0 ** rng.integers(3, 16),
    "outlier": lambda rng, n, d: np.vstack([rng.normal(size=(n - 1, d)), np.full((1, d), 1e12)]),
    "wild": _wild,
    "cauchy": lambda rng, n, d: rng.standard_cauchy((n, d)) ** 3,
}

DTYPES = ["float64"] * 4 + ["float32"] * 3 + ["float16", "int64", "int8", "uint8", "bool", "object"]


def _strided(X: Any) -> Any:
    return np.repeat(X, 2, axis=0)[::2]


def _read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def _names(X: Any) -> list[str]:
    return [f"c{j}" for j in range(X.shape[1])]


DENSE: dict[str, Callable[[Any], Any]] = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: X[::-1],
    "read-only": _read_only,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=_names(X)),
    "polars": lambda X: pl.DataFrame({name: X[:, j] for j, name in enumerate(_names(X))}),
    "masked": lambda X: np.ma.MaskedArray(X, np.zeros(X.shape, dtype=bool)),
    "with a mask": lambda X: np.ma.MaskedArray(X, np.arange(X.size).reshape(X.shape) % 7 == 3),
}

SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
}


def pick(rng: Draw, choices: Any) -> Any:
    """One of these; not turned into a NumPy scalar."""
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def draw_array(rng: Draw) -> tuple[Any, str]:
    """A plain array of rows and the words for it."""
    n = int(pick(rng, [1, 2, 3, 4, 6, 9, 20, 60, 150]))
    d = int(pick(rng, [1, 1, 2, 2, 3, 5, 9]))
    kind, dtype = pick(rng, VALUES), pick(rng, DTYPES)
    X = VALUES[kind](rng, n, d)
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]  # copies
    told = f"{n} x {d} {kind}"
    if rng.random() < 0.08:
        bad = pick(rng, [np.nan, np.inf, -np.inf])
        X[rng.integers(n), rng.integers(d)] = bad
        told += f" with {bad}"
    if np.issubdtype(np.dtype(dtype), np.integer) or dtype == "bool":
        X = np.clip(np.nan_to_num(X), -100, 100)
    with np.errstate(all="ignore"):
        return X.astype(dtype), f"{told}, {dtype}"


def draw_table(rng: Draw, *, sparse: bool = True) -> tuple[Any, str]:
    """Rows in some container and the words for them."""
    X, told = draw_array(rng)
    if sparse and rng.random() < 0.2 and X.dtype.kind == "f" and X.itemsize >= 4:
        form = pick(rng, SPARSE)
        return SPARSE[form](X), f"{told}, {form}"
    form = pick(rng, ["array"] * 4 + list(DENSE))
    return DENSE[form](X), f"{told}, {form}"


def draw_weights(rng: Draw, n: int) -> tuple[Any, str]:
    """Weights of rows, or none."""
    kinds = {
        "ones": np.ones(n),
        "some zero": rng.integers(0, 3, n).astype(float),
        "uneven": 10.0 ** rng.uniform(-12, 12, n),
        "huge": np.full(n, 1e308),
        "negative": -np.ones(n),
        "NaN": np.full(n, np.nan),
        "too few": np.ones(max(0, n - 1)),
    }
    if rng.random() < 0.6:
        return None, "no weights"
    kind = pick(rng, ["ones", "some zero", "uneven", "some zero", *kinds])
    return kinds[kind], f"weights {kind}"


def hostile_csr(rng: Draw, n: int, d: int) -> tuple[Any, str]:
    """A CSR matrix whose arrays were changed behind its back."""
    M = sp.random(n, d, density=0.6, format="csr", random_state=int(rng.integers(1 << 30)))
    M.data = M.data.astype(pick(rng, ["float64", "float32", "int64"]))
    if M.nnz == 0:
        return M, "empty csr"
    place = int(rng.integers(M.nnz))
    row = int(rng.integers(n + 1))
    how = pick(rng, ["index", "negative index", "indptr", "indptr falls", "data short", "data NaN",
                     "float indices", "indptr long", "last indptr"])  # fmt: skip
    if how == "index":
        M.indices[place] = int(pick(rng, [d, 10**8, 2**31 - 1]))
    elif how == "negative index":
        M.indices[place] = -int(pick(rng, [1, 2**31]))
    elif how == "indptr":
        M.indptr[row] = int(pick(rng, [10**8, -1, 2**31 - 1]))
    elif how == "indptr falls":
        M.indptr[:] = M.indptr[::-1].copy()
    elif how == "data short":
        M.data = M.data[: place // 2]
    elif how == "data NaN":
        M.data = M.data.astype(float)
        M.data[place] = pick(rng, [np.nan, np.inf, -1.0])
    elif how == "float indices":
        M.indices = M.indices.astype(float)
    elif how == "indptr long":
        M.indptr = np.append(M.indptr, M.indptr[-1])
    else:
        M.indptr[-1] = M.nnz + 1000
    return M, f"csr {n} x {d} {M.data.dtype}, {how}"
