# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float computation that starts from one dequantized tensor and reduces along some of its dimensions, as an expression.

Softmax and normalization reach linalg as a dozen generics, in other forms from every front end. What they compute is
one expression of the tensor, sums and maxima over rows, numbers, and vectors along a row. Broadcasts, reshapes by
dimensions of size 1 and the order of operations do not appear in it:

    ("x",)                the dequantized tensor
    ("sum" | "max", e)    over the reduced dimensions
    ("number", v)         ("vector", i) is constant i of the region, which varies along the reduced dimensions
    ("add" | "sub" | "mul" | "div", a, b)     ("exp" | "sqrt" | "rsqrt" | "square", a)

A division by a number is a product, one by a square root a product with "rsqrt", and a number is the second factor.
Conversions between float types do not appear either.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from .constant_folding import fold_floats
from .qparams import Dequantize, match_dequantize
from .scalar_body import Expression, body_expression
from .structured import reassociation

# More operations than any softmax or normalization has.
_MOST_OPERATIONS = 64
_BINARY = {"arith.addf": "add", "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div"}
_UNARY = {"math.exp": "exp", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt"}
_MAXIMA = "arith.maximumf", "arith.maxnumf"


@dataclass(frozen=True)
class RowRegion:
    """A computation of the shape of the dequantized tensor.

    Attributes:
      dequantize: the dequantization it starts from; there may be equal others.
      expression: what is computed.
      reduced: the dimensions of the tensor that sums and maxima are over, ascending.
      vectors: constants as float64 arrays of the shape of the reduced dimensions.
      operations: the operations of the region.
    """

    dequantize: Dequantize
    expression: Expression
    reduced: tuple[int, ...]
    vectors: tuple[np.ndarray, ...]
    operations: tuple[ir.Operation, ...]


def match_row_region(value: ir.Value) -> RowRegion | None:
    """The region that ends in `value`; None for a computation of another kind."""
    reader = _Reader()
    try:
        result = reader.read(value)
    except _Other:
        return None
    if reader.start is None or reader.reduced is None or result.dims != tuple(range(len(reader.shape))):
        return None
    vectors = []
    for array in reader.vectors:
        varying = [d for d, size in enumerate(array.shape) if size != 1]
        if not set(varying) <= set(reader.reduced):
            return None
        shape = [reader.shape[d] if d in reader.reduced else 1 for d in range(len(reader.shape))]
        vectors.append(np.broadcast_to(array, shape).reshape([reader.shape[d] for d in reader.reduced]))
    return RowRegion(reader.start, result.expression, reader.reduced, tuple(vectors), tuple(reader.operations))


class _Other(Exception):
    """The computation is of another kind."""


@dataclass(frozen=True)
class _Symbol:
    """An expression, and for each dimension of the tensor that holds it the one of the start; None for size 1."""

    expression: Expression
    dims: tuple[int | None, ...]


class _Reader:
    """Reads operations from the end to the dequantization."""

    def __init__(self) -> None:
        self.start: Dequantize | None = None
        self.shape: list[int] = []
        self.reduced: tuple[int, ...] | None = None
        self.vectors: list[np.ndarray] = []
        self.operations: list[ir.Operation] = []
        self._symbols: dict[ir.Value, _Symbol] = {}

    def read(self, value: ir.Value) -> _Symbol:
        if value not in self._symbols:
            self._symbols[value] = self._read(value)
        return self._symbols[value]

    def _read(self, value: ir.Value) -> _Symbol:
        dequantize = match_dequantize(value)
        if dequantize is not None:
            return self._begin(dequantize)
        if isinstance(value.owner, ir.Block) or len(self.operations) > _MOST_OPERATIONS:
            raise _Other
        operation = value.owner.operation
        if not ir.RankedTensorType(operation.results[0].type).has_static_shape:
            raise _Other
        symbol = self._operation(operation, value)
        self.operations.append(operation)
        return symbol

    def _begin(self, dequantize: Dequantize) -> _Symbol:
        first = self.start or dequantize
        if not dequantize.per_tensor or any(
            getattr(first, name) != getattr(dequantize, name) for name in ("input", "scale", "zero_point", "unsigned")
        ):
            raise _Other
        self.start = first
        self.shape = ir.RankedTensorType(dequantize.input.type).shape
        return _Symbol(("x",), tuple(range(len(self.shape))))

    def _operation(self, operation: ir.Operation, value: ir.Value) -> _Symbol:
        match operation.name:
            case "tensor.collapse_shape":
                source = self.read(operation.operands[0])
                groups = [{source.dims[d] for d in group} - {None} for group in reassociation(operation)]
                if any(len(group) > 1 for group in groups):
                    raise _Other
                return _Symbol(source.expression, tuple(next(iter(group), None) for group in groups))
            case "tensor.expand_shape":
                return self._expand(operation)
            case "linalg.generic":
                kinds = {str(kind).rpartition("<")[2] for kind in operation.attributes["iterator_types"]}
                return self._reduce(operation, value) if "reduction>" in kinds else self._elementwise(operation)
        raise _Other

    def _expand(self, operation: ir.Operation) -> _Symbol:
        source = self.read(operation.operands[0])
        dims: list[int | None] = [None] * ir.RankedTensorType(operation.results[0].type).rank
        for origin, group in zip(source.dims, reassociation(operation), strict=True):
            sizes = [ir.RankedTensorType(operation.results[0].type).shape[d] for d in group]
            if sum(size != 1 for size in sizes) > 1:
                raise _Other
            dims[group[int(np.argmax(sizes))]] = origin
        return _Symbol(source.expression, tuple(dims))

    def _reduce(self, operation: ir.Operation, value: ir.Value) -> _Symbol:
        """A sum or a maximum; the index of a maximum, a second result, is not used."""
        maps = _maps(operation)
        results = len(operation.results)
        if value != operation.results[0] or any(True for result in operation.results[1:] for _ in result.uses):
            raise _Other
        if maps[0] != ir.AffineMap.get_identity(maps[0].n_dims) or len(operation.operands) != 1 + results:
            raise _Other
        match body_expression(operation, 0):
            case (name, ("arg", 0), ("arg", 1)) | (name, ("arg", 1), ("arg", 0)):
                kind = "sum" if name == "arith.addf" else "max" if name in _MAXIMA else None
            case _:
                raise _Other
        source = self.read(operation.operands[0])
        kept = [e.position if isinstance(e, ir.AffineDimExpr) else None for e in maps[1].results]
        reduced = tuple(d for d, origin in enumerate(source.dims) if d not in kept and origin is not None)
        reduced = tuple(sorted(source.dims[d] for d in reduced))
        if kind is None or _initial_value(operation.operands[1]) != {"sum": 0.0, "max": -np.inf}[kind]:
            raise _Other
        if source.dims != tuple(range(len(self.shape))) or self.reduced not in (None, reduced):
            raise _Other
        self.reduced = reduced
        return _Symbol((kind, source.expression), tuple(None if d is None else source.dims[d] for d in kept))

    def _elementwise(self, operation: ir.Operation) -> _Symbol:
        maps, operands = _maps(operation), list(operation.operands)[:-1]
        if len(operation.results) != 1 or maps[-1] != ir.AffineMap.get_identity(maps[-1].n_dims):
            raise _Other
        constants = [fold_floats(operand) for operand in operands]
        symbols = [self.read(v) if c is None else None for v, c in zip(operands, constants, strict=True)]
        loops = self._loops(operation, maps, symbols)
        arguments = [
            symbol.expression if constant is None else self._constant(constant, indexing, loops)
            for symbol, constant, indexing in zip(symbols, constants, maps[:-1], strict=True)
        ]
        return _Symbol(_translate(body_expression(operation), arguments), loops)

    def _loops(self, operation: ir.Operation, maps: list[ir.AffineMap], symbols: list[_Symbol | None]):
        """For each loop, which is a dimension of the result, the dimension of the start."""
        shape = ir.RankedTensorType(operation.results[0].type).shape
        loops: list[int | None] = [None] * len(shape)
        for symbol, indexing in zip(symbols, maps, strict=False):
            for origin, index in zip(symbol.dims if symbol else (), indexing.results, strict=False):
                if origin is None:
                    continue
                if not isinstance(index, ir.AffineDimExpr) or loops[index.position] not in (None, origin):
                    raise _Other
                loops[index.position] = origin
        if shape == self.shape and all(origin in (None, d) for d, origin in enumerate(loops)):
            loops = list(range(len(shape)))
        if any(origin is None and size != 1 for origin, size in zip(loops, shape, strict=True)):
            raise _Other
        return tuple(loops)

    def _constant(self, constant: np.ndarray, indexing: ir.AffineMap, loops: tuple[int | None, ...]) -> Expression:
        if constant.size == 1:
            return ("number", float(constant.item()))
        shape = [1] * len(self.shape)
        for size, index in zip(constant.shape, indexing.results, strict=True):
            if size == 1:
                continue
            origin = loops[index.position] if isinstance(index, ir.AffineDimExpr) else None
            if origin is None or size != self.shape[origin]:
                raise _Other
            shape[origin] = size
        # Dimensions of a constant that come in another order would need a transposition.
        positions = [e.position for e in indexing.results if isinstance(e, ir.AffineDimExpr)]
        if positions != sorted(positions):
            raise _Other
        self.vectors.append(constant.astype(np.float64).reshape(shape))
        return ("vector", len(self.vectors) - 1)


def _maps(operation: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(operation.attributes["indexing_maps"])]


def _initial_value(init: ir.Value) -> float | None:
    filled = None if isinstance(init.owner, ir.Block) else init.owner.operation
    constant = fold_floats(filled.operands[0] if filled is not None and filled.name == "linalg.fill" else init)
    return (
        float(constant.flat[0])
        if constant is not None and constant.size and (constant == constant.flat[0]).all()
        else None
    )


def _translate(expression: Expression, arguments: list[Expression]) -> Expression:
    """The expression of a body with its arguments put in."""
    match expression:
        case ("arg", index):
            if index >= len(arguments):
                raise _Other
            return arguments[index]
        case ("const", int(value) | float(value)):
            return ("number", float(value))
        case ("arith.truncf" | "arith.extf", a):  # sums of PyTorch's are in f64
            return _translate(a, arguments)
        case (name, a, b) if name in _BINARY:
            return _simplify(_BINARY[name], _translate(a, arguments), _translate(b, arguments))
        case (name, a) if name in _UNARY:
            return (_UNARY[name], _translate(a, arguments))
        case ("math.fpowi" | "math.powf", a, exponent):
            return _power(_translate(a, arguments), _translate(exponent, arguments))
    raise _Other


def _power(base: Expression, exponent: Expression) -> Expression:
    match exponent:
        case ("number", 2.0):
            return ("square", base)
        case ("number", 0.5):
            return ("sqrt", base)
        case ("number", -0.5):
            return ("rsqrt", base)
    raise _Other


def _simplify(name: str, a: Expression, b: Expression) -> Expression:
    match name, a, b:
        case "mul", _, _ if a == b:
            return ("square", a)
        case "div", _, ("number", divisor) if divisor:
            return ("mul", a, ("number", 1.0 / divisor))
        case "div", ("number", 1.0), ("sqrt", radicand):
            return ("rsqrt", radicand)
        case "div", _, ("sqrt", radicand):
            return ("mul", a, ("rsqrt", radicand))
        case "add" | "mul", ("number", _), _:
            return (name, b, a)
    return (name, a, b)
