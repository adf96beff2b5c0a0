"""One door for files of any index. Covers coterie.search.files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie import ProductQuantizer, search
from coterie.errors import FileError
from coterie.search import _index_file

ROWS = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)


def test_the_kind_that_was_saved_is_loaded(tmp_path: Path) -> None:
    quantizer = ProductQuantizer(2, bits=4, n_iter=2, random_state=0).fit(ROWS)
    for index in (search.FlatIndex(), search.PQIndex(quantizer)):
        index.add(ROWS).save(tmp_path / "index")
        again = search.load(tmp_path / "index", n_threads=1)
        assert type(again) is type(index)
        assert again.n_threads == 1
        np.testing.assert_array_equal(again.search(ROWS, 3).ids, index.search(ROWS, 3).ids)


def test_what_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        search.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"Cannot load .*text'"):
        search.load(tmp_path / "text")
    _index_file.write_index(tmp_path / "later", "GraphIndex", {}, {})
    with pytest.raises(FileError, match="it holds a 'GraphIndex', which this version does not"):
        search.load(tmp_path / "later")
    quantizer = ProductQuantizer(2, bits=4, n_iter=1, random_state=0).fit(ROWS)
    search.PQIndex(quantizer).add(ROWS).save(tmp_path / "pq")
    with pytest.raises(FileError, match="it holds a PQIndex, not a FlatIndex"):
        search.FlatIndex.load(tmp_path / "pq")


def test_each_door_names_the_other(tmp_path: Path) -> None:
    search.FlatIndex().add(ROWS).save(tmp_path / "index")
    with pytest.raises(FileError, match=r"not a model; open it with coterie\.search\.load"):
        coterie.load(tmp_path / "index")
    ProductQuantizer(2, bits=4, n_iter=1, random_state=0).fit(ROWS).save(tmp_path / "model")
    with pytest.raises(FileError, match=r"not an index of coterie, but a model; .* coterie\.load"):
        search.load(tmp_path / "model")
