# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders of quantized_decomposed operations per token, per group, of parameters and conversions."""

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir import dialects
from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.dialects.shapes import ShapeError

SI8 = {"quant_min": -128, "quant_max": 127}


@pytest.fixture(autouse=True)
def module():
    context = ir.Context()
    dialects.register(context)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module
        assert module.operation.verify()


def constant(*shape, dtype=np.float32):
    return arith.constant(None, elements.from_numpy(np.zeros(shape, dtype)))


def value(text):
    return ir.Operation.create("builtin.unrealized_conversion_cast", results=[ir.Type.parse(text)]).result


def types(*values):
    return [str(each.type) for each in values]


def si8():
    return ir.IntegerType.get_signed(8)


def test_per_token():
    x, scales, zero_points = constant(2, 4, 8), constant(2, 4, 1), constant(2, 4, 1, dtype=np.int64)
    q = quantized_decomposed.quantize_per_token(x, scales, zero_points, dtype=si8(), **SI8)
    y = quantized_decomposed.dequantize_per_token(q, scales, dtype=si8(), result_element_type=ir.F16Type.get(), **SI8)
    assert types(q, y) == ["tensor<2x4x8xi8>", "tensor<2x4x8xf16>"]
    assert len(y.owner.operands) == 2
    assert "round_first" not in q.owner.attributes


def test_per_channel_group():
    x, scales = constant(4, 8), constant(4, 2)
    q = quantized_decomposed.quantize_per_channel_group(x, scales, group_size=4, dtype=si8(), **SI8)
    y = quantized_decomposed.dequantize_per_channel_group(q, scales, group_size=4, dtype=si8(), **SI8)
    assert types(q, y) == ["tensor<4x8xi8>", "tensor<4x8xf32>"]
    assert {"axis", "divide", "round_first"}.isdisjoint(q.owner.attributes)
    # The op class reads an absent axis as its default.
    assert q.owner.opview.axis.value == -1
    assert y.owner.opview.axis.value == -1


def test_blocks():
    dtype = ir.IntegerType.get_unsigned(4)
    q = quantized_decomposed.quantize_per_channel_group(
        constant(6, 8), constant(2, 8), group_size=3, axis=0, divide=True, round_first=True,
        quant_min=0, quant_max=15, dtype=dtype,
    )  # fmt: skip
    assert types(q) == ["tensor<6x8xi4>"]
    assert q.owner.opview.axis.value == 0
    assert {"divide", "round_first"} < set(q.owner.attributes)


def test_choose_qparams():
    attributes = {"eps": 1e-5, "dtype": si8(), **SI8}
    for choose in (quantized_decomposed.choose_qparams, quantized_decomposed.choose_qparams_symmetric):
        assert types(*choose(constant(2, 3), **attributes)) == ["tensor<1xf64>", "tensor<1xi64>"]
        torch_types = ["!torch.vtensor<[1],f64>", "!torch.vtensor<[1],si64>"]
        assert types(*choose(value("!torch.vtensor<*,f32>"), **attributes)) == torch_types
    scale, _ = quantized_decomposed.choose_qparams(constant(2), **attributes)
    assert scale.owner.attributes["eps"].value == 1e-5


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("tensor<2x?x8xf32>", "tensor<2x?x1xf32>"),
        ("tensor<8xf16>", "tensor<1xf32>"),
        ("tensor<?x?xbf16>", "tensor<?x1xbf16>"),
        ("!torch.vtensor<[?,8],f64>", "!torch.vtensor<[?,1],f64>"),
        ("!torch.vtensor<*,f16>", "!torch.vtensor<*,f32>"),
        ("!torch.vtensor", "!torch.vtensor<*,f32>"),
    ],
)
def test_choose_qparams_per_token(source, expected):
    parameters = quantized_decomposed.choose_qparams_per_token(value(source), dtype=si8())
    assert types(*parameters) == [expected, expected]


@pytest.mark.parametrize("choose", ["choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl"])
def test_choose_qparams_per_token_asymmetric(choose):
    choose = getattr(quantized_decomposed, choose)
    parameters = choose(constant(2, 3, 4, dtype=np.float16), dtype=si8())
    assert types(*parameters) == ["tensor<2x3x1xf64>", "tensor<2x3x1xi64>"]
    parameters = choose(value("!torch.vtensor<[?,?],f32>"), dtype=si8())
    assert types(*parameters) == ["!torch.vtensor<[?,1],f64>", "!torch.vtensor<[?,1],si64>"]


def test_a_scalar_has_no_tokens():
    with pytest.raises(ShapeError, match="'input' must have rank 1 or more"):
        quantized_decomposed.choose_qparams_per_token(constant(), dtype=si8())


def test_fake_quant_per_channel():
    zero_points = constant(3, dtype=np.int32)
    y = quantized_decomposed.fake_quant_per_channel(constant(2, 3), constant(3), zero_points, axis=1, **SI8)
    assert types(y) == ["tensor<2x3xf32>"]


def test_convert_element_type():
    convert = quantized_decomposed.convert_element_type
    unsigned, boolean = ir.IntegerType.get_unsigned(8), ir.IntegerType.get_signless(1)
    y = convert(constant(2), dtype=unsigned)
    z = convert(y, dtype=boolean, input_dtype=unsigned)
    t = convert(value("!torch.vtensor<[?],ui8>"), dtype=ir.BF16Type.get())
    assert types(y, z, t) == ["tensor<2xi8>", "tensor<2xi1>", "!torch.vtensor<[?],bf16>"]
    assert [str(each.owner.attributes["input_dtype"]) for each in (y, z, t)] == ["f32", "ui8", "ui8"]
    with pytest.raises(TypeError, match="requires attribute input_dtype"):
        convert(value("!torch.vtensor"), dtype=unsigned)
