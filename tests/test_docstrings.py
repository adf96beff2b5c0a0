"""The examples of the docstrings are run: each prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

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


#: Modules whose functions are called by hand; those of the others are what these are built of.
BY_HAND = (
    "coterie", "coterie.evaluate", "coterie.hierarchy", "coterie.neighbors", "coterie.plots",
    "coterie.select",
)  # fmt: skip
PUBLIC = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module in BY_HAND
    for name in importlib.import_module(module).__all__
}


def has_parameters(thing: Any) -> bool:
    return "\nParameters\n-----" in (inspect.getdoc(thing) or "")


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(PUBLIC[name])])
def test_parameters_are_described_here_or_one_link_away(name: str) -> None:
    function = PUBLIC[name]
    if inspect.signature(function).parameters and not has_parameters(function):
        named = re.findall(r"`(\w+)`", inspect.getdoc(function) or "")
        places = [PUBLIC.get(f"{module}.{word}") for module in BY_HAND for word in named]
        assert any(map(has_parameters, places)), "describe them, or name whoever does"
