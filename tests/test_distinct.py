"""Distinct values by sorting: NumPy's own answer, and nothing else in the package asks NumPy."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coterie
from coterie._distinct import distinct


@given(
    hnp.arrays(
        st.sampled_from([np.int64, np.int32, np.float64, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=2, min_side=0),
        elements=st.integers(0, 1),
    )
)
def test_the_values_of_numpys_unique(values: Any) -> None:
    found = distinct(values)
    np.testing.assert_array_equal(found, np.unique(values))
    assert found.dtype == values.dtype


def test_words() -> None:
    assert distinct(np.array(["b", "a", "b"])).tolist() == ["a", "b"]


def test_the_package_never_asks_numpys_hash_table() -> None:
    # It is asked for the values alone; with rows, counts or an inverse NumPy sorts.
    asked = []
    for path in Path(coterie.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("unique", "setdiff1d", "union1d", "unique_values")
                and not node.keywords
            ):
                asked.append(f"{path.name}:{node.lineno}")
    assert asked == []
