# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of linalg, whatever they compute on each element, as loops over vectors."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.islands import fill_value
from torq_mlir.backends.cpu.kernels import body as bodies
from torq_mlir.backends.cpu.kernels.body import Body
from torq_mlir.backends.cpu.kernels.elementwise import Operand, merged
from torq_mlir.backends.cpu.kernels.generic import Generic
from torq_mlir.backends.cpu.kernels.row_reduction import RowReduction
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.memory import Buffer
from torq_mlir.backends.cpu.planning import Planner, shape_and_dtype
from torq_mlir.backends.cpu.steps import Tensor

from .loops import Loops
from .products import float_product, integer_product, reads_unsigned


def generic(planner: Planner, operation: ir.Operation) -> bool:
    """A linalg.generic: a product of matrices, or loops."""
    if len(operation.results) != 1:
        return False
    loops = Loops.of(operation)
    if loops is None or loops.of_result() is None:
        return False
    for value in (*operation.operands, operation.results[0]):
        shape_and_dtype(value)
    if integer_product(planner, operation, loops) or float_product(planner, operation, loops):
        return True
    parsed = bodies.of_operation(operation)
    if parsed is None or any(isinstance(value.type.element_type, ir.IndexType) for value in operation.operands):
        return False
    nest = _Nest(planner, operation, loops, *parsed)
    if not loops.reductions:
        return nest.elementwise()
    return nest.row_reduction() or nest.reduction()


def product(planner: Planner, operation: ir.Operation) -> bool:
    """A product that has a name."""
    loops = Loops.of(operation)
    return loops is not None and float_product(planner, operation, loops)


def fill(planner: Planner, operation: ir.Operation) -> bool:
    """A constant, which what reads it takes in; an array where something else does."""
    return fill_value(operation) is not None


def transpose(planner: Planner, operation: ir.Operation) -> bool:
    """The same memory."""
    source = planner.tensor(operation.operands[0])
    layout = source.layout.transposed(list(operation.attributes["permutation"]))
    planner.define(operation.results[0], Tensor(source.buffer, layout, source.fill))
    return True


