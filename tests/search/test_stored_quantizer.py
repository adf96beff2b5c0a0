"""PQIndex on real quantizers, and in files. Covers coterie.search._stored_quantizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from brute_twin import brute
from coterie import ProductQuantizer
from coterie.errors import FileError
from coterie.search import IVFPQIndex, PQIndex
from toy_quantizer import ToyQuantizer

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 10))[RNG.integers(40, size=900)] + 0.2 * RNG.normal(size=(900, 10))
ROWS = ROWS.astype(np.float32)
QUERIES = (ROWS[:20] + 0.1).astype(np.float32)


@pytest.fixture(scope="module", params=[(3, 8, False), (4, 4, False), (3, 4, True)])
def index(request: pytest.FixtureRequest) -> PQIndex:
    n_parts, bits, rotate = request.param
    quantizer = ProductQuantizer(n_parts, bits=bits, rotate=rotate, n_iter=4, random_state=0)
    return PQIndex(quantizer.fit(ROWS), keep_rows=True).add(ROWS)


def test_distances_are_the_quantizers(index: PQIndex) -> None:
    found = index.search(QUERIES, 9)
    theirs = index.quantizer.asymmetric_distances(QUERIES, index.quantizer.encode(ROWS))  # type: ignore[attr-defined]
    want = np.sqrt(np.sort(theirs, axis=1)[:, :9])
    np.testing.assert_allclose(found.dists, want, rtol=1e-4, atol=1e-4)
    chosen = np.sqrt(np.take_along_axis(theirs, found.ids, axis=1))
    np.testing.assert_allclose(chosen, found.dists, rtol=1e-4, atol=1e-4)


def test_certified_answers_are_exact(index: PQIndex) -> None:
    proved = index.search_certified(QUERIES, 6)
    dists, ids = brute(ROWS, np.arange(len(ROWS)), QUERIES, 6, "euclidean")
    assert_array_equal(proved.ids, ids)
    assert_array_equal(proved.dists, dists)
    assert proved.n_compared.mean() < 0.5 * len(ROWS)


def test_a_file_gives_the_same_answers_and_is_mapped(index: PQIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    again = PQIndex.load(tmp_path / "index")
    assert isinstance(again._now.blocks, np.memmap)
    assert isinstance(again._now.kept.rows, np.memmap)
    for ask in ("search", "search_certified"):
        first, second = getattr(index, ask)(QUERIES, 5), getattr(again, ask)(QUERIES, 5)
        for part, other in zip(first, second, strict=True):
            assert_array_equal(part, other)
    again.remove([3, 4]).add(ROWS[3:4], [4])
    assert again.search_certified(ROWS[3:4], 1).ids.tolist() == [[4]]
    assert_array_equal(again.codes()[-1], index.codes()[3])


def test_codes_without_rows_are_saved_too(index: PQIndex, tmp_path: Path) -> None:
    alone = PQIndex(index.quantizer).add(ROWS[:100])
    alone.save(tmp_path / "index")
    again = PQIndex.load(tmp_path / "index")
    assert_array_equal(again.search(QUERIES, 5).ids, alone.search(QUERIES, 5).ids)
    assert not again.keep_rows


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "index"
    quantizer = ProductQuantizer(2, bits=4, n_iter=2, random_state=0).fit(ROWS[:100, :4])
    PQIndex(quantizer, keep_rows=True).add(ROWS[:70, :4]).save(path)
    return path


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_damage_is_noticed_or_does_no_harm(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[place:]
    bad = small.with_name("bad")
    bad.write_bytes(content)
    try:
        index = PQIndex.load(bad, check=data.draw(st.booleans()))
    except FileError:
        return
    index.search(ROWS[:3, :4], 2)
    index.search_certified(ROWS[:3, :4], 2)


def tamper(path: Path, change: Any) -> Path:
    """A copy with changed settings and the same arrays."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    layout = json.loads(content[8 : 8 + size])
    told = json.loads(layout["__metadata__"]["coterie-index"])
    del told["header_checksum"]
    change(told["settings"])
    layout["__metadata__"]["coterie-index"] = json.dumps(told)
    header = json.dumps(layout).encode()
    bad = path.with_name("tampered")
    bad.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
    return bad


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told["quantizer"].update({"class": "KMeans"}), "it sets .*, which KMeans"),
        (lambda told: told["quantizer"].update({"class": "Popen"}), "no such estimator"),
        (lambda told: told["quantizer"]["params"].update(bits=5), "inconsistent"),
        (lambda told: told["quantizer"]["fitted"].pop("codewords_"), "damaged"),
        (lambda told: told.update(keep_rows=False), "nothing refers to its array"),
        (lambda told: told.update(dtype="float64"), "its rows are of another type"),
        (lambda told: told.pop("quantizer"), "damaged"),
    ],
)
def test_settings_that_contradict_the_arrays_are_refused(
    small: Path, change: Any, words: str
) -> None:
    with pytest.raises(FileError, match=words):
        PQIndex.load(tamper(small, change))


def test_what_is_no_estimator_of_coterie_is_not_saved(tmp_path: Path) -> None:
    index = PQIndex(ToyQuantizer(ROWS, 2, 4)).add(ROWS)
    with pytest.raises(FileError, match="only the public estimators of coterie"):
        index.save(tmp_path / "index")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [PQIndex, IVFPQIndex])
def test_the_quantizer_follows_the_threads_of_the_index(kind: Any, tmp_path: Path) -> None:
    files = []
    for n_threads in (1, 2):
        if kind is PQIndex:
            quantizer = ProductQuantizer(2, bits=4, n_iter=3, random_state=0, n_threads=n_threads)
            made = PQIndex(quantizer.fit(ROWS), n_threads=n_threads)
        else:
            made = IVFPQIndex(4, 2, 4, random_state=0, n_threads=n_threads).fit(ROWS)
        made.add(ROWS).save(tmp_path / "index")
        files.append((tmp_path / "index").read_bytes())
        assert made.quantizer.history_[0]["seconds"] > 0  # the index's own stays as it is
    assert files[0] == files[1]
    again = kind.load(tmp_path / "index", n_threads=3)
    assert again.quantizer.n_threads == 3
    assert len(again.quantizer.history_) == len(made.quantizer.history_)
    assert kind.load(tmp_path / "index").quantizer.n_threads is None


def test_rows_are_coded_on_the_threads_of_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    true = ProductQuantizer.encode

    def encode(self: ProductQuantizer, X: Any, **options: Any) -> Any:
        seen.append(self.n_threads)
        return true(self, X, **options)

    monkeypatch.setattr(ProductQuantizer, "encode", encode)
    quantizer = ProductQuantizer(2, bits=4, n_iter=3, random_state=0, n_threads=1).fit(ROWS)
    PQIndex(quantizer, n_threads=2).add(ROWS)
    IVFPQIndex(4, 2, 4, random_state=0, n_threads=2).fit(ROWS).add(ROWS)
    assert (seen, quantizer.n_threads) == ([2, 2], 1)


def test_a_quantizer_that_is_not_fitted_is_said_to_be() -> None:
    with pytest.raises(NotFittedError, match=r"^PQIndex: the quantizer is not fitted; call its"):
        PQIndex(ProductQuantizer(2))
