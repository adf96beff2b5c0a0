"""Every module of the mixtures has a test at the mirrored path, or one that says it covers it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import coterie.mixture

TESTS = Path(__file__).parent
MODULES = sorted(
    path for path in Path(coterie.mixture.__file__).parent.glob("*.py") if path.stem != "__init__"
)


def covered(path: Path) -> set[str]:
    """Files that a test says it covers."""
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    _, _, after = words.partition("Covers mixture/")
    return {word.strip(",.") + ".py" for word in after.replace(".py", "").split()}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_module_has_its_test(module: Path) -> None:
    mirrored = TESTS / f"test_{module.stem.lstrip('_')}.py"
    said = [path for path in TESTS.glob("test_*.py") if module.name in covered(path)]
    assert mirrored.exists() or said, f"no test for {module.name}"
