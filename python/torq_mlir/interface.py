# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of a compiled function: their description in the IR, and the arrays that are passed.

The function computes on signless integers. Which of them are unsigned in the source model, what they are called there
and how they are quantized is in attributes of the arguments and results:

    func.func @main(%arg0: tensor<1x8xi8> {torq_hl.name = "x", torq_hl.dtype = "uint8", torq_hl.scale = 0.5 : f64,
                                           torq_hl.zero_point = 128 : i64})
"""

from collections.abc import Mapping, Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.errors import CompileError, InputError
from torq_mlir.frontends.onnx import TensorInfo

_NAME, _DTYPE, _SCALE, _ZERO_POINT = "torq_hl.name", "torq_hl.dtype", "torq_hl.scale", "torq_hl.zero_point"


def entry_function(module: ir.Module | ir.Operation) -> ir.Operation:
    """The function `main`, or the only public one.

    Raises:
      CompileError: there is no such function.
    """
    body = module.operation.regions[0].blocks[0]
    functions = [op.operation for op in body.operations if op.operation.name == "func.func"]
    public = [function for function in functions if "sym_visibility" not in function.attributes]
    named = [function for function in public if ir.StringAttr(function.attributes["sym_name"]).value == "main"]
    if len(named or public) != 1:
        raise CompileError(f"expected a function @main or one public function, found {len(public)} public functions")
    return (named or public)[0]


def describe(function: ir.Operation, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> None:
    """Write names, dtypes and quantization to the attributes of arguments and results."""
    with function.context, ir.Location.unknown():
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([_to_attributes(info) for info in inputs])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([_to_attributes(info) for info in outputs])


def read(function: ir.Operation) -> tuple[tuple[TensorInfo, ...], tuple[TensorInfo, ...]]:
    """Inputs and outputs of `function`; what its attributes do not say is taken from the types."""
    function_type = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    sides = []
    for types, key, stem in (
        (function_type.inputs, "arg_attrs", "input"),
        (function_type.results, "res_attrs", "output"),
    ):
        attributes = list(ir.ArrayAttr(function.attributes[key])) if key in function.attributes else [None] * len(types)
        pairs = enumerate(zip(types, attributes, strict=True))
        sides.append(tuple(_from_attributes(f"{stem}{index}", *pair) for index, pair in pairs))
    return sides[0], sides[1]


def _to_attributes(info: TensorInfo) -> ir.DictAttr:
    attributes = {_NAME: ir.StringAttr.get(info.name), _DTYPE: ir.StringAttr.get(info.dtype.name)}
    if info.scale is not None:
        attributes[_SCALE] = ir.FloatAttr.get(ir.F64Type.get(), info.scale)
        attributes[_ZERO_POINT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), info.zero_point)
    return ir.DictAttr.get(attributes)


def _from_attributes(name: str, type_: ir.Type, attributes: ir.Attribute | None) -> TensorInfo:
    if not isinstance(type_, ir.RankedTensorType):
        raise CompileError(f"{name} of the function has type {type_}, which is no tensor of known rank")
    shape = tuple(-1 if type_.is_dynamic_dim(axis) else type_.shape[axis] for axis in range(type_.rank))
    known = {} if attributes is None else {item.name: item.attr for item in ir.DictAttr(attributes)}
    dtype = elements.numpy_dtype(type_.element_type)
    if _DTYPE in known:
        dtype = _dtype(ir.StringAttr(known[_DTYPE]).value, dtype, name)
    return TensorInfo(
        ir.StringAttr(known[_NAME]).value if _NAME in known else name,
        shape,
        dtype,
        ir.FloatAttr(known[_SCALE]).value if _SCALE in known else None,
        ir.IntegerAttr(known[_ZERO_POINT]).value if _ZERO_POINT in known else None,
    )


def _dtype(declared: str, stored: np.dtype, name: str) -> np.dtype:
    """The dtype with the sign that is declared, which the stored one does not have."""
    if declared == stored.name:
        return stored
    if stored.kind == "i" and declared == f"u{stored.name}":
        return np.dtype(declared)
    raise CompileError(f"{name} of the function is declared as {declared} but stored as {stored.name}")


def arrange(infos: Sequence[TensorInfo], arrays: Sequence, named: Mapping[str, object]) -> list[np.ndarray]:
    """Arrays in the order of `infos`, of the dtype that stores them.

    Args:
      infos: the inputs of the model.
      arrays: the first ones, by position.
      named: the others, by name.

    Raises:
      InputError: one is missing, unknown or given twice, or is of another shape or dtype.
    """
    if len(arrays) > len(infos):
        raise InputError(f"the model has {_count(len(infos), 'input')}, but {len(arrays)} arrays were passed")
    given = dict(zip((info.name for info in infos), arrays, strict=False))
    known = [info.name for info in infos]
    for name in named:
        if name not in known:
            raise InputError(f"the model has no input '{name}'; its inputs are {', '.join(map(repr, known))}")
        if name in given:
            raise InputError(f"input '{name}' was passed twice, by position and by name")
    given.update(named)
    missing = [name for name in known if name not in given]
    if missing:
        raise InputError(f"no array was passed for input {', '.join(map(repr, missing))}")
    return [_stored(info, given[info.name]) for info in infos]


def _stored(info: TensorInfo, value: object) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype != info.dtype:
        raise InputError(f"input '{info.name}' has dtype {info.dtype.name}, but the array has {array.dtype.name}")
    fits = len(array.shape) == len(info.shape)
    if not fits or any(size not in (-1, actual) for size, actual in zip(info.shape, array.shape, strict=True)):
        raise InputError(
            f"input '{info.name}' has shape {format_shape(info.shape)}, but the array has {format_shape(array.shape)}"
        )
    array = np.asarray(array, order="C")
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def restore(info: TensorInfo, array: np.ndarray) -> np.ndarray:
    """A result of the function in the dtype of the source model."""
    return array.view(info.dtype) if info.dtype.kind == "u" else array


def format_shape(shape: Sequence[int]) -> str:
    """`1x3x224x224`; `?` for a dimension that is not static."""
    return "x".join("?" if size < 0 else str(size) for size in shape) if shape else "scalar"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
