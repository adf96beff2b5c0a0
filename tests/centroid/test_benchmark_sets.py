"""Well-known data sets, where they are at hand: the best known SSE is reached."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import KMeans

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (DATA / "peer_reference.json").exists(), reason="the benchmark sets are not here"
)


def reference(name: str) -> Any:
    known = json.loads((DATA / "peer_reference.json").read_text())["best_known"]
    return known[f"sipu/{name}"]["kmeans_raw"]


@pytest.mark.parametrize("name", ["s1", "a1", "unbalance"])
@pytest.mark.parametrize("seed", range(5))
def test_twenty_restarts_reach_the_best_known_sse(name: str, seed: int) -> None:
    X = np.loadtxt(DATA / "benchmarks" / "sipu" / f"{name}.data.gz")
    known = reference(name)
    model = KMeans(known["k"], n_init=20, random_state=seed).fit(X)
    assert model.inertia_ == pytest.approx(known["best_sse"], rel=1e-6)
