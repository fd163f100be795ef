# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of torch that pick, repeat, join or pad: dequantized before and after, they give the same values."""

import numpy as np
import pytest
from torch_mlir import ir

from torq_mlir import dialects, pipelines
from torq_mlir.backends import jit
from torq_mlir.pipelines.onnx import TORCH_TO_LINALG

_PER_TENSOR = """
  %s = torch.vtensor.literal(dense<0.25> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<3> : tensor<{t}>) : !torch.vtensor<[],{t}>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {{{attributes}}}
    : (!torch.vtensor<[2,4,6,6],{t}>, !torch.vtensor<[],f32>, !torch.vtensor<[],{t}>) -> !torch.vtensor<[2,4,6,6],f32>
"""
_PER_CHANNEL = """
  %s = torch.vtensor.literal(dense<[0.25, 0.5, 2.0, 1.0]> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %z = torch.vtensor.literal(dense<[1, 2, 3, 4]> : tensor<4x{t}>) : !torch.vtensor<[4],{t}>
  %x = "quantized_decomposed.dequantize_per_channel"(%q, %s, %z) {{axis = 1 : i64, {attributes}}}
    : (!torch.vtensor<[2,4,6,6],{t}>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],{t}>) -> !torch.vtensor<[2,4,6,6],f32>
"""
_PER_TOKEN = """
  %s = torch.aten.slice.Tensor %p, %int0, %int0, %int2, %int1
    : !torch.vtensor<[2,4,6,1],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4,6,1],f32>
  %x = "quantized_decomposed.dequantize_per_token"(%q, %s) {{{attributes}}}
    : (!torch.vtensor<[2,4,6,6],{t}>, !torch.vtensor<[2,4,6,1],f32>) -> !torch.vtensor<[2,4,6,6],f32>
"""
_PER_GROUP = """
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %g)
    {{group_size = 2 : i64, axis = 1 : i64, {attributes}}}
    : (!torch.vtensor<[2,4,6,6],{t}>, !torch.vtensor<[2,2,6,6],f32>) -> !torch.vtensor<[2,4,6,6],f32>
"""
_PER_GROUP_OF_ROW = """
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %h) {{group_size = 2 : i64, {attributes}}}
    : (!torch.vtensor<[2,4,6,6],{t}>, !torch.vtensor<[2,4,6,3],f32>) -> !torch.vtensor<[2,4,6,6],f32>
"""
_GRANULARITIES = {
    "tensor": _PER_TENSOR,
    "channel": _PER_CHANNEL,
    "token": _PER_TOKEN,
    "group": _PER_GROUP,
    "row": _PER_GROUP_OF_ROW,
}


def _slice(dimension, start, end, step, result):
    operands = ", ".join(f"%int{n}" for n in (dimension, start, end, step))
    types = ", ".join(["!torch.int"] * 4)
    return f"%y = torch.aten.slice.Tensor %x, {operands} : !torch.vtensor<[2,4,6,6],f32>, {types} -> {result}"


def _list(name, *values):
    operands, types = ", ".join(f"%int{n}" for n in values), ", ".join(["!torch.int"] * len(values))
    return f"%{name} = torch.prim.ListConstruct {operands} : ({types}) -> !torch.list<int>\n"


def _cat(dimension):
    tensor = "!torch.vtensor<[2,4,6,6],f32>"
    return (
        f"%c = torch.prim.ListConstruct %x, %x : ({tensor}, {tensor}) -> !torch.list<vtensor>\n"
        f"%y = torch.aten.cat %c, %int{dimension} : !torch.list<vtensor>, !torch.int"
    )


_ALL = set(_GRANULARITIES)

