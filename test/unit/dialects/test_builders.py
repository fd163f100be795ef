# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders: result types, omitted defaults, and that what they build verifies."""

import inspect

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir import dialects
from torq_mlir.dialects import elements, quantized_decomposed, torq_hl
from torq_mlir.dialects.shapes import ShapeError

BOUNDS = {"output_zp": 0, "output_min": -128, "output_max": 127}
RESCALE = {**BOUNDS, "shift_factor": 28}
WINDOW = {"pad": [1, 1, 1, 1], "stride": [2, 1]}


@pytest.fixture(autouse=True)
def module():
    context = ir.Context()
    dialects.register(context)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module


def constant(*shape, dtype=np.int8):
    return arith.constant(None, elements.from_numpy(np.zeros(shape, dtype)))


def pairs(count):
    return constant(2 * count, dtype=np.int32)


def torch_value(text):
    return ir.Operation.create("builtin.unrealized_conversion_cast", results=[ir.Type.parse(text)]).result


def built(value):
    return value.owner.operation


# operation -> builds it, and the result type.
CASES = {
    "act": (
        lambda: torq_hl.act(constant(2, 3, dtype=np.float32), name="f2i", element_type=ir.IntegerType.get_signless(8)),
        "tensor<2x3xi8>",
    ),
    "add": (
        lambda: torq_hl.add(
            constant(2, dtype=np.int16), pairs(1), constant(2, 1, 3), constant(4, 1), input_zp=0, **RESCALE
        ),
        "tensor<2x4x3xi8>",
    ),
    "avg_pool2d": (
        lambda: torq_hl.avg_pool2d(constant(1), pairs(1), constant(1, 4, 4, 8), input_zp=0, **RESCALE),
        "tensor<1x1x1x8xi8>",
    ),
    "broadcast": (lambda: torq_hl.broadcast(constant(3), dimensions=[0, 2], shape=(2, 3, 4)), "tensor<2x3x4xi8>"),
    "conv1d": (
        lambda: torq_hl.conv1d(
            constant(4, 3, 3), pairs(4), constant(1, 3, 8), input_zp=0, pad=[1, 0], stride=[2], dilation=[1], **RESCALE
        ),
        "tensor<1x4x4xi8>",
    ),
    "conv2d": (
        lambda: torq_hl.conv2d(
            constant(4, 3, 3, 3), pairs(4), constant(1, 3, 8, 8), input_zp=0, dilation=[1, 1], **WINDOW, **RESCALE
        ),
        "tensor<1x4x4x8xi8>",
    ),
    "convert": (
        lambda: torq_hl.convert(constant(2, dtype=np.float32), element_type=ir.BF16Type.get()),
        "tensor<2xbf16>",
    ),
    "depthwise_conv2d": (
        lambda: torq_hl.depthwise_conv2d(
            constant(6, 1, 3, 3),
            pairs(6),
            constant(1, 3, 8, 8),
            groups=3,
            input_zp=0,
            dilation=[1, 1],
            **WINDOW,
            **RESCALE,
        ),
        "tensor<1x6x4x8xi8>",
    ),
    "elementwisebinary": (lambda: torq_hl.elementwisebinary(constant(2, 1), constant(3), op_type=6), "tensor<2x3xi1>"),
    "fill": (lambda: torq_hl.fill(value=3, shape=(2, 2), element_type=ir.F32Type.get()), "tensor<2x2xf32>"),
    "fma": (
        lambda: torq_hl.fma(
            constant(1),
            pairs(1),
            constant(1, 3, 4, 4),
            output_zp=0,
            output_min=-32768,
            output_max=32767,
            shift_factor=0,
            element_type=ir.IntegerType.get_signless(16),
        ),
        "tensor<1x3x4x4xi16>",
    ),
    "fully_connected": (
        lambda: torq_hl.fully_connected(constant(5, 7), pairs(7), constant(2, 5), input_zp=0, **RESCALE),
        "tensor<2x7xi8>",
    ),
    "identity": (lambda: torq_hl.identity(constant(2)), "tensor<2xi8>"),
    "matmul": (
        lambda: torq_hl.matmul(pairs(1), constant(2, 3, 4), constant(2, 4, 5), shift=28, **BOUNDS),
        "tensor<2x3x5xi8>",
    ),
    "maxpool2d": (
        lambda: torq_hl.maxpool2d(
            constant(1),
            pairs(1),
            constant(1, 3, 8, 8),
            input_zp=-128,
            output_min=-128,
            output_max=127,
            kernel=[3, 3],
            **WINDOW,
        ),
        "tensor<1x3x4x8xi8>",
    ),
    "mul": (lambda: torq_hl.mul(pairs(1), constant(2, 3), constant(3), shift=32, **BOUNDS), "tensor<2x3xi8>"),
    "argmax": (lambda: torq_hl.argmax(pairs(1), constant(2, 9, 3), axis=1), "tensor<2x3xi32>"),
    "reduce": (
        lambda: torq_hl.reduce(constant(1), pairs(1), constant(2, 9, 3), name="reduce_max", axis=0, **RESCALE),
        "tensor<9x3xi8>",
    ),
    "select": (
        lambda: torq_hl.select(constant(2, 1, dtype=np.bool_), constant(3), constant(1, 1)),
        "tensor<2x3xi8>",
    ),
    "DepthToSpace": (
        lambda: torq_hl.depth_to_space(constant(1), constant(1, 12, 2, 3), blockSize=2, mode_type=1),
        "tensor<1x3x4x6xi8>",
    ),
    "ResizeNearestNeighbor": (
        lambda: torq_hl.resize_nearest_neighbor(constant(1, 2, 3, 4), scale_factor=2),
        "tensor<1x2x6x8xi8>",
    ),
    "gather": (lambda: torq_hl.gather(constant(9, 3), constant(2, 5, dtype=np.int64)), "tensor<2x5x3xi8>"),
    "reduce_mean": (
        lambda: torq_hl.reduce_mean(constant(1), pairs(1), constant(2, 9), input_zp=0, **RESCALE),
        "tensor<2x1xi8>",
    ),
    "table": (lambda: torq_hl.table(pairs(1), constant(2, 3), static_table=[0] * 256), "tensor<2x3xi8>"),
    "transpose": (lambda: torq_hl.transpose(constant(2, 3, 4), perm=[2, 0, 1]), "tensor<4x2x3xi8>"),
}


