"""Covers coterie.report.render_json."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import summaries

from coterie.report.render_json import SCHEMA, dumps

DOC = Path(__file__).parents[2] / "docs" / "study_json.md"


@pytest.mark.parametrize("name", ["three", "twelve", "with_noise", "nothing", "hostile"])
def test_everything_comes_back(name: str) -> None:
    summary = getattr(summaries, name)()
    assert json.loads(dumps(summary)) == summary
    assert dumps(summary) == dumps(json.loads(dumps(summary)))


def test_items_stand_on_lines_of_their_own() -> None:
    lines = dumps(summaries.three()).splitlines()
    assert ' "schema": 1,' in lines
    assert sum(line.startswith('  {"label": ') for line in lines) >= 3


def test_times_are_left_out_unless_asked_for() -> None:
    summary = summaries.three() | {"timings": {"map": 0.5}}
    assert "timings" not in dumps(summary)
    assert json.loads(dumps(summary, timings=True))["timings"] == {"map": 0.5}


def test_another_schema_and_numbers_without_a_word_are_refused() -> None:
    with pytest.raises(ValueError, match="schema 2 and this version of coterie writes 1"):
        dumps(summaries.three() | {"schema": 2})
    with pytest.raises(ValueError, match="JSON"):
        dumps(summaries.three() | {"title": float("nan")})


def _keys(part: object, path: str = "") -> set[str]:
    """Paths of the keys, `clusters.traits.effect` and the like; free names are left out."""
    if isinstance(part, dict):
        free = path in ("methods.parameters", "methods.parts", "reproduce.versions")
        own = set() if free else {f"{path}.{key}".lstrip(".") for key in part}
        return own.union(*(_keys(v, f"{path}.{k}".lstrip(".")) for k, v in part.items()))
    if isinstance(part, list):
        return set().union(*(_keys(v, path) for v in part))
    return set()


@pytest.mark.skipif(not DOC.exists(), reason="the documents are not here")
def test_the_document_knows_every_key() -> None:
    told = DOC.read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([\w.]+)`", told, flags=re.M))
    summary = summaries.with_noise()
    assert documented - {"timings"} == _keys(summary)
    assert f"version {SCHEMA}" in told
