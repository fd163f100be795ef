# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types taken apart and put together."""

import pytest
from torch_mlir import ir

from torq_mlir import dialects
from torq_mlir.dialects import tensor_types


@pytest.fixture(autouse=True)
def context():
    context = ir.Context()
    dialects.register(context)
    with context:
        yield context


@pytest.mark.parametrize(
    ("text", "shape", "element", "is_torch"),
    [
        ("tensor<2x?xi8>", (2, None), "i8", False),
        ("tensor<f32>", (), "f32", False),
        ("tensor<*xf32>", None, "f32", False),
        ("i64", (), "i64", False),
        ("!torch.int", (), "!torch.int", False),
        ("!torch.vtensor<[2,?],si8>", (2, None), "si8", True),
        ("!torch.vtensor<[],bf16>", (), "bf16", True),
        ("!torch.vtensor<[3],unk>", (3,), None, True),
        ("!torch.vtensor<*,f32>", None, "f32", True),
        ("!torch.vtensor<[3],complex<f32>>", (3,), "complex<f32>", True),
        ("!torch.vtensor<[3],!torch.qint8>", (3,), "!torch.qint8", True),
        ("!torch.vtensor", None, None, True),
    ],
)
def test_describe(text, shape, element, is_torch):
    described = tensor_types.describe(ir.Type.parse(text))
    assert described.shape == shape
    assert (described.element and str(described.element)) == element
    assert described.is_torch == is_torch


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tensor<2x?xf32>", "tensor<2x?xi8>"),
        ("tensor<*xf32>", "tensor<*xi8>"),
        ("!torch.vtensor<[2,?],f32>", "!torch.vtensor<[2,?],i8>"),
        ("!torch.vtensor<*,f32>", "!torch.vtensor<*,i8>"),
    ],
)
def test_with_element(text, expected):
    element = ir.IntegerType.get_signless(8)
    if "torch" in text:
        element, expected = ir.IntegerType.get_signed(8), expected.replace("i8", "si8")
    assert str(tensor_types.with_element(ir.Type.parse(text), element)) == expected


def test_compatible():
    assert tensor_types.compatible((2, None), (None, 3))
    assert tensor_types.compatible(None, (1, 2))
    assert not tensor_types.compatible((2, 3), (2, 4))
    assert not tensor_types.compatible((2,), (2, 1))
