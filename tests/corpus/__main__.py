"""`python tests/corpus record FILE`, change the code, `python tests/corpus compare FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from corpus_cases import differences, record


def main(command: str, path: str) -> int:
    """Record the corpus on one and two threads, or hold it against what was recorded."""
    now = {str(n_threads): record(n_threads) for n_threads in (1, 2)}
    if command == "record":
        Path(path).write_text(json.dumps(now, indent=1))
        print(f"{len(now['1'])} fits and functions on one and two threads recorded in {path}")
        return 0
    before = json.loads(Path(path).read_text())
    lines = [
        f"{n_threads} threads: {line}"
        for n_threads in now
        for line in differences(before[n_threads], now[n_threads])
    ]
    print("\n".join(lines) or f"the same bits in all {len(now['1'])} fits and functions")
    return 1 if lines else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("record", "compare"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
