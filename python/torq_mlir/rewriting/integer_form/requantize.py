# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What leads from a dequantized accumulator to a quantization becomes integer arithmetic with a rescale.

    quantize(clamp(movement(dequantize(accumulator) + bias)))

The bias is added in units of the accumulator, clamps narrow the bounds of the result, and movements move stored values.
The rescale rounds half up (`numerics.rescale`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.bias import is_accumulator_scale, requantize_bias
from torq_mlir.numerics.quantize import quantize
from torq_mlir.numerics.rescale import multiplier_and_shift
from torq_mlir.numerics.zero_points import INT32_MAX
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Parameters, constant_parameters
from torq_mlir.rewriting.structured import element_type, integer_type

from .dialect import Dialect, Movement
from .flips import flip

ROOT = "quantized_decomposed.quantize_per_tensor"

_ACCUMULATORS = "quantized_decomposed.dequantize_per_tensor", "quantized_decomposed.dequantize_per_channel"


@dataclass
class _Chain:
    """What leads to a quantization.

    Attributes:
      dequantize: of the accumulator.
      before_bias, after_bias: movements, first to last. Without a bias all are after it.
      bias: f32 tensor, or None.
      low, high: bounds by clamps, infinite where there are none.
    """

    dequantize: ir.Operation
    before_bias: list[Movement] = field(default_factory=list)
    bias: ir.Value | None = None
    after_bias: list[Movement] = field(default_factory=list)
    low: float = -math.inf
    high: float = math.inf


class BiasOverflow(Exception):
    """A bias does not fit in the accumulator; the message names the channel."""


def requantize(dialect: Dialect, operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for `quantize_per_tensor`.

    Raises:
      BiasOverflow: a bias does not fit in the accumulator.
    """
    chain = match_chain(dialect, operation.operands[0])
    if chain is None:
        return NOT_MINE
    parameters = constant_parameters(operation)
    if parameters is None or "quant_min" not in operation.attributes:
        raise NoMatch("the parameters of the quantization are not constant")
    storage = element_type(operation.results[0])
    if _is_accumulator_itself(chain, parameters, storage):
        with ir.InsertionPoint(operation), operation.location:
            rewriter.replace_op(operation, [moved(dialect, chain.dequantize.operands[0], chain.after_bias)])
        return None
    if storage.width != 8:
        raise NoMatch(f"the quantization is to {storage.width} bits")
    scale = _accumulator_scale(chain)
    bias = None if chain.bias is None else _accumulator_bias(dialect, chain, scale)
    reach = ir.IntegerAttr(chain.dequantize.attributes["quant_max"]).value
    reach += 0 if bias is None else int(np.abs(bias.astype(np.int64)).max(initial=0))
    if reach > INT32_MAX:
        raise NoMatch(f"the i32 accumulator and its bias could reach {reach}")
    multiplier, shift = multiplier_and_shift(scale / float(parameters.scale))
    dialect.check_rescale(multiplier, shift, reach)
    offset = 1 << (storage.width - 1) if parameters.unsigned else 0
    bounds = tuple(bound - offset for bound in _bounds(operation, parameters, chain, storage))
    zero_point = int(parameters.zero_point) - offset
    with ir.InsertionPoint(operation), fuse_locations([chain.dequantize.location, operation.location]):
        value = moved(dialect, chain.dequantize.operands[0], chain.before_bias)
        if bias is not None:
            value = dialect.add_bias(value, bias)
        value = dialect.rescale(value, multiplier, shift, zero_point, bounds, storage, reach)
        value = moved(dialect, value, chain.after_bias)
        rewriter.replace_op(operation, [flip(dialect.arithmetic, value) if parameters.unsigned else value])
    return None


def moved(dialect: Dialect, value: ir.Value, movements: Sequence[Movement]) -> ir.Value:
    """A tensor after movements."""
    for movement in movements:
        value = movement.rebuild(dialect.arithmetic, value, 0)
    return value


def match_chain(dialect: Dialect, value: ir.Value) -> _Chain | None:
    """What leads from an accumulator to `value`."""
    movements: list[Movement] = []
    after_bias: list[Movement] = []
    bias, low, high = None, -math.inf, math.inf
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if is_accumulator(operation):
            if bias is None:
                return _Chain(operation, [], None, movements, low, high)
            return _Chain(operation, movements, bias, after_bias, low, high)
        movement, clamp, addends = (
            match(operation) for match in (dialect.match_movement, dialect.match_clamp, dialect.match_add)
        )
        if movement is not None and not movement.pads:
            movements.insert(0, movement)
            value = operation.operands[0]
        elif clamp is not None and bias is None:
            # The clamps after it bound its bounds.
            value, inner_low, inner_high = clamp
            low, high = min(max(inner_low, low), high), max(min(inner_high, high), low)
        elif addends is not None and bias is None:
            is_bias = [_constant_of(dialect, each) is not None for each in addends]
            if is_bias.count(True) != 1:
                return None
            bias, value = addends[is_bias.index(True)], addends[is_bias.index(False)]
            movements, after_bias = [], movements
        else:
            return None
    return None


def _is_accumulator_itself(chain: _Chain, parameters: Parameters, storage: ir.IntegerType) -> bool:
    """Whether a quantization gives what was dequantized."""
    is_bounded = not (math.isinf(chain.low) and math.isinf(chain.high))
    if (
        chain.bias is not None
        or is_bounded
        or storage.width != 32
        or parameters.unsigned
        or parameters.zero_point.any()
    ):
        return False
    return bool(np.all(constant_parameters(chain.dequantize).scale == parameters.scale))


def is_accumulator(operation: ir.Operation) -> bool:
    """Whether it dequantizes what `accumulate` made: i32 without a zero point."""
    if operation.name not in _ACCUMULATORS or element_type(operation.operands[0]) != integer_type(32):
        return False
    parameters = constant_parameters(operation)
    return parameters is not None and not parameters.zero_point.any() and not parameters.unsigned


def _accumulator_scale(chain: _Chain) -> np.ndarray:
    """In f64, in the rank of the accumulator where the bias is added, of extent 1 where it does not vary."""
    parameters = constant_parameters(chain.dequantize)
    shape = ir.RankedTensorType(chain.dequantize.operands[0].type).shape
    scale = parameters.scale
    extents = [-1 if d == parameters.axis else 1 for d in range(len(shape))]
    scale = scale.reshape(extents if parameters.axis is not None else (1,) * len(shape))
    if not chain.before_bias:
        return scale
    if scale.size == 1:
        return scale.reshape((1,) * len(chain.before_bias[-1].result_shape))
    scale = np.broadcast_to(scale, shape)
    for movement in chain.before_bias:
        scale = movement.apply(scale)
    return _compact(scale)


def _compact(values: np.ndarray) -> np.ndarray:
    """Extent 1 where values do not vary."""
    for d in range(values.ndim):
        first = values.take([0], axis=d)
        if values.strides[d] == 0 or np.array_equal(np.broadcast_to(first, values.shape), values):
            values = first
    return values


def _constant_of(dialect: Dialect, value: ir.Value) -> tuple[ir.Value, list[Movement]] | None:
    """The constant, or dequantized constant, that `value` is after movements."""
    movements: list[Movement] = []
    while elements.constant_value(value) is None:
        if isinstance(value.owner, ir.Block):
            return None
        operation = value.owner.operation
        if operation.name in _ACCUMULATORS:
            is_constant = elements.constant_value(operation.operands[0]) is not None
            return (value, movements) if is_constant and constant_parameters(operation) is not None else None
        movement = dialect.match_movement(operation)
        if movement is None or movement.pads:
            return None
        movements.insert(0, movement)
        value = operation.operands[0]
    return value, movements


def _accumulator_bias(dialect: Dialect, chain: _Chain, scale: np.ndarray) -> np.ndarray:
    """The bias in units of the accumulator, i32, in its rank."""
    value, movements = _constant_of(dialect, chain.bias)

    def along(values: np.ndarray) -> np.ndarray:
        for movement in movements:
            values = movement.apply(values)
        return _compact(values.reshape((1,) * (scale.ndim - values.ndim) + values.shape))

    constant = elements.constant_value(value)
    try:
        if constant is not None:
            return requantize_bias(along(constant), scale)
        parameters = constant_parameters(value.owner.operation)
        integers = elements.constant_value(value.owner.operation.operands[0]).astype(np.int64)
        extents = [-1 if d == parameters.axis else 1 for d in range(integers.ndim)]
        zero_point, bias_scale = (
            np.broadcast_to(each.reshape(extents if each.ndim else (1,) * integers.ndim), integers.shape)
            for each in (parameters.zero_point, parameters.scale)
        )
        integers, bias_scale = along(integers - zero_point), along(bias_scale)
        if is_accumulator_scale(bias_scale, scale):
            return np.broadcast_to(integers, np.broadcast_shapes(integers.shape, scale.shape)).astype(np.int32)
        return requantize_bias(integers, scale, bias_scale=bias_scale)
    except OverflowError as error:
        raise BiasOverflow(str(error)) from None


def _bounds(operation: ir.Operation, parameters: Parameters, chain: _Chain, storage: ir.IntegerType) -> tuple[int, int]:
    """Bounds of the stored values, narrowed by clamps: rounding is monotonic, so their bounds may be quantized."""
    least, greatest = (ir.IntegerAttr(operation.attributes[name]).value for name in ("quant_min", "quant_max"))
    dtype = np.dtype(f"{'u' if parameters.unsigned else ''}int{storage.width}")

    def bound(value: float, otherwise: int) -> int:
        if math.isinf(value):
            return otherwise
        divide = "divide" in operation.attributes
        value = np.asarray(value, np.float32)
        return int(quantize(value, parameters.scale, parameters.zero_point, least, greatest, dtype, divide=divide))

    return bound(chain.low, least), bound(chain.high, greatest)
