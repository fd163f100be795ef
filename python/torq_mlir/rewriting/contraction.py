# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions (convolutions and matrix products) by their indexing maps, in float and in quantized form.

One algorithm serves every weighted op: the maps say which loops are reduced, which dimension of the weights is the
output channel, and what the window is. Operands are always (input, weights).
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from ..dialects import elements
from .scalar_body import body_expression
from .structured import PARALLEL, REDUCTION, build_generic, element_type, empty_like, extend, reassociation

_NAMED_QUANTIZED = {
    "linalg.conv_2d_nchw_fchw": linalg.Conv2DNchwFchwQOp,
    "linalg.conv_2d_nhwc_hwcf": linalg.Conv2DNhwcHwcfQOp,
    "linalg.conv_2d_nhwc_fhwc": linalg.Conv2DNhwcFhwcQOp,
    "linalg.conv_2d_ngchw_gfchw": linalg.Conv2DNgchwGfchwQOp,
    "linalg.conv_3d_ndhwc_dhwcf": linalg.Conv3DNdhwcDhwcfQOp,
    "linalg.depthwise_conv_2d_nhwc_hwc": linalg.DepthwiseConv2DNhwcHwcQOp,
    "linalg.depthwise_conv_2d_nhwc_hwcm": linalg.DepthwiseConv2DNhwcHwcmQOp,
    "linalg.matmul": linalg.QuantizedMatmulOp,
    "linalg.batch_matmul": linalg.QuantizedBatchMatmulOp,
}
_QUANTIZED_NAMES = {cls.OPERATION_NAME for cls in _NAMED_QUANTIZED.values()}
_MULTIPLY_ADD = {"linalg.conv_1d_ncw_fcw", "linalg.conv_1d_nwc_wcf", "linalg.conv_3d_ncdhw_fcdhw",
                 "linalg.depthwise_conv_2d_nchw_chw", "linalg.depthwise_conv_1d_ncw_cw",
                 "linalg.depthwise_conv_1d_nwc_wc", "linalg.vecmat", "linalg.matvec", "linalg.batch_matvec",
                 "linalg.batch_vecmat", "linalg.dot"}  # fmt: skip
FLOAT_NAMES = frozenset(_NAMED_QUANTIZED) | _MULTIPLY_ADD


