"""Memory that goes back to the system under `max_memory`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import coterie
from coterie.data import _giving_back

SCRIPT = """
import numpy as np
import coterie
import pyarrow as pa
from coterie.data._giving_back import give_back

def anonymous():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024

usual = pa.default_memory_pool().backend_name
give_back()
assert pa.default_memory_pool().backend_name == usual
coterie.set_options(max_memory="1GB")
give_back()
assert pa.default_memory_pool().backend_name == "system"
before = anonymous()
held = [np.ones(3000) for _ in range(4000)]  # too small to be mapped on their own
last = held[-1]
grown = anonymous()
del held
give_back()
print(grown - before, anonymous() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_what_is_freed_leaves_the_process() -> None:
    pytest.importorskip("pyarrow")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    grown, left = map(int, done.stdout.split())
    assert grown > 80e6
    assert left < 20e6


def test_nothing_is_done_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(_giving_back, "_trim", lambda: called.append)
    _giving_back.give_back()
    assert not called
    with coterie.options(max_memory="1GB"):
        _giving_back.give_back()
    assert called == [0]
