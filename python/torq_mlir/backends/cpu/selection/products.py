# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices in linalg: of bytes with constant weights, whose sums stay integers, and of floats."""

import dataclasses
import math

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.islands import fill_value
from torq_mlir.backends.cpu.kernels.convolution import Convolution, tile_sizes
from torq_mlir.backends.cpu.kernels.float_product import FloatProduct, Matrices
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.planning import BIAS, Planner
from torq_mlir.backends.cpu.requantize import Rescale
from torq_mlir.backends.cpu.steps import Tensor
from torq_mlir.dialects import elements

from .loops import Loops
from .weighted import TILES_PER_TASK, row_view

_EXTENSIONS = {"arith.extsi": False, "arith.extui": True}
_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")
_INT32 = np.iinfo(np.int32)


@dataclasses.dataclass(frozen=True)
class IntegerProduct:
    """`sum over k of x[.., k] * (w[k, n] - zero point)` with constant w, added to 0.

    Attributes:
      unsigned: whether the bytes of x are.
      weights: int8 [n, k].
    """

    unsigned: bool
    weights: np.ndarray


def match_integer_product(operation: ir.Operation, loops: Loops) -> IntegerProduct | None:
    """The product that an operation is, if it is one of bytes with constant weights."""
    if operation.name != "linalg.generic" or not _is_product(operation, loops) or not _is_linear(loops):
        return None
    block = operation.regions[0].blocks[0]
    factors = _factors(block, "arith.addi", "arith.muli")
    if (
        factors is None
        or not isinstance(block.arguments[2].type, ir.IntegerType)
        or block.arguments[2].type.width != 32
    ):
        return None
    first, second = (_extended(value) for value in factors)
    if first is None or second is None or first[0] != block.arguments[0] or second[0] != block.arguments[1]:
        return None
    weights = elements.constant_value(operation.operands[1])
    if weights is None or weights.dtype != np.int8 or first[0].type.width != 8:
        return None
    positions = [each.loop for each in loops.operands[1]]
    weights = weights if positions[1] in loops.reductions else weights.T
    values = (weights.view(np.uint8) if second[1] else weights).astype(np.int16) - second[2]
    if first[2] or values.min() < -BIAS or values.max() >= BIAS:
        return None
    return IntegerProduct(first[1], values.astype(np.int8))


