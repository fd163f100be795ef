# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of torq_hl operations that hold across operands, attributes and the result.

A rule takes operands by name, attributes as Python values by name, and the result; it raises InvalidOperationError.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch_mlir import ir

from torq_mlir.dialects.ods import InvalidOperationError
from torq_mlir.dialects.tensor_types import TensorInfo

Operands = Mapping[str, Any]
Attributes = Mapping[str, Any]
Rule = Callable[[Operands, Attributes, TensorInfo], None]


def _size(value: TensorInfo, dimension: int) -> int | None:
    return value.shape[dimension]


def destination(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """The operation writes to init: its type is that of the result."""
    if operands["init"].type != result.type:
        raise InvalidOperationError(
            f"operand 'init' must have the type of the result, '{result.type}', but got '{operands['init'].type}'"
        )


def one_kind(*names: str) -> Rule:
    """The operands `names` and the result are integers, or all are floats."""

    def rule(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
        for name in names:
            if operands[name].is_integer != result.is_integer:
                kind = "integers" if result.is_integer else "floats"
                raise InvalidOperationError(
                    f"operand '{name}' must hold {kind} as the result does, but got '{operands[name].type}'"
                )

    return rule


def one_element_type(*names: str) -> Rule:
    """The operands `names` have one element type."""

    def rule(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
        values = {**operands, "output": result}
        first, *others = names
        for name in others:
            if values[name].element != values[first].element:
                raise InvalidOperationError(
                    f"'{name}' must have the element type of '{first}', {values[first].element}, "
                    f"but has {values[name].element}"
                )

    return rule


def elements(name: str, *counts: int) -> Rule:
    """The operand `name` is one-dimensional with one of the `counts` of elements."""

    def rule(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
        _require_elements(name, operands[name], counts)

    return rule


def _require_elements(name: str, value: TensorInfo, counts: tuple[int, ...]) -> None:
    shape = value.shape
    if len(shape) != 1 or (shape[0] is not None and shape[0] not in counts):
        allowed = " or ".join(str(count) for count in dict.fromkeys(counts))
        noun = "element" if allowed == "1" else "elements"
        raise InvalidOperationError(
            f"operand '{name}' must be one-dimensional with {allowed} {noun}, but got '{value.type}'"
        )


def scale_bias(channels: Callable[[Operands, TensorInfo], int | None]) -> Rule:
    """scale_bias holds a pair, or on floats a bias, for all channels or for each."""

    def rule(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
        value = operands["scale_bias"]
        if value.is_integer != result.is_integer:
            expected = "i32 (bias, multiplier) pairs" if result.is_integer else "f32 biases"
            raise InvalidOperationError(f"operand 'scale_bias' must hold {expected}, but got '{value.type}'")
        each = 2 if value.is_integer else 1
        count = channels(operands, result)
        if count is not None:
            _require_elements("scale_bias", value, (each, each * count))
        elif _size(value, 0) is not None and _size(value, 0) % each:
            raise InvalidOperationError(f"operand 'scale_bias' must hold pairs, but got '{value.type}'")

    return rule


def zero_point(attribute: str, operand: str | None = None) -> Rule:
    """The zero point is a value of the element type of the operand (of the result without one)."""

    def rule(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
        value = operands[operand] if operand else result
        _require_within(attribute, attributes[attribute], value)

    return rule


def output_bounds(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """output_min and output_max are values of the result's element type, in order."""
    low, high = attributes["output_min"], attributes["output_max"]
    if low > high:
        raise InvalidOperationError(f"attribute 'output_min' ({low}) must not exceed 'output_max' ({high})")
    _require_within("output_min", low, result)
    _require_within("output_max", high, result)


def _require_within(name: str, number: int, value: TensorInfo) -> None:
    element = value.element
    if not isinstance(element, ir.IntegerType):
        return
    limit = 1 << (element.width - 1)
    if not -limit <= number < limit:
        raise InvalidOperationError(
            f"attribute '{name}' ({number}) must lie within the range of {element}, {-limit} to {limit - 1}"
        )


def scalar_right(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """With rhs_is_scalar the second input has one element."""
    shape = operands["input2"].shape
    if attributes["rhs_is_scalar"] and any(size not in (1, None) for size in shape):
        raise InvalidOperationError(
            f"operand 'input2' must have one element with 'rhs_is_scalar', but got '{operands['input2'].type}'"
        )


def fma_weights(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """One weight, or one for each channel."""
    channels = _fma_channels(operands, result)
    if channels is not None:
        _require_elements("weights", operands["weights"], (1, channels))


def _fma_channels(operands: Operands, result: TensorInfo) -> int | None:
    shape = operands["input"].shape
    if not shape:
        return 1
    return shape[1] if len(shape) >= 3 else shape[-1]


# Of act: name -> whether the input and the result are integers; None is either, but both of one type.
_ACT_KINDS = {
    "f2f": (False, False),
    "f2i": (False, True),
    "i2f": (True, False),
    "tanh": (False, False),
    "clamp": None,
    "abs": None,
    "negate": None,
}


def act_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """The element types are those that `name` converts between."""
    expected = _ACT_KINDS[attributes["name"]]
    if expected is None:
        one_element_type("input", "output")(operands, attributes, result)
        return
    for name, value, integer in zip(("input", "output"), (operands["input"], result), expected, strict=True):
        if value.is_integer != integer:
            kind = "integers" if integer else "floats"
            raise InvalidOperationError(
                f"'{name}' of \"{attributes['name']}\" must hold {kind}, but got '{value.type}'"
            )


def act_bounds(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Lower bounds do not exceed upper ones."""
    for kind in ("int", "fp"):
        low, high = attributes[f"min_{kind}"], attributes[f"max_{kind}"]
        if low > high:
            low, high = (f"{each:.9g}" if isinstance(each, float) else each for each in (low, high))
            raise InvalidOperationError(f"attribute 'min_{kind}' ({low}) must not exceed 'max_{kind}' ({high})")


def one_table(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """The table is an attribute or an operand."""
    dynamic = operands["dynamic_table"]
    if (attributes["static_table"] is None) == (dynamic is None):
        raise InvalidOperationError("must have either the attribute 'static_table' or the operand 'dynamic_table'")
    if dynamic is not None:
        _require_elements("dynamic_table", dynamic, (256,))


def table_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """From i8 to i8 or i16, or from i16 to i16."""
    if operands["input"].element.width > result.element.width:
        raise InvalidOperationError(
            f"the result must not be narrower than operand 'input', '{operands['input'].type}', but is '{result.type}'"
        )


def binary_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Both inputs have one element type; the result has it too, or is i1 for comparisons and logical operations."""
    one_element_type("input1", "input2")(operands, attributes, result)
    kind = attributes["op_type"]
    if kind in UNARY:
        raise InvalidOperationError(f"attribute 'op_type' ({kind}) is an operation on one input")
    if kind in BITWISE and not operands["input1"].is_integer:
        raise InvalidOperationError(
            f"operand 'input1' must hold integers for a bitwise 'op_type' ({kind}), but got '{operands['input1'].type}'"
        )
    boolean = ir.IntegerType.get_signless(1, result.type.context)
    if kind in ARITHMETIC and operands["input1"].element == boolean:
        raise InvalidOperationError(f"attribute 'op_type' ({kind}) is arithmetic, which i1 does not have")
    expected = boolean if kind in PREDICATES else operands["input1"].element
    if result.element != expected:
        raise InvalidOperationError(
            f"the result must have element type {expected} for 'op_type' {kind}, but got '{result.type}'"
        )


# Values of the enumeration of elementwise operations.
BITWISE = range(0, 4)
ARITHMETIC = (13, 14)
PREDICATES = range(6, 13)
UNARY = (3, 12)


def _one(operands: Operands, result: TensorInfo) -> int | None:
    return 1


def _columns(operands: Operands, result: TensorInfo) -> int | None:
    return _size(operands["weights"], 1)


def _unknown(operands: Operands, result: TensorInfo) -> int | None:
    return None


def _output_channels(operands: Operands, result: TensorInfo) -> int | None:
    return _size(operands["weights"], 0)


def fully_connected_scale_bias(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """As `scale_bias`; with is_batch_scaled the pairs belong to rows, and their number is not checked."""
    channels = _unknown if attributes["is_batch_scaled"] else _columns
    scale_bias(channels)(operands, attributes, result)


_CONV = (
    destination,
    one_kind("input", "weights"),
    scale_bias(_output_channels),
    zero_point("input_zp", "input"),
    zero_point("weight_zp", "weights"),
    zero_point("output_zp"),
    output_bounds,
)
_MEAN = (
    destination,
    one_kind("input", "weights"),
    elements("weights", 1),
    scale_bias(_one),
    zero_point("input_zp", "input"),
    zero_point("output_zp"),
    output_bounds,
)
_MOVE = (destination, one_element_type("input", "output"))
_REDUCE = (
    destination,
    one_kind("input", "weights"),
    elements("weights", 1),
    scale_bias(_one),
    zero_point("output_zp"),
    output_bounds,
)

_RULES: dict[str, tuple[Rule, ...]] = {
    "DepthToSpace": (*_MOVE, elements("weights", 1)),
    "ResizeNearestNeighbor": _MOVE,
    "act": (destination, act_types, act_bounds),
    "add": (
        destination,
        one_kind("input1", "input2", "weights"),
        elements("weights", 2),
        scale_bias(_one),
        scalar_right,
        zero_point("output_zp"),
        output_bounds,
    ),
    "argmax": (destination, elements("scale_bias", 2)),
    "avg_pool2d": _MEAN,
    "broadcast": _MOVE,
    "conv1d": _CONV,
    "conv2d": _CONV,
    "convert": (destination,),
    "depthwise_conv2d": _CONV,
    "elementwisebinary": (destination, binary_types),
    "fill": (destination,),
    "fma": (
        destination,
        one_kind("input", "weights"),
        fma_weights,
        scale_bias(_fma_channels),
        zero_point("output_zp"),
        output_bounds,
    ),
    "fully_connected": (
        destination,
        one_kind("input", "weights"),
        fully_connected_scale_bias,
        zero_point("input_zp", "input"),
        zero_point("weight_zp", "weights"),
        zero_point("output_zp"),
        output_bounds,
    ),
    "gather": (destination, one_element_type("values", "output")),
    "identity": _MOVE,
    "matmul": (
        destination,
        one_kind("input1", "input2"),
        scale_bias(_one),
        zero_point("output_zp"),
        output_bounds,
    ),
    "maxpool2d": (
        *_MOVE,
        elements("weights", 1),
        scale_bias(_one),
        zero_point("input_zp", "input"),
        output_bounds,
    ),
    "mul": (
        destination,
        one_kind("input1", "input2"),
        scale_bias(_one),
        zero_point("output_zp"),
        output_bounds,
    ),
    "reduce": _REDUCE,
    "reduce_mean": _MEAN,
    "select": (destination, one_element_type("input2", "input3", "output")),
    "table": (destination, table_types, elements("scale_bias", 2), one_table, zero_point("output_zp")),
    "transpose": _MOVE,
}

RULES = {f"torq_hl.{mnemonic}": rules for mnemonic, rules in _RULES.items()}
