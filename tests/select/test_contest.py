"""Covers coterie.select._contest."""

from __future__ import annotations

import numpy as np
import pytest
from select_rows import four_clusters

from coterie.select import _contest
from coterie.select._candidates import Method
from coterie.select._contest import Contest, draw, score
from coterie.select._judging import Parts


class Given(Method):
    """A method whose labels are given."""

    def __init__(self, name: str, labels: np.ndarray | None) -> None:
        self.name, self._labels = name, labels

    def labels(self, k: int) -> np.ndarray | None:
        return self._labels

    def estimator(self, k: int) -> None:
        raise NotImplementedError

    def told(self, k: int) -> dict[str, int]:
        return {"n_clusters": k}


TRUTH = np.repeat(np.arange(4), 40)


def test_the_truth_wins_and_what_has_another_number_is_left_out() -> None:
    rows = four_clusters()
    rng = np.random.default_rng(0)
    methods: list[Method] = [
        Given("strewn", rng.permutation(TRUTH)), Given("truth", TRUTH),
        Given("again", (TRUTH + 1) % 4), Given("three", np.minimum(TRUTH, 2)), Given("none", None),
    ]  # fmt: skip
    played = Contest(rows, np.arange(160), 1).play(methods, 4)
    assert [one.name for one in played.candidates] == ["truth", "again", "strewn"]
    assert played.method is methods[1]
    np.testing.assert_array_equal(played.labels, TRUTH)
    first, second, _ = played.candidates
    assert first.score == second.score == played.winner.score


def test_the_score_is_that_of_its_formula() -> None:
    found = score(Parts(border=0.019, valley=0.8, shape=-1.0), 0.5)
    assert found == pytest.approx(-np.log(0.02) + 0.4 - 0.25 + 0.5)


def test_partitions_are_judged_on_the_drawn_rows() -> None:
    rows, drawn = four_clusters(), np.arange(0, 160, 2)
    spoiled = TRUTH.copy()
    spoiled[[1, 41, 81]] = 3  # none of them is drawn
    methods: list[Method] = [Given("truth", TRUTH), Given("spoiled", spoiled)]
    played = Contest(rows, drawn, 1).play(methods, 4)
    assert played.candidates[0].score == played.candidates[1].score


def test_few_rows_are_all_drawn_and_many_without_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contest, "JUDGED_ROWS", 50)
    np.testing.assert_array_equal(draw(50, np.random.RandomState(0)), np.arange(50))
    drawn = draw(400, np.random.RandomState(0))
    assert drawn.size == 50
    assert (np.diff(drawn) > 0).all()
