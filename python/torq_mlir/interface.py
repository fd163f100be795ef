# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of a compiled function: their description in the IR, and the arrays that are passed.

The function computes on signless integers. Which of them are unsigned in the source model, what they are called there
and how they are quantized is in attributes of the arguments and results:

    func.func @main(%arg0: tensor<1x8xi8> {torq_hl.name = "x", torq_hl.dtype = "uint8", torq_hl.scale = 0.5 : f64,
                                           torq_hl.zero_point = 128 : i64})

An argument with `torq_hl.initial`, its value before the first call, is kept from call to call; a result with
`torq_hl.updates` is the new value of the argument of that name.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import ml_dtypes
import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.errors import CompileError, InputError
from torq_mlir.frontends.tensor_info import TensorInfo

_NAME, _DTYPE, _SCALE, _ZERO_POINT = "torq_hl.name", "torq_hl.dtype", "torq_hl.scale", "torq_hl.zero_point"
# Integers of a byte each, as elements of i4 are, with the bits that they have.
_NARROW = {name: np.dtype(getattr(ml_dtypes, name)) for name in ("int2", "uint2", "int4", "uint4")}
_MASKS = {"uint2": 3, "uint4": 15}
# Floats whose bit patterns are passed.
_MINIFLOATS = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in (
        "float4_e2m1fn",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
}
# The name of a dtype takes long to tell.
_NARROW_DTYPES, _MINIFLOAT_DTYPES = frozenset(_NARROW.values()), frozenset(_MINIFLOATS.values())
_INITIAL, _UPDATES = "torq_hl.initial", "torq_hl.updates"


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


def describe(
    function: ir.Operation,
    inputs: Sequence[TensorInfo],
    outputs: Sequence[TensorInfo],
    state: Mapping[str, np.ndarray] = MappingProxyType({}),
    updates: Sequence[str | None] = (),
) -> None:
    """Write names, dtypes and quantization to the attributes of arguments and results.

    Args:
      state: initial values, by name, of the inputs that are kept from call to call.
      updates: for each output the name of the input that it is the new value of; None for what the caller gets.
    """
    with function.context, ir.Location.unknown():
        arguments = [_to_attributes(info) for info in inputs]
        for attributes, info in zip(arguments, inputs, strict=True):
            if info.name in state:
                attributes[_INITIAL] = elements.from_numpy(_signed(state[info.name]))
        results = [_to_attributes(info) for info in outputs]
        for attributes, name in zip(results, updates, strict=False):
            if name is not None:
                attributes[_UPDATES] = ir.StringAttr.get(name)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in arguments])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in results])


def read_state(function: ir.Operation, inputs: Sequence[TensorInfo]) -> dict[str, np.ndarray]:
    """Initial values of the inputs that are kept from call to call, by name."""
    values = {}
    for info, attributes in zip(inputs, _attributes(function, "arg_attrs", len(inputs)), strict=True):
        if _INITIAL in attributes:
            values[info.name] = restore(info, np.array(elements.to_numpy(attributes[_INITIAL])))
    return values


def read_updates(function: ir.Operation, outputs: Sequence[TensorInfo]) -> list[str | None]:
    """For each output the name of the input that it is the new value of; None for what the caller gets."""
    attributes = _attributes(function, "res_attrs", len(outputs))
    return [ir.StringAttr(each[_UPDATES]).value if _UPDATES in each else None for each in attributes]


def _attributes(function: ir.Operation, key: str, count: int) -> list[dict[str, ir.Attribute]]:
    if key not in function.attributes:
        return [{}] * count
    return [{item.name: item.attr for item in ir.DictAttr(each)} for each in ir.ArrayAttr(function.attributes[key])]


def read(function: ir.Operation) -> tuple[tuple[TensorInfo, ...], tuple[TensorInfo, ...]]:
    """Inputs and outputs of `function`; what its attributes do not say is taken from the types."""
    function_type = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    sides = []
    for types, key, stem in (
        (function_type.inputs, "arg_attrs", "input"),
        (function_type.results, "res_attrs", "output"),
    ):
        pairs = enumerate(zip(types, _attributes(function, key, len(types)), strict=True))
        sides.append(tuple(_from_attributes(f"{stem}{index}", *pair) for index, pair in pairs))
    return sides[0], sides[1]


def _to_attributes(info: TensorInfo) -> dict[str, ir.Attribute]:
    attributes: dict[str, ir.Attribute] = {
        _NAME: ir.StringAttr.get(info.name),
        _DTYPE: ir.StringAttr.get(info.dtype.name),
    }
    if info.scale is not None:
        attributes[_SCALE] = ir.FloatAttr.get(ir.F64Type.get(), info.scale)
        attributes[_ZERO_POINT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), info.zero_point)
    return attributes


def _from_attributes(name: str, type_: ir.Type, known: Mapping[str, ir.Attribute]) -> TensorInfo:
    if not isinstance(type_, ir.RankedTensorType):
        raise CompileError(f"{name} of the function has type {type_}, which is no tensor of known rank")
    shape = tuple(-1 if type_.is_dynamic_dim(axis) else type_.shape[axis] for axis in range(type_.rank))
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
    if stored == np.int8 and declared in _NARROW | _MINIFLOATS:
        return (_NARROW | _MINIFLOATS)[declared]
    raise CompileError(f"{name} of the function is declared as {declared} but stored as {stored.name}")


def name_arrays(infos: Sequence[TensorInfo], arrays: Sequence, named: Mapping[str, object]) -> dict[str, object]:
    """What is passed for each input, by name.

    Args:
      infos: the inputs of the model.
      arrays: the first ones, by position.
      named: the others, by name.

    Raises:
      InputError: one is missing, unknown or given twice.
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
    return given


def arrange(infos: Sequence[TensorInfo], given: Mapping[str, object]) -> list[np.ndarray]:
    """Arrays in the order of `infos`, of the dtype that stores them.

    Raises:
      InputError: one is of another shape or dtype.
    """
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
    return _signed(np.asarray(array, order="C"))


def _signed(array: np.ndarray) -> np.ndarray:
    """The array as signless integers are stored."""
    if array.dtype in _NARROW_DTYPES:
        return array.astype(np.int8)
    if array.dtype in _MINIFLOAT_DTYPES:
        return array.view(np.int8)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def check_writable(name: str, array: object) -> None:
    """Raise an InputError unless what is passed for input `name`, which a call updates, can be written to."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        raise InputError(f"input '{name}' is updated by the call; pass an array that can be written to")


def restore(info: TensorInfo, array: np.ndarray) -> np.ndarray:
    """A result of the function in the dtype of the source model."""
    if info.dtype in _NARROW_DTYPES:
        return (array & _MASKS.get(info.dtype.name, -1)).astype(info.dtype)
    if info.dtype in _MINIFLOAT_DTYPES:
        return array.view(info.dtype)
    return array.view(info.dtype) if info.dtype.kind == "u" else array


def select_outputs(
    infos: Sequence[TensorInfo], results: Sequence[np.ndarray], names: Sequence[str] | None
) -> list[np.ndarray]:
    """The results of these names, in that order; all of them for None.

    Raises:
      InputError: there is no output of a name.
    """
    known = dict(zip((info.name for info in infos), results, strict=True))
    for name in names or ():
        if name not in known:
            raise InputError(f"the model has no output '{name}'; its outputs are {', '.join(map(repr, known))}")
    return [known[name] for name in names or known]


def format_shape(shape: Sequence[int]) -> str:
    """`1x3x224x224`; `?` for a dimension that is not static."""
    return "x".join("?" if size < 0 else str(size) for size in shape) if shape else "scalar"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
