"""Labels of any kind as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie.evaluate import silhouette_score
from coterie.evaluate._coded import code_labels

LABELS: dict[str, Any] = {
    "int8": np.array([-128, 127, -1, 127], dtype=np.int8),
    "int64": np.array([-(2**63), 2**63 - 1, 0, 0]),
    "close": np.array([2**63 - 2, 2**63 - 1, 2**63 - 2]),
    "low": np.array([-(2**63), -(2**63) + 1]),
    "uint64": np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
    "uint8": np.array([255, 0, 3], dtype=np.uint8),
    "bool": np.array([True, False, True]),
    "float": np.array([1.5, -1.0, 1.5]),
    "strings": ["b", "a", "b"],
    "objects": np.array(["x", "y", "x"], dtype=object),
    "series": pd.Series(["u", "v", "u"], index=[4, 5, 6]),
    "list": [3, 3, 9],
    "none": np.array([], dtype=np.int64),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_codes_number_the_distinct_labels_in_their_order(labels: Any) -> None:
    coded = code_labels("who", labels)
    values, codes = np.unique(np.asarray(labels), return_inverse=True)
    np.testing.assert_array_equal(coded.codes, codes)
    np.testing.assert_array_equal(coded.values, values)
    assert coded.codes.dtype == np.int32
    assert coded.values.dtype == values.dtype
    assert coded.n_clusters == values.size
    np.testing.assert_array_equal(coded.sizes, np.bincount(codes, minlength=values.size))


def test_noise_is_a_cluster_left_out_or_alone() -> None:
    labels = [5, -1, 2, -1, 5]
    assert code_labels("who", labels).codes.tolist() == [2, 0, 1, 0, 2]
    dropped = code_labels("who", labels, noise="drop")
    assert dropped.codes.tolist() == [1, -1, 0, -1, 1]
    assert dropped.left_out
    assert dropped.values.tolist() == [2, 5]
    assert dropped.sizes.tolist() == [1, 2]
    alone = code_labels("who", labels, noise="singletons")
    assert alone.codes.tolist() == [1, 2, 0, 3, 1]
    assert alone.n_clusters == 4
    assert not alone.left_out
    objects = code_labels("who", np.array(labels, dtype=object), noise="drop")
    assert objects.codes.tolist() == [1, -1, 0, -1, 1]
    # Where nothing is noise, or labels have none, nothing changes.
    for clean in ([0, 1, 1], ["0", "a", "a"], np.array(["0", "a", "a"], dtype=object)):
        for noise in ("drop", "singletons"):
            coded = code_labels("who", clean, noise=noise)  # type: ignore[arg-type]
            assert coded.codes.tolist() == [0, 1, 1]
            assert coded.n_clusters == 2


def test_what_is_no_label_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^who: labels must be 1D: shape is \(2, 2\)"):
        code_labels("who", [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"NaN or infinity \(row 1\)"):
        code_labels("who", [0.0, np.nan])
    with pytest.raises(ValueError, match="datetime64"):
        code_labels("who", np.array(["2020-01-01"], dtype="datetime64[D]"))
    with pytest.raises(ValueError, match="who: noise='keep' was given; use one of"):
        code_labels("who", [0, 1], noise="keep")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="who: labels holds labels that cannot be sorted"):
        code_labels("who", [0, "a", None])
    with pytest.raises(ValueError, match="masked"):
        code_labels("who", np.ma.masked_equal([0, 1], 1))
    assert code_labels("who", [[0], [1]]).codes.tolist() == [0, 1]


def test_no_labels_at_all() -> None:
    with pytest.raises(ValueError, match=r"^silhouette_score: labels is None; pass one label per"):
        silhouette_score(np.eye(3), None)


@pytest.mark.parametrize("labels", [["-1", "a", "a", "b"], np.array(["-1", "a", "a", "b"], object)])
def test_noise_among_names_is_written_minus_one(labels: Any) -> None:
    assert code_labels("who", labels, noise="drop").codes.tolist() == [-1, 0, 0, 1]
    assert code_labels("who", labels, noise="singletons").n_clusters == 3
    assert code_labels("who", labels).n_clusters == 3
    assert code_labels("who", ["a", "b"], noise="drop").codes.tolist() == [0, 1]