@pytest.mark.parametrize("mnemonic", CASES)
def test_result_type(module, mnemonic):
    build, expected = CASES[mnemonic]
    value = build()
    assert str(value.type) == expected
    assert built(value).name == f"torq_hl.{mnemonic}"
    assert built(built(value).operands[0]).name == "tensor.empty"
    assert module.operation.verify()
    assert str(ir.Module.parse(str(module))) == str(module)


def test_every_operation_has_a_builder():
    assert set(CASES) == {name.removeprefix("torq_hl.") for name in torq_hl.OPERATIONS}


def test_defaults_are_omitted_and_others_written():
    plain = built(CASES["conv2d"][0]())
    assert not {"nhwc_input", "segment_output"} & set(plain.attributes)
    assert [plain.attributes[name].value for name in ("weight_zp", "groups", "vectorization_mode")] == [0, 1, 0]
    nhwc = torq_hl.conv2d(
        constant(4, 3, 3, 3),
        pairs(4),
        constant(1, 8, 8, 3),
        input_zp=0,
        dilation=[1, 1],
        nhwc_input=True,
        **WINDOW,
        **RESCALE,
    )
    assert built(nhwc).attributes["nhwc_input"].value is True
    assert str(nhwc.type) == "tensor<1x4x4x8xi8>"


def test_builders_have_the_signature_of_their_operation():
    parameters = inspect.signature(torq_hl.conv2d).parameters
    assert list(parameters)[:4] == ["weights", "scale_bias", "input", "input_zp"]
    assert parameters["weight_zp"].default == 0
    assert parameters["pad"].default is inspect.Parameter.empty
    assert torq_hl.conv2d.__name__ == "conv2d"


