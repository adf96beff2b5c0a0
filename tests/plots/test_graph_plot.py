"""The picture of a graph: a dot a node, a line an edge, rings around medoids; mistakes are named.

Covers coterie.plots.graph.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from coterie.plots import graph
from coterie.plots._style import color_of

#: Two triangles and the bridge between them.
EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]])
LABELS = np.array([0, 0, 0, 1, 1, 1])
PLACES = np.array([[0, 0], [0, 2], [1, 1], [3, 1], [4, 0], [4, 2]], dtype=float)


def parts(ax):
    """Segments across and within clusters, and dots by their colour: where they are."""
    across, within = (one for one in ax.collections if isinstance(one, LineCollection))
    dots = [one for one in ax.collections if not isinstance(one, LineCollection)]
    return across, within, dots


def test_dots_lines_and_rings():
    given = Figure().subplots()
    ax = graph(EDGES, LABELS, [2, 4], positions=PLACES, names="abcdef", title="$two$", ax=given)
    assert ax is given
    across, within, dots = parts(ax)
    assert [segment.tolist() for segment in across.get_segments()] == [PLACES[[2, 3]].tolist()]
    drawn = sorted(segment.tolist() for segment in within.get_segments())
    assert drawn == sorted(PLACES[np.sort(pair)].tolist() for pair in EDGES[:6])
    assert {to_hex(color).upper() for color in within.get_colors()} == {color_of(0), color_of(1)}
    shown = [(one.get_offsets().tolist(), to_hex(one.get_facecolor()[0]).upper()) for one in dots]
    assert shown == [
        (PLACES[[0, 1]].tolist(), color_of(0)),
        (PLACES[[2]].tolist(), color_of(0)),
        (PLACES[[3, 5]].tolist(), color_of(1)),
        (PLACES[[4]].tolist(), color_of(1)),
    ]
    assert not any(one.get_clip_on() for one in dots)  # whole at the edge of the axes, too
    assert dots[1].get_sizes()[0] > dots[0].get_sizes()[0]
    assert dots[1].get_linewidth()[0] > dots[0].get_linewidth()[0]
    assert [(text.get_text(), text.xy) for text in ax.texts] == [
        (name, pytest.approx(place)) for name, place in zip("abcdef", PLACES, strict=True)
    ]
    assert ax.get_title() == r"\$two\$"


def test_every_kind_of_graph_is_the_same_picture():
    ones = np.ones(7, dtype=bool)
    one_way = sp.csr_array((ones, EDGES.T), shape=(6, 6))
    both = sp.csr_array(one_way + one_way.T)
    lengths = both.astype(float)
    lengths.data[0] = 0.0  # stored, so an edge
    kinds = [EDGES, EDGES[:, ::-1], one_way, both, both.tocoo(), lengths]
    for kind in kinds:
        across, within, dots = parts(graph(kind, positions=PLACES, ax=Figure().subplots()))
        assert (len(across.get_segments()), len(within.get_segments())) == (0, 7)
        assert dots[0].get_offsets().tolist() == PLACES.tolist()


def test_a_networkx_graph():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    given = networkx.path_graph(["x", "y", "z"])
    ax = graph(given, names=list(given), ax=Figure().subplots())
    assert [text.get_text() for text in ax.texts] == ["x", "y", "z"]
    assert len(parts(ax)[1].get_segments()) == 2


def test_nodes_without_edges_and_loops():
    ax = graph(np.array([[0, 0], [1, 0]]), [0, 0, -1], ax=Figure().subplots())
    _, within, dots = parts(ax)
    assert len(within.get_segments()) == 1
    assert [len(one.get_offsets()) for one in dots] == [1, 2]
    alone = graph(np.empty((0, 2), dtype=int), [0], [0], ax=Figure().subplots())
    assert len(parts(alone)[2]) == 1


def test_long_names_stand_beside_their_nodes():
    ax = graph(EDGES, positions=PLACES, names=["somebody"] * 6, ax=Figure().subplots())
    assert ax.texts[0].xyann == (0, 9)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (np.eye(3), {}, r"^graph: edges have shape \(3, 3\)"),
        (np.array([[0.5, 1]]), {}, r"type float64; pass two numbers"),
        (np.array([[-1, 1]]), {}, "count nodes from 0"),
        (np.empty((0, 2), dtype=int), {}, "count nodes from 0"),
        (EDGES, {"labels": [0, 1]}, r"labels have shape \(2,\) .* 6 nodes"),
        (EDGES, {"labels": [0.5] * 6}, "pass a whole number per node"),
        (EDGES, {"medoids": [6]}, r"medoids are \[6\] .* from 0 to 5"),
        (EDGES, {"medoids": [-1]}, r"from 0 to 5"),
        (EDGES, {"positions": PLACES[:5]}, r"positions have shape \(5, 2\)"),
        (EDGES, {"positions": PLACES * np.nan}, "two finite numbers per node"),
        (EDGES, {"names": "abc"}, "3 names were given for 6 nodes"),
        (np.array([[0, 1000]]), {}, "1001 nodes were given without positions, and at most 1000"),
        (sp.csr_array((2, 3)), {}, r"^graph: the adjacency has shape \(2, 3\)"),
    ],
)
def test_mistakes_are_a_sentence(given, options, said):
    with pytest.raises(ValueError, match=said):
        graph(given, **options, ax=Figure().subplots())
