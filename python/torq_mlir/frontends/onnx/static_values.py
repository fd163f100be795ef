# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What follows from constants and from shapes: computed shapes and axes, and the course of control flow."""

import numpy as np
import onnx
from onnx import AttributeProto, TypeProto, defs, helper, numpy_helper, shape_inference

from . import deciding_inputs, functions, naming
from .control_flow import Unroller
from .skeleton import remove_unused

# Constants with more elements are no shapes.
_LARGEST = 4096
_MOST_ROUNDS = 50
# Operators that are done at compile time, where that is possible.
_COMPUTED_HERE = ("Compress", "If", "Loop", "Range", "Scan")
# Operators that are exact on floats, or the same everywhere; others are left to the machine that runs the model.
_EXACT = frozenset(
    {"Abs", "Add", "Cast", "CastLike", "Ceil", "Concat", "Div", "Expand", "Flatten", "Floor", "Gather"}
    | {"Identity", "Max", "Min", "Mul", "Neg", "Range", "Relu", "Reshape", "Round", "Slice", "Sqrt"}
    | {"Squeeze", "Sub", "Transpose", "Unsqueeze", "Where"}
)
_RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"} | {"RandomUniformLike"}
)


def simplify(model: onnx.ModelProto) -> None:
    """Replace functions, control flow and computed shapes by what they come to, where there are some.

    Args:
      model: with static shapes of its inputs; modified.
    """
    for _ in range(_MOST_ROUNDS):
        if not _has_something(model) or not _Simplifier(model).run():
            return


