"""The summary of a study: its shape, plain data, and what the pictures are drawn from.

Covers coterie.report.summary, coterie.report._verdict, coterie.report._quality,
coterie.report._pictures, coterie.report._map_points, coterie.report._plain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.report import Study
from coterie.report._pictures import _edges as bin_edges
from coterie.report._plain import floats, level_text, plain, shortened
from coterie.report._verdict import verdict

KEYS = {
    "schema", "title", "source", "settings", "verdict", "columns", "notes", "quality", "tendency",
    "methods", "choice_of_k", "clusters", "noise", "profiles", "silhouette", "null_replay", "map",
    "dendrogram", "k_distances", "bic", "memberships", "sensitivity", "reproduce",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _enough_time() -> Iterator[None]:
    """A small budget for small stages, but a machine that is busy leaves nothing out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.report._plan.Clock.has_run_out", False)
        yield


@pytest.fixture(scope="module")
def mixed() -> Study:
    rng = np.random.RandomState(0)
    truth = rng.randint(0, 2, 130)
    table = pd.DataFrame({
        "key": [f"row {i}" for i in range(130)],
        "<script>": rng.normal(size=130) + 9 * truth,
        "b": rng.normal(size=130) - 9 * truth,
        "kind": np.where(truth, "x", "y"),
        "same": 1.0,
    })  # fmt: skip
    table.loc[3, "b"] = np.nan
    table.loc[4] = table.loc[5]
    return coterie.study(table, time=5, name="mixed")


@pytest.fixture(scope="module")
def numbers() -> Study:
    rng = np.random.RandomState(0)
    rows = np.concatenate([rng.normal(m, s, (60, 3)) for m, s in ((0, 1), (9, 2), (25, 1))])
    return coterie.study(rows, time=5)


@pytest.mark.parametrize("name", ["mixed", "numbers"])
def test_the_summary_has_its_keys_and_is_json(name: str, request: Any) -> None:
    summary = request.getfixturevalue(name).summary
    assert set(summary) == KEYS
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["schema"] == 1


def test_columns_are_told_with_reasons(mixed: Study) -> None:
    told = {one["name"]: one for one in mixed.summary["columns"]}
    assert told["key"]["reason"].startswith("names the rows")
    assert not told["same"]["used"]
    assert told["same"]["coded_as"] == "left out"
    assert told["b"]["n_missing"] == 1
    assert told["b"]["coded_as"] == "standardised"


def test_the_quality_counts_what_is_odd(mixed: Study) -> None:
    counts = {one["what"]: one["count"] for one in mixed.summary["quality"]}
    assert counts["missing cells"] == 1
    assert counts["constant columns"] == 1
    assert counts["equal rows"] == 1


def test_clusters_are_named_explained_and_judged(mixed: Study) -> None:
    for label, one in enumerate(mixed.summary["clusters"]):
        assert one["label"] == label
        assert one["traits"]
        assert one["name"]
        assert one["rule"]
        assert one["stability"]["jaccard"] > 0.9
        assert one["rival"] == 1 - label
        assert all(mixed.labels[row] == label for row in one["typical_rows"])
    assert sum(one["share"] for one in mixed.summary["clusters"]) == pytest.approx(1)


def test_histograms_count_every_row_once(mixed: Study) -> None:
    for one in mixed.summary["profiles"]:
        table = np.array(one["by_cluster"])
        np.testing.assert_array_equal(table.sum(axis=0), one["all"])
        assert table.sum() + sum(one["missing"]) == 130
        n_bins = len(one["levels"]) if one["kind"] == "levels" else len(one["edges"]) - 1
        assert table.shape == (mixed.n_clusters, n_bins)