@dataclass(frozen=True)
class Contraction:
    """The structure of `output[map] += input[map] * weights[map]`.

    Attributes:
      operation: the linalg operation.
      maps: indexing maps of input, weights and output.
      input, weights: operands; weights that are repeated along a loop are those before the repetition.
    """

    operation: ir.Operation
    maps: tuple[ir.AffineMap, ir.AffineMap, ir.AffineMap]
    input: ir.Value
    weights: ir.Value

    @property
    def init(self) -> ir.Value:
        return self.operation.operands[len(self.operation.operands) - 1]

    @property
    def result(self) -> ir.Value:
        return self.operation.results[0]

    def dims(self, operand: int) -> list[int | None]:
        """The loop of each dimension of an operand; None where the index is not a plain loop variable."""
        return [e.position if isinstance(e, ir.AffineDimExpr) else None for e in self.maps[operand].results]

    @property
    def reduced_weight_dims(self) -> tuple[int, ...]:
        """Dimensions of the weights that are summed over: those of loops that do not index the output."""
        kept = set(self.dims(2))
        return tuple(i for i, loop in enumerate(self.dims(1)) if loop not in kept)

    def output_dim_of_weight_dim(self, weight_dim: int) -> int | None:
        """The dimension of the output with the same loop as a dimension of the weights."""
        loop = self.dims(1)[weight_dim]
        return self.dims(2).index(loop) if loop is not None and loop in self.dims(2) else None

    def per_output_channel(self, values: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
        """Values over the kept weight dimensions, as `values` and the output dimensions they belong to, in order."""
        kept = [i for i in range(len(self.dims(1))) if i not in self.reduced_weight_dims]
        targets = [self.output_dim_of_weight_dim(i) for i in kept]
        order = np.argsort(targets)
        return values.transpose(order), tuple(targets[i] for i in order)


@dataclass(frozen=True)
class QuantizedContraction(Contraction):
    """`output += (input - input_zp) * (weights - weight_zp)`; constant zero points are ints, others values."""

    input_zp: int | ir.Value = 0
    weight_zp: int | ir.Value = 0


def match_float_contraction(operation: ir.Operation) -> Contraction | None:
    """A linalg contraction of float tensors: a named one, or a convolution in groups that has no name."""
    return match_grouped_convolution(operation.operation) or match_contraction(operation, ir.F32Type.get())


def match_grouped_convolution(operation: ir.Operation) -> Contraction | None:
    """A convolution of f32 in groups that linalg has no name for, such as those over volumes."""
    if operation.name != "linalg.generic" or len(operation.operands) != 3 or len(operation.results) != 1:
        return None
    match body_expression(operation):
        case ("arith.addf", ("arith.mulf", ("arg", 0), ("arg", 1)), ("arg", 2)):
            maps = _maps(operation)
            dims = linalg.infer_convolution_dimensions_from_maps(maps)
            if dims is not None and list(dims.depth) and isinstance(element_type(operation.results[0]), ir.F32Type):
                return Contraction(operation, tuple(maps), *list(operation.operands)[:2])
    return None


def match_contraction(operation: ir.Operation, element: ir.Type) -> Contraction | None:
    """A named linalg contraction whose result has that element type."""
    operation = operation.operation
    if operation.name not in FLOAT_NAMES:
        return None
    if ir.RankedTensorType(operation.results[0].type).element_type != element:
        return None
    maps = _maps(operation)
    weights, weights_map = _before_broadcast(operation.operands[1], maps[1])
    return Contraction(operation, (maps[0], weights_map, maps[-1]), operation.operands[0], weights)


def _before_broadcast(value: ir.Value, affine_map: ir.AffineMap) -> tuple[ir.Value, ir.AffineMap]:
    """A value that is repeated along some dimensions, which may be collapsed then, before that, and its map."""
    repeated, groups = _before_collapse(value)
    if isinstance(repeated.owner, ir.Block) or repeated.owner.operation.name != "linalg.generic":
        return value, affine_map
    generic = repeated.owner.operation
    if len(generic.operands) != 2:
        return value, affine_map
    source, target = (ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"]))
    repeats = body_expression(generic) == ("arg", 0) and target == ir.AffineMap.get_identity(target.n_dims)
    if not repeats or not all(isinstance(e, ir.AffineDimExpr) for e in source.results):
        return value, affine_map
    kept = [[e.position] for e in source.results]
    if any(group not in groups for group in kept):
        return value, affine_map
    results = [affine_map.results[groups.index(group)] for group in kept]
    return generic.operands[0], ir.AffineMap.get(affine_map.n_dims, 0, results)


def _before_batch(operation: ir.Operation, maps: list[ir.AffineMap]) -> tuple[ir.Value, ir.AffineMap]:
    """The weights before they are repeated for each entry of a batch, which is of the input and the result, and a map.

    Repeated along another loop they are what they are: sums over it count each of them many times.
    """
    weights, weights_map = _before_broadcast(operation.operands[1], maps[1])
    input_loops, all_loops, loops, result_loops = (_loops(each) for each in (maps[0], maps[1], weights_map, maps[-1]))
    if all_loops - loops <= input_loops & result_loops:
        return weights, weights_map
    return operation.operands[1], maps[1]


def _loops(affine_map: ir.AffineMap) -> set[int]:
    """The loops that are an index by themselves."""
    return {e.position for e in affine_map.results if isinstance(e, ir.AffineDimExpr)}


def _before_collapse(value: ir.Value) -> tuple[ir.Value, list[list[int]]]:
    """What is collapsed to `value`, and the dimensions of it that each dimension of `value` is made of."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tensor.collapse_shape":
        return value, [[d] for d in range(ir.RankedTensorType(value.type).rank)]
    return value.owner.operation.operands[0], reassociation(value.owner.operation)


def match_quantized_contraction(value: ir.Value) -> QuantizedContraction | None:
    """The i32 contraction of quantized operands that defines `value`: a `_q` operation or the same as a generic."""
    if isinstance(value.owner, ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in _QUANTIZED_NAMES:
        maps = _maps(operation)
        zero_points = [_constant_or_value(operation.operands[i]) for i in (2, 3)]
        weights, weights_map = _before_batch(operation, maps)
        operands = operation.operands[0], weights
        return QuantizedContraction(operation, (maps[0], weights_map, maps[-1]), *operands, *zero_points)
    if operation.name == "linalg.generic" and len(operation.operands) == 3:
        return _match_quantized_generic(operation)
    return None


def _match_quantized_generic(generic: ir.Operation) -> QuantizedContraction | None:
    match body_expression(generic):
        case ("arith.addi", ("arg", 2), ("arith.muli", lhs, rhs)) | (
            "arith.addi",
            ("arith.muli", lhs, rhs),
            ("arg", 2),
        ):
            operands = [_centered(lhs), _centered(rhs)]
        case _:
            return None
    if None in operands or [index for index, _ in operands] != [0, 1]:
        return None
    maps = _maps(generic)
    values = generic.operands[0], generic.operands[1]
    return QuantizedContraction(generic, (maps[0], maps[1], maps[2]), *values, operands[0][1], operands[1][1])


def _centered(expression) -> tuple[int, int | ir.Value] | None:
    zero_point = 0
    match expression:
        case ("arith.subi", expression, ("const" | "outer", zero_point)):
            pass
    match expression:
        case ("arith.extsi", ("arg", index)):
            return index, zero_point
    return None


def build_quantized_contraction(
    contraction: Contraction,
    input: ir.Value,
    weights: ir.Value,
    input_zp: int | ir.Value,
    weight_zp: int | ir.Value,
) -> ir.Value:
    """The i32 form of a float contraction on quantized operands, with a zero initial value.

    A named `_q` operation where linalg has one, otherwise a generic with the same maps. Zero points that are values
    are scalars, i32.
    """
    operation = contraction.operation
    i32 = ir.IntegerType.get_signless(32)
    with operation.location:
        init = linalg.fill(arith.constant(i32, 0), outs=[empty_like(contraction.init, i32)])
    named = _NAMED_QUANTIZED.get(operation.name)
    same_maps = [contraction.maps[i] == _maps(operation)[i] for i in (0, 1)]
    if named is None or _has_custom_maps(operation) or not all(same_maps):
        return _quantized_generic(contraction, input, weights, input_zp, weight_zp, init)
    inputs = [input, weights, _scalar(input_zp), _scalar(weight_zp)]
    window = {name: operation.attributes[name] for name in ("strides", "dilations") if name in operation.attributes}
    quantized = named([init.type], inputs, [init], **window)
    linalg.fill_builtin_region(quantized.operation)
    return quantized.operation.results[0]


def _quantized_generic(contraction, input, weights, input_zp, weight_zp, init) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    parallel = set(contraction.dims(2))
    kinds = [PARALLEL if loop in parallel else REDUCTION for loop in range(contraction.maps[0].n_dims)]

    def centered(value: ir.Value, zero_point: int | ir.Value) -> ir.Value:
        value = extend(value, i32)
        is_zero = isinstance(zero_point, int) and zero_point == 0
        return value if is_zero else arith.subi(value, _scalar(zero_point))

    def body(x: ir.Value, w: ir.Value, accumulator: ir.Value) -> ir.Value:
        return arith.addi(accumulator, arith.muli(centered(x, input_zp), centered(w, weight_zp)))

    return build_generic([input, weights], init, list(contraction.maps), kinds, body)


def _scalar(zero_point: int | ir.Value) -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(32), zero_point) if isinstance(zero_point, int) else zero_point


def _has_custom_maps(operation: ir.Operation) -> bool:
    """linalg.matmul and its kin accept transposing or broadcasting maps, which the quantized form has no way to say."""
    if "indexing_maps" not in operation.attributes:
        return False
    dims = [[e.position for e in m.results if isinstance(e, ir.AffineDimExpr)] for m in _maps(operation)]
    plain = [[0, 2], [2, 1], [0, 1]] if operation.name == "linalg.matmul" else [[0, 1, 3], [0, 3, 2], [0, 1, 2]]
    return dims != plain


def _maps(operation: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(attribute).value for attribute in linalg.get_indexing_maps(operation)]


def _constant_or_value(value: ir.Value) -> int | ir.Value:
    constant = elements.constant_value(value)
    return value if constant is None else int(constant)
