"""Tables: numeric columns come in as they are, and everything else is an error with advice.

Covers coterie.data._delimited.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie.data import open as open_source
from coterie.data.tables import read_table
from coterie.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_numbers_are_kept_and_text_is_skipped(write):
    table = read_table(write('"who","a","b","ok"\n"x",1,2.5,true\n"y, z",3,4e1,false\n'))
    assert table.names == ("a", "b", "ok")
    assert table.skipped == ("who",)
    assert_array_equal(table.values, [[1, 2.5, 1], [3, 40, 0]])
    assert table.values.dtype == np.float64


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a\tb\n1\t2\n3\t4\n", "t.tsv"),
        ("a\tb\n1\t2\n3\t4\n", "t.txt"),
        ("a;b\n1;2\n3;4\n", "t.csv"),
        ("a,b\r\n1,2\r\n3,4\r\n", "t.csv"),
        (" a , b\n1, 2\n3, 4", "t.csv"),
        ("\n\na,b\n1,2\n\n3,4\n\n", "t.csv"),
        (b"\xef\xbb\xbfa,b\n1,2\n3,4\n", "t.csv"),
        ("a,b\n1,2\n3,4\n", "T.CSV"),
    ],
)
def test_separators_line_ends_and_blanks(write, content, name):
    table = read_table(write(content, name))
    assert table.names == ("a", "b")
    assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_tabs_are_what_separates_a_tsv_even_with_commas_in_its_header(write):
    assert read_table(write("a,b,c\td\n1\t2\n", "t.tsv")).names == ("a,b,c", "d")


def test_a_first_line_of_numbers_is_data(write):
    table = read_table(write("1,2\n3,4\n"))
    assert table.names == ("x0", "x1")
    assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_a_column_without_name_is_taken_for_row_numbers(write):
    table = read_table(write('"","a"\n"1",5\n"2",6\n'))
    assert table.names == ("a",)
    assert table.skipped == ("(no name)",)


def test_the_type_of_a_column_does_not_depend_on_blocks(write, monkeypatch):
    monkeypatch.setattr("coterie.data._delimited._BLOCK_BYTES", 100)
    values = read_table(write("\n".join(["a", *["12345678"] * 1000, "0.5"]))).values
    assert values.shape == (1001, 1)
    assert values[-1, 0] == 0.5


def test_long_lines(write):
    names = [f"{'long' * 2000}{i}" for i in range(200)]  # 1.6 MB
    table = read_table(write(",".join(names) + "\n" + ",".join("1" for _ in names)))
    assert table.names == tuple(names)
    assert table.values.shape == (1, 200)


def test_columns_are_selected_in_the_order_asked_for(write):
    path = write("a,b,c\n1,2,\n3,4,5\n")
    table = read_table(path, columns=["b", "a"])
    assert table.names == ("b", "a")
    assert_array_equal(table.values, [[2, 1], [4, 3]])


def test_names_of_a_file_without_header(write):
    path = write("1,2\n3,4\n")
    assert_array_equal(read_table(path, columns=["x1"]).values, [[2], [4]])
    assert_array_equal(read_table(path, columns=["x1", "x0"]).values, [[2, 1], [4, 3]])
    named = read_table(path, columns=["length", "width"])
    assert named.names == ("length", "width")
    assert_array_equal(named.values, [[1, 2], [3, 4]])
    with pytest.raises(DataError, match="no column 'length'; it has x0, x1"):
        read_table(path, columns=["length"])


def test_latin1_text_in_a_skipped_column_does_no_harm(write):
    table = read_table(write(b"name,a\ncaf\xe9,1\n"))
    assert table.skipped == ("name",)
    assert_array_equal(table.values, [[1]])


def test_missing_values_in_columns_not_used_do_no_harm(write):
    assert read_table(write("a,b\n1,\n2,3\n"), columns=["a"]).values.shape == (2, 1)


BAD = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n", "the file is empty"),
    "header only": (b"a,b\n", "a header but no rows"),
    "no numbers": (
        b"a,b\nx,y\n",
        "no column is numeric .column 'a' holds text, such as 'x' in line 2",
    ),
    "one missing": (b"a,b\n1,2\n3,\n5,6\n", r"column 'b' has no value in row 2 .line 3.;"),
    "several missing": (
        b"a,b\n1,2\nNA,3\n,4\n",
        r"column 'a' .* 2 rows .the first is row 2, line 3: 'NA'",
    ),
    "nan": (b"a\n1\nnan\n", "column 'a' has no value in row 2"),
    "infinite": (b"a\n1\n-inf\n", "column 'a' is infinite in row 2"),
    "too large": (b"a\n1\n1e999\n", "column 'a' is infinite in row 2"),
    "ragged short": (b"a,b\n1,2\n3\n", "line 3 has 1 cell where the first line has 2"),
    "ragged long": (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 cells where the first line has 2"),
    "latin1 header": (b"caf\xe9,b\n1,2\n", "not UTF-8"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "not a text file"),
    "binary": (bytes(range(256)) * 10, "not a text file"),
    "same name twice": (b"a,a\n1,2\n", "several columns are named 'a'"),
    "text then numbers": (b"a\n1\nx\n", "no column is numeric"),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_bad_tables_are_refused_in_one_sentence(write, content, said):
    with pytest.raises(DataError, match=said) as caught:
        read_table(write(content))
    assert "\n" not in str(caught.value)
    assert "t.csv: " in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["z"], "no column 'z'; it has who, a, b; name one of these, or rename a column"),
        (["a", "Whom"], r"it has who, a, b; did you mean 'who'\? Names must agree to the letter"),
        (["a", "who"], "column 'who' holds text, such as 'x' in line 2; choose among a, b"),
        (["a", "a"], "name each column once"),
        ([], "name each column once, at least one"),
    ],
)
def test_bad_selections(write, columns, said):
    with pytest.raises(DataError, match=said):
        read_table(write("who,a,b\nx,1,2\n"), columns=columns)


def test_many_names_are_not_all_listed(write):
    names = [f"c{i}" for i in range(50)]
    path = write(",".join(names) + "\n" + ",".join("1" for _ in names))
    with pytest.raises(DataError, match="c19 and 30 more"):
        read_table(path, columns=["z"])


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="directory"):
        read_table(tmp_path)


# ---- NPY


def test_npy_is_mapped_not_read(tmp_path):
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "t.npy", rows)
    table = read_table(tmp_path / "t.npy")
    assert isinstance(table.values, np.memmap)
    assert table.names == ("x0", "x1")
    assert_array_equal(table.values, rows, strict=False)
    assert table.values.dtype == np.float32
    assert isinstance(read_table(tmp_path / "t.npy", ["a", "b"]).values, np.memmap)
    assert_array_equal(read_table(tmp_path / "t.npy", ["x1"]).values, rows[:, 1:])


@pytest.mark.parametrize("dtype", ["int32", "bool", "float16", ">f8", "uint8"])
def test_npy_of_other_numbers_becomes_float64(tmp_path, dtype):
    rows = np.array([[0, 1], [1, 0]], dtype=dtype)
    np.save(tmp_path / "t.npy", rows)
    values = read_table(tmp_path / "t.npy").values
    assert values.dtype == np.dtype("f8")
    assert values.dtype.isnative
    assert not isinstance(values, np.memmap)
    assert_array_equal(values, rows)


def test_npy_with_one_dimension_is_one_column(tmp_path):
    np.save(tmp_path / "t.npy", np.arange(4.0))
    assert read_table(tmp_path / "t.npy").values.shape == (4, 1)


def test_npy_in_fortran_order(tmp_path):
    rows = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    np.save(tmp_path / "t.npy", rows)
    assert_array_equal(read_table(tmp_path / "t.npy").values, rows)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.float64(3), "0 dimensions"),
        (np.zeros((0, 2)), "nothing to read"),
        (np.zeros((2, 0)), "nothing to read"),
        (np.array([["a"]]), "no real numbers"),
        (np.zeros((2, 2), dtype=complex), "no real numbers"),
        (np.array([[1.0, 2.0], [np.nan, 3.0]]), "column 'x0' has no value in row 2"),
        (np.array([[1.0, np.inf]]), "column 'x1' is infinite in row 1"),
    ],
)
def test_bad_npy_arrays(tmp_path, array, said):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(DataError, match=said):
        read_table(tmp_path / "t.npy")


@pytest.mark.parametrize("read", [read_table, open_source])
def test_an_npy_file_that_is_none(tmp_path, read):
    path = tmp_path / "t.npy"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"begins like something else; .* such as \.csv") as caught:
        read(path)
    assert "pickle" not in str(caught.value)
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"NPY array of numbers \(it holds objects\)"):
        read(path)


def test_bad_npy_files(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="not a readable NPY"):
        read_table(path)
    np.save(path, np.zeros((100, 3)))
    whole = path.read_bytes()
    for length in (0, 3, 8, 40, 200, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a readable NPY"):
            read_table(path)
    np.savez(tmp_path / "z.npz", a=np.zeros(3))
    path.write_bytes((tmp_path / "z.npz").read_bytes())
    with pytest.raises(DataError, match="no real numbers"):
        read_table(path)


def test_a_bad_value_in_a_late_chunk_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.data.columns._TILE_NUMBERS", 64)
    rows = np.zeros((100, 2))
    rows[[70, 99], 1] = np.nan
    np.save(tmp_path / "t.npy", rows)
    with pytest.raises(DataError, match=r"column 'x1' has no value in 2 rows .the first is row 71"):
        read_table(tmp_path / "t.npy")


def test_pyarrow_missing(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'coterie\[files\]'"):
        read_table(write("a\n1\n"))


def test_the_cell_that_is_shown_of_a_text_column_is_no_number(tmp_path):
    path = tmp_path / "half.csv"
    path.write_text("a,b\n1,2\n3,x\n")
    (note,) = read_table(path).notes
    assert "such as 'x' in line 3" in note