@pytest.mark.parametrize("n_values", [3, 17, 25, 60, 97, 239, 5000])
def test_bins_have_as_many_whole_numbers_each(n_values: int) -> None:
    edges = bin_edges(np.arange(n_values) + 20240101.0, 20240101.0, 20240100.0 + n_values)
    assert len(edges) <= 25
    assert edges[0] <= 20240101
    assert edges[-1] >= 20240100 + n_values
    held = np.histogram(np.arange(n_values) + 20240101.0, edges)[0]
    assert held.sum() == n_values
    if n_values < 240:
        assert set(held[:-1].tolist()) == {held[0]}
        assert held[-1] >= 0.5 * held[0]
    assert len(set(floats(edges, 12))) == len(edges)


def test_the_map_has_all_rows_and_their_values(mixed: Study) -> None:
    shown = mixed.summary["map"]
    assert shown["row"] == list(range(130))
    assert shown["label"] == mixed.labels.tolist()
    for name in ("x", "y", "confidence", "ambiguous"):
        assert len(shown[name]) == 130
    columns = {one["name"]: one for one in shown["columns"]}
    assert set(columns) == {"<script>", "b", "kind"}
    assert columns["b"]["values"][3] is None
    assert set(columns["kind"]["values"]) == {0, 1}


def test_levels_that_are_numbers_are_written_as_in_the_table() -> None:
    rng = np.random.RandomState(0)
    rows = pd.DataFrame({"x": rng.normal(size=90) + 9 * (np.arange(90) % 3)})
    rows["year"] = 2007 + np.arange(90) % 3
    rows.loc[5, "year"] = np.nan  # so that the column is one of floats
    summary = coterie.study(rows, time=5).summary
    (levels,) = [one["levels"] for one in summary["map"]["columns"] if one["levels"]]
    assert levels == ["2007", "2008", "2009"]
    assert levels in [one["levels"] for one in summary["profiles"]]
    texts = [level_text(one) for one in (0.5, np.float32(0.3), 1234567.0, -1e30, True, "1.0")]
    assert texts == ["0.5", "0.3", "1234567", "-1e+30", "True", "1.0"]


def test_curves_along_k_are_as_long_as_k(numbers: Study) -> None:
    choice = numbers.summary["choice_of_k"]
    assert choice["recommended"] == 3
    for one in choice["criteria"]:
        assert len(one["values"]) == len(choice["k"])
        assert one["better"] in ("high", "low", "first")
    bic = numbers.summary["bic"]
    assert all(len(curve["values"]) == len(bic["k"]) for curve in bic["curves"])


def test_the_chosen_method_leads(numbers: Study) -> None:
    first, *others = numbers.summary["methods"]
    assert first["chosen"]
    assert first["agreement"] == 1
    assert not any(one["chosen"] for one in others)
    assert all(one["score"] <= first["score"] for one in others)


def test_silhouettes_fall_within_clusters(numbers: Study) -> None:
    told = numbers.summary["silhouette"]
    for part in told["by_cluster"]:
        assert part["values"] == sorted(part["values"], reverse=True)
    assert 0.5 < told["mean"] <= 1


def test_it_says_what_would_change_the_answer(numbers: Study) -> None:
    told = numbers.summary["sensitivity"]
    assert len(told) >= 3
    assert all(one["agreement"] > 0.9 for one in told)


def test_trust_has_its_reasons(numbers: Study) -> None:
    verdict = numbers.summary["verdict"]
    assert verdict["confidence"] == "high"
    assert len(verdict["why"]) >= 4
    assert numbers.summary["null_replay"]["p_value"] <= 0.05


