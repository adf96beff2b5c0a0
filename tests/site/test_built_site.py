"""The site that `make docs` built: every public name, no other host, search offline."""

from __future__ import annotations

import functools
import http.server
import importlib
import pkgutil
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import browsers

SITE = Path(__file__).parents[2] / "build" / "site"
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="run `make docs` first")

PUBLIC = (
    "coterie", "coterie.centroid", "coterie.medoid", "coterie.mixture", "coterie.hierarchy",
    "coterie.density", "coterie.quantize", "coterie.search", "coterie.neighbors",
    "coterie.distance", "coterie.evaluate", "coterie.select", "coterie.report", "coterie.plots",
    "coterie.data", "coterie.errors", "coterie.table_model", "coterie.cli",
)  # fmt: skip


@functools.cache
def documented() -> set[str]:
    """Names that other sites could link to."""
    inventory = pytest.importorskip("sphinx.util.inventory")
    listing = inventory.InventoryFile.loads((SITE / "objects.inv").read_bytes(), uri="")
    return {
        name for kind, names in listing.data.items() if kind.startswith("py:") for name in names
    }


def test_every_public_module_is_looked_at() -> None:
    here = importlib.import_module("coterie").__path__
    found = {f"coterie.{each.name}" for each in pkgutil.iter_modules(here)}
    assert {name for name in found if "._" not in name} == set(PUBLIC) - {"coterie"}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    home = importlib.import_module(module)
    top = importlib.import_module("coterie")
    for name in home.__all__:
        places = {f"{module}.{name}"}
        if getattr(top, name, None) is getattr(home, name):
            places.add(f"coterie.{name}")
        assert places & documented(), f"{module}.{name} is not in the reference"


def test_no_page_loads_from_elsewhere() -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source|video|audio)[^>]*\bsrc=["'](?:https?:)?//"""
        r"""|<link[^>]*\brel=["'](?:stylesheet|preload|icon)["'][^>]*href=["'](?:https?:)?//"""
        r"""|url\(["']?(?:https?:)?//|@import\s+["'](?:https?:)?//"""
    )
    for page in [*SITE.rglob("*.html"), *SITE.rglob("*.css")]:
        found = loads.search(page.read_text(encoding="utf-8"))
        assert not found, f"{page.relative_to(SITE)}: {found and found.group()}"


def test_formulae_are_in_the_pages() -> None:
    page = (SITE / "scores_external.html").read_text(encoding="utf-8")
    assert page.count("<math") > 20
    assert not re.search(r"<script[^>]*(mathjax|katex)", page, re.IGNORECASE)


def test_names_in_the_pages_lead_to_the_reference() -> None:
    def leads(page: str, name: str) -> bool:
        text = (SITE / page).read_text(encoding="utf-8")
        return f'href="api/{name}.html#{name}"' in text

    assert leads("kmeans.html", "coterie.KMeans")
    assert leads("scores_external.html", "coterie.evaluate.purity_score")
    assert leads("nearest.html", "coterie.search.FlatIndex")
    assert not leads("theory_em.html", "coterie.plots.free_energy")  # a method is meant
    from_faiss = (SITE / "coming_from_faiss.html").read_text(encoding="utf-8")
    ours = 'href="api/coterie.ProductQuantizer.html#coterie.ProductQuantizer"'
    assert from_faiss.count(ours) == 2  # theirs has the name, too


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site behind the plainest of servers."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def tab() -> Iterator[browsers.Tab]:
    """A browser's tab that notes what it asked for and what it complained of."""
    with browsers.launched() as browser:
        yield browsers.Tab(browser.new_context())


PAGES = ["index.html", "which_method.html", "kmeans.html", "scores_external.html",
         "api/index.html", "api/coterie.KMeans.html"]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_whole_by_themselves(page: str, tab: browsers.Tab, address: str) -> None:
    tab.requests.clear()
    tab.complaints.clear()
    tab.page.goto(f"{address}/{page}", wait_until="load")
    assert tab.requests
    assert all(url.startswith((address, "data:")) for url in tab.requests)
    assert not tab.complaints


@pytest.mark.parametrize("from_disk", [False, True])
def test_search_finds_a_word(from_disk: bool, tab: browsers.Tab, address: str) -> None:
    root = f"file://{quote(str(SITE))}" if from_disk else address
    tab.complaints.clear()
    tab.page.goto(f"{root}/search.html?q=silhouette", wait_until="load")
    wanted = tab.page.locator("ul.search li a[href*='scores_internal']").first
    tab.until(wanted.is_visible, what="the page of the scores is found")  # results come one by one
    assert not tab.complaints
