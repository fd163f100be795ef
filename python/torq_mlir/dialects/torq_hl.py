# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torq_hl dialect: op classes, and a builder function for each operation.

A builder takes the operands in the order of the ODS without `init`, and the attributes by keyword as Python values; it
returns the result. Attributes equal to their default are left out. Every builder also has the keywords

  element_type: element type of the result; that of the first input when omitted, i1 for comparisons, i32 for positions.
  shape: of the result, for `broadcast` and `fill` alone; elsewhere it follows from the operands.
  init: the output buffer, whose type is then that of the result; `tensor.empty` of the result type when omitted.
  loc, ip: location and insertion point; the current ones when omitted.

Builders raise TypeError for missing or unknown operands and attributes, and `shapes.ShapeError`, a ValueError, for
those that do not fit together and for a result of dynamic shape without `init`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir._generated._torq_hl_ops import (
    ActOp,
    AddOp,
    ArgMaxOp,
    AvgPool2DOp,
    BroadcastOp,
    Conv1DOp,
    Conv2DOp,
    ConvertOp,
    DepthToSpaceOp,
    DepthwiseConv2DOp,
    ElementwiseBinaryOp,
    FillOp,
    FmaOp,
    FullyConnectedOp,
    GatherOp,
    IdentityOp,
    MatMulOp,
    MaxPool2DOp,
    MulOp,
    ReduceMeanOp,
    ReduceOp,
    ResizeNearestNeighborOp,
    SelectOp,
    TableOp,
    TransposeOp,
)
from torq_mlir._generated.torq_hl import DIALECT
from torq_mlir.dialects import building, inference, ods, tensor_types
from torq_mlir.dialects.shapes import ShapeError
from torq_mlir.dialects.torq_hl_rules import PREDICATES

OPERATIONS = {definition.name: definition for definition in DIALECT.operations}
OP_CLASSES = (
    ActOp,
    AddOp,
    ArgMaxOp,
    AvgPool2DOp,
    BroadcastOp,
    Conv1DOp,
    Conv2DOp,
    ConvertOp,
    DepthToSpaceOp,
    DepthwiseConv2DOp,
    ElementwiseBinaryOp,
    FillOp,
    FmaOp,
    FullyConnectedOp,
    GatherOp,
    IdentityOp,
    MatMulOp,
    MaxPool2DOp,
    MulOp,
    ReduceMeanOp,
    ReduceOp,
    ResizeNearestNeighborOp,
    SelectOp,
    TableOp,
    TransposeOp,
)
building.read_defaults(OP_CLASSES, OPERATIONS)


def _builder(mnemonic: str, **preset: Any) -> Callable[..., ir.Value]:
    """The builder of an operation; `preset` are required attributes that the builder lets one omit."""
    definition = OPERATIONS[f"{DIALECT.name}.{mnemonic}"]
    inputs = definition.operands[1:]

    def build(
        *operands: ir.Value,
        element_type: ir.Type | None = None,
        shape: tensor_types.Shape | None = None,
        init: ir.Value | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
        **attributes: Any,
    ) -> ir.Value:
        values = {**preset, **attributes}
        named = building.name_operands(definition.name, inputs, operands, values)
        built = building.build_attributes(definition, values)
        if init is None:
            result = _result_type(definition, named, values, element_type, shape)
            init = _empty(definition.name, result, loc, ip)
        given = [value for value in named.values() if value is not None]
        operation = ir.Operation.create(
            definition.name, results=[init.type], operands=[init, *given], attributes=built, loc=loc, ip=ip
        )
        return operation.result

    return building.described(build, definition, inputs, preset)


def _result_type(
    definition: ods.Operation,
    operands: Mapping[str, ir.Value | None],
    attributes: Mapping[str, Any],
    element_type: ir.Type | None,
    shape: tensor_types.Shape | None,
) -> ir.RankedTensorType:
    shapes = {name: tensor_types.shape(value.type) for name, value in operands.items() if value is not None}
    values = {each.name: attributes.get(each.name, ods.absent_value(each)) for each in definition.attributes}
    if (shape is None) == inference.needs_init(definition.name):
        raise TypeError(f"{definition.name} {'requires' if shape is None else 'infers its'} shape")
    inferred = inference.result_shape(definition.name, {**shapes, "init": shape}, values)
    return tensor_types.tensor(inferred, element_type or _default_element_type(definition.name, operands, values))


def _default_element_type(name: str, operands: Mapping[str, ir.Value | None], attributes: Mapping[str, Any]) -> ir.Type:
    if name == ElementwiseBinaryOp.OPERATION_NAME and attributes["op_type"] in PREDICATES:
        return ir.IntegerType.get_signless(1)
    if name == ArgMaxOp.OPERATION_NAME:
        return ir.IntegerType.get_signless(32)
    names = ("input2",) if name == SelectOp.OPERATION_NAME else ("input", "input1", "values")
    source = next((operands[each] for each in names if each in operands), None)
    if source is None:
        raise TypeError(f"{name} requires element_type")
    return tensor_types.element_type(source.type)


def _empty(name: str, result: ir.RankedTensorType, loc: ir.Location | None, ip: ir.InsertionPoint | None) -> ir.Value:
    if not result.has_static_shape:
        raise ShapeError(f"{name}: the result {result} has dynamic dimensions; pass init")
    return tensor.EmptyOp(result.shape, result.element_type, loc=loc, ip=ip).result


act = _builder(
    "act",
    input_zp=0,
    output_zp=0,
    min_int=-(2**63),
    max_int=2**63 - 1,
    min_fp=float("-inf"),
    max_fp=float("inf"),
)
add = _builder("add", name="add", input_zp=0)
argmax = _builder("argmax")
avg_pool2d = _builder("avg_pool2d")
broadcast = _builder("broadcast")
conv1d = _builder("conv1d", weight_zp=0, groups=1, vectorization_mode=0)
conv2d = _builder("conv2d", weight_zp=0, groups=1, vectorization_mode=0)
convert = _builder("convert")
depth_to_space = _builder("DepthToSpace")
depthwise_conv2d = _builder("depthwise_conv2d", weight_zp=0, vectorization_mode=0)
elementwisebinary = _builder("elementwisebinary")
fill = _builder("fill")
fma = _builder("fma")
fully_connected = _builder("fully_connected", weight_zp=0, vectorization_mode=0)
gather = _builder("gather")
identity = _builder("identity")
matmul = _builder("matmul")
maxpool2d = _builder("maxpool2d")
mul = _builder("mul")
reduce = _builder("reduce")
reduce_mean = _builder("reduce_mean")
resize_nearest_neighbor = _builder("ResizeNearestNeighbor")
select = _builder("select")
table = _builder("table")
transpose = _builder("transpose")
