"""`python tests/fuzz [AREA ...] [--cases N] [--seed S]`: any number of cases, by hand.

A failure is named by area and seed: `python tests/fuzz fit --seed 123 --cases 1` runs it again.
"""

from __future__ import annotations

import argparse
import sys

from fuzz_estimators import AREAS
from fuzz_runner import failures


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