# Operation, type of its result, and the granularities that it moves before.
_CASES = {
    "slice": (_slice(2, 1, 5, 2, "!torch.vtensor<[2,4,2,6],f32>"), "[2,4,2,6]", _ALL),
    "slice_channels": (
        _slice(1, 1, 3, 1, "!torch.vtensor<[2,2,6,6],f32>"),
        "[2,2,6,6]",
        {"tensor", "channel", "token", "row"},
    ),
    "slice_groups": (_slice(1, 2, 4, 1, "!torch.vtensor<[2,2,6,6],f32>"), "[2,2,6,6]", _ALL),
    "slice_rows": (_slice(3, 1, 5, 1, "!torch.vtensor<[2,4,6,4],f32>"), "[2,4,6,4]", _ALL - {"row"}),
    "select": (
        "%y = torch.aten.select.int %x, %int0, %int1 : !torch.vtensor<[2,4,6,6],f32>, !torch.int, !torch.int"
        " -> !torch.vtensor<[4,6,6],f32>",
        "[4,6,6]",
        _ALL,
    ),
    "select_channel": (
        "%y = torch.aten.select.int %x, %int1, %int2 : !torch.vtensor<[2,4,6,6],f32>, !torch.int, !torch.int"
        " -> !torch.vtensor<[2,6,6],f32>",
        "[2,6,6]",
        _ALL - {"group"},
    ),
    "expand": (
        _list("l", 3, 2, 4, 6, 6) + "%y = torch.aten.expand %x, %l, %false : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.bool -> !torch.vtensor<[3,2,4,6,6],f32>",
        "[3,2,4,6,6]",
        _ALL,
    ),
    "cat": (_cat(2) + " -> !torch.vtensor<[2,4,12,6],f32>", "[2,4,12,6]", _ALL),
    "cat_channels": (_cat(1) + " -> !torch.vtensor<[2,8,6,6],f32>", "[2,8,6,6]", _ALL),
    "cat_rows": (_cat(3) + " -> !torch.vtensor<[2,4,6,12],f32>", "[2,4,6,12]", _ALL),
    "pad": (
        _list("l", 1, 2) + "%y = torch.aten.constant_pad_nd %x, %l, %zero : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.float -> !torch.vtensor<[2,4,6,9],f32>",
        "[2,4,6,9]",
        {"tensor", "group"},
    ),
    "pad_channels": (
        _list("l", 0, 0, 1, 0, 2, 4) + "%y = torch.aten.constant_pad_nd %x, %l, %zero : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.float -> !torch.vtensor<[2,10,7,6],f32>",
        "[2,10,7,6]",
        _ALL,
    ),
    "pad_part_of_a_group": (
        _list("l", 0, 0, 0, 0, 1, 1) + "%y = torch.aten.constant_pad_nd %x, %l, %zero : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.float -> !torch.vtensor<[2,6,6,6],f32>",
        "[2,6,6,6]",
        _ALL - {"group"},
    ),
    "pad_not_representable": (
        _list("l", 1, 2) + "%y = torch.aten.constant_pad_nd %x, %l, %tenth : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.float -> !torch.vtensor<[2,4,6,9],f32>",
        "[2,4,6,9]",
        set(),
    ),
    "pad_beyond_f32": (  # what torch-mlir puts around a maximum over volumes
        _list("l", 1, 2) + "%y = torch.aten.constant_pad_nd %x, %l, %least : !torch.vtensor<[2,4,6,6],f32>,"
        " !torch.list<int>, !torch.float -> !torch.vtensor<[2,4,6,9],f32>",
        "[2,4,6,9]",
        set(),
    ),
    "max_pool": (
        _list("k", 3, 3)
        + _list("l", 2, 2)
        + _list("pads", 1, 1)
        + _list("d", 1, 1)
        + "%y = torch.aten.max_pool2d %x, %k, %l, %pads, %d, %false : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>,"
        " !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,4,3,3],f32>",
        "[2,4,3,3]",
        {"tensor", "channel"},
    ),
    "permute": (
        _list("l", 1, 0, 2, 3) + "%y = torch.aten.permute %x, %l : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>"
        " -> !torch.vtensor<[4,2,6,6],f32>",
        "[4,2,6,6]",
        _ALL,
    ),
    "view": (
        _list("l", 2, 4, 6, 2, 3) + "%y = torch.aten.view %x, %l : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>"
        " -> !torch.vtensor<[2,4,6,2,3],f32>",
        "[2,4,6,2,3]",
        {"tensor", "channel", "group"},
    ),
    "view_groups": (
        _list("l", 2, 2, 2, 6, 3, 2) + "%y = torch.aten.view %x, %l : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>"
        " -> !torch.vtensor<[2,2,2,6,3,2],f32>",
        "[2,2,2,6,3,2]",
        {"tensor", "group", "row"},
    ),
    "view_tokens": (
        _list("l", 8, 6, 6) + "%y = torch.aten.view %x, %l : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>"
        " -> !torch.vtensor<[8,6,6],f32>",
        "[8,6,6]",
        _ALL - {"channel"},
    ),
    "upsample": (
        _list("l", 12, 12)
        + "%y = torch.aten.upsample_nearest2d %x, %l, %two, %two : !torch.vtensor<[2,4,6,6],f32>, !torch.list<int>,"
        " !torch.float, !torch.float -> !torch.vtensor<[2,4,12,12],f32>",
        "[2,4,12,12]",
        _ALL - {"row"},
    ),
    "pixel_shuffle": (
        "%y = torch.aten.pixel_shuffle %x, %int2 : !torch.vtensor<[2,4,6,6],f32>, !torch.int"
        " -> !torch.vtensor<[2,1,12,12],f32>",
        "[2,1,12,12]",
        {"tensor"},
    ),
}


