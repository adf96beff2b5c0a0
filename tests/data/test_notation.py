"""Cells as people write them: read where they are numbers, named where they are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie.data.tables import read_table
from coterie.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('"1,234"', 1234),
        ('"-1,234,567.5"', -1234567.5),
        ('"12,34,567"', 1234567),
        ("1 234", 1234),
        ("1\u202f234.5", 1234.5),
        ("1'234", 1234),
        ("5%", 0.05),
        ("12.5 %", 0.125),
        ('"1,250%"', 12.5),
        ("\u22125", -5),
        ("- 5", -5),
        ("+.5e1", 5),
    ],
)
def test_one_number_in_another_notation_keeps_its_column(write, cell, value):
    table = read_table(write(f"a,b\n1,1\n2,{cell}\n3,3\n4,4\n"))
    assert table.names == ("a", "b")
    assert_allclose(table.values[:, 1], [1, value, 3, 4])


MARKS = ["?", "-", "NA", "n/a", "N/A", "", "nan", "NaN", "NULL", "None", "none", "#N/A", "#n/a",
         ".", "--", " ? ", "Na", "<NA>"]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_marks_of_missing_values_are_known(write, mark):
    path = write(f"a,b\n1,1\n2,{mark}\n3,3\n")
    with pytest.raises(DataError, match=r"column 'b' has no value in row 2 .line 3"):
        read_table(path)
    table = read_table(path, missing=True)
    assert table.names == ("a", "b")
    assert_array_equal(table.values[:, 1], [1, np.nan, 3])


def test_a_bad_cell_is_named_by_line_column_and_value(write):
    path = write('a,b\n\n"1\n",2\n3,4\n5,6l\n7,8\n')
    with pytest.raises(DataError, match=r"line 6, column 'b': '6l' is not a number; mend"):
        read_table(path)
    with pytest.raises(DataError, match=r"and 1 more cells"):
        read_table(write("a\n1\nx\n2\n3\ny\n", "other.csv"))
    assert read_table(path, without=["b"]).names == ("a",)
    assert read_table(path, columns=["a"]).values[0, 0] == 1


def test_text_is_left_out_with_a_note_that_shows_a_cell(write):
    table = read_table(write("who,a,when,gap\n?,1,2020-01-01,\nAnn,2,2021-01-01,NA\n"))
    assert table.names == ("a",)
    assert table.skipped == ("who", "when", "gap")
    assert table.notes == (
        "column 'who' holds text, such as 'Ann' in line 3; it is left out",
        "column 'when' holds dates or times, such as '2020-01-01'; it is left out",
        "column 'gap' has no value in any row; it is left out",
    )


def test_notes_on_very_many_columns_are_few(write):
    names = ",".join(f"c{i}" for i in range(50))
    table = read_table(write(f"{names},a\n" + "x," * 50 + "1\n"))
    assert len(table.notes) == 6
    assert "c5, c6" in table.notes[-1]


def test_a_lone_percent_sign_is_told(write):
    (note,) = read_table(write("a\n4\n5%\n6\n")).notes
    assert "1 of 3 cells (the first is '5%' in line 3, read as 0.05)" in note
    assert read_table(write("a\n4%\n5%\n")).notes == ()


@pytest.mark.parametrize(
    ("content", "name", "values"),
    [
        ("a;b\n1,5;2\n2,25;3\n", "t.csv", [[1.5, 2], [2.25, 3]]),
        ("a;b\n1.234,5;2\n2,25;1.000\n", "t.csv", [[1234.5, 2], [2.25, 1000]]),
        ("a;b\n1,234;2\n2,500;3\n", "t.csv", [[1.234, 2], [2.5, 3]]),
        ("a;b\n1,234;2.5\n2,500;3\n", "t.csv", [[1234, 2.5], [2500, 3]]),
        ("a;b\n1,234,567;2\n2,500;3\n", "t.csv", [[1234567, 2], [2500, 3]]),
        ("a\tb\n1,5\t2\n2,250\t3\n", "t.tsv", [[1.5, 2], [2.25, 3]]),
        ("1,5;2,0\n2,25;3\n", "t.csv", [[1.5, 2], [2.25, 3]]),
    ],
)
def test_a_comma_is_decimal_where_only_that_makes_sense(write, content, name, values):
    assert_allclose(read_table(write(content, name)).values, values)


def test_a_comma_that_could_be_either_is_asked_about(write):
    path = write("a\tb\n1,234\t2\n2,500\t3\n", "t.tsv")
    with pytest.raises(DataError, match=r"line 2, column 'a': '1,234' may be .* --decimal"):
        read_table(path)
    assert_allclose(read_table(path, decimal=",").values[:, 0], [1.234, 2.5])
    assert_allclose(read_table(path, decimal=".").values[:, 0], [1234, 2500])


def test_a_decimal_comma_between_commas_is_named_not_guessed(write):
    path = write('a,b\n"1,5",1\n"1,234",2\n"1,567",3\n')
    with pytest.raises(DataError, match=r"line 2, column 'a': '1,5' .* --decimal ','"):
        read_table(path)
    assert_allclose(read_table(path, decimal=",").values[:, 0], [1.5, 1.234, 1.567])


def test_words_are_read_where_they_are_welcome(write):
    path = write("who,zip,a\n Ann,04109,1.5\n?,04109,NA\nBob,99999,3\n")
    table = read_table(path, missing=True, text=True)
    assert table.names == ("who", "zip", "a")
    assert table.values.dtype == object
    assert table.values[:, 0].tolist() == ["Ann", None, "Bob"]
    assert table.values[:, 1].tolist() == [4109, 4109, 99999]
    table = read_table(path, missing=True, text=True, categorical=["zip"])
    assert table.values[:, 1].tolist() == ["04109", "04109", "99999"]
    with pytest.raises(DataError, match=r"column 'who' has no value in row 2 .line 3: '\?'"):
        read_table(path, ["who", "zip"], text=True)
    with pytest.raises(DataError, match="no column 'zap'; it has who, zip, a"):
        read_table(path, text=True, categorical=["zap"])


def test_a_first_line_with_a_fraction_is_data(write):
    path = write("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    assert read_table(path).values.shape == (2, 2)
    assert read_table(path, header=True).names == ("5.1", "3.5")
    assert read_table(write("x,2019,2020\na,1,2\n")).names == ("2019", "2020")
    assert read_table(write("x,2019,2020\na,1,2\n"), header=False, text=True).values.shape == (2, 3)


def test_old_line_ends_and_latin1_cells(write):
    assert_array_equal(read_table(write("a,b\r1,2\r3,4\r")).values, [[1, 2], [3, 4]])
    table = read_table(write(b"name,a\ncaf\xe9,1\n"))
    assert "column 'name' holds text that is not UTF-8, such as 'caf\u00e9'" in table.notes[0]


def test_standard_input_is_a_dash(write, monkeypatch):
    with open(write("a,b\n1,2\n3,x\n5,6\n")) as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(DataError, match=r"stdin: line 3, column 'b': 'x'"):
            read_table("-")
    np.save(path := write("", "t.npy"), np.eye(2))
    with open(path) as file:
        monkeypatch.setattr("sys.stdin", file)
        assert_array_equal(read_table("-").values, np.eye(2))
