"""What the wheel and the sdist have inside, and what must not be there."""

from __future__ import annotations

import email
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
#: Of an sdist: what builds, what tests, and what is read before either.
FOLDERS = {"cpp", "examples", "src", "tests"}
LEFT_OUT = {".ci", "benchmarks", "docs"}
FILES = {"CMakeLists.txt", "CITATION.cff", "LICENSE", "Makefile", "README.md", "SECURITY.md"}
EXTENSION = re.compile(r"coterie/_kernels/(_cpu|_kernels_\w+)\.cpython-[\w-]+\.so")


def check_sdist(sdist: Path) -> None:
    """Just the files under version control, less the folders that are left out."""
    inside = names_in_sdist(sdist)
    assert inside >= FILES | {"pyproject.toml", "PKG-INFO"}, inside
    assert {name.split("/")[0] for name in inside if "/" in name} == FOLDERS
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:  # else these are not the files of a clone
        tracked = {
            name for name in listed.stdout.splitlines() if name.split("/")[0] not in LEFT_OUT
        }
        assert inside - {"PKG-INFO"} == tracked, (inside - {"PKG-INFO"}) ^ tracked


def check_wheel(wheel: Path, sdist: Path) -> None:
    """The Python of the sdist, the kernels without their symbols, licence and metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        (record,) = (PurePosixPath(name) for name in names if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(str(record)))
        kernels = {name: archive.read(name) for name in names if EXTENSION.fullmatch(name)}
    sources = {
        name.removeprefix("src/") for name in names_in_sdist(sdist) if name.startswith("src/")
    }
    package = {name for name in names if name.startswith(("coterie/", "_coterie_command/"))}
    assert package - set(kernels) == sources, (package - set(kernels)) ^ sources
    assert "coterie/py.typed" in package
    assert len(kernels) >= 2, f"no kernels in {sorted(package)}"
    for name, content in kernels.items():
        assert b".symtab\0" not in content, f"{name} has its symbols; strip it"
    assert f"{record.parent}/licenses/LICENSE" in names, "no licence"
    check_metadata(metadata)


def check_stated_sizes(wheel: Path, sdist: Path) -> None:
    """What docs/native.md says of a wheel for x86-64 Linux and of the sdist, to a tenth."""
    page = ROOT / "docs" / "native.md"
    if not page.exists():  # an unpacked sdist
        return
    told = page.read_text()
    for archive, words in ((wheel, r"The wheel of .*? has"), (sdist, r"The source archive has")):
        (stated,) = re.findall(words + r" ([\d.]+) MB", told)
        size = archive.stat().st_size / 1e6
        elsewhere = archive is wheel and "linux_x86_64" not in wheel.name
        assert elsewhere or abs(size / float(stated) - 1) < 0.1, (
            f"{archive.name} has {size:.1f} MB, docs/native.md says {stated}"
        )


def check_metadata(metadata: email.message.Message) -> None:
    """What pyproject.toml and CITATION.cff say."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    assert metadata["Name"] == project["name"]
    assert metadata["Version"] == project["version"]
    assert f"\nversion: {project['version']}\n" in citation, "CITATION.cff has another version"
    assert f"\nlicense: {metadata['License-Expression']}\n" in citation
    assert metadata.get_all("Classifier") == project["classifiers"], "other classifiers"
    assert metadata["Summary"] == project["description"]
    assert metadata["Requires-Python"] == project["requires-python"]
    assert metadata["Keywords"].split(",") == project["keywords"], "other keywords"
    assert metadata.get_all("License-File") == project["license-files"]
    # What an index lists a package by: none of it may be empty.
    shown = ("Name", "Summary", "License-Expression", "Classifier", "Requires-Python", "Keywords")
    assert all(metadata[key] for key in shown), [key for key in shown if not metadata[key]]
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes(), "other text"


def names_in_sdist(sdist: Path) -> set[str]:
    """Its files, by their path below the folder that it unpacks to."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
