"""Files of indexes: what was saved comes back, mapped; what is damaged is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie import KMeans
from coterie.errors import FileError
from coterie.search import FlatIndex, IVFPQIndex

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 5)).astype(np.float32)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    FlatIndex(metric="cosine").add(ROWS, np.arange(300) * 3).save(tmp_path / "index")
    return tmp_path / "index"


def test_a_file_gives_the_same_answers_and_is_mapped(saved: Path) -> None:
    before = FlatIndex(metric="cosine").add(ROWS, np.arange(300) * 3)
    for check in (True, False):
        index = FlatIndex.load(saved, check=check)
        assert index.metric == "cosine"
        assert isinstance(index._now.rows, np.memmap)
        for part, other in zip(index.search(ROWS, 4), before.search(ROWS, 4), strict=True):
            assert_array_equal(part, other)


def test_a_loaded_index_goes_on(saved: Path) -> None:
    content = saved.read_bytes()
    index = FlatIndex.load(saved).remove([0]).add(ROWS[:1] * 2)
    assert index.search(ROWS[:1], 1).ids.tolist() == [[898]]
    assert saved.read_bytes() == content
    index.save(saved)
    assert FlatIndex.load(saved).search(ROWS[:1], 1).ids.tolist() == [[898]]


def test_an_empty_index_is_saved_too(tmp_path: Path) -> None:
    FlatIndex().save(tmp_path / "a")
    assert FlatIndex.load(tmp_path / "a").add([[1.0]]).n_rows == 1
    FlatIndex().add([[1.0]]).remove([0]).save(tmp_path / "a")
    assert FlatIndex.load(tmp_path / "a").add([[1.0]]).ids.tolist() == [1]


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FlatIndex.load(tmp_path / "nothing")
    with pytest.raises(FileError, match="not a regular file"):
        FlatIndex.load(tmp_path)
    KMeans(2, n_init=1).fit(ROWS).save(tmp_path / "model")
    for content in (
        b"",
        b"abc",
        b"x" * 100,
        b"\x02" + bytes(7) + b"{}",
        b"\x02" + bytes(7) + b"[]",
    ):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(FileError, match=r"Cannot load .*other': it is not an index .*; give a"):
            FlatIndex.load(tmp_path / "other")
    with pytest.raises(FileError, match=r"not an index of coterie, but a model; .* coterie.load"):
        FlatIndex.load(tmp_path / "model")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_damage_is_noticed(saved: Path, data: st.DataObject) -> None:
    content = bytearray(saved.read_bytes())
    kind = data.draw(st.sampled_from(["flip", "cut", "more"]))
    if kind == "flip":
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content += b"x"
    bad = saved.with_name("bad")
    bad.write_bytes(content)
    try:
        index = FlatIndex.load(bad)
    except FileError:
        return
    # A flipped bit may turn the name of a checksum into another, which is not looked at.
    assert kind == "flip"
    assert place < 1000
    for part, other in zip(
        index.search(ROWS, 4), FlatIndex.load(saved).search(ROWS, 4), strict=True
    ):
        assert_array_equal(part, other)


def test_any_other_setting_is_noticed(tmp_path: Path) -> None:
    IVFPQIndex(5, 2, 4, nprobe=2, random_state=0).fit(ROWS).add(ROWS).save(tmp_path / "index")
    content = (tmp_path / "index").read_bytes()
    assert content.count(b'\\"nprobe\\": 2') == 1
    (tmp_path / "index").write_bytes(content.replace(b'\\"nprobe\\": 2', b'\\"nprobe\\": 3'))
    for check in (True, False):
        with pytest.raises(FileError, match="damaged: its header is not the one that was written"):
            IVFPQIndex.load(tmp_path / "index", check=check)


def test_files_of_earlier_versions_are_read(saved: Path) -> None:
    tamper(saved)  # without a checksum of the header
    assert FlatIndex.load(saved).n_rows == 300


def tamper(path: Path, **changes: Any) -> None:
    """Change the settings of a file and leave its arrays, as one who means to would."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    layout = json.loads(content[8 : 8 + size])
    told = json.loads(layout["__metadata__"]["coterie-index"])
    del told["header_checksum"]
    for key, value in changes.items():
        (told if key in told else told["settings"])[key] = value
    layout["__metadata__"]["coterie-index"] = json.dumps(told)
    header = json.dumps(layout).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "Bag"}, "it holds a Bag, not a FlatIndex"),
        ({"schema": 2}, "in file schema 2, and this version reads 1; upgrade"),
        ({"metric": "none"}, "metric='none' was given"),
        ({"dtype": "float64"}, "its rows are of another type"),
        ({"next_id": 5}, "next id is not above"),
        ({"next_id": "5"}, "next id is not above"),
        ({"checksum": 1}, "arrays are not those that were written"),
        ({"settings": []}, "damaged"),
        ({"columns": list("abcd")}, "its columns have not a name each"),
        ({"columns": [1, 2, 3, 4, 5]}, "its columns have not a name each"),
        ({"columns": "abcde"}, "its columns have not a name each"),
    ],
)
def test_settings_that_contradict_the_arrays_are_refused(
    saved: Path, changes: dict[str, Any], words: str
) -> None:
    tamper(saved, **changes)
    with pytest.raises(FileError, match=words):
        FlatIndex.load(saved)


def test_ids_of_a_file_are_looked_at(tmp_path: Path) -> None:
    index = FlatIndex().add(ROWS[:3])
    index._ids.view[:] = [0, 0, 1]
    index.save(tmp_path / "twice")
    with pytest.raises(FileError, match="an id is there twice"):
        FlatIndex.load(tmp_path / "twice")
    index._ids.view[:] = [-5, 0, 1]
    index.save(tmp_path / "below")
    with pytest.raises(FileError, match="no whole numbers from 0 on"):
        FlatIndex.load(tmp_path / "below")
