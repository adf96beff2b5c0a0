"""Names as `--without` takes them; test_study.py has how columns set aside are compared."""

from __future__ import annotations

from coterie.cli._options import names
from coterie.report._aside import listed_names


def test_names_are_read_back_as_they_were() -> None:
    given = ["a", "b, c", 'say "d"', "é 🎨"]
    assert names(listed_names(given)) == given
