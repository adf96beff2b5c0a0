"""What all scores against labels share, and published scores by deterministic methods."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate_twins import LABELLINGS
from hypothesis import given
from hypothesis import strategies as st

from coterie import linkage
from coterie.evaluate import external as ev

SCORES = [name for name in ev.__all__ if name[0].islower() and name not in ("entropy",)]
NUMBERS = [
    name
    for name in SCORES
    if name
    not in ("contingency_matrix", "pair_confusion_matrix", "homogeneity_completeness_v_measure")
]
SYMMETRIC = [
    "mutual_info_score", "normalized_mutual_info_score", "adjusted_mutual_info_score",
    "v_measure_score", "variation_of_information", "rand_score", "adjusted_rand_score",
    "fowlkes_mallows_score", "pair_f_score", "pair_jaccard_score", "matched_accuracy_score",
    "pair_sets_index", "expected_mutual_info",
]  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
@given(labellings=LABELLINGS, numbering=st.permutations(range(7)))
def test_numbering_does_not_matter(name: str, labellings: Any, numbering: Any) -> None:
    true, pred = (np.array(labels) for labels in labellings)
    score, again = getattr(ev, name), np.array(numbering)
    words = np.array(list("gfedcba"))
    expected = score(true, pred)
    assert isinstance(expected, float)
    assert score(true, again[pred + 1]) == pytest.approx(expected, abs=1e-12)
    assert score(words[true + 1], again[pred + 1] - 1000) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(labellings=LABELLINGS)
def test_symmetry(name: str, labellings: Any) -> None:
    score = getattr(ev, name)
    assert score(*labellings) == pytest.approx(score(*labellings[::-1]), abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
@given(labellings=LABELLINGS)
def test_bounds(name: str, labellings: Any) -> None:
    value = getattr(ev, name)(*labellings)
    low, high = 0.0, 1.0
    if name in ("mutual_info_score", "expected_mutual_info"):
        high = min(map(ev.entropy, labellings))
    elif name == "variation_of_information":
        high = np.log(len(labellings[0]))
    elif name.startswith("adjusted"):
        low = -1.0
    elif name == "normalized_clustering_accuracy":
        low = -0.5
    assert low - 1e-12 <= value <= high + 1e-12


@pytest.mark.parametrize("name", NUMBERS)
@given(labellings=LABELLINGS, data=st.data())
def test_weights_are_repeated_rows(name: str, labellings: Any, data: st.DataObject) -> None:
    true, pred = (np.array(labels) for labels in labellings)
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(true), max_size=len(true)))
    if not any(times):
        return
    score = getattr(ev, name)
    expected = score(np.repeat(true, times), np.repeat(pred, times))
    assert score(true, pred, sample_weight=times) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
@given(labellings=LABELLINGS)
def test_noise_is_left_out_or_alone(name: str, labellings: Any) -> None:
    true, pred = (np.array(labels) for labels in labellings)
    score = getattr(ev, name)
    kept = (true >= 0) & (pred >= 0)
    expected = score(true[kept], pred[kept])
    assert score(true, pred, noise="drop") == pytest.approx(expected, abs=1e-12)
    alone = [np.where(labels < 0, 10 + np.arange(labels.size), labels) for labels in (true, pred)]
    assert score(true, pred, noise="singletons") == pytest.approx(score(*alone), abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_table_is_as_good_as_labels(name: str) -> None:
    true, pred = np.random.default_rng(0).integers(0, 4, (2, 60))
    score = getattr(ev, name)
    table = ev.contingency_matrix(true, pred)
    assert score(contingency=table) == pytest.approx(score(true, pred), abs=1e-14)
    with pytest.raises(ValueError, match="contingency"):
        score(true, pred, contingency=table)


def test_one_row_a_class() -> None:
    n = 20_000
    true, pred = np.arange(n), np.arange(n) // 2
    assert ev.adjusted_rand_score(true, true) == ev.adjusted_mutual_info_score(true, true) == 1
    assert ev.homogeneity_score(true, pred) == pytest.approx(np.log(n / 2) / np.log(n))
    assert ev.pair_recall_score(true, pred) == 1
    assert ev.pair_precision_score(true, pred) == 0
    assert ev.expected_mutual_info(true, pred) == pytest.approx(np.log(n / 2))


DATA = Path(__file__).parents[3] / "shared" / "data"
COLUMNS = {
    "ari": ev.adjusted_rand_score,
    "nmi": ev.normalized_mutual_info_score,
    "ami": ev.adjusted_mutual_info_score,
    "fm": ev.fowlkes_mallows_score,
    "nca": ev.normalized_clustering_accuracy,
    "psi": ev.pair_sets_index,
}
LINKAGES = {
    "fastcluster_ward": "ward",
    "fastcluster_complete": "complete",
    "fastcluster_average": "average",
    "fastcluster_weighted": "weighted",
    "Genie_G1.0": "single",
}
#: Sets with distances so close that a trace of noise in the published runs decided on merges.
TIED = {"g2mg_2_30", "h2mg_8_50", "aggregation", "circles"}


@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark sets are not here")
@pytest.mark.parametrize("method", LINKAGES)
def test_published_scores(method: str) -> None:
    from scipy.cluster.hierarchy import fcluster

    n_compared = 0
    for row in csv.DictReader((DATA / "published_scores.csv").read_text().splitlines()):
        folder = DATA / "benchmarks" / row["battery"]
        rows_file = folder / f"{row['dataset']}.data.gz"
        if row["method"] != method or row["dataset"] in TIED or not rows_file.exists():
            continue
        X = np.loadtxt(rows_file, ndmin=2)
        if len(X) > 2500:
            continue
        true = np.loadtxt(folder / f"{row['dataset']}.labels{row['labels']}.gz", dtype=int)
        pred = fcluster(linkage(X - X.mean(axis=0), LINKAGES[method]), int(row["k"]), "maxclust")
        for column, score in COLUMNS.items():
            if row[column]:
                found = score(np.where(true == 0, -1, true), pred, noise="drop")
                assert found == pytest.approx(float(row[column]), abs=1.1e-6), (row, column)
        n_compared += 1
    assert n_compared >= 20