def test_the_headline_claims_no_more_than_the_reasons() -> None:
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(60, 2)) + 12 * (np.arange(60) % 2)[:, np.newaxis]
    found = import_module("coterie.report.study").find(rows, 0, 1, None, None)
    clustered = found.clustered

    def told(**changes: Any) -> dict[str, Any]:
        chosen = replace(clustered.chosen, are_apart=changes.pop("are_apart", True),
                         votes=changes.pop("votes", {"silhouette": 2}))  # fmt: skip
        replay = replace(clustered.replay, **changes)
        return verdict(replace(found, clustered=replace(clustered, chosen=chosen, replay=replay)))

    assert told()["headline"] == "There are 2 clusters in the 60 rows of data."
    unsure = told(are_apart=False, votes={"silhouette": 2, "bic": 3})
    assert unsure["headline"] == "There are clusters, perhaps 2, in the 60 rows of data."
    doubtful = told(p_value=0.3)
    assert doubtful["confidence"] == "low"
    assert doubtful["headline"] == "There may be 2 clusters in the 60 rows of data."
    assert not any("are apart" in sentence for sentence in doubtful["sentences"])


def test_clusters_that_do_not_come_back_are_no_finding() -> None:
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(60, 2)) + 12 * (np.arange(60) % 2)[:, np.newaxis]
    found = import_module("coterie.report.study").find(rows, 0, 1, None, None)
    back = replace(found.clustered.comeback, jaccard=np.array([0.5, 0.6]))
    told = verdict(replace(found, clustered=replace(found.clustered, comeback=back)))
    assert told["confidence"] == "low"
    assert told["headline"].startswith("There may be 2 clusters")
    assert any("found again" in sentence for sentence in told["sentences"])


def test_no_structure_is_never_certain() -> None:
    """The test looks for gaps, and of labelled sets it misses some whose groups overlap."""
    rows = np.random.RandomState(0).normal(size=(300, 2))
    told = coterie.study(rows, time=5).summary["verdict"]
    assert not told["has_structure"]
    assert told["confidence"] == "moderate"
    assert "groups that overlap would go unseen" in " ".join(told["why"])


def test_large_numbers_are_written_in_full() -> None:
    rng = np.random.RandomState(0)
    income = np.repeat([20_000.0, 900_000.0], 60) + rng.normal(0, 1000, 120)
    told = coterie.study(pd.DataFrame({"income": income}), time=5).summary["clusters"]
    sentences = [trait["sentence"] for one in told for trait in one["traits"]]
    assert sentences
    assert all("e+" not in said and "900," in said for said in sentences)


def test_what_the_test_saw_is_told_as_not_borne_out() -> None:
    """Chance truths look uneven to the test of tendency, and a replay speaks against them."""
    rng = np.random.RandomState(0)
    summary = coterie.study(rng.randint(0, 2, (200, 4)), time=5).summary
    assert not summary["verdict"]["has_structure"]
    assert summary["null_replay"] is not None
    assert "by itself sees structure" in summary["tendency"]["verdict"]
    assert "do not bear it out" in summary["tendency"]["verdict"]


def test_criteria_that_disagree_lower_the_confidence_of_clusters_that_are_centres() -> None:
    findings = import_module("coterie.report.study").find(
        np.random.RandomState(0).normal(size=(90, 2)) + 20 * np.repeat(np.eye(3, 2), 30, axis=0),
        0, 5.0, None, None,
    )  # fmt: skip
    clustered = findings.clustered
    assert verdict(findings)["confidence"] == "high"
    outvoted = replace(clustered.chosen, votes={"silhouette": 3, "gap": 5, "bic": 6})
    assert outvoted.are_apart
    told = verdict(replace(findings, clustered=replace(clustered, chosen=outvoted)))
    assert told["confidence"] == "moderate"
    assert told["doubts"] == ["All clusters are apart, but only 1 of 3 criteria pick 3 clusters."]
    assert told["why"][-1:] == told["doubts"]
    assert verdict(findings)["doubts"] == []


def test_plain_data_has_no_nan() -> None:
    given = {"a": np.float64("nan"), 1: (np.int64(3), [np.inf, 0.123456789]), "c": np.bool_(True)}
    assert plain(given) == {"a": None, "1": [3, [None, 0.123457]], "c": True}
    assert shortened(1234.56789, 3) == 1230.0
    assert floats([1.0, np.nan]) == [1.0, None]