@dataclasses.dataclass
class _Nest:
    planner: Planner
    operation: ir.Operation
    loops: Loops
    body: Body
    parameters: list[int]

    def elementwise(self) -> bool:
        """The loops are in the order of the elements of the input that has the most, as it is in memory."""
        loops, body = self.loops, self.body
        sources = [self.planner.tensor(value) for value in list(self.operation.operands)[:-1]]
        order = self._order([source.layout for source in sources])
        if body.has_index and not order:
            return False
        result = self._produce(self._dimensions(order))
        reads_inits = not set(body.accumulators).isdisjoint(body.used())
        init = [self._initial(order)] if reads_inits else []
        operands = [loops.operand(n, source.layout, order) for n, source in enumerate(sources)]
        operands += [operand for _, operand in init]
        operands.append(loops.operand(len(sources), result.layout, order))
        sizes, kept = tuple(loops.sizes[loop] for loop in order), tuple(order)
        if not body.has_index:
            sizes, strides = merged(sizes or (1,), [each.strides or (1,) for each in operands], True)
            operands = [dataclasses.replace(each, strides=s) for each, s in zip(operands, strides, strict=True)]
            kept = ()
        kernel = Generic(body, sizes, (), tuple(operands), reads_inits, kept)
        self._call(kernel, [*sources, *(tensor for tensor, _ in init), result])
        self.planner.finish(result, self.operation)
        return True

    def row_reduction(self) -> bool:
        """Where the reduced elements are neighbours in memory."""
        loops, body = self.loops, self.body
        combining = body.depending_on(body.accumulators) - set(body.accumulators)
        in_order = not (len(combining) == 1 and self._is_any_order(*combining))
        if body.has_index or (in_order and body.width > 32):
            return False
        sources = [self.planner.tensor(value) for value in list(self.operation.operands)[:-1]]
        parallel = [loop for loop in loops.parallel if loops.sizes[loop] > 1]
        order = [*parallel, *loops.reductions]
        operands = [loops.operand(n, source.layout, order) for n, source in enumerate(sources)]
        init, initial = self._initial(order)
        operands.append(initial)
        sizes, strides = _merged_reductions(loops, len(parallel), order, operands)
        used = body.used()
        along = [each[-1] for number, each in enumerate(strides[:-1]) if number in used]
        if len(sizes) != len(parallel) + 1 or set(along) - {0, 1} or 1 not in along or sizes[-1] < 2:
            return False
        result = self._produce(range(len(loops.of_result())))
        operands.append(loops.operand(len(sources), result.layout, order))
        strides.append((*operands[-1].strides[: len(parallel)], 0))
        if not parallel:
            sizes, strides = (1, *sizes), [(0, *each) for each in strides]
        operands = [dataclasses.replace(each, strides=s) for each, s in zip(operands, strides, strict=True)]
        kernel = RowReduction(body, sizes[:-2], *sizes[-2:], tuple(operands), in_order)
        self._call(kernel, [*sources, init, result])
        return True

    def _is_any_order(self, number: int) -> bool:
        body = self.body
        each = body.instructions[number - body.first_result]
        (accumulator,) = body.accumulators
        return each.name in bodies.ANY_ORDER and each.operands.count(accumulator) == 1 and body.results == (number,)

    def reduction(self) -> bool:
        """Neighbouring results are the lanes of a vector."""
        loops, body = self.loops, self.body
        sources = [self.planner.tensor(value) for value in list(self.operation.operands)[:-1]]
        order = [*self._order([source.layout for source in sources]), *loops.reductions]
        result = self._produce(self._dimensions(order))
        init, initial = self._initial(order)
        operands = [loops.operand(n, source.layout, order) for n, source in enumerate(sources)]
        operands += [initial, loops.operand(len(sources), result.layout, order)]
        sizes = tuple(loops.sizes[loop] for loop in order)
        count = len(loops.parallel)
        if not count:
            count, sizes, order = 1, (1, *sizes), [-1, *order]
            operands = [dataclasses.replace(each, strides=(1, *each.strides)) for each in operands]
        kernel = Generic(body, sizes[:count], sizes[count:], tuple(operands), True, tuple(order))
        self._call(kernel, [*sources, init, result])
        self.planner.finish(result, self.operation)
        return True

    def _order(self, layouts: Sequence[Layout]) -> list[int]:
        """The parallel loops, the outermost first: as the elements of the largest input follow each other."""
        loops = self.loops
        wide = [loop for loop in loops.parallel if loops.sizes[loop] > 1]
        strides = [[loops.stride(number, layout, loop) for loop in wide] for number, layout in enumerate(layouts)]
        whole = [(layout.elements, each) for layout, each in zip(layouts, strides, strict=True) if all(each)]
        if not whole:
            return list(loops.parallel)
        _, chosen = max(whole, key=lambda pair: pair[0])
        by_stride = sorted(zip(chosen, wide, strict=True), key=lambda pair: -pair[0])
        return [loop for loop in loops.parallel if loop not in wide] + [loop for _, loop in by_stride]

    def _dimensions(self, order: Sequence[int]) -> list[int]:
        """Those of the result as the loops follow each other; the ones without a loop are outside."""
        loops = self.loops.of_result()
        return sorted(range(len(loops)), key=lambda d: -1 if loops[d] is None else order.index(loops[d]))

    def _produce(self, order: Sequence[int]) -> Tensor:
        value = self.operation.results[0]
        shape, dtype = shape_and_dtype(value)
        if dtype == np.int8 and reads_unsigned(value):
            tensor = self.planner.allocate(dataclasses.replace(Layout.inner(shape, dtype, order), biased=False))
            self.planner.define(value, tensor)
            return tensor
        return self.planner.produce(value, list(order))

    def _initial(self, order: Sequence[int]) -> tuple[Tensor | Buffer, Operand]:
        """What the result is before, and how it is read: one element if it is filled with one."""
        value = self.operation.operands[len(self.operation.operands) - 1]
        constant = None if isinstance(value.owner, ir.Block) else fill_value(value.owner.operation)
        if constant is None:
            tensor = self.planner.tensor(value)
            return tensor, self.loops.operand(len(self.operation.operands) - 1, tensor.layout, order)
        operand = Operand(1, 8 * constant.dtype.itemsize, False, 0, (0,) * len(order))
        return self.planner.constants.add(constant), operand

    def _call(self, kernel: Generic | RowReduction, arguments: Sequence[Tensor | Buffer]) -> None:
        self.planner.call(kernel, [*arguments, *self.parameters], self.operation)


def _merged_reductions(
    loops: Loops, parallel: int, order: Sequence[int], operands: Sequence[Operand]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Sizes and strides, with reduction loops joined where every operand goes on from one to the next."""
    inner = [each.strides[parallel:] for each in operands]
    sizes, strides = merged([loops.sizes[loop] for loop in order[parallel:]], inner, True)
    outer = tuple(loops.sizes[loop] for loop in order[:parallel])
    return (*outer, *sizes), [(*each.strides[:parallel], *s) for each, s in zip(operands, strides, strict=True)]
