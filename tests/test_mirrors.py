"""Every module of the package has a test file of its name, or one that says it covers it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "src" / "coterie", ROOT / "tests"

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason="the sources are not here")


def modules() -> dict[str, Path]:
    """Dotted names of the modules with code of their own, and the path of the test each asks for.

    `centroid/_lloyd.py` and `centroid/lloyd.py` both ask for `tests/centroid/test_lloyd.py`.
    """
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if not path.name.startswith("__"):
            place = path.relative_to(PACKAGE)
            name = ".".join(("coterie", *place.with_suffix("").parts))
            found[name] = TESTS / place.parent / f"test_{path.stem.lstrip('_')}.py"
    return found


def claims(docstring: str) -> set[str]:
    """Modules that a docstring names in a sentence that begins with "Covers"."""
    sentences = re.findall(r"\bCovers (coterie[\w.,\s]*?)\.(?=\s|$)", docstring)
    return {name for sentence in sentences for name in re.findall(r"coterie(?:\.\w+)+", sentence)}


def all_claims() -> dict[str, set[str]]:
    """What each test file says it covers."""
    return {
        path.relative_to(TESTS).as_posix(): claims(
            ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        )
        for path in sorted(TESTS.rglob("test_*.py"))
    }


def test_every_module_has_a_test_that_covers_it() -> None:
    covered = set().union(*all_claims().values())
    missing = [
        name for name, test in modules().items() if name not in covered and not test.exists()
    ]
    assert not missing, (
        f"{missing} have no test file of their name; write one, or let the docstring of the one "
        "that covers a module say so: 'Covers coterie.family._module.'"
    )


def test_no_test_covers_a_module_that_is_not_there() -> None:
    known = modules()
    stale = {path: names - set(known) for path, names in all_claims().items()}
    assert not {path: names for path, names in stale.items() if names}


def test_no_two_modules_of_tests_share_a_name() -> None:
    """Folders of tests are no packages, so pytest imports each file by its bare name."""
    names = Counter(path.name for path in TESTS.rglob("*.py") if not path.name.startswith("__"))
    assert not [name for name, count in names.items() if count > 1]


def test_claims_are_read_from_sentences() -> None:
    told = (
        "Steps. Covers coterie.a._b, coterie.c and\ncoterie.d.e. See coterie.f. Covers coterie.g."
    )
    assert claims(told) == {"coterie.a._b", "coterie.c", "coterie.d.e", "coterie.g"}