def integer_product(planner: Planner, operation: ir.Operation, loops: Loops) -> bool:
    """An image of one row, as torq_hl.fully_connected is, whose sums are not rescaled."""
    product = match_integer_product(operation, loops)
    if product is None:
        return False
    source = planner.tensor(operation.operands[0])
    layout = source.layout
    wanted = dataclasses.replace(Layout.inner(layout.shape, layout.dtype), biased=not product.unsigned)
    fits = layout.order == wanted.order and layout.biased == wanted.biased and not layout.has_halo
    if not fits or layout.extents[-1] % 4:
        source = planner.in_layout(source, wanted, operation)
    result = planner.produce(operation.results[0], range(len(layout.shape)))
    rows, outputs = math.prod(layout.shape[:-1]), len(product.weights)
    pixels, blocks = tile_sizes(rows, outputs, planner.cpu)
    kernel = Convolution(
        1,
        1,
        1,
        rows,
        layout.shape[-1],
        source.layout.extents[-1],
        outputs,
        *[(1, 1)] * 3,
        row_view(source.layout),
        row_view(result.layout),
        (0, 0),
        Rescale(is_unit=True),
        pixels,
        blocks,
        max(1, -(-rows // pixels) // TILES_PER_TASK),
        32,
    )
    sums = product.weights.sum(1, dtype=np.int64)
    bias = (-BIAS * sums if source.layout.biased else np.zeros_like(sums)).astype(np.int32)
    add, cpu = planner.constants.add, planner.cpu
    channels = [add(kernel.pad_channels(each, cpu)) for each in (bias, np.ones_like(bias))]
    weights = add(kernel.pack(product.weights[:, :, None, None], cpu))
    scalars = [0, 0, int(_INT32.min), int(_INT32.max)]
    planner.call(kernel, [source, weights, *channels, result, *scalars], operation)
    return True


def reads_unsigned(value: ir.Value) -> bool:
    """Whether a product reads the bytes of a value, or of a reshape of it, as unsigned."""
    for use in value.uses:
        operation = use.owner.operation
        if operation.name in _RESHAPES and reads_unsigned(operation.results[0]):
            return True
        loops = Loops.of(operation) if operation.name == "linalg.generic" and use.operand_number == 0 else None
        product = None if loops is None else match_integer_product(operation, loops)
        if product is not None and product.unsigned:
            return True
    return False


def float_product(planner: Planner, operation: ir.Operation, loops: Loops) -> bool:
    """Matrices are read where they are, the second one with neighbouring columns."""
    block = operation.regions[0].blocks[0]
    types = {argument.type for argument in block.arguments}
    if not _is_product(operation, loops) or types not in ({ir.F32Type.get()}, {ir.F64Type.get()}):
        return False
    factors = _factors(block, "arith.addf", "arith.mulf")
    if factors is None or set(factors) != {block.arguments[0], block.arguments[1]}:
        return False
    roles = _roles(loops)
    if roles is None:
        return False
    batch, row, column, inner = roles
    sources = [planner.tensor(value) for value in list(operation.operands)[:2]]
    if loops.sizes[column] > 1 and loops.stride(1, sources[1].layout, column) != 1:
        sources[1] = _with_columns_inside(planner, operation, loops, sources[1], column, inner)
    result = planner.produce(operation.results[0], range(len(loops.operands[-1])))

    def matrices(number: int, tensor: Tensor) -> Matrices:
        each = loops.operand(number, tensor.layout, [*batch, row, column, inner])
        *strides, of_row, of_column, of_inner = each.strides
        pair = {0: (of_row, of_inner), 1: (of_inner, of_column), 2: (of_row, of_column)}[number]
        return Matrices(each.elements, each.origin, tuple(strides), *pair)

    views = [matrices(number, tensor) for number, tensor in enumerate([*sources, result])]
    width = 8 * result.layout.dtype.itemsize
    sizes = tuple(loops.sizes[loop] for loop in batch), *(loops.sizes[loop] for loop in (row, inner, column))
    tile = tile_sizes(loops.sizes[row], loops.sizes[column] * width // 32, planner.cpu)
    planner.call(FloatProduct(width, *sizes, *views, *tile), [*sources, result], operation)
    return True


def is_product(operation: ir.Operation) -> bool:
    """Whether an operation multiplies elements of two tensors and sums the products."""
    if operation.name in ("linalg.batch_matmul", "linalg.matmul"):
        return True
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return False
    names = {each.operation.name for each in operation.regions[0].blocks[0].operations}
    reduces = any("reduction" in str(each) for each in operation.attributes["iterator_types"])
    return reduces and not names.isdisjoint(("arith.muli", "arith.mulf", "math.fma")) and len(operation.operands) > 2


def _is_product(operation: ir.Operation, loops: Loops) -> bool:
    """Two inputs, one loop of sums, and 0 to begin with; all positions are single loops."""
    if len(operation.operands) != 3 or len(loops.reductions) != 1:
        return False
    init = operation.operands[2]
    filling = None if isinstance(init.owner, ir.Block) else fill_value(init.owner.operation)
    simple = all(position.loop is not None or not any(position.factors) for each in loops.operands for position in each)
    return simple and filling is not None and not filling.any() and not np.signbit(filling.astype(np.float64))


def _is_linear(loops: Loops) -> bool:
    """Whether the operands are x[.., k], a matrix over k and n, and y[.., n]."""
    first, second, result = ([position.loop for position in positions] for positions in loops.operands)
    if not result:
        return False
    (inner,), column = loops.reductions, result[-1]
    return first == [*result[:-1], inner] and set(second) == {inner, column} and len(second) == 2


def _roles(loops: Loops) -> tuple[list[int], int, int, int] | None:
    """The loops of the batch, and those over rows, columns and products."""
    (inner,) = loops.reductions
    first, second, result = ({each.loop for each in positions} for positions in loops.operands)
    columns = [loop for loop in loops.parallel if loop in second and loop not in first]
    rows = [loop for loop in loops.parallel if loop in first and loop not in second]
    if inner not in first & second or not columns or not rows or not set(loops.parallel) <= result:
        return None
    column, row = columns[-1], rows[-1]
    if [each.loop for each in loops.operands[-1]][-1] != column:
        return None
    return [loop for loop in loops.parallel if loop not in (row, column)], row, column, inner


def _with_columns_inside(
    planner: Planner, operation: ir.Operation, loops: Loops, tensor: Tensor, column: int, inner: int
) -> Tensor:
    positions = [each.loop for each in loops.operands[1]]
    last = [positions.index(inner), positions.index(column)]
    order = [d for d in range(len(positions)) if d not in last] + last
    return planner.in_layout(tensor, Layout.inner(tensor.layout.shape, tensor.layout.dtype, order), operation)


def _factors(block: ir.Block, add: str, multiply: str) -> tuple[ir.Value, ir.Value] | None:
    """The factors of a product that is added to the accumulator, which is the last argument."""
    total = block.operations[len(block.operations) - 1].operation.operands[0]
    if len(block.arguments) != 3 or isinstance(total.owner, ir.Block) or total.owner.operation.name != add:
        return None
    terms = list(total.owner.operation.operands)
    others = [term for term in terms if term != block.arguments[2]]
    if len(others) != 1 or isinstance(others[0].owner, ir.Block) or others[0].owner.operation.name != multiply:
        return None
    left, right = others[0].owner.operation.operands
    return (right, left) if _reads(right, block.arguments[0]) else (left, right)


def _reads(value: ir.Value, argument: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block):
        return value == argument
    return any(_reads(each, argument) for each in value.owner.operation.operands)


def _extended(value: ir.Value) -> tuple[ir.Value, bool, int] | None:
    """An argument of 8 bits that is extended, whether as unsigned, and the constant that is subtracted."""
    zero_point = 0
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "arith.subi":
        value, subtracted = value.owner.operation.operands
        constant = None if isinstance(subtracted.owner, ir.Block) else subtracted.owner.operation
        if constant is None or constant.name != "arith.constant":
            return None
        zero_point = ir.IntegerAttr(constant.attributes["value"]).value
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in _EXTENSIONS:
        return None
    operation = value.owner.operation
    return operation.operands[0], _EXTENSIONS[operation.name], zero_point
