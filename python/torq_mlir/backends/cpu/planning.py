# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function of torq_hl to a program: which kernel each operation is, and how its tensors are stored.

Images are stored with channels innermost. What an operation cannot read as it is stored is copied first. Consecutive
operations without a kernel become a function that is compiled as the rest of linalg is.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, ods, torq_hl
from torq_mlir.errors import CompileError
from torq_mlir.execution.signature import entry_function

from . import islands
from .kernels import Kernel
from .kernels.border import Border
from .kernels.elementwise import Map
from .kernels.operations import Copy
from .kernels.transposition import Transposition
from .layout import Layout
from .machine import Cpu
from .memory import Buffer, assign
from .steps import Constants, Step, Tensor

_NO_CODE = frozenset({"arith.constant", "tensor.empty"})
BIAS = 128
CONVOLUTIONS = frozenset({"torq_hl.conv1d", "torq_hl.conv2d", "torq_hl.depthwise_conv2d"})


class NotPlannedError(CompileError):
    """A tensor has no static shape or no elements, or a function is called: MLIR's own lowering takes it."""


class Planner:
    """Plans the function `main` of a module, or its only public function.

    Attributes:
      steps, constants: the program.
      inputs, outputs: layouts of arguments and results.
      islands: operations of each function that has no kernel.
    """

    def __init__(self, module: ir.Module, cpu: Cpu, handlers: "dict[str, Handler]") -> None:
        self.cpu = cpu
        self._module = module  # steps refer to what is in it
        self.steps: list[Step] = []
        self.constants = Constants()
        self.islands: list[islands.Island] = []
        self._handlers = handlers
        self._tensors: dict[ir.Value, Tensor] = {}
        self._buffers: list[Buffer] = []
        self._pending: list[ir.Operation] = []
        block = entry_function(module).regions[0].blocks[0]
        self.inputs = [Layout.plain(*shape_and_dtype(argument)) for argument in block.arguments]
        for number, (argument, layout) in enumerate(zip(block.arguments, self.inputs, strict=True)):
            self._tensors[argument] = Tensor(Buffer(layout.bytes, "input", number), layout)
        *operations, last = [operation.operation for operation in block.operations]
        if any(operation.name == "func.call" for operation in operations):
            raise NotPlannedError("functions that are called have no plan")
        for operation in operations:
            self._plan(operation)
        self.outputs = [Layout.plain(*shape_and_dtype(value)) for value in last.operands]
        for number, (value, layout) in enumerate(zip(last.operands, self.outputs, strict=True)):
            self._copy(self.tensor(value), Tensor(Buffer(layout.bytes, "output", number), layout), last)
        self.arena = assign(self._buffers)

    def _plan(self, operation: ir.Operation) -> None:
        if operation.name in _NO_CODE:
            return
        handler = self._handlers.get(operation.name)
        if handler is None or not handler(self, operation):
            assert not any(result in self._tensors for result in operation.results), "a refusal leaves no trace"
            self._pending.append(operation)

    def tensor(self, value: ir.Value) -> Tensor:
        """Where a value is; the code that computes it comes before."""
        if value not in self._tensors and not isinstance(value.owner, ir.Block):
            if value.owner.operation in self._pending:
                self._flush()
            else:
                self._tensors[value] = self._constant(value)
        return self._tensors[value]

    def _constant(self, value: ir.Value) -> Tensor:
        array = elements.constant_value(value)
        if array is None and (filling := islands.fill_value(value.owner.operation)) is not None:
            array = np.full(shape_and_dtype(value)[0], filling)
        if array is None:  # tensor.empty, whose elements nobody reads
            array = np.zeros(*shape_and_dtype(value))
        return Tensor(self.constants.add(array), Layout.plain(array.shape, array.dtype))

    def define(self, value: ir.Value, tensor: Tensor) -> None:
        self._tensors[value] = tensor

    def allocate(self, layout: Layout, fill: int | None = None) -> Tensor:
        buffer = Buffer(layout.bytes)
        self._buffers.append(buffer)
        return Tensor(buffer, layout, fill)

    def produce(self, value: ir.Value, order: Sequence[int] | None = None) -> Tensor:
        """Memory for a result, with the room that convolutions need which read it."""
        shape, dtype = shape_and_dtype(value)
        if order is None:
            order = channels_last(4) if len(shape) == 4 and dtype == np.int8 else range(len(shape))
        is_image = len(shape) in (3, 4) and tuple(order) == channels_last(len(shape))
        halo, fill, channels = _room_around(value) if is_image else ((0, 0, 0, 0), None, 0)
        tensor = self.allocate(Layout.inner(shape, dtype, order, halo, channels), fill if any(halo) else None)
        self._tensors[value] = tensor
        return tensor

    def call(self, kernel: Kernel | str, arguments: Sequence[Tensor | Buffer | int], operation: ir.Operation) -> None:
        buffers = [each.buffer if isinstance(each, Tensor) else each for each in arguments]
        for each in buffers:
            if isinstance(each, Buffer):
                each.use(len(self.steps))
        self.steps.append(Step(kernel, buffers, operation))

    def finish(self, tensor: Tensor, operation: ir.Operation) -> None:
        """Fills the room around a tensor that was computed."""
        if tensor.fill is not None:
            layout = tensor.layout
            images, *rows, columns, channels = layout.extents
            kernel = Border(images, *(rows or [1]), columns, channels, *room_around_image(layout))
            self.call(kernel, [tensor, tensor.fill], operation)

    def in_layout(self, tensor: Tensor, layout: Layout, operation: ir.Operation, fill: int | None = None) -> Tensor:
        """The tensor in that layout: itself, or a copy."""
        if tensor.layout == layout and (fill is None or tensor.fill == fill):
            return tensor
        copied = self.allocate(layout, fill)
        self._copy(tensor, copied, operation)
        self.finish(copied, operation)
        return copied

    def _copy(self, source: Tensor, target: Tensor, operation: ir.Operation) -> None:
        rank = len(target.layout.shape)
        layouts = [source.layout, target.layout]
        kernel = Map.of(Copy(8 * target.layout.dtype.itemsize), layouts, [tuple(range(rank))])
        self.call(Transposition.of(kernel) or kernel, [source, target], operation)

    copy = _copy

    def _flush(self) -> None:
        """Makes a function of the operations without a kernel."""
        operations, self._pending = self._pending, []
        island = islands.Island.of(operations, f"island_{len(self.islands)}")
        self.islands.append(island)
        arguments: list[Tensor | Buffer] = []
        for value in island.inputs:
            tensor = self.tensor(value)
            arguments.append(self.in_layout(tensor, Layout.plain(*shape_and_dtype(value)), operations[0]))
        arguments += [self.constants.add(array) for array in island.constants]
        for value in island.results:
            self._tensors[value] = self.allocate(Layout.plain(*shape_and_dtype(value)))
            arguments.append(self._tensors[value])
        self.call(island.name, arguments, operations[-1])


