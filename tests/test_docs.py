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
KINDS = {
    "kinds.png", "kind_centroid.png", "kind_connectivity.png", "kind_density.png",
    "kind_distribution.png",
}  # fmt: skip

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.skipif(not FIGURES.is_dir(), reason="the documentation is not here")


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
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # as in the root of a clone
    names = {"__name__": "__page__"}
    for block in python_blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name_of(page), "exec", dont_inherit=True), names)
        matplotlib.pyplot.close("all")  # a page may draw more than one keeps open
        promised = promised_output(block)
        if promised:
            assert printed.getvalue().splitlines() == promised


def prose_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def targets(page: Path) -> list[str]:
    prose = prose_of(page)
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


def listed(page: Path) -> set[Path]:
    """The pages that the tables of contents of a page name, patterns and all."""
    found = set()
    for table in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.M | re.S):
        for line in filter(None, (line.strip() for line in table.splitlines())):
            if not line.startswith(":"):
                found.update(page.parent.glob(re.sub(r".*<(.*)>", r"\1", line) + ".md"))
    return found


def included(page: Path) -> list[str]:
    """Files that a page takes in."""
    return re.findall(r"^```\{include\} (\S+)", page.read_text(), re.M)


def test_every_page_can_be_reached_from_the_first():
    reached, new = set(), {ROOT / "docs" / "index.md"}
    while new:
        reached |= new
        new = set().union(*(listed(page) for page in new)) - reached
    reached |= {page.parent / name for page in reached for name in included(page)}
    assert reached >= set((ROOT / "docs").glob("*.md")), "name the page in a toctree"


METHODS = (
    "bayesian", "bernoulli", "bisecting", "categorical", "codebooks", "dbscan", "gaussian",
    "hdbscan", "hierarchy", "images", "kcenter", "kmeans", "kmedoids", "minibatch", "mixed",
    "mixtures", "poisson", "product_quantization", "seeding", "student_t", "vocabulary_tree",
)  # fmt: skip
#: What a page of a method must have besides the idea that it opens with.
PARTS = {
    "picture": r"!\[.+\]\(figures/.+\.png\)",
    "formula": r"^ {4,}.*[=←≥].*|\$.+\$",
    "when it fails": r"^##+ .*([Ww]hen not|fails)",
    "cost and memory": r"^##+ .*([Cc]ost|[Mm]emory)",
}


@pytest.mark.parametrize("method", METHODS)
def test_a_page_of_a_method_has_all_its_parts(method):
    page = ROOT / "docs" / f"{method}.md"
    lacking = {
        part for part, sign in PARTS.items() if not re.search(sign, prose_of(page), re.MULTILINE)
    }
    assert not lacking
    assert python_blocks(page), "an example"


