"""The documentation is run and followed: its Python, links, figures and examples."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
FIGURES = ROOT / "docs" / "figures"

matplotlib = pytest.importorskip("matplotlib")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def promised_output(block: str) -> list[str]:
    """The comments after `print(...)`: what must be printed."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=name_of)
def test_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "__page__"}
    for block in python_blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name_of(page), "exec", dont_inherit=True), names)
        promised = promised_output(block)
        if promised:
            assert printed.getvalue().splitlines() == promised


def targets(page: Path) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]


def anchors(page: Path) -> set[str]:
    """Headings as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in targets(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{target} is not there"
        if anchor:
            assert anchor in anchors(there), f"{target} names no heading"


def test_every_page_is_in_the_index():
    linked = {target.partition("#")[0] for target in targets(ROOT / "docs" / "index.md")}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_figures_are_small_shown_and_drawn_by_a_script():
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in targets(page)
        if target.endswith(".png")
    }
    drawn = "".join(script.read_text() for script in FIGURES.glob("*.py"))
    for figure in FIGURES.glob("*.png"):
        assert figure in shown
        assert f'"{figure.name}"' in drawn
        assert figure.stat().st_size < 200_000


def run(script: str, *arguments: str, cwd: Path) -> str:
    """Standard output of a script of ours, in which a warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / script), *arguments],
        cwd=cwd,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


@pytest.mark.parametrize(
    ("script", "options", "figures"),
    [
        ("bernoulli_digits", {"n_init": 1}, {"bernoulli_digits.png"}),
        ("descent", {}, {"descent.png", "film.png"}),
        ("few_colors", {"n_colors": (3,)}, {"few_colors.png"}),
        ("gaussian", {}, {"gaussian.png"}),
        ("k_distances", {}, {"k_distances.png"}),
        ("karate", {}, {"karate.png"}),
        ("leaders", {"n_rows": 60, "n_orders": 5}, {"leaders.png"}),
        ("linkages", {"n_rows": 60}, {"linkages.png", "dendrograms.png"}),
        ("medoids", {"n_rows": 90, "n_starts": 3}, {"medoids.png"}),
        ("seedings", {"n_seeds": 2}, {"seedings.png", "worst_starts.png"}),
    ],
)
def test_figures_can_be_drawn(script, options, figures, tmp_path, monkeypatch):
    matplotlib.use("agg")
    monkeypatch.syspath_prepend(FIGURES)
    runpy.run_path(str(FIGURES / f"{script}.py"))["draw"](tmp_path, **options)
    assert {path.name for path in tmp_path.iterdir()} == figures


def test_the_textbook_example_tells_the_textbooks_numbers(tmp_path):
    story = run("examples/two_step_descent.py", "picture.png", cwd=tmp_path)
    assert "rows choose:   A1 | A3 A4 A5 A6 A8 | A2 A7   SSE 67.0000" in story
    assert "centres move: (3, 9.5), (6.5, 5.25), (1.5, 3.5)   SSE 23.2500" in story
    assert "centres move: (3.667, 9), (7, 4.333), (1.5, 3.5)   SSE 14.3333" in story
    assert (tmp_path / "picture.png").stat().st_size > 0


def test_the_picture_example_gains_with_every_bit(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    table = [
        line.split() for line in run("examples/quantize_picture.py", cwd=tmp_path).splitlines()
    ]
    assert [row[1] for row in table[1:]] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    psnr = [float(row[3]) for row in table[1:]]
    assert psnr == sorted(psnr)
    Image.effect_noise((60, 40), 50).save(tmp_path / "in.png")
    story = run("examples/quantize_picture.py", "in.png", "out.png", cwd=tmp_path)
    assert story.splitlines()[-1].startswith("out.png: ")
    assert (tmp_path / "out.png").stat().st_size > 0


def test_the_seeding_example_ranks_the_seedings(tmp_path):
    table = run("examples/kmeans_seedings.py", cwd=tmp_path)
    share = {line[:22].strip(): int(line[22:32].strip(" %")) for line in table.splitlines()[3:]}
    assert len(share) == 7
    assert share["k-means++, greedy"] > share["k-means++, one trial"] > share["random labels"]


def test_the_graph_example_finds_the_medoids_of_societies_and_roads(tmp_path):
    story = run("examples/graph_medoids.py", "picture.png", cwd=tmp_path)
    assert "2 in the middle: 0, 33; 35 hops to all others" in story
    assert "the Medici are closest to all families" in story
    assert "around Bischeri: Bischeri, Guadagni, Lamberteschi, Peruzzi, Strozzi" in story
    assert "Roads: 100,155 junctions, 179,992 roads" in story
    assert (tmp_path / "picture.png").stat().st_size > 0
