"""Code run by one build of the kernels, in a process of its own, and what it answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

#: How code for `answers` begins: `hashes` is to be filled, with what `digest` makes of arrays.
PRELUDE = r"""
import hashlib, json
import numpy as np
import coterie

def digest(*parts):
    seen = hashlib.sha256()
    for part in parts:
        seen.update(np.ascontiguousarray(part).tobytes())
    return seen.hexdigest()

hashes = {"isa": coterie.show_config()["isa"]}
rng = np.random.default_rng(0)
"""


def run(code: str, isa: str, n_threads: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run code by the build for an instruction set; None: on as many threads as there are."""
    threads = {} if n_threads is None else {"COTERIE_NUM_THREADS": str(n_threads)}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "COTERIE_ISA": isa, **threads},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def answers(code: str, isa: str, n_threads: int | None = None) -> dict[str, Any]:
    """The `hashes` that code prints as JSON, of that build indeed."""
    done = run(code, isa, n_threads)
    assert done.returncode == 0, done.stderr
    hashes: dict[str, Any] = json.loads(done.stdout)
    assert hashes.pop("isa") == isa
    return hashes
