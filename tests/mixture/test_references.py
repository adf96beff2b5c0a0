"""Published fits: mclust's optima and the textbook's trace on Old Faithful."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from coterie import GaussianMixture

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
FAITHFUL = np.loadtxt(ROOT / "examples" / "data" / "faithful.csv", delimiter=",", skiprows=1)
IRIS = load_iris().data


def best_of_restarts(X: np.ndarray, covariance_type: str, k: int, **settings: Any) -> Any:
    settings = {
        "n_init": 20, "init_params": "k-means++", "tol": 1e-9, "max_iter": 2000, **settings,
    }  # fmt: skip
    return GaussianMixture(
        k, covariance_type=covariance_type, reg_covar=0, random_state=0, **settings
    ).fit(X)


@pytest.mark.parametrize(
    ("X", "covariance_type", "k", "log_lik"),
    [
        (FAITHFUL, "tied", 3, -1126.31592783),
        (FAITHFUL, "full", 2, -1130.26396018),
        (FAITHFUL, "tied", 2, -1140.18675944),
        (FAITHFUL[:, 1:], "tied", 2, -1034.00176036),
        (IRIS, "full", 3, -180.18547713),
    ],
)
def test_converged_log_likelihoods_of_mclust(
    X: np.ndarray, covariance_type: str, k: int, log_lik: float
) -> None:
    model = best_of_restarts(X, covariance_type, k)
    assert model.score(X) * len(X) == pytest.approx(log_lik, abs=1e-5)


@pytest.mark.parametrize(
    ("X", "bics"),
    [
        (
            FAITHFUL,
            {
                "full": [2607.62250044, 2322.19195930],
                "tied": [2607.62250044, 2325.21993718, 2314.31629567],
                "diag": [3055.83486150, 2346.06492395],
                "spherical": [4024.72147937, 3458.30498589],
            },
        ),
        (
            IRIS,
            {
                "full": [829.97815436, 574.01783227, 580.83963043],
                "tied": [829.97815436, 688.09722013, 632.96473232],
                "diag": [1522.12015272, 857.55149387],
                "spherical": [1804.08543789, 1012.23517977, 853.81440721],
            },
        ),
    ],
    ids=["faithful", "iris"],
)
def test_bic_of_mclust_by_number_of_components(X: np.ndarray, bics: dict[str, Any]) -> None:
    # mclust stops earlier (at a relative change of 1e-5) and takes BIC with the other sign.
    for covariance_type, by_number in bics.items():
        for k, bic in enumerate(by_number, start=1):
            model = best_of_restarts(X, covariance_type, k)
            assert bic - 0.2 < model.bic(X) <= bic + 1e-6


def test_icl_of_mclust() -> None:
    # At its own parameters: it stops early, and near the optimum ICL changes more than BIC does.
    covariance = np.array([[0.0782544809913468, 0.480197853467184],
                           [0.480197853467184, 33.7671463960971]])  # fmt: skip
    model = GaussianMixture(
        3, covariance_type="tied", max_iter=0, precisions_init=np.linalg.inv(covariance),
        weights_init=[0.165678399056441, 0.356369626513308, 0.477951974430251],
        means_init=[[3.79306552923032, 77.5210513323513], [2.03759631461296, 54.491157600822],
                    [4.4632447198396, 80.8334387763232]],
    ).fit(FAITHFUL)  # fmt: skip
    assert model.bic(FAITHFUL) == pytest.approx(2314.31629566578, abs=0.02)
    assert model.icl(FAITHFUL) == pytest.approx(2357.82424895482, abs=0.1)
    proba = model.predict_proba(FAITHFUL)
    own = model.bic(FAITHFUL) - 2 * np.log(proba.max(axis=1)).sum()
    assert model.icl(FAITHFUL) == pytest.approx(own)


#: Log-likelihood before each of the first 20 updates and after them, from the start below.
TRACE = [
    -1018.8455835, -543.88513328, -543.48884445, -543.2823342, -543.14978437, -543.04745104,
    -542.95857718, -542.87632594, -542.79767243, -542.72120304, -542.64626505, -542.57259523,
    -542.50013475, -542.42892624, -542.35905078, -542.29058434, -542.22356248, -542.15794723,
    -542.09359197, -542.03020166, -541.96728495,
]  # fmt: skip


def test_the_textbooks_trace_on_standardised_old_faithful() -> None:
    X = (FAITHFUL - FAITHFUL.mean(axis=0)) / FAITHFUL.std(axis=0)
    start = {
        "weights_init": [0.5, 0.5],
        "means_init": [[-1, 1], [1, -1]],
        "precisions_init": [np.eye(2), np.eye(2)],
        "reg_covar": 0,
        "tol": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(2, **start, max_iter=201).fit(X)
        short = GaussianMixture(2, **start, max_iter=20).fit(X)
    log_liks = [entry["log_likelihood"] for entry in model.history_]
    np.testing.assert_allclose(log_liks[:21], TRACE, rtol=0, atol=1e-6)
    later = {30: -540.81066844, 40: -448.99668245, 45: -400.58100104, 50: -385.46071969}
    for n_updates, log_lik in later.items():
        assert log_liks[n_updates] == pytest.approx(log_lik, abs=1e-6)
    assert log_liks[200] == pytest.approx(-385.46069563, abs=1e-6)
    np.testing.assert_allclose(short.weights_, [0.51047928, 0.48952072], atol=1e-7)
    np.testing.assert_allclose(
        short.means_, [[-0.1715543, 0.08065006], [0.1788993, -0.08410305]], atol=1e-7
    )
    np.testing.assert_allclose(
        short.covariances_,
        [[[0.97492913, 0.94156026], [0.94156026, 1.06346567]],
         [[0.96344836, 0.88779165], [0.88779165, 0.91996084]]],
        atol=1e-7,
    )  # fmt: skip


@pytest.mark.skipif(not SHARED.exists(), reason="needs the reference data beside the repository")
@pytest.mark.parametrize(
    ("name", "columns", "unit", "covariance_type", "k", "key"),
    [
        ("diabetes", (1, 2, 3), 1, "full", 3, "diabetes_VVV_3_STD"),
        ("thyroid", (1, 2, 3, 4, 5), 1, "diag", 3, "thyroid_VVI_3_STD"),
        ("acidity", (0,), 1, "tied", 2, "acidity_E_2"),
    ],
)
def test_other_sets_of_mclust(
    name: str, columns: tuple[int, ...], unit: float, covariance_type: str, k: int, key: str
) -> None:
    path = SHARED / "basics" / f"{name}.csv"
    X = np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns, ndmin=2) / unit
    reference = json.loads((SHARED / "mclust_reference.json").read_text())
    log_lik = reference["fully_converged"]["values"][key]["tight_loglik"]
    model = best_of_restarts(X, covariance_type, k, n_init=10)
    # Restarts may find a better optimum than mclust's one start, never a worse.
    assert model.score(X) * len(X) >= log_lik - 1e-3
