"""Install the wheel and the sdist of a folder into empty environments and try them.

`python tests/package dist`, or `make test-package`. The wheel comes with `coterie[cli]` and is
read by mypy; the sdist comes alone, and is built by pip as it would be for a user, for this
machine's instruction set only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from package_contents import check_sdist, check_stated_sizes, check_wheel

HERE = Path(__file__).parent
QUIETLY = ("--quiet", "--disable-pip-version-check", "--no-compile")


def main(folder: str) -> int:
    """Check what the archives contain, then what they do once installed."""
    (wheel,), (sdist,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    check_sdist(sdist)
    check_wheel(wheel, sdist)
    for archive in (wheel, sdist):
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB", flush=True)
    check_stated_sizes(wheel, sdist)
    with tempfile.TemporaryDirectory() as place:
        try_wheel(wheel.resolve(), Path(place))
    with tempfile.TemporaryDirectory() as place:
        try_sdist(sdist.resolve(), Path(place))
    return 0


def try_wheel(wheel: Path, place: Path) -> None:
    """With the command line: the library, the command, and the types as a user's mypy sees them."""
    python = empty_environment(place)
    told("install the wheel", python, "-m", "pip", "install", *QUIETLY, f"{wheel}[cli]", cwd=place)
    told("use it", python, "-I", "-W", "error", HERE / "smoke.py", cwd=place)
    told("use its command", python, "-I", HERE / "smoke_command.py", cwd=place)
    told(
        "check a typed program",
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable"),
        *(python, HERE / "typed_program.py"),
        cwd=place,
    )
    told("run it", python, "-I", "-W", "error", HERE / "typed_program.py", cwd=place)


def try_sdist(sdist: Path, place: Path) -> None:
    """Without extras: the library, and a command that says what it lacks."""
    python = empty_environment(place)
    told(
        "build and install the sdist",
        *(python, "-m", "pip", "install", *QUIETLY, "-C", "cmake.define.COTERIE_ISAS=native"),
        sdist,
        cwd=place,
    )
    told("use it", python, "-I", "-W", "error", HERE / "smoke.py", cwd=place)
    command = subprocess.run(
        [python.with_name("coterie"), "--version"], capture_output=True, text=True
    )
    assert command.returncode == 2, command
    assert command.stderr.endswith("pip install 'coterie[cli]'\n"), command.stderr


def empty_environment(place: Path) -> Path:
    """The Python of a new environment that has pip and nothing else."""
    venv.create(place / "environment", with_pip=True)
    return place / "environment" / "bin" / "python"


def told(step: str, *command: str | Path, cwd: Path) -> None:
    """Run a command that must succeed, and say how long it took."""
    before = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)
    print(f"  {step}: {time.monotonic() - before:.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
