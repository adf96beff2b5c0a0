"""Some thousands of drawn calls: each gives an answer that holds, or a clear refusal.

`make fuzz` runs any number of them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from fuzz_runner import Case, failures

#: Cases of each area in one test, and how many tests; together the seeds from 0 on.
CHUNKS = {"fit": (500, 3), "function": (450, 2), "csr": (600, 1)}


@pytest.mark.parametrize(
    ("area", "first", "n_cases"),
    [(area, i * size, size) for area, (size, n) in CHUNKS.items() for i in range(n)],
)
def test_drawn_calls(area: str, first: int, n_cases: int) -> None:
    # In a process of its own: after other tests have used them, threads of polars may lie
    # anywhere, and what is forked then may wait for them for ever.
    fuzz = [sys.executable, os.path.dirname(__file__), area]
    done = subprocess.run(
        [*fuzz, "--cases", str(n_cases), "--seed", str(first)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_runner_sees_every_way_to_fail() -> None:
    def crash() -> None:
        os.abort()

    def refuse() -> None:
        raise ValueError("")

    def go_wrong() -> None:
        [][0]

    runs = [crash, lambda: None, refuse, go_wrong]
    cases = [Case("self", seed, run.__name__, run) for seed, run in enumerate(runs)]
    told = list(failures(cases))
    assert [text.split(":")[0] for text in told] == ["self 0", "self 2", "self 3"]
    assert "died of SIGABRT" in told[0]
    assert "an empty ValueError" in told[1]
    assert "IndexError" in told[2]
