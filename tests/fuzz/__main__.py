"""`python tests/fuzz [AREA ...] [--cases N] [--seed S]`: any number of cases, by hand.

A failure is named by area and seed: `python tests/fuzz fit --seed 123 --cases 1` runs it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import fuzz_estimators
from fuzz_runner import REFUSALS, BrokenError, Case, failures
from model_files import make_case, try_case, zoo


@cache
def _models() -> dict[str, tuple[bytes, Any]]:
    """The files of fitted models, each with rows to predict."""
    with tempfile.TemporaryDirectory() as folder:
        path, kept = Path(folder) / "m", {}
        for name, (model, X) in zoo().items():
            model.save(path)
            kept[name] = (path.read_bytes(), X)
        return kept


def file_case(seed: int) -> Case:
    """A damaged model file: `python tests/fuzz/model_files.py 0 --case SEED` is the same."""
    models = _models()
    name, content = make_case({name: data for name, (data, _) in models.items()}, 0, seed)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                try_case(content, models[name][1], Path(folder))
            except REFUSALS as error:  # all that may come of a file was caught there
                raise BrokenError(f"{type(error).__name__}: {error}") from error

    return Case("files", seed, f"a damaged file of {name}", run)


# The tests of stored models run a share of the damaged files themselves.
AREAS: Mapping[str, Callable[[int], Case]] = {**fuzz_estimators.AREAS, "files": file_case}


def main() -> int:
    """Run the cases; failures on standard output, 1 if there are any."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("areas", nargs="*", help=f"of {', '.join(AREAS)}; all of them if none")
    parser.add_argument("--cases", type=int, default=5000, help="of each area")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    asked = parser.parse_args()
    n_failed = 0
    for area in asked.areas or AREAS:
        cases = map(AREAS[area], range(asked.seed, asked.seed + asked.cases))
        for told in failures(cases):
            n_failed += 1
            print(told, flush=True)
        print(f"{area}: {asked.cases} cases", file=sys.stderr)
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
