"""Mixtures on files and Dask collections: the fit and the answers are those of rows in memory.

Covers coterie.mixture._judge.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import (
    BayesianGaussianMixture,
    BernoulliMixture,
    GaussianMixture,
    PoissonMixture,
    StudentTMixture,
)
from coterie.data import open as open_rows

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ASKED = ("predict", "predict_proba", "score_samples")
N_ROWS = 301


def clouds(dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((N_ROWS, 3)) + 5.0 * rng.integers(0, 3, (N_ROWS, 1))).astype(dtype)


def counts() -> Any:
    rng = np.random.default_rng(1)
    return rng.poisson(rng.uniform(1, 20, (3, 3))[rng.integers(0, 3, N_ROWS)]).astype(np.float64)


def bits() -> Any:
    return (counts() > 8).astype(np.float64)


def holed() -> Any:
    X = clouds()
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    return X


#: Starts are those that are the same wherever the rows are.
START = {"init_params": "random_from_data", "random_state": 0, "max_iter": 8}
NUMERIC: dict[str, tuple[Any, Any]] = {
    "Gaussian": (GaussianMixture(3, **START), clouds),
    "Gaussian noise": (GaussianMixture(3, noise=True, **START), clouds),
    "Gaussian holed": (GaussianMixture(3, **START), holed),
    "Bayesian": (BayesianGaussianMixture(3, **START), clouds),
    "Student": (StudentTMixture(3, **START), clouds),
    "Poisson": (PoissonMixture(3, **START), counts),
    "Bernoulli": (BernoulliMixture(3, **START), bits),
}


def stored(rows: Any, path: Path) -> Path:
    table = pa.table(dict(zip("abc", rows.T, strict=True)))
    pq.write_table(table, path, row_group_size=97)
    return path


def read_back(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    readers = {
        ".parquet": pq.read_table, ".csv": csv.read_csv, ".arrow": feather.read_table,
    }  # fmt: skip
    table = readers[path.suffix](path)
    columns = [column.to_numpy() for column in table.columns]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".csv", ".arrow"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_written_results_are_those_in_memory(suffix: str, dtype: Any, tmp_path: Path) -> None:
    X = clouds(dtype)
    model = GaussianMixture(3, noise=True, **START).fit(X)
    source = open_rows(stored(X, tmp_path / "rows.parquet"))
    source.block_bytes = 12 * 77  # type: ignore[attr-defined]
    (tmp_path / "out").mkdir()
    for ask in ASKED:
        out = tmp_path / "out" / f"{ask}{suffix}"
        for rows in (source, X):
            assert getattr(model, ask)(rows, out=str(out)) == out
            found, wanted = read_back(out), getattr(model, ask)(X)
            if suffix != ".csv":  # which writes numbers, not types
                types = {"predict": np.int64, "predict_proba": dtype, "score_samples": np.float64}
                assert found.dtype == types[ask]
            np.testing.assert_array_equal(found.astype(wanted.dtype), wanted)
    assert len(list((tmp_path / "out").iterdir())) == len(ASKED)


def test_columns_have_names(tmp_path: Path) -> None:
    model = GaussianMixture(2, **START).fit(clouds())
    titles = {
        "predict": '"label"',
        "predict_proba": '"component_0","component_1"',
        "score_samples": '"log_density"',
    }
    for ask, title in titles.items():
        out = getattr(model, ask)(clouds(), out=tmp_path / "out.csv")
        assert out.read_text().splitlines()[0] == title


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".csv"])
@pytest.mark.parametrize("ask", ASKED)
def test_nothing_is_left_where_a_row_is_refused(ask: str, suffix: str, tmp_path: Path) -> None:
    X = clouds()
    model = StudentTMixture(2, **START).fit(X)
    X[250, 1] = np.nan
    source = open_rows(stored(X, tmp_path / "rows.parquet"))
    source.block_bytes = 24 * 77  # type: ignore[attr-defined]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f"kept{suffix}").write_text("as it was")
    for name in ("kept", "new"):
        with pytest.raises(ValueError, match=r"NaN in column 1 \(row 250\)"):
            getattr(model, ask)(source, out=tmp_path / "out" / f"{name}{suffix}")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [f"kept{suffix}"]
    assert (tmp_path / "out" / f"kept{suffix}").read_text() == "as it was"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NUMERIC)
def test_answers_for_dask_are_lazy_and_those_in_memory(name: str, dtype: Any) -> None:
    mixture, rows = NUMERIC[name]
    X = rows().astype(dtype)
    model = mixture.fit(X)
    lazy = da.from_array(X, chunks=((100, 1, 150, 50), (3,)))
    for ask in ASKED:
        found, wanted = getattr(model, ask)(lazy), getattr(model, ask)(X)
        assert isinstance(found, da.Array), ask
        assert found.shape == wanted.shape
        assert found.dtype == (np.float64 if ask == "score_samples" else wanted.dtype)
        computed = found.compute()
        assert computed.dtype == found.dtype
        tolerance = 1e-9 if wanted.dtype == np.float64 else 1e-6
        np.testing.assert_allclose(computed, wanted, rtol=tolerance, atol=1e-12)


def test_answers_for_dask_can_be_written(tmp_path: Path) -> None:
    X = clouds()
    model = GaussianMixture(3, **START).fit(X)
    lazy = da.from_array(X, chunks=(100, 3))
    for ask in ASKED:
        out = getattr(model, ask)(lazy, out=tmp_path / "out.parquet")
        np.testing.assert_allclose(read_back(out), getattr(model, ask)(X), rtol=1e-12)
