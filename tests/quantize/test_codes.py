"""Codes in the smallest type that holds them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coterie.quantize._codes import bits_for, check_codes, smallest_unsigned


@pytest.mark.parametrize("n_values", [1, 2, 3, 4, 5, 15, 16, 17, 255, 256, 257, 65536, 65537])
def test_bits_and_types_by_their_definitions(n_values: int) -> None:
    assert bits_for(n_values) == math.ceil(math.log2(n_values))
    dtype = smallest_unsigned(n_values)
    assert dtype.kind == "u"
    assert np.iinfo(dtype).max >= n_values - 1
    if dtype.itemsize > 1:
        assert np.iinfo(f"u{dtype.itemsize // 2}").max < n_values - 1


@pytest.mark.parametrize("codes", [[0, 3], [-1, 0]])
def test_codes_without_a_codeword_are_refused(codes: list[int]) -> None:
    with pytest.raises(ValueError, match=r"Who: codes reach from .* the codebook has 3 codewords"):
        check_codes("Who", codes, 3)


def test_codes_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Who: codes are of type float64; pass whole numbers"):
        check_codes("Who", [0.5], 3)
    assert check_codes("Who", [], 3).size == 0
