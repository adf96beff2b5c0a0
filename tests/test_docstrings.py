"""The examples of the docstrings are run: each prints what it says."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path

import pytest

import coterie

PACKAGE = Path(coterie.__file__).parent


def examples() -> list[doctest.DocTest]:
    """Every docstring of the package that has an example."""
    finder, found = doctest.DocTestFinder(), []
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            place = path.relative_to(PACKAGE.parent).with_suffix("")
            module = importlib.import_module(".".join(place.parts).removesuffix(".__init__"))
            found += [test for test in finder.find(module) if test.examples]
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_example_prints_what_it_says(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    told: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        example, out=told.append
    )
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    assert not failed, "".join(told)


def test_there_are_examples():
    assert len(examples()) > 30
