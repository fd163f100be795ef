# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations on the result of a contraction, with operands that stretch along it in different ways."""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.contraction import Contraction
from torq_mlir.rewriting.structured import PARALLEL, build_generic, projection, scalar_constant

Element = Callable[[Sequence[ir.Value]], ir.Value]
"""Takes the element of an operand from the arguments of a body."""


class Operands:
    """The operands of an elementwise linalg.generic; scalars are captured by its body."""

    def __init__(self, first: ir.Value) -> None:
        """Takes the operand that has all the dimensions of the result."""
        self._rank = ir.RankedTensorType(first.type).rank
        self._inputs, self._maps = [first], [ir.AffineMap.get_identity(self._rank)]

    def add(self, value: ir.Value, indexing: ir.AffineMap | None = None) -> Element:
        """One more operand; a tensor is read as `indexing` says, by default in the shape of the result."""
        if not isinstance(value.type, ir.RankedTensorType):
            return lambda values: value
        position = len(self._inputs)
        self._inputs.append(value)
        self._maps.append(indexing or ir.AffineMap.get_identity(self._rank))
        return lambda values: values[position]

    def along(self, values: np.ndarray, axes: Sequence[int]) -> Element:
        """A constant along dimensions of the result."""
        if np.all(values == values.flat[0]):
            return self.add(scalar_constant(elements.element_type(values.dtype), values.flat[0]))
        return self.add(arith.constant(None, elements.from_numpy(values)), projection(self._rank, axes))

    def build(self, init: ir.Value, body: Callable[..., ir.Value], reads_init: bool = False) -> ir.Value:
        """The operation; the body is called with the elements of the operands, and of `init` last if it reads it."""
        maps = [*self._maps, ir.AffineMap.get_identity(self._rank)]
        count = len(self._inputs) + reads_init
        return build_generic(self._inputs, init, maps, [PARALLEL] * self._rank, lambda *values: body(*values[:count]))


def initial_value(operands: Operands, contraction: Contraction) -> Element | None:
    """What the contraction adds to; None for 0."""
    return None if starts_at_zero(contraction) else operands.add(contraction.init)


def starts_at_zero(contraction: Contraction) -> bool:
    """Whether a contraction adds to 0."""
    initial = match_initial_value(contraction.init)
    return initial is not None and not isinstance(initial.bias, ir.Value) and initial.bias == 0
