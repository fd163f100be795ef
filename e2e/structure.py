# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structure of a compiled function: which operation gives which layer, and what is still computed in float."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from torch_mlir import ir

from e2e.graph import Layer, QuantizedGraph
from torq_mlir.dialects.locations import source_names
from torq_mlir.report import HOST, NONE, NPU, Row

_LAYOUT = "torq_hl.layout"  # on results whose dimensions are others than in the source model
_BITWISE_XOR = 2  # op_type of torq_hl.elementwisebinary
# Operations that make no values of the model's.
_NO_VALUES = frozenset({"arith.constant", "tensor.empty", "func.return"})
_RESHAPES = frozenset({"tensor.collapse_shape", "tensor.expand_shape"})
# What torq_hl has no operation for, and that computes nothing: joining and cutting buffers, zeros between the elements
# of what a transposed convolution reads.
_BUFFER_MOVEMENTS = _RESHAPES | frozenset(
    {"linalg.fill", "tensor.concat", "tensor.extract_slice", "tensor.insert_slice", "tensor.pad"}
)
_MOVEMENTS = _RESHAPES | frozenset(
    {
        "linalg.transpose",
        "tensor.extract_slice",
        "tensor.pad",
        "torq_hl.DepthToSpace",
        "torq_hl.ResizeNearestNeighbor",
        "torq_hl.broadcast",
        "torq_hl.gather",
        "torq_hl.transpose",
    }
)
# Where an operation of torq_hl does not have what it moves right after `init`.
_MOVED_OPERAND = {"torq_hl.DepthToSpace": 2}


def in_source_layout(operation: ir.Operation, values: np.ndarray) -> np.ndarray:
    """The result of an operation with the dimensions of the value of the source model that it is."""
    if _LAYOUT not in operation.attributes:
        return values
    return np.ascontiguousarray(values.transpose(list(ir.DenseI64ArrayAttr(operation.attributes[_LAYOUT]))))


def in_own_layout(operation: ir.Operation, values: np.ndarray) -> np.ndarray:
    """The inverse of `in_source_layout`."""
    if _LAYOUT not in operation.attributes:
        return values
    inverse = np.argsort(list(ir.DenseI64ArrayAttr(operation.attributes[_LAYOUT])))
    return np.ascontiguousarray(values.transpose(inverse))


