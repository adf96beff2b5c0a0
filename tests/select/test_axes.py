"""Covers coterie.select._axes."""

from matplotlib.figure import Figure

from coterie.select._axes import legend_above, some_ticks


def test_marks_do_not_crowd() -> None:
    assert some_ticks([1, 2, 3]) == [1, 2, 3]
    assert some_ticks(range(1, 26)) == [1, 5, 10, 15, 20, 25]
    assert some_ticks(range(2, 121)) == [2, 20, 40, 60, 80, 100, 120]
    assert some_ticks([k * 7919 for k in range(1, 40)])[0] == 7919


def test_the_legend_stands_above_the_curves() -> None:
    figure = Figure(figsize=(6.4, 4.8))
    ax = figure.add_subplot()
    for number in range(9):
        ax.plot([1, 2, 3], [number, 0, number], label=f"a criterion of name {number}")
    legend_above(ax)
    figure.canvas.draw()
    legend, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.y0 >= axes.y1
    assert legend.y1 <= figure.bbox.y1
    assert legend.x1 <= figure.bbox.x1
    bare = Figure().add_subplot()
    legend_above(bare)
    assert bare.get_legend() is None