def test_figures_are_small_shown_and_drawn_by_a_script():
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in targets(page)
        if target.endswith((".png", ".gif"))
    }
    drawn = "".join(script.read_text() for script in FIGURES.glob("*.py"))
    for figure in (*FIGURES.glob("*.png"), *FIGURES.glob("*.gif")):
        assert figure in shown
        # Those of the gallery are drawn by the lines above them.
        assert f'"{figure.name}"' in drawn or figure.name.startswith("gallery_")
        assert figure.stat().st_size < (200_000 if figure.suffix == ".png" else 500_000)


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
        ("bayesian", {}, {"bayesian.png"}),
        ("bernoulli_digits", {"n_init": 1}, {"bernoulli_digits.png"}),
        ("bisecting", {}, {"bisecting.png"}),
        ("codewords", {"n_rows": 500}, {"codewords.png"}),
        ("counts", {}, {"counts.png"}),
        ("covering", {}, {"covering.png"}),
        ("densities", {}, {"densities.png"}),
        ("customers", {}, {"customers.png"}),
        ("descent", {}, {"descent.png", "film.png"}),
        ("digit_pictures", {}, {"digit_pictures.png"}),
        ("documents", {"n_documents": 100}, {"documents.png"}),
        ("em_steps", {}, {"em_steps.png"}),
        ("few_colors", {"n_colors": (3,)}, {"few_colors.png"}),
        ("gallery", {}, {path.name for path in FIGURES.glob("gallery_*.png")}),
        ("gaussian", {}, {"gaussian.png"}),
        ("faithful", {}, {"faithful.png"}),
        ("films", {"dpi": 20}, {"film_kmeans.gif", "film_em.gif"}),
        ("held_out", {}, {"held_out.png"}),
        ("vocabulary_tree", {"n_rows": 500}, {"vocabulary_tree.png"}),
        ("good_and_bad_start", {"n_rows": 300}, {"good_and_bad_start.png"}),
        ("k_distances", {}, {"k_distances.png"}),
        ("karate", {}, {"karate.png"}),
        ("kinds", {}, KINDS),
        ("latent_classes", {"n_rows": 500}, {"latent_classes.png"}),
        ("leaders", {"n_rows": 60, "n_orders": 5}, {"leaders.png"}),
        ("linkages", {"n_rows": 60}, {"linkages.png", "dendrograms.png"}),
        ("local_minimum", {}, {"local_minimum.png"}),
        ("lower_bound", {}, {"lower_bound.png"}),
        ("medoids", {"n_rows": 90, "n_starts": 3}, {"medoids.png"}),
        ("mini_batches", {"n_rows": 20_000}, {"mini_batches.png"}),
        ("penguins", {}, {"penguins.png"}),
        ("product_cells", {"n_rows": 500}, {"product_cells.png"}),
        ("strays", {}, {"strays.png"}),
        ("ways_down", {"n_rows": 300}, {"ways_down.png"}),
        ("one_or_two", {}, {"one_or_two.png"}),
        ("seedings", {"n_seeds": 2}, {"seedings.png", "worst_starts.png"}),
        ("standardised", {}, {"standardised.png"}),
        ("textbook_dbscan", {}, {"textbook_dbscan.png"}),
        ("twin_modes", {"grid": 20}, {"twin_modes.png"}),
        ("varying_density", {}, {"varying_density.png"}),
        ("wrong_k", {}, {"wrong_k.png"}),
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


def test_the_geyser_example_comes_down_as_computed(tmp_path):
    story = run("examples/old_faithful.py", cwd=tmp_path)
    assert "890.63, 516.27, 216.46, 80.13, 79.67, 79.61, 79.58" in story
    assert "sizes [174  98], SSE 79.5760" in story
    assert "  20  -541.97\n  30  -540.81\n  40  -449.00\n  50  -385.46" in story


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


def told(script: str) -> str:
    """What an example prints, run in this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
    return printed.getvalue()


def scores_in(story: str) -> dict[str, float]:
    """Adjusted Rand indices by method, as the examples of applications print them."""
    lines = re.findall(r"^  (.*?) +ARI ([\d.]+\d)", story, re.MULTILINE)
    return {name: float(score) for name, score in lines}


def test_the_customer_example_finds_the_kinds():
    pytest.importorskip("pandas")
    story = told("customer_table")
    scores = scores_in(story)
    assert scores["mixture"] > 0.85 > scores["k-means, numbers"] > scores["k-means, all coded"]
    bic = dict(re.findall(r"(\d): (\d+)", story.split("BIC:")[1].splitlines()[0]))
    assert min(bic, key=lambda k: int(bic[k])) == "4"
    assert "mostly web and invoice" in story


def test_the_document_example_needs_directions_or_equal_lengths():
    story = told("topics_of_documents")
    scores = scores_in(story)
    assert scores["cosine k-means, TF-IDF"] > 0.95
    assert scores["k-means, counts"] < scores["Poisson mixture, counts"] < 0.3
    assert scores["Poisson mixture, 30 words"] > 0.7
    silhouettes = dict(re.findall(r"^  (\d)  (0\.\d+)  \d+$", story, re.MULTILINE))
    assert max(silhouettes, key=lambda k: float(silhouettes[k])) == "5"


def test_the_digit_example_scores_clusters_and_searches():
    story = told("digit_images")
    scores = scores_in(story)
    assert scores["Ward, 10"] > scores["k-means, 10"] > scores["Bernoulli mixture, 10"] > 0.4
    recall = [int(share) for share in re.findall(r"beam \d: (\d+)%", story)]
    assert recall == sorted(recall)
    assert recall[-1] > 95
