"""Clusters are numbered by their first member, in one place for every family."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie._labels import NOISE, number_by_first

SOURCES = sorted(Path(coterie.__file__).parent.rglob("*.py"))


@given(st.lists(st.integers(-3, 6)), st.integers(1, 4))
def test_numbers_follow_the_first_members(groups: list[int], min_size: int) -> None:
    seen: dict[int, int] = {}
    expected = [
        seen.setdefault(group, len(seen)) if groups.count(group) >= min_size else NOISE
        for group in groups
    ]
    found = number_by_first(np.array(groups, dtype=np.int64), min_size)
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_groups_may_be_marked_by_words() -> None:
    assert number_by_first(np.array(["b", "a", "b", "c"])).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_noise_has_its_number_in_one_place(path: Path) -> None:
    assigned = {
        target.id
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "NOISE" not in assigned or path.name == "_labels.py"