def _parse(granularity: str, name: str, storage: str) -> ir.Module:
    operation, shape, _ = _CASES[name]
    low, high = (0, 255) if storage == "ui8" else (-128, 127)
    attributes = f"quant_min = {low} : i64, quant_max = {high} : i64, dtype = {storage}"
    constants = "\n".join(f"%int{n} = torch.constant.int {n}" for n in (*range(9), 12))
    text = f"""
func.func @main(%q: !torch.vtensor<[2,4,6,6],{storage}>, %p: !torch.vtensor<[2,4,6,1],f32>,
                %g: !torch.vtensor<[2,2,6,6],f32>, %h: !torch.vtensor<[2,4,6,3],f32>) -> !torch.vtensor<{shape},f32> {{
  {constants}
  %false = torch.constant.bool false
  %zero = torch.constant.float 0.0
  %tenth = torch.constant.float 0.1
  %least = torch.constant.float -1.7976931348623157e+308
  %two = torch.constant.float 2.0
  {_GRANULARITIES[granularity].format(t=storage, attributes=attributes)}
  {operation}
  return %y : !torch.vtensor<{shape},f32>
}}"""
    context = ir.Context()
    dialects.register(context)
    return ir.Module.parse(text, context)


def _run(module: ir.Module, storage: str) -> np.ndarray:
    passes = TORCH_TO_LINALG.removeprefix("builtin.module(")
    lowering = f"builtin.module(func.func(torch-decompose-complex-ops),{passes}"
    pipelines.run(module, lowering)
    generator = np.random.default_rng(0)
    q = generator.integers(-128, 127, (2, 4, 6, 6), np.int8, endpoint=True)
    shapes = ((2, 4, 6, 1), (2, 2, 6, 6), (2, 4, 6, 3))
    return jit.compile(module)([q, *(generator.uniform(0.1, 1, shape).astype(np.float32) for shape in shapes)])[0]


@pytest.mark.parametrize(
    ("granularity", "storage"), [*((each, "si8") for each in _GRANULARITIES), ("tensor", "ui8"), ("channel", "ui8")]
)
@pytest.mark.parametrize("name", _CASES)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_dequantize_moves_behind(name, granularity, storage):
    module = _parse(granularity, name, storage)
    pipelines.run(module, "builtin.module(quantized-decomposed-simplify)")
    text = str(module)
    assert "quantized_decomposed.quantize" not in text
    moved = "quantized_decomposed.dequantize" in text.rstrip().splitlines()[-4]
    unsigned_maximum = name == "max_pool" and storage == "ui8"
    assert moved == (granularity in _CASES[name][2] and not unsigned_maximum)
    pipelines.run(module, "builtin.module(quantized-decomposed-simplify)")
    assert str(module) == text
    reference = _parse(granularity, name, storage)
    np.testing.assert_array_equal(_run(module, storage), _run(reference, storage))
