"""`coterie index`: built, searched and told of, or one line that says why not.

Covers coterie.cli.index, coterie.cli._index_facts.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie import search
from coterie.cli import _outputs, main
from coterie.cli._outputs import array_writer, write_files
from full_disks import no_file_above

RNG = np.random.default_rng(0)
ROWS = (
    RNG.normal(size=(20, 8))[RNG.integers(20, size=900)] * 3 + RNG.normal(size=(900, 8))
).astype(np.float32)
QUERIES = ROWS[:15] + np.float32(0.1)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("vectors.npy", ROWS)
    np.save("queries.npy", QUERIES)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert main(["index", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    return err


BUILDS = {
    "flat": ["--kind", "flat"],
    "pq": ["--kind", "pq", "--parts", "4", "--bits", "4", "--rerank", "900"],
    "ivf": ["--kind", "ivf", "--parts", "4", "--lists", "12", "--nprobe", "12", "--rerank", "900"],
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", BUILDS)
def test_what_is_built_is_found(kind: str, metric: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "build", "vectors.npy", "-o", "idx", *BUILDS[kind], "--json",
                 "--metric", metric]) == 0  # fmt: skip
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["metric"], facts["n_rows"]) == (kind, metric, 900)
    assert (facts["n_features"], facts["keeps_rows"], facts["written"]) == (8, True, "idx")
    assert main(["index", "search", "idx", "queries.npy", "-k", "7", "-o", "ids.npy",
                 "--distances", "dists.npy", "--threads", "2"]) == 0  # fmt: skip
    assert capsys.readouterr().out.endswith("written         ids.npy, dists.npy\n")
    exact = search.FlatIndex(metric=metric).add(ROWS).search(QUERIES, 7)
    assert_array_equal(np.load("ids.npy"), exact.ids)
    assert_array_equal(np.load("dists.npy"), exact.dists)
    assert main(["index", "info", "idx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        name: value for name, value in facts.items() if name != "written"
    }


def test_options_of_the_index_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "build", "vectors.npy", "-o", "idx", "--kind", "ivf", "--bits", "4",
                 "--rotate", "--seed", "3", "--quiet", "--rerank", "20"]) == 0  # fmt: skip
    assert capsys.readouterr() == ("", "")
    index = search.IVFPQIndex.load("idx")
    assert (index.n_lists, index.rerank, index.nprobe) == (60, 20, 8)
    assert index.quantizer.rotation_ is not None
    same = search.IVFPQIndex(60, 8, 4, rotate=True, rerank=20, random_state=3).fit(ROWS).add(ROWS)
    assert main(["index", "search", "idx", "queries.npy", "-o", "ids.npy", "--quiet", "--nprobe",
                 "3", "--rerank", "30"]) == 0  # fmt: skip
    assert_array_equal(np.load("ids.npy"), same.search(QUERIES, 10, nprobe=3, rerank=30).ids)
    assert main(["index", "info", "idx"]) == 0
    out = capsys.readouterr().out
    assert "n lists         60\n" in out
    assert "parts           8\nbits            4\nbits per vector 32\nrotated         yes\n" in out
    assert "keeps rows      yes\n" in out


@pytest.mark.parametrize("kind", BUILDS)
def test_a_certified_search_is_exact(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    rerank = [] if kind == "flat" else ["--rerank", "1", "--parts", "2", "--bits", "4"]
    assert main(["index", "build", "vectors.npy", "-o", "idx", "--kind", kind, "--quiet",
                 *rerank]) == 0  # fmt: skip
    asking = ["search", "idx", "queries.npy", "-k", "7", "-o", "ids.npy", "--certified"]
    assert main(["index", *asking, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["certified"] is True
    exact = search.FlatIndex().add(ROWS).search(QUERIES, 7)
    assert_array_equal(np.load("ids.npy"), exact.ids)
    if kind == "flat":
        assert "mean_compared" not in facts  # all are
        return
    index: Any = search.load("idx")
    n_compared = index.search_certified(QUERIES, 7).n_compared
    assert (facts["mean_compared"], facts["most_compared"]) == (n_compared.mean(), n_compared.max())
    assert main(["index", *asking]) == 0
    assert f"mean compared   {n_compared.mean():,.1f}\n" in capsys.readouterr().out
    np.save("none.npy", QUERIES[:0])
    asking_nothing = ["none.npy" if one == "queries.npy" else one for one in asking]
    assert main(["index", *asking_nothing]) == 0
    assert "most compared   none\n" in capsys.readouterr().out
    assert "as the proof needs; leave one" in refused(capsys, *asking, "--rerank", "9")
    assert main(["index", "build", "vectors.npy", "-o", "idx", "--kind", kind, "--quiet"]) == 0
    assert "idx has codes only; leave it out, or build the index again with --rerank" in refused(
        capsys, *asking
    )


@pytest.mark.parametrize("kind", BUILDS)
def test_columns_are_chosen_and_found_by_name(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["id,b,name,a,c,d"]
    lines += [f"{i},{b},x{i},{a},{c},{d}" for i, (a, b, c, d) in enumerate(ROWS[:, :4].tolist())]
    Path("table.csv").write_text("\n".join(lines))
    named = ("build", "table.csv", "-o", "idx", "--columns", "a,name")
    assert "'name' holds text, such as 'x0' in line 2; choose among id" in refused(capsys, *named)
    chosen = ("build", "table.csv", "-o", "idx", "--columns", "a,e")
    assert "no column 'e'; it has id, b, name, a, c, d" in refused(capsys, *chosen)
    assert main(["index", "build", "table.csv", "-o", "idx", "--columns", "a,b,c,d", "--quiet",
                 *BUILDS[kind]]) == 0  # fmt: skip
    assert main(["index", "search", "idx", "table.csv", "-o", "ids.npy", "-k", "3", "--quiet"]) == 0
    exact = search.FlatIndex().add(ROWS[:, :4]).search(ROWS[:, :4], 3)
    assert_array_equal(np.load("ids.npy"), exact.ids)
    header, *others = lines
    Path("other.csv").write_text("\n".join([header.replace(",a,", ",e,"), *others]))
    assert "no column 'a'" in refused(capsys, "search", "idx", "other.csv", "-o", "more.npy")


def test_failures_are_one_line_and_leave_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no such option; leave it out, or use --kind ivf" in refused(
        capsys, "build", "vectors.npy", "-o", "idx", "--lists", "4"
    )
    assert "--lists 2000 but the table has 900 rows" in refused(
        capsys, "build", "vectors.npy", "-o", "idx", "--kind", "ivf", "--lists", "2000"
    )
    assert "--parts 9 but the table has 8 columns" in refused(
        capsys, "build", "vectors.npy", "-o", "idx", "--kind", "pq", "--parts", "9"
    )
    assert "ivf: --parts 9 but the table has 8 columns" in refused(
        capsys, "build", "vectors.npy", "-o", "idx", "--kind", "ivf", "--parts", "9"
    )
    small = ("build", "vectors.npy", "-o", "idx", "--max-memory", "10kB")
    assert "or keep their codes alone (--kind pq or ivf).\n" in refused(capsys, *small)
    assert refused(capsys, *small).startswith("coterie: flat: ")
    assert "nothing.npy" in refused(capsys, "build", "nothing.npy", "-o", "idx")
    Path("text.npy").write_text("a,b\n1,2\n")
    assert "write it with numpy.save" in refused(capsys, "build", "text.npy", "-o", "idx")
    for arguments in (("info", "text.npy"), ("search", "text.npy", "text.npy", "-o", "ids.npy")):
        assert "'text.npy': it is not an index of coterie; give" in refused(capsys, *arguments)
    np.save("none.npy", np.empty((0, 8)))
    for kind in ("flat", "pq", "ivf"):
        for metric in ("euclidean", "cosine"):
            assert "no rows to" in refused(
                capsys, "build", "none.npy", "-o", "idx", "--kind", kind, "--metric", metric
            )
    np.save("bad.npy", np.full((3, 8), np.nan))
    assert "has no value in column" in refused(capsys, "build", "bad.npy", "-o", "idx")
    assert main(["index", "build", "vectors.npy", "-o", "idx", "--quiet"]) == 0
    assert "a name that ends in .npy" in refused(
        capsys, "search", "idx", "queries.npy", "-o", "result.csv"
    )
    alien = refused(capsys, "search", "idx", "queries.npy", "-o", "ids.npy", "--nprobe", "2")
    assert "--nprobe 2 was given and an index of kind flat" in alien
    assert alien.endswith("leave it out, or build the index again with --kind ivf.\n")
    search.FlatIndex().save("empty")
    assert "no rows to search; build it again from a file with vectors." in refused(
        capsys, "search", "empty", "queries.npy", "-o", "ids.npy"
    )
    assert main(["index", "build", "vectors.npy", "-o", "coded", "--kind", "pq", "--quiet"]) == 0
    assert "build the index again with --rerank" in refused(
        capsys, "search", "coded", "queries.npy", "-o", "ids.npy", "--rerank", "5"
    )
    assert main(["index", "search", "idx", "none.npy", "-o", "nobody.npy", "--quiet"]) == 0
    assert np.load("nobody.npy").shape == (0, 10)
    assert "name two files" in refused(
        capsys, "search", "idx", "queries.npy", "-o", "a.npy", "--distances", "a.npy"
    )
    np.save("narrow.npy", QUERIES[:, :3])
    assert "rows of 8 columns and the queries have 3" in refused(
        capsys, "search", "idx", "narrow.npy", "-o", "ids.npy"
    )
    content = Path("idx").read_bytes()
    Path("idx").write_bytes(content[:-5])
    damaged = refused(capsys, "info", "idx")
    assert "it is damaged: it ends within" in damaged
    assert "; build the index again, or use another copy of the file." in damaged
    assert "it is damaged" in refused(capsys, "search", "idx", "queries.npy", "-o", "ids.npy")
    gone = "coterie: gone: there is no such file.\n"
    assert refused(capsys, "info", "gone") == gone
    assert refused(capsys, "build", "gone", "-o", "other") == gone
    assert refused(capsys, "search", "gone", "queries.npy", "-o", "ids.npy") == gone
    assert refused(capsys, "search", "coded", "gone", "-o", "ids.npy") == gone


# ---- two results: both or neither

PAIR = ["index", "search", "idx", "queries.npy", "-o", "ids.npy", "--distances", "dists.npy"]


@pytest.fixture
def built(files: None) -> None:
    assert main(["index", "build", "vectors.npy", "-o", "idx", "--quiet"]) == 0


def everything() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def moved(name: str, monkeypatch: pytest.MonkeyPatch, then: Any) -> None:
    """Let something happen instead of the move of one file into its place."""
    true = _outputs.move_into_place

    def move(scratch: Path, path: Path) -> None:
        if path.name != name:
            return true(scratch, path)
        return then(scratch, path)

    monkeypatch.setattr(_outputs, "move_into_place", move)


@pytest.mark.parametrize("there", [[], ["ids.npy"], ["dists.npy"], ["ids.npy", "dists.npy"]])
@pytest.mark.parametrize("failing", ["ids.npy", "dists.npy"])
def test_a_pair_is_whole_or_as_it_was(
    built: None, there: list[str], failing: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for name in there:
        Path(name).write_bytes(b"old")
        Path(name).chmod(0o640)
    before = everything()

    def fails(scratch: Path, path: Path) -> None:
        raise OSError(5, "Input/output error", str(path))

    with monkeypatch.context() as patch:
        moved(failing, patch, fails)
        assert main([*PAIR, "--quiet"]) == 2
    assert f"{failing}: Input/output error" in capsys.readouterr().err
    assert everything() == before
    assert all(Path(name).stat().st_mode & 0o777 == 0o640 for name in there)
    assert main([*PAIR, "--quiet"]) == 0
    assert all(Path(name).stat().st_mode & 0o777 == 0o640 for name in there)
    assert sorted(os.listdir()) == ["dists.npy", "ids.npy", "idx", "queries.npy", "vectors.npy"]


@pytest.mark.parametrize("failing", ["ids.npy", "dists.npy"])
def test_ctrl_c_between_the_two_leaves_neither(
    built: None, failing: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    before, true = everything(), _outputs.move_into_place

    def interrupted(scratch: Path, path: Path) -> None:
        true(scratch, path)  # it stands there already
        os.kill(os.getpid(), signal.SIGINT)

    moved(failing, monkeypatch, interrupted)
    handler = signal.getsignal(signal.SIGINT)
    assert main(PAIR) == 130
    assert signal.getsignal(signal.SIGINT) is handler
    assert capsys.readouterr() == ("", "coterie: interrupted\n")
    assert everything() == before
    assert len(os.listdir()) == 3


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_full_disk_leaves_the_pair_as_it_was(built: None, old: bytes | None, capsys: Any) -> None:
    if old is not None:
        Path("ids.npy").write_bytes(old)
    before = everything()
    np.save("queries.npy", np.repeat(QUERIES, 10, axis=0))
    before["queries.npy"] = Path("queries.npy").read_bytes()
    with no_file_above(10_000):  # ids of 8 bytes do not fit
        assert main([*PAIR, "-k", "20"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ids.npy: File too large")
    assert err.count("\n") == 1
    assert everything() == before


def test_a_pipe_is_filled_after_the_file_and_a_link_stays(tmp_path: Path) -> None:
    os.mkfifo("pipe.npy")
    Path("there").mkdir()
    Path("link.npy").symlink_to("there/real.npy")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe.npy").read_bytes()))
    reader.start()
    arrays = {Path("pipe.npy"): np.arange(5), Path("link.npy"): np.arange(3.0)}
    write_files({path: array_writer(array) for path, array in arrays.items()})
    reader.join(30)
    Path("copy.npy").write_bytes(got[0])
    assert_array_equal(np.load("copy.npy"), np.arange(5))
    assert_array_equal(np.load("there/real.npy"), np.arange(3.0))
    assert Path("link.npy").is_symlink()
    assert os.listdir("there") == ["real.npy"]


def test_where_files_have_one_name_only_the_old_one_is_copied(
    built: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*names: Any) -> None:
        raise OSError(1, "Operation not permitted")

    Path("ids.npy").write_bytes(b"old")
    before = everything()
    monkeypatch.setattr(os, "link", no_links)

    def fails(scratch: Path, path: Path) -> None:
        raise OSError(5, "Input/output error", str(path))

    moved("dists.npy", monkeypatch, fails)
    assert main([*PAIR, "--quiet"]) == 2
    assert everything() == before


def test_one_file_under_two_names_is_refused(built: None, capsys: Any) -> None:
    Path("again.npy").symlink_to("ids.npy")
    assert "name two files" in refused(
        capsys, "search", "idx", "queries.npy", "-o", "ids.npy", "--distances", "again.npy"
    )
