"""The heat map shows rows in the order of the leaves. Covers coterie.plots._merges."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.cluster.hierarchy import leaves_list

import coterie
from coterie.plots import heat_map
from coterie.plots._merges import leaf_order

X = np.random.default_rng(0).normal(size=(12, 3)) + np.arange(12)[:, None] % 3 * 5
Z = coterie.linkage(X, "average")


@pytest.mark.parametrize("order", ["merges", "optimal"])
def test_rows_stand_beside_their_leaves(order):
    ax = heat_map(
        X, Z, n_clusters=3, standardise=False, order=order, labels=list("abcdefghijkl"),
        feature_names=["u", "v", "w"], ax=Figure().subplots(), title="T",
    )  # fmt: skip
    tree, table, scale = ax.child_axes
    leaves = leaf_order(Z, order=order, X=X)
    assert_allclose(table.images[0].get_array(), X[leaves])
    names = [name.get_text() for name in table.get_yticklabels()]
    assert names == ["abcdefghijkl"[leaf] for leaf in leaves]
    assert [name.get_text() for name in table.get_xticklabels()] == ["u", "v", "w"]
    assert tree.get_ylim() == table.get_ylim() == (11.5, -0.5)
    assert tree.xaxis_inverted()  # the leaves adjoin the table
    assert len(tree.collections[0].get_segments()) == 11
    assert (scale.get_title(), ax.get_title()) == ("value", "T")


def test_the_order_of_merges_is_scipys():
    assert sorted(leaf_order(Z, order="merges", X=None)) == list(range(12))
    assert leaf_order(Z, order="merges", X=None).tolist() == leaves_list(Z).tolist()


def test_columns_are_standardised_and_missing_cells_stay_white():
    holed = X.copy()
    holed[0, 0] = np.nan
    shown = heat_map(holed, Z, ax=Figure().subplots()).child_axes[1].images[0].get_array()
    assert np.ma.count_masked(shown) == 1
    assert_allclose(np.nanmean(np.ma.filled(shown, np.nan), axis=0), 0, atol=1e-12)
    assert_allclose(np.nanstd(np.ma.filled(shown, np.nan), axis=0), 1)


def test_names_stand_beside_each_other_where_they_fit_and_are_small_where_many():
    def named(names, rows):
        Z = coterie.linkage(rows, "single")
        return heat_map(rows, Z, feature_names=names, ax=Figure((9, 6)).subplots()).child_axes[1]

    for name, angle in (("sepal length (cm)", 0), ("sepal length in centimetres, mean", 90)):
        assert named([name] * 3, X).get_xticklabels()[0].get_rotation() == angle
    iris = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    four = np.column_stack([X, X])[:, :4]
    assert named(iris, four).get_xticklabels()[0].get_rotation() == 90  # they would touch
    few, many = (named(["a"], np.arange(n)[:, None] ** 2.0) for n in (10, 60))
    sizes = [table.get_yticklabels()[0].get_fontsize() for table in (few, many)]
    assert sizes[0] == 8
    assert 60 * sizes[1] < 6 * 72


def test_another_table_is_refused():
    with pytest.raises(ValueError, match="X has 11 rows and the tree 12"):
        heat_map(X[:11], Z, ax=Figure().subplots())
