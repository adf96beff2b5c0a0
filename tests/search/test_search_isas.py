"""Indexes, trees, codebooks, palettes: the same bits of every build, on any number of threads."""

from __future__ import annotations

import pytest

from builds import PRELUDE, answers
from coterie._kernels import available_isas

# Prints one hash for each kind of answer, to the last bit.
ANSWERS = (
    PRELUDE
    + r"""
from coterie import HierarchicalKMeans, ProductQuantizer, VectorQuantizer
from coterie.quantize import image
from coterie.search import FlatIndex, IVFPQIndex, PQIndex

for dtype in ("float32", "float64"):
    every = ("euclidean", "inner_product", "cosine")
    for d, metrics in ((5, every), (33, every[:1]), (128, every[1:2])):
        X = (rng.normal(size=(20, d))[rng.integers(20, size=1100)] * 2 + rng.normal(size=(1100, d)))
        X = (np.round(X) if d == 33 else X * 1e4).astype(dtype)  # of 33 columns, with ties
        Q = X[::29] + X[1] / 7
        for metric in metrics:
            case = f"{dtype} {d} {metric}"
            flat = FlatIndex(metric=metric, dtype=dtype).add(X)
            hashes[f"{case} flat"] = digest(*flat.search(Q, 9))
            for bits in (4, 8):
                options = {"metric": metric, "dtype": dtype, "keep_rows": True}
                codes = ProductQuantizer(5, bits=bits, n_iter=2, random_state=0).fit(X)
                index = PQIndex(codes, **options).add(X)
                hashes[f"{case} {bits} codes"] = digest(*index.search(Q, 9))
                hashes[f"{case} {bits} compared"] = digest(*index.search(Q, 9, rerank=40))
                hashes[f"{case} {bits} proved"] = digest(*index.search_certified(Q, 9))
                index = IVFPQIndex(7, 5, bits, nprobe=3, random_state=0, **options).fit(X).add(X)
                hashes[f"{case} {bits} lists"] = digest(*index.search(Q, 9))
                hashes[f"{case} {bits} lists compared"] = digest(*index.search(Q, 9, rerank=40))
                hashes[f"{case} {bits} lists proved"] = digest(*index.search_certified(Q, 9))
        tree = HierarchicalKMeans(4, 3, random_state=0, store_rows=True).fit(X)
        found = tree.search(Q, 9, beam=5)
        hashes[f"{dtype} {d} tree"] = digest(tree.tree_centers_, tree.labels_, *found)
        book = VectorQuantizer(30, random_state=0).fit(X)
        hashes[f"{dtype} {d} codebook"] = digest(book.codebook_, book.encode(X))
picture = rng.integers(0, 256, (60, 70, 3))
for name, channels in (("8 bit", picture.astype(np.uint8)), ("16 bit", picture.astype(np.uint16)),
                       ("floats", picture / 255)):
    for space in ("rgb", "lab"):
        found = image(channels, 12, space=space, random_state=0)
        hashes[f"{name} {space}"] = digest(found.palette, found.indices)
print(json.dumps(hashes))
"""
)


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return answers(ANSWERS, available_isas()[0], 1)


@pytest.mark.parametrize("isa", available_isas())
def test_every_build_and_any_number_of_threads_answers_alike(
    isa: str, expected: dict[str, str]
) -> None:
    found = answers(ANSWERS, isa, 3)
    assert found.keys() == expected.keys()
    assert not [name for name in found if found[name] != expected[name]]
