"""Two codes in a byte."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from coterie.quantize._nibbles import pack_nibbles, unpack_nibbles


@given(
    arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 15))
)
def test_packed_codes_come_back(codes: np.ndarray) -> None:
    packed = pack_nibbles(codes)
    assert packed.shape == (codes.shape[0], -(-codes.shape[1] // 2))
    np.testing.assert_array_equal(unpack_nibbles(packed, codes.shape[1]), codes)


def test_the_first_of_a_pair_is_in_the_low_bits() -> None:
    packed = pack_nibbles(np.array([[1, 2, 3]], dtype=np.uint8))
    assert packed.tolist() == [[0x21, 0x03]]