def test_operands_by_keyword():
    value = torq_hl.identity(input=constant(2))
    assert str(value.type) == "tensor<2xi8>"
    table = torq_hl.table(pairs(1), constant(2, 3), dynamic_table=constant(256, dtype=np.int32))
    assert len(built(table).operands) == 4
    assert built(table).verify()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: torq_hl.transpose(constant(2, 3)), TypeError, "torq_hl.transpose requires attribute perm"),
        (lambda: torq_hl.identity(constant(2), size=3), TypeError, "torq_hl.identity has no attribute size"),
        (lambda: torq_hl.identity(), TypeError, "torq_hl.identity requires operand input"),
        (lambda: torq_hl.identity(constant(2), constant(2)), TypeError, "takes 1 operands besides init"),
        (lambda: torq_hl.transpose(constant(2, 3), perm=[0, 0]), ShapeError, "'perm' must be a permutation"),
        (lambda: torq_hl.broadcast(constant(3), dimensions=[0]), TypeError, "torq_hl.broadcast requires shape"),
        (lambda: torq_hl.identity(constant(3), shape=(3,)), TypeError, "torq_hl.identity infers its shape"),
        (lambda: torq_hl.fill(value=1, shape=(2,)), TypeError, "requires element_type"),
    ],
)
def test_builders_refuse(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_dynamic_result_needs_init():
    source = tensor.cast(ir.Type.parse("tensor<?xi8>"), constant(4))
    with pytest.raises(ShapeError, match="dynamic dimensions; pass init"):
        torq_hl.identity(source)
    assert built(torq_hl.identity(source, init=source)).verify()


def test_location_is_that_asked_for():
    value = torq_hl.identity(constant(2), loc=ir.Location.name("node"))
    assert built(value).location.name_str == "node"
    assert built(built(value).operands[0]).location.name_str == "node"


def test_python_values_of_attributes():
    operation = built(CASES["maxpool2d"][0]())
    values = dialects.ods.attribute_values(operation, torq_hl.OPERATIONS[operation.name])
    assert values == {
        "input_zp": -128,
        "output_min": -128,
        "output_max": 127,
        "stride": (2, 1),
        "pad": (1, 1, 1, 1),
        "kernel": (3, 3),
        "segment_output": False,
    }


SI8 = {"quant_min": -128, "quant_max": 127}


def test_quantize_on_builtin_tensors_stores_signless_integers():
    x, scale, zero_point = constant(2, 3, dtype=np.float32), constant(dtype=np.float32), constant(dtype=np.uint8)
    dtype = ir.IntegerType.get_unsigned(8)
    value = quantized_decomposed.quantize_per_tensor(x, scale, zero_point, quant_min=0, quant_max=255, dtype=dtype)
    assert str(value.type) == "tensor<2x3xi8>"
    assert str(built(value).attributes["dtype"]) == "ui8"
    assert "divide" not in built(value).attributes
    back = quantized_decomposed.dequantize_per_tensor(
        value, scale, zero_point, quant_min=0, quant_max=255, dtype=dtype, result_element_type=ir.BF16Type.get()
    )
    assert str(back.type) == "tensor<2x3xbf16>"


def test_quantize_on_torch_tensors_keeps_signedness():
    x, scale = torch_value("!torch.vtensor<[1,?],f32>"), torch_value("!torch.vtensor<[],f32>")
    zero_point, dtype = torch_value("!torch.vtensor<[],si8>"), ir.IntegerType.get_signed(8)
    value = quantized_decomposed.quantize_per_tensor(x, scale, zero_point, dtype=dtype, divide=True, **SI8)
    assert str(value.type) == "!torch.vtensor<[1,?],si8>"
    assert isinstance(built(value).attributes["divide"], ir.UnitAttr)
    back = quantized_decomposed.dequantize_per_tensor(value, scale, zero_point, dtype=dtype, **SI8)
    assert str(back.type) == "!torch.vtensor<[1,?],f32>"


def test_torch_tensors_of_unknown_shape_or_dtype():
    dtype, parameter = ir.IntegerType.get_signed(8), torch_value("!torch.vtensor<[],f32>")
    for source, expected in (
        ("!torch.vtensor<*,f32>", "!torch.vtensor<*,si8>"),
        ("!torch.vtensor", "!torch.vtensor<*,si8>"),
    ):
        value = quantized_decomposed.quantize_per_tensor(
            torch_value(source), parameter, torch_value("!torch.int"), dtype=dtype, **SI8
        )
        assert str(value.type) == expected
        assert built(value).verify()


def test_run_time_range():
    x, scale, zero_point = constant(2, dtype=np.float32), constant(dtype=np.float32), constant()
    bounds = [constant(dtype=np.int64), constant(dtype=np.int64)]
    value = quantized_decomposed.quantize_per_tensor(
        x, scale, zero_point, dtype=ir.IntegerType.get_signed(8), range=bounds
    )
    assert len(built(value).operands) == 5
    assert not {"quant_min", "quant_max"} & set(built(value).attributes)
    assert built(value).verify()


def test_per_channel():
    x, scales, zero_points = constant(4, 3, dtype=np.float32), constant(4, dtype=np.float32), constant(4)
    dtype = ir.IntegerType.get_signed(8)
    value = quantized_decomposed.quantize_per_channel(x, scales, zero_points, axis=0, dtype=dtype, **SI8)
    back = quantized_decomposed.dequantize_per_channel(value, scales, zero_points, axis=-2, dtype=dtype, **SI8)
    assert [str(value.type), str(back.type)] == ["tensor<4x3xi8>", "tensor<4x3xf32>"]
    assert built(value).verify()
    assert built(back).verify()
