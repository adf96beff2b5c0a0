"""Runs code in processes of its own, which may crash or never end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

_RUNNER = """
import faulthandler, json, os, signal, sys, warnings
given = json.load(sys.stdin)
exec(given["setup"])
if "coterie" in sys.modules:  # import now, once, what it imports late
    coterie = sys.modules["coterie"]
    [getattr(coterie, name) for name in coterie.__all__]
outcomes = {}
for name, code in given["cases"].items():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(given["seconds"])
        try:
            exec(code)
            said = "done"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    said = os.fdopen(reading).read()
    _, status = os.waitpid(child, 0)
    outcomes[name] = said if status == 0 else f"ended by signal {os.WTERMSIG(status)}"
json.dump(outcomes, sys.stdout)
"""


def outcomes(cases: Mapping[str, str], setup: str = "", *, seconds: int = 30) -> dict[str, str]:
    """How each piece of code ended: "done", its exception, or the signal that ended its process.

    One process runs `setup` and a fork of it runs each case, for so many seconds at most (a case
    that takes longer ends by signal 14).
    """
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _RUNNER],
        input=json.dumps({"setup": setup, "cases": dict(cases), "seconds": seconds}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + seconds * len(cases),
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, str] = json.loads(run.stdout)
    return found
