"""Covers coterie.report.render_text."""

from __future__ import annotations

import pytest
import summaries

from coterie.report.render_text import text


@pytest.mark.parametrize("name", ["three", "twelve", "with_noise", "nothing", "hostile"])
def test_lines_are_plain_and_fit(name: str) -> None:
    told = text(getattr(summaries, name)())
    assert told == told.strip()
    assert all(len(line) <= 80 and line == line.rstrip() for line in told.splitlines())
    assert "\x1b" not in told
    assert "\n\n\n" not in told


def test_the_verdict_comes_first_with_what_supports_it() -> None:
    told = text(summaries.three())
    lines = told.splitlines()
    assert lines[0] == "penguins.csv: 333 rows, 5 columns, 330 studied"
    assert lines[2] == "3 clusters, well apart"
    for words in ("Confidence: moderate", "[0] heavy", "(31%), stability 0.93",
                  "- body mass is high", "* Gaussian mixture: 3 clusters", "agreement 0.96",
                  "Left out: 'species id' has another value in every row",
                  "coterie study penguins.csv --seed 0"):  # fmt: skip
        assert words in told, words


def test_what_speaks_against_the_clusters_stands_apart() -> None:
    summary = summaries.three()
    told = text(summary)
    reasons = told[told.index("Confidence") : told.index("Clusters\n---")].split("Against the")
    assert "- Four of five criteria" in reasons[0]
    assert reasons[1].startswith(" clusters:\n- One in twelve rows lies between two clusters.\n")
    assert told.count("One in twelve") == 1
    del summary["verdict"]["doubts"]  # as stored before there were any
    assert "Against" not in text(summary)
    assert "Against" not in text(summaries.nothing())


def test_no_structure_tells_of_no_cluster() -> None:
    told = text(summaries.nothing())
    assert "No clusters" in told
    assert "Clusters\n" not in told
    assert "method" not in told
    assert "p = 0.62" in told


def test_noise_and_many_clusters_are_told() -> None:
    assert "In no cluster: " in text(summaries.with_noise())
    many = text(summaries.made(600, [f"c{i}" for i in range(25)]))
    assert "and 5 more clusters." in many


def test_cells_do_not_steer_the_terminal() -> None:
    summary = summaries.three()
    summary["clusters"][0]["name"] = "a\x1b[31mred\x07\u202e\r\nb"
    summary["title"] = "x\x1b]0;title\x07"
    told = text(summary)
    assert "[0] a?[31mred?? b" in told
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(told)


def test_columns_left_out_are_told_once() -> None:
    summary = summaries.three()
    summary["notes"].append("Left out: 'study' has one value only.")
    assert text(summary).count("Left out: 'study'") == 1