Handler = Callable[[Planner, ir.Operation], bool]


def shape_and_dtype(value: ir.Value) -> tuple[tuple[int, ...], np.dtype]:
    """Of a tensor of static shape.

    Raises:
      NotPlannedError: the shape is not static, or is empty.
    """
    type_ = value.type
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape or 0 in type_.shape:
        raise NotPlannedError(f"{type_} is not a tensor of static shape with elements")
    return tuple(type_.shape), elements.numpy_dtype(type_.element_type)


def attributes_of(operation: ir.Operation) -> SimpleNamespace:
    return SimpleNamespace(**ods.attribute_values(operation, torq_hl.OPERATIONS[operation.name]))


def channels_last(rank: int) -> tuple[int, ...]:
    """The order of an image in memory."""
    return 0, *range(2, rank), 1


def room_around_image(layout: Layout) -> tuple[int, int, int, int]:
    """Left, right, top and bottom; an image of one dimension has one row."""
    vertical = (layout.low[-3], layout.high[-3]) if len(layout.shape) == 4 else (0, 0)
    return layout.low[-2], layout.high[-2], *vertical


def padding(attributes: SimpleNamespace) -> tuple[int, int, int, int]:
    """Of a convolution: left, right, top and bottom."""
    left, right, *vertical = attributes.pad
    return left, right, *(vertical or (0, 0))


def channels_read(channels: int, groups: int) -> int:
    """Channels of an image that a convolution in groups reads: the last group up to a multiple of four."""
    each = channels // groups
    return (groups - 1) * each + each + -each % 4


def _room_around(value: ir.Value) -> tuple[tuple[int, int, int, int], int | None, int]:
    """What the convolutions need that read a value.

    Returns:
      The largest padding, what it is filled with, which is that of the first one, and the number of channels.
    """
    halo, fill, channels = (0, 0, 0, 0), None, 0
    for use in value.uses:
        operation = use.owner.operation
        if operation.name not in CONVOLUTIONS or use.operand_number != 3:
            continue
        attributes = attributes_of(operation)
        stored = attributes.input_zp + BIAS
        if operation.name != "torq_hl.depthwise_conv2d":
            channels = max(channels, channels_read(ir.RankedTensorType(value.type).shape[1], attributes.groups))
        if any(attributes.pad) and fill in (None, stored):
            halo, fill = tuple(max(pair) for pair in zip(halo, padding(attributes), strict=True)), stored
    return halo, fill, channels
