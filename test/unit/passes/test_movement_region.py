# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element numbers as positions of each dimension."""

import numpy as np
import pytest
from onnx import parser

import torq_mlir
from torq_mlir.rewriting.movement_region import along_dimensions


def numbers_of(shape):
    return np.arange(np.prod(shape)).reshape(shape)


@pytest.mark.parametrize(
    ("move", "axes", "positions"),
    [
        (lambda x: x[:, ::-1], [0, 1], [[0, 1, 2], [3, 2, 1, 0]]),
        (lambda x: x[1], [None, 0], [[1], [0, 1, 2, 3]]),
        (lambda x: x[[2, 0, 0]].T, [1, 0], [[2, 0, 0], [0, 1, 2, 3]]),
        (lambda x: np.broadcast_to(x[:, None, 1:3], (2, 3, 5, 2)), [1, 3], [[0, 1, 2], [1, 2]]),
        (lambda x: x[1:2, 2:3], [None, None], [[1], [2]]),
    ],
)
def test_positions_along_dimensions(move, axes, positions):
    found = along_dimensions(move(numbers_of((3, 4))), (3, 4))
    assert [axis for axis, _ in found] == axes
    assert [each.tolist() for _, each in found] == positions


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.diagonal(),  # both dimensions along one
        lambda x: x.reshape(4, 3),  # a position along both
        lambda x: np.take_along_axis(x, np.array([[0, 1, 1, 0]]), axis=0).reshape(-1),
    ],
)
def test_other_movements(move):
    assert along_dimensions(move(numbers_of((3, 4))), (3, 4)) is None


@pytest.mark.parametrize(
    ("moved", "rows"),
    [
        ('m = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(d, , , sizes)', [0, 4]),
        ("m = Gather<axis = 2>(d, index)", [3]),
    ],
)
def test_what_is_done_to_values_of_one_sign_is_seen(moved, rows):
    """Values that are at most zero: a LeakyRelu behind the movement scales all of them."""
    model = parser.parse_model(f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (uint8[1, 1, 5, 1] x) => (uint8[1, 1, {len(rows)}, 1] y)
        <float s = {{1}}, uint8 z = {{255}}, int64[4] sizes = {{1, 1, {len(rows)}, 1}}, int64[1] index = {{3}}> {{
            d = DequantizeLinear(x, s, z)
            {moved}
            o = LeakyRelu<alpha = 0.1>(m)
            y = QuantizeLinear(o, s, z)
        }}""")
    x = np.uint8([5, 31, 77, 101, 250]).reshape(1, 1, 5, 1)
    (found,) = torq_mlir.compile(model, backend="interpreter")(x)
    np.testing.assert_array_equal(found.ravel(), np.rint(0.1 * (x.ravel()[rows] - 255.0)) + 255)
