"""What clusters mean: by hand, from every kind of table, at the extremes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie.errors import ParameterError
from coterie.select import Explanation, explain


def example() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + np.array([[0, 0, 0], [9, 0, 0], [9, 9, 0]])[labels]
    return X, labels


def test_sizes_traits_rules_and_rivals() -> None:
    X, labels = example()
    found = explain(X, labels)
    assert [cluster.size for cluster in found.clusters] == [20, 20, 20]
    assert [cluster.rival for cluster in found.clusters] == [1, found.clusters[1].rival, 1]
    assert found.clusters[0].traits[0].column == "x0"
    assert found.clusters[2].traits[0].column == "x1"
    for cluster in found.clusters:
        assert cluster.rule is not None
        assert (cluster.rule.precision, cluster.rule.recall) == (1.0, 1.0)
        assert all("x2" not in condition for condition in cluster.rule.conditions)


def test_typical_and_ambiguous_rows_by_loops() -> None:
    X, labels = example()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.array([Z[labels == c].mean(axis=0) for c in range(3)])
    own = np.array([np.linalg.norm(z - means[c]) for z, c in zip(Z, labels, strict=True)])
    other = np.array([
        min(np.linalg.norm(z - means[o]) for o in range(3) if o != c)
        for z, c in zip(Z, labels, strict=True)
    ])  # fmt: skip
    margin = (other - own) / np.maximum(own, other)
    for cluster in explain(X, labels).clusters:
        members = np.flatnonzero(labels == cluster.label)
        assert cluster.typical == tuple(members[np.argsort(own[members])[:3]].tolist())
        assert cluster.ambiguous == tuple(members[np.argsort(margin[members])[:3]].tolist())


def test_a_misplaced_row_is_the_most_ambiguous() -> None:
    X, labels = example()
    labels[5] = 2
    assert explain(X, labels).clusters[2].ambiguous[0] == 5


def test_missing_cells_are_left_out() -> None:
    X, labels = example()
    holes = X.copy()
    holes[::7, 2] = np.nan
    found, whole = explain(holes, labels), explain(X, labels)
    assert [c.rival for c in found.clusters] == [c.rival for c in whole.clusters]
    assert "nan" not in str(found)
    everything_gone = X.copy()
    everything_gone[3] = np.nan
    assert explain(everything_gone, labels).clusters[0].size == 20


def mixed() -> dict[str, Any]:
    _, labels = example()
    rng = np.random.default_rng(1)
    return {
        "age": np.where(labels == 1, 60.0, 30.0) + rng.normal(size=60),
        "owner": labels == 2,
        "city": np.array(["Rome", "Oslo", "Bern"])[labels],
    }


def check_mixed(found: Explanation) -> None:
    text = str(found)
    assert "age is higher: 5" in text or "age is higher: 6" in text
    assert "city is Rome in 100% against 0%" in text
    assert "owner is True in 100% against 0%" in text
    assert json.loads(json.dumps(found.to_dict()))["n_rows"] == 60


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    check_mixed(explain(pandas.DataFrame(mixed()), example()[1]))


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    check_mixed(explain(polars.DataFrame(mixed()), example()[1]))


def test_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    check_mixed(explain(pyarrow.table(mixed()), example()[1]))


def test_rows_from_a_file(tmp_path: Path) -> None:
    X, labels = example()
    np.save(tmp_path / "rows.npy", X)
    assert str(explain(str(tmp_path / "rows.npy"), labels)) == str(explain(X, labels))


def test_noise_and_words_as_labels() -> None:
    X, labels = example()
    labels[:4] = -1
    found = explain(X, labels)
    assert found.n_noise == 4
    assert [c.label for c in found.clusters] == [0, 1, 2]
    assert str(found).endswith("Noise: 4 rows (7%)")
    named = np.array(["one", "two", "three"])[example()[1]]
    for kind in (named, named.astype(object), pd.Series(named)):
        clusters = explain(X, kind).clusters
        assert [c.label for c in clusters] == ["one", "three", "two"]
        assert [type(c.rival) for c in clusters] == [str] * 3


def test_one_cluster_has_no_rival() -> None:
    found = explain(np.arange(6.0).reshape(3, 2), [0, 0, 0]).clusters[0]
    assert (found.rival, found.rule, found.traits, found.ambiguous) == (None, None, (), ())


def test_one_cluster_and_noise() -> None:
    found = explain(np.array([[0.0], [0.1], [9.0]]), [0, 0, -1]).clusters[0]
    assert found.rival is None
    assert found.rule is not None
    assert found.rule.conditions == ("x0 <= 4.55",)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_all_alone_and_extreme_scales(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(5, 2)) * scale
    found = explain(X, np.arange(5))
    assert all(np.isfinite(trait.effect) for c in found.clusters for trait in c.traits)
    assert len(found.clusters) == 5


def test_limits() -> None:
    X, labels = example()
    found = explain(X, labels, n_traits=1, n_examples=2, max_depth=1)
    for cluster in found.clusters:
        assert len(cluster.traits) <= 1
        assert len(cluster.typical) == len(cluster.ambiguous) == 2
        assert cluster.rule is not None
        assert len(cluster.rule.conditions) == 1


def test_refusals() -> None:
    X, labels = example()
    with pytest.raises(ValueError, match="one label per row"):
        explain(X, labels[:-1])
    with pytest.raises(ParameterError, match="n_traits=0 was given"):
        explain(X, labels, n_traits=0)


def test_a_rule_of_many_rows_is_found_among_some_and_counted_over_all(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [40, 400, 160])
    X = rng.normal(size=(600, 2)) + 10 * np.column_stack([labels == 0, labels == 1])
    whole = explain(X, labels)
    assert [one.rule.n_grown_from for one in whole.clusters] == [600, 600, 600]
    assert "counted over all" not in str(whole)
    monkeypatch.setattr("coterie.select._rules._MANY_ROWS", 100)
    some = explain(X, labels)
    assert [one.rule.n_grown_from for one in some.clusters] == [140, 200, 200]
    assert "found among 140 rows, counted over all" in str(some)
    first = some.clusters[0].rule
    assert (first.precision, first.recall) == (1.0, 1.0)
    assert some.to_dict() == explain(X, labels).to_dict()


def test_all_noise_has_no_cluster() -> None:
    found = explain(np.eye(4), -np.ones(4, dtype=int))
    assert (found.clusters, found.n_noise) == ((), 4)
    assert str(found) == "Noise: 4 rows (100%)"


def test_columns_of_a_file_keep_their_names(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("low,high\n0,1\n0.1,1.2\n5,9\n5.2,9.5\n")
    traits = explain(str(path), [0, 0, 1, 1]).clusters[0].traits
    assert {trait.column for trait in traits} == {"low", "high"}
