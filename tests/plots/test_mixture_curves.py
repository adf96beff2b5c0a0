"""BIC has a line for each covariance type."""

from matplotlib.figure import Figure

from coterie.plots import mixture_curves
from coterie.select import Candidate, MixtureChoice


def candidate(kind, k, bic, *, degenerate=False):
    return Candidate("gaussian", kind, k, 0.0, 1, bic, bic + 1, degenerate, 0.0)


def test_lines_are_the_candidates_that_are_sound_and_the_best_is_ringed():
    best = candidate("full", 2, 5.0)
    others = [
        candidate("full", 1, 9.0), candidate("tied", 1, 8.0), candidate("tied", 2, 7.0),
        candidate("tied", 3, -99.0, degenerate=True),
    ]  # fmt: skip
    ax = mixture_curves(
        MixtureChoice(None, best, [best, *others], "bic"), ax=Figure().subplots(), title="T"
    )
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn == {"full": [[1, 9], [2, 5]], "tied": [[1, 8], [2, 7]]}
    assert ax.collections[0].get_offsets().tolist() == [[2, 5]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "full", "tied", "best: full, 2"
    ]  # fmt: skip
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("components", "BIC, lower is better")
