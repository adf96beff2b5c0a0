"""Scores by information: the textbook's table, limits, and scikit-learn's values."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as reference
from evaluate_twins import LABELLINGS, mutual_info_of, table_of
from hypothesis import given
from hypothesis import strategies as st

import coterie.evaluate as ev

#: True class (cat, dog, parrot) and predicted cluster: a lecture's example, recomputed.
JOINT = [[0.39, 0.08, 0.02], [0.06, 0.31, 0.01], [0.01, 0.01, 0.11]]
COUNTS = [[39, 8, 2], [6, 31, 1], [1, 1, 11]]


def test_cat_dog_parrot() -> None:
    for table in (JOINT, COUNTS):
        info = ev.mutual_info_score(contingency=table)
        assert info == pytest.approx(0.421074623059, abs=1e-12)
        assert info / math.log(2) == pytest.approx(0.607482270532, abs=1e-12)
        swapped = np.array(table)[:, [1, 0, 2]]
        assert ev.mutual_info_score(contingency=swapped) == pytest.approx(info, rel=1e-14)
        averages = {
            "arithmetic": 0.425021496236,
            "geometric": 0.425036275007,
            "min": 0.428595582882,
            "max": 0.421506525701,
        }
        for average, expected in averages.items():
            found = ev.normalized_mutual_info_score(contingency=table, average_method=average)
            assert found == pytest.approx(expected, abs=1e-12)
        both = ev.homogeneity_completeness_v_measure(contingency=table)
        assert both.homogeneity == pytest.approx(0.428595582882, abs=1e-12)
        assert both.completeness == pytest.approx(0.421506525701, abs=1e-12)
        apart = ev.variation_of_information(contingency=table)
        assert apart == pytest.approx(1.139278172441, abs=1e-12)
    adjusted = ev.adjusted_mutual_info_score(contingency=COUNTS)
    assert adjusted == pytest.approx(0.412325375565, abs=1e-12)
    by_chance = ev.expected_mutual_info(contingency=COUNTS)
    assert by_chance == pytest.approx(0.021403375747, abs=1e-12)
    classes = np.repeat(["cat", "dog", "parrot"], [49, 38, 13])
    assert ev.entropy(classes) == pytest.approx(0.982452082748, abs=1e-12)


def test_limits() -> None:
    independent = [[0.12, 0.28], [0.18, 0.42]]
    assert ev.mutual_info_score(contingency=independent) == pytest.approx(0, abs=1e-15)
    labels = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]
    info = ev.mutual_info_score(labels, labels)
    assert info == pytest.approx(1.029653014065, abs=1e-12)
    assert info == pytest.approx(ev.entropy(labels), rel=1e-15)


EXAMPLES = Path(__file__).parents[3] / "shared" / "data" / "seed_examples.json"


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not beside the project")
def test_the_examples_as_they_were_computed() -> None:
    examples = json.loads(EXAMPLES.read_text())["examples"]
    named = {example["id"]: example for example in examples}
    limits = named["mutual_information_limits"]["computed"]
    joint, equal = limits["independent"], limits["identical"]
    found = ev.mutual_info_score(contingency=joint["joint"])
    assert found == pytest.approx(joint["mutual_information"], abs=1e-15)
    info = ev.mutual_info_score(equal["labels"], equal["labels"])
    assert info == pytest.approx(equal["mutual_information_nats"], abs=1e-12)
    assert info == pytest.approx(ev.entropy(equal["labels"]), abs=1e-15)
    table = named["mutual_information_table"]
    assert table["joint"] == JOINT
    counts, known = table["counts_for_n100"], table["computed"]
    scores = {
        "mutual_information_nats": ev.mutual_info_score, "purity": ev.purity_score,
        "homogeneity": ev.homogeneity_score, "completeness": ev.completeness_score,
        "variation_of_information_nats": ev.variation_of_information,
        "adjusted_rand_n100": ev.adjusted_rand_score, "rand_n100": ev.rand_score,
        "fowlkes_mallows_n100": ev.fowlkes_mallows_score,
        "adjusted_mutual_information_arithmetic_n100": ev.adjusted_mutual_info_score,
        "expected_mutual_information_n100": ev.expected_mutual_info,
    }  # fmt: skip
    for name, score in scores.items():
        assert score(contingency=counts) == pytest.approx(known[name], abs=1e-11), name
    pairs = ev.pair_confusion_matrix(contingency=counts)
    assert pairs.tolist() == known["pair_confusion_n100"]


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4))
def test_mutual_information_is_a_divergence(table: Any) -> None:
    if not np.any(table):
        return
    joint = np.array(table) / np.sum(table)
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    divergence = (joint[there] * np.log(joint[there] / product[there])).sum()
    assert ev.mutual_info_score(contingency=table) == pytest.approx(divergence, abs=1e-13)


SCORES = [
    "mutual_info_score",
    "normalized_mutual_info_score",
    "adjusted_mutual_info_score",
    "homogeneity_score",
    "completeness_score",
    "v_measure_score",
]


@pytest.mark.parametrize("name", SCORES)
@given(labellings=LABELLINGS)
def test_values_are_those_of_scikit_learn(name: str, labellings: Any) -> None:
    true, pred = labellings
    found = getattr(ev, name)(true, pred)
    assert found == pytest.approx(getattr(reference, name)(true, pred), abs=1e-10)


@pytest.mark.parametrize("average", ["min", "geometric", "arithmetic", "max"])
@given(labellings=LABELLINGS)
def test_all_averages(average: str, labellings: Any) -> None:
    for name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
        found = getattr(ev, name)(*labellings, average_method=average)
        expected = getattr(reference, name)(*labellings, average_method=average)
        assert found == pytest.approx(expected, abs=1e-10)


@given(LABELLINGS, st.sampled_from([0.0, 0.5, 2.0]))
def test_beta_of_the_v_measure(labellings: Any, beta: float) -> None:
    expected = reference.homogeneity_completeness_v_measure(*labellings, beta=beta)
    found = ev.homogeneity_completeness_v_measure(*labellings, beta=beta)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "labellings",
    [
        ([], []),
        ([0], [0]),
        ([0, 0, 0], [0, 0, 0]),
        ([0, 1, 2], [0, 1, 2]),
        ([0, 0, 0], [0, 1, 2]),
        ([0, 1, 2], [0, 0, 0]),
        ([0, 1, 2, 3], [0, 0, 1, 1]),
    ],
)
@pytest.mark.parametrize("name", SCORES)
def test_edges_are_those_of_scikit_learn(name: str, labellings: Any) -> None:
    found = getattr(ev, name)(*labellings)
    if not labellings[0] and name == "mutual_info_score":
        assert found == 0  # where scikit-learn fails
    else:
        assert found == pytest.approx(getattr(reference, name)(*labellings), abs=1e-12)


@given(LABELLINGS, LABELLINGS)
def test_variation_of_information_is_a_metric(labellings: Any, others: Any) -> None:
    true, pred = labellings
    found = ev.variation_of_information(true, pred)
    expected = ev.entropy(true) + ev.entropy(pred) - 2 * mutual_info_of(table_of(true, pred))
    assert found == pytest.approx(expected, abs=1e-12)
    assert found == pytest.approx(ev.variation_of_information(pred, true), abs=1e-14)
    assert ev.variation_of_information(true, true) == 0
    third = (others[0] * 25)[: len(true)]
    around = ev.variation_of_information(true, third) + ev.variation_of_information(third, pred)
    assert found <= around + 1e-12


def test_entropy_counts_weights_and_noise() -> None:
    assert ev.entropy([0, 1], sample_weight=[1, 3]) == ev.entropy([0, 1, 1, 1])
    assert ev.entropy([-1, -1, 0, 0]) == pytest.approx(math.log(2))
    assert ev.entropy([-1, -1, 0, 0], noise="drop") == 0
    assert ev.entropy([-1, -1, 0, 0], noise="singletons") == pytest.approx(1.5 * math.log(2))
    assert ev.entropy([]) == 0


def test_a_wrong_average_is_refused() -> None:
    with pytest.raises(ValueError, match="average_method='mean' was given; use one of 'min'"):
        ev.adjusted_mutual_info_score([0], [0], average_method="mean")
    with pytest.raises(ValueError, match="beta=-1"):
        ev.v_measure_score([0], [0], beta=-1)


@pytest.mark.parametrize("name", ["homogeneity_score", "completeness_score", "v_measure_score"])
def test_each_of_the_three_says_its_own_name(name: str) -> None:
    score = getattr(ev, name)
    with pytest.raises(ValueError, match=f"^{name}: labels_true"):
        score([0, 1])
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'odd'"):
        score([0, 1], [0, 1], odd=1)
    if name == "v_measure_score":
        with pytest.raises(ValueError, match=f"^{name}: beta=-1"):
            score([0, 1], [0, 1], beta=-1)