def as_volumes(values: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """What is computed slice by slice of volumes [n, c, d, h, w], as [n * d, c, h, w]; other values as they are."""
    if len(shape) != 5 or values.shape != (shape[0] * shape[2], shape[1], *shape[3:]):
        return values
    return values.reshape(shape[0], shape[2], shape[1], *shape[3:]).swapaxes(1, 2)


def as_slices(volumes: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The inverse of `as_volumes`, for values that are stored in that shape."""
    if as_volumes(np.empty(shape, np.int8), volumes.shape).ndim == len(shape):
        return volumes
    return volumes.swapaxes(1, 2).reshape(shape)


def function_of(module: ir.Module) -> ir.Operation:
    """The compiled function.

    Raises:
      ValueError: there is not exactly one public function.
    """
    functions = [
        op.operation
        for op in module.body.operations
        if op.operation.name == "func.func" and "sym_visibility" not in op.operation.attributes
    ]
    if len(functions) != 1:
        raise ValueError(f"the module has {len(functions)} public functions")
    return functions[0]


def body(function: ir.Operation) -> Iterator[ir.Operation]:
    return (op.operation for op in function.regions[0].blocks[0].operations)


def layer_operations(function: ir.Operation, layers: Mapping[str, Layer]) -> dict[ir.Operation, Layer]:
    """The operation whose result is the output of a layer.

    It is the last one whose location ends with the quantizing node, or what moves its result on behalf of the layer:
    the quantization may have gone through a reshape of the float values. Quantizing nodes of layers that only move the
    values may follow in the location: their quantization changes nothing.

    Args:
      layers: by the names of their nodes.
    """
    last: dict[str, ir.Operation] = {}
    for operation in body(function):
        names = source_names(operation.location)
        if names and names[-1] in layers and operation.name not in _NO_VALUES and not _is_sign_flip(operation):
            last[_computed_layer(names, layers).name] = operation
    by_name = {layer.name: layer for layer in layers.values()}
    found = {name: _moved_within(operation, by_name[name]) for name, operation in last.items()}
    return {_before_reshapes(operation, name): by_name[name] for name, operation in found.items()}


def _before_reshapes(operation: ir.Operation, name: str) -> ir.Operation:
    """What computes the elements that the operation reshapes for a layer: others may read them as they are before."""
    while operation.name in _RESHAPES and not isinstance(operation.operands[0].owner, ir.Block):
        source = operation.operands[0].owner.operation
        if source.name in _NO_VALUES or name not in source_names(source.location):
            break
        operation = source
    return operation


def _moved_within(operation: ir.Operation, layer: Layer) -> ir.Operation:
    """The last movement of the result that stands for float nodes of the layer."""
    nodes = {node.name for node in layer.float_nodes}
    while True:
        users = [use.owner.operation for result in operation.results for use in result.uses]
        moving = [user for user in users if user.name in _MOVEMENTS and set(source_names(user.location)) <= nodes]
        if not moving:
            return operation
        operation = moving[0]


def _computed_layer(names: Sequence[str], layers: Mapping[str, Layer]) -> Layer:
    """The last layer of a location, or the one before it whose values all later ones move."""
    found = layers[names[-1]]
    for name in reversed(names[:-1]):
        if not found.movement or name not in layers:
            break
        found = layers[name]
    return found


def _is_sign_flip(operation: ir.Operation) -> bool:
    """Signed storage to unsigned or back, at the border of the function: no layer's own value."""
    if operation.name == "torq_hl.elementwisebinary":
        return ir.IntegerAttr(operation.attributes["op_type"]).value == _BITWISE_XOR
    if operation.name != "linalg.generic":
        return False
    inner = [nested.operation.name for nested in operation.regions[0].blocks[0].operations]
    return inner == ["arith.xori", "linalg.yield"]


def is_unsigned(operation: ir.Operation) -> bool:
    """Whether the result of an operation holds u8 values as the border of the function stores them.

    What is computed is signed; what only moves an unsigned argument, or has its sign flipped to be returned, is not.
    """
    flips = 0
    while (moved := _moved_operand(operation)) is not None:
        flips += _is_sign_flip(operation)
        source = operation.operands[moved]
        if isinstance(source.owner, ir.Block):
            return _is_unsigned_argument(ir.BlockArgument(source)) != (flips % 2 == 1)
        operation = source.owner.operation
    return flips % 2 == 1


def _moved_operand(operation: ir.Operation) -> int | None:
    """The operand whose elements are the result, with their sign flipped or not; None if others are computed."""
    if operation.name in _MOVEMENTS or operation.name == "tensor.concat" or _is_sign_flip(operation):
        return _MOVED_OPERAND.get(operation.name, int(operation.name.startswith("torq_hl.")))
    if operation.name != "linalg.generic":
        return None
    (block,) = operation.regions[0].blocks
    (yielded, *_) = block.operations[len(block.operations) - 1].operands
    return ir.BlockArgument(yielded).arg_number if isinstance(yielded.owner, ir.Block) else None


def _is_unsigned_argument(argument: ir.BlockArgument) -> bool:
    attributes = ir.ArrayAttr(argument.owner.owner.attributes["arg_attrs"])[argument.arg_number]
    return ir.StringAttr(ir.DictAttr(attributes)["torq_hl.dtype"]).value == "uint8"


def interior_float_operations(function: ir.Operation) -> list[ir.Operation]:
    """Operations on float tensors after the first integer tensor and before the last one.

    Quantizing the inputs, and dequantizing the outputs and what follows, is not among them.
    """
    operations = [operation for operation in body(function) if operation.name not in _NO_VALUES]
    computed = set(function.regions[0].blocks[0].arguments)  # values that depend on the inputs
    after = {value for value in computed if _is_integer(value.type)}
    candidates = []
    for operation in operations:
        operands = list(operation.operands)
        results = list(operation.results)
        if any(operand in computed for operand in operands):
            computed.update(results)
            follows = any(operand in after for operand in operands)
            after.update(result for result in results if follows or _is_integer(result.type))
            if follows and any(_is_float(value.type) for value in (*operands, *results)):
                candidates.append(operation)
    before: set[ir.Value] = set()
    for operation in reversed(operations):
        results = list(operation.results)
        if any(result in computed and (_is_integer(result.type) or result in before) for result in results):
            before.update(operation.operands)
    return [op for op in candidates if any(_is_integer(r.type) or r in before for r in op.results)]


def undeclared_float_operations(
    function: ir.Operation, graph: QuantizedGraph, declared: Collection[str]
) -> list[ir.Operation]:
    """Interior float operations that stand for nodes of other layers than those with an operator type in `declared`.

    All of such a layer may be in float, with its quantize and dequantize nodes.
    """
    allowed = _float_nodes(graph, declared)
    return [
        operation
        for operation in interior_float_operations(function)
        if not (names := source_names(operation.location)) or not set(names) <= allowed
    ]


def _float_nodes(graph: QuantizedGraph, declared: Collection[str]) -> set[str]:
    """Names of the nodes of layers with an operator in `declared`."""
    found: set[str] = set()
    for layer in graph.layers:
        nodes = (*layer.float_nodes, layer.node)
        if any(node.op_type in declared for node in nodes):
            sources = [graph.producers[name] for node in nodes for name in node.input if name in graph.producers]
            found.update(node.name for node in nodes)
            found.update(source.name for source in sources if source.op_type == "DequantizeLinear")
    return found


def place(row: Row) -> str:
    """Who computes a node: "nss", "host", or "-" where nothing is left to execute.

    The host does not compute what it only joins or cuts.
    """
    computing = [name for name in row.operations if name not in _BUFFER_MOVEMENTS]
    if HOST in row.executor and any(not name.startswith("torq_hl.") for name in computing):
        return HOST
    return NPU if computing else NONE


def host_nodes(nodes: Sequence[Row]) -> list[Row]:
    """Nodes that the host computes, but those that quantize or dequantize: the borders of float parts need them."""
    return [row for row in nodes if place(row) == HOST and not row.quantizes]


def undeclared_host_nodes(nodes: Sequence[Row], graph: QuantizedGraph, declared: Collection[str]) -> list[Row]:
    """Those of `host_nodes` that are neither of an operator in `declared` nor of a layer with one."""
    allowed = _float_nodes(graph, declared)
    return [row for row in host_nodes(nodes) if row.op_type not in declared and row.name not in allowed]


def _element_type(value_type: ir.Type) -> ir.Type | None:
    return ir.ShapedType(value_type).element_type if isinstance(value_type, ir.RankedTensorType) else None


def _is_integer(value_type: ir.Type) -> bool:
    return isinstance(_element_type(value_type), ir.IntegerType)


def _is_float(value_type: ir.Type) -> bool:
    return isinstance(_element_type(value_type), ir.FloatType)