def _has_something(model: onnx.ModelProto) -> bool:
    """Whether a node has a definition to be expanded, or a course or a deciding input that is computed."""
    computed = {name for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        if functions.is_expanded(node) or (node.op_type in _COMPUTED_HERE and not node.domain):
            return True
        if any(name in computed for name in deciding_inputs.of_node(node)):
            return True
    return False


class _Simplifier:
    """One pass over the nodes of a model."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._graph = model.graph
        self._versions = {entry.domain: entry.version for entry in model.opset_import}
        self._types = _infer(model)
        self._nodes: list[onnx.NodeProto] = []
        self._constants = {
            tensor.name: numpy_helper.to_array(tensor)
            for tensor in self._graph.initializer
            if np.prod(tensor.dims, dtype=np.int64) <= _LARGEST
        }
        self._changed = False
        self._outputs = {value.name for value in self._graph.output}
        self._unroller = Unroller(self._constants, self._add, self._add_constant)

    def run(self) -> bool:
        """Whether something was replaced."""
        for node in self._graph.node:
            self._add(node)
        if self._changed:
            del self._graph.node[:]
            self._graph.node.extend(self._nodes)
            remove_unused(self._graph)
        return self._changed

    def _add(self, node: onnx.NodeProto) -> None:
        if not self._replace(node):
            self._nodes.append(node)
            return
        self._changed = True

    def _replace(self, node: onnx.NodeProto) -> bool:
        if functions.is_expanded(node):
            nodes = functions.body(node, self._types, self._versions)
            for each in nodes or ():
                self._add(each)
            return nodes is not None
        if node.domain:
            return False
        if node.op_type == "If":
            return self._unroller.choose(node)
        if node.op_type == "Loop":
            return self._unroller.repeat(node)
        if node.op_type == "Scan":
            return self._unroller.scan(node, {name: _shape(type_) for name, type_ in self._types.items()})
        if node.op_type == "Compress" and self._gather(node):
            return True
        return self._fold(node)

    def _gather(self, node: onnx.NodeProto) -> bool:
        """Take the elements that a constant selects by their positions."""
        condition = self._constants.get(node.input[1])
        if condition is None:
            return False
        positions = self._add_constant(np.flatnonzero(condition))
        axis = next((each.i for each in node.attribute if each.name == "axis"), None)
        value = node.input[0]
        if axis is None:
            value = f"{node.name}/flat"
            everything = self._add_constant(np.array([-1], np.int64))
            self._add(self._part_of(node, "Reshape", [node.input[0], everything], value))
        self._add(self._part_of(node, "Gather", [value, positions], node.output[0], axis=axis or 0))
        return True

    def _part_of(
        self, node: onnx.NodeProto, op_type: str, inputs: list[str], result: str, **attributes
    ) -> onnx.NodeProto:
        new = helper.make_node(op_type, inputs, [result], name=f"{node.name}/{op_type}", **attributes)
        naming.stand_for(new, node)
        return new

    def _add_constant(self, array: np.ndarray) -> str:
        name = f"torq_mlir/{array.dtype}/{array.shape}/{array.tobytes().hex()}"
        if name not in self._constants:
            self._set_constant(name, array)
        return name

    def _set_constant(self, name: str, array: np.ndarray) -> None:
        self._graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        self._constants[name] = np.asarray(array)

    def _fold(self, node: onnx.NodeProto) -> bool:
        """Compute a node, if all that it reads is known."""
        if any(name in self._outputs for name in node.output) and node.op_type != "Range":
            return False
        values = self._shape_of(node) or self._computed(node)
        if values is None or any(np.size(value) > _LARGEST for value in values):
            return False
        for name, value in zip(node.output, values, strict=False):
            if name in self._outputs:
                self._nodes.append(self._part_of(node, "Identity", [self._add_constant(value)], name))
            elif name:
                self._set_constant(name, value)
        return True

    def _shape_of(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        """The result of Shape and Size."""
        if node.op_type not in ("Shape", "Size"):
            return None
        shape = _shape(self._types.get(node.input[0]))
        if node.input[0] in self._constants:
            shape = self._constants[node.input[0]].shape
        if shape is None:
            return None
        attributes = {each.name: each.i for each in node.attribute}
        chosen = shape[slice(attributes.get("start", 0), attributes.get("end"))] if node.op_type == "Shape" else shape
        if None in chosen:
            return None
        return [np.array(chosen if node.op_type == "Shape" else np.prod(chosen), np.int64)]

    def _computed(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        if node.op_type == "Constant":
            return [_constant(node)] if len(node.attribute) == 1 and node.attribute[0].name in _CONSTANTS else None
        if node.op_type in _RANDOM or not defs.has(node.op_type, self._versions.get("", 0), ""):
            return None
        if any(each.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for each in node.attribute):
            return None
        if node.op_type == "CastLike":
            node = self._as_cast(node)
        present = [name for name in node.input if name]
        if not present or any(name not in self._constants for name in present):
            return None
        values = _evaluate(node, {name: self._constants[name] for name in present}, self._versions[""])
        exact = node.op_type in _EXACT or all(value.dtype.kind in "iub" for value in values or ())
        return values if exact else None

    def _as_cast(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """The Cast that a CastLike is, as soon as the type is known."""
        kind = self._types[node.input[1]].tensor_type.elem_type if node.input[1] in self._types else 0
        saturate = {each.name: each.i for each in node.attribute}
        return helper.make_node("Cast", node.input[:1], node.output, to=kind, **saturate) if kind else node


def _evaluate(node: onnx.NodeProto, inputs: dict[str, np.ndarray], opset: int) -> list[np.ndarray] | None:
    """The results of a node by the definition that the onnx package has of it; None where it has none."""
    from onnx.reference import ReferenceEvaluator  # which takes a third of a second

    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    results = [name for name in node.output if name]
    graph = helper.make_graph([node], "node", values, [onnx.ValueInfoProto(name=name) for name in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        computed = dict(zip(results, ReferenceEvaluator(model).run(None, inputs), strict=True))
    except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError):
        return None  # the model is wrong, which others say better
    if not all(isinstance(value, np.ndarray | np.generic) for value in computed.values()):
        return None
    return [np.asarray(computed[name]) if name else np.zeros(0) for name in node.output]


_CONSTANTS = {
    "value": None,
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


def _constant(node: onnx.NodeProto) -> np.ndarray:
    attribute = node.attribute[0]
    if attribute.name == "value":
        return numpy_helper.to_array(attribute.t)
    return np.asarray(helper.get_attribute_value(attribute), _CONSTANTS[attribute.name])


def _infer(model: onnx.ModelProto) -> dict[str, TypeProto]:
    """The types of values, as far as they can be inferred."""
    try:
        graph = shape_inference.infer_shapes(model, data_prop=True).graph
    except (shape_inference.InferenceError, RuntimeError):
        graph = model.graph
    types = {value.name: value.type for value in (*graph.input, *graph.value_info, *graph.output)}
    for tensor in graph.initializer:
        types[tensor.name] = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    return types


def _shape(type_: TypeProto | None) -> tuple[int | None, ...] | None:
    if type_ is None or not type_.tensor_type.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in type_.tensor_type.shape.dim)
