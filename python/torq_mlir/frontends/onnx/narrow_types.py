# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types that the torch dialect cannot compute with, in a byte: floats of 8 and 4 bits, integers of 2 bits.

A narrow float is its bit pattern, an integer its value. What moves elements does so with bytes as well; Cast,
QuantizeLinear and DequantizeLinear are computed in f32. Of inputs and outputs the type is in `metadata_props`.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from torq_mlir.errors import ModelError

from . import minifloats, naming
from .graph_edits import Rewriting

_INTEGERS = {TensorProto.INT2: (TensorProto.INT8, -2, 1), TensorProto.UINT2: (TensorProto.UINT8, 0, 3)}
_INT4S = {TensorProto.INT4: (-8, 7), TensorProto.UINT4: (0, 15)}
_STORAGE = {**dict.fromkeys(minifloats.FORMATS, TensorProto.UINT8), **{k: v[0] for k, v in _INTEGERS.items()}}
_ELEMENT_TYPE = "torq_mlir.element_type"

# Operators that compute nothing with the elements that they move.
_MOVEMENTS = frozenset(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity"}
    | {"Reshape", "Shape", "Size", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose"}
    | {"Unsqueeze", "Where"}
)


def element_type(value: onnx.ValueInfoProto) -> int:
    """The element type that an input or output has in the source model."""
    recorded = (entry.value for entry in value.metadata_props if entry.key == _ELEMENT_TYPE)
    return next(map(int, recorded), value.type.tensor_type.elem_type)


def widen(model: onnx.ModelProto) -> None:
    """Store values of narrow types in bytes.

    Args:
      model: with a type for every value, and with its constants; modified.

    Raises:
      ModelError: an operator computes with a narrow type. The message names it.
    """
    graph = model.graph
    values = [*graph.input, *graph.value_info, *graph.output]
    kinds = {value.name: value.type.tensor_type.elem_type for value in values}
    kinds |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    if not any(kind in _STORAGE or kind in _INT4S for kind in kinds.values()):
        return
    for value in values:
        _store(value)
    for tensor in graph.initializer:
        if tensor.data_type in _STORAGE:
            tensor.CopyFrom(_stored_constant(tensor))
    rewriting = Rewriting(graph)
    for node in rewriting:
        _Rewriter(rewriting, node, kinds).rewrite()


def _store(value: onnx.ValueInfoProto) -> None:
    tensor = value.type.tensor_type
    if tensor.elem_type in _STORAGE:
        value.metadata_props.add(key=_ELEMENT_TYPE, value=str(tensor.elem_type))
        tensor.elem_type = _STORAGE[tensor.elem_type]


def _stored_constant(tensor: TensorProto) -> TensorProto:
    array, kind = numpy_helper.to_array(tensor), tensor.data_type
    stored = (
        array.astype(np.int8 if kind == TensorProto.INT2 else np.uint8) if kind in _INTEGERS else array.view(np.uint8)
    )
    return numpy_helper.from_array(np.ascontiguousarray(stored), tensor.name)


class _Rewriter:
    """One node of a graph whose values have been stored in bytes; `kinds` has the types of the source model."""

    def __init__(self, rewriting: Rewriting, node: onnx.NodeProto, kinds: dict[str, int]) -> None:
        self._rewriting, self._node, self._kinds = rewriting, node, kinds
        self._attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}

    def rewrite(self) -> None:
        node = self._node
        taken = [self._kinds.get(name) for name in node.input if name]
        given = [self._kinds.get(name) for name in node.output if name]
        if node.op_type == "CastLike" and not node.domain:
            del node.input[1:]
            node.op_type = "Cast"
            self._rewriting.set(node, to=given[0])
        narrow = next((kind for kind in (*taken, *given) if kind in _STORAGE), None)
        if node.op_type == "Cast" and given[0] in _INT4S:
            self._cast_to_int4(given[0])
        elif narrow is None or (node.op_type in _MOVEMENTS and not node.domain):
            return
        elif node.op_type == "Cast":
            self._cast(taken[0], given[0])
        elif node.op_type == "QuantizeLinear":
            self._quantize(given[0])
        elif node.op_type == "DequantizeLinear" and taken[0] in minifloats.FORMATS:
            self._dequantize(taken[0])
        elif node.op_type != "DequantizeLinear":
            name = TensorProto.DataType.Name(narrow).lower()
            raise ModelError(f"{naming.describe(node)}: element type {name} is not supported")

    def _become(self, op_type: str, *inputs: str, **attributes: int) -> None:
        node = self._node
        naming.stand_for(node, node)
        node.op_type, node.domain = op_type, ""
        del node.input[:], node.attribute[:]
        node.input.extend(inputs)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())

    def _compute(self, op_type: str, inputs: list[str], element_type: int, **attributes) -> str:
        shape = self._rewriting.shape(inputs[0])
        return self._rewriting.compute(self._node, op_type, inputs, shape, element_type=element_type, **attributes)

    def _scalar(self, value: int | float, dtype: type) -> str:
        array = np.array(value, dtype)
        return self._rewriting.add_constant(numpy_helper.from_array(array, f"torq_mlir/{array.dtype}/{value}"))

    def _cast(self, source: int, target: int) -> None:
        """Between narrow types, and others; a float becomes an integer as its lowest bits, rounded towards zero."""
        value = self._node.input[0]
        if source in minifloats.FORMATS:
            value = minifloats.decode(self._rewriting, self._node, value, source, TensorProto.FLOAT)
        if target in minifloats.FORMATS:
            saturate, mode = (
                bool(self._attributes.get("saturate", 1)),
                self._attributes.get("round_mode", b"up").decode(),
            )
            code = minifloats.encode(self._rewriting, self._node, value, target, saturate=saturate, round_mode=mode)
            self._become("Identity", code)
        elif target in _INTEGERS:
            storage, least, greatest = _INTEGERS[target]
            self._become("Cast", self._wrapped(value, least, greatest), to=storage)
        else:
            self._become("Cast", value, to=target)

    def _wrapped(self, value: str, least: int, greatest: int) -> str:
        """A number as an i32, modulo the size of a range."""
        i32 = TensorProto.INT32
        value = minifloats.cast(self._rewriting, self._node, value, i32)
        low, size = self._scalar(least, np.int32), self._scalar(greatest - least + 1, np.int32)
        shifted = self._compute("Mod", [self._compute("Sub", [value, low], i32), size], i32)
        return self._compute("Add", [shifted, low], i32)

    def _cast_to_int4(self, target: int) -> None:
        """As a quantization with scale 1, which is what makes integers of four bits."""
        value = self._node.input[0]
        if self._kinds.get(value) in minifloats.FORMATS:
            value = minifloats.decode(self._rewriting, self._node, value, self._kinds[value], TensorProto.FLOAT)
        wrapped = self._wrapped(value, *_INT4S[target])
        real = minifloats.cast(self._rewriting, self._node, wrapped, TensorProto.FLOAT)
        zero = numpy_helper.from_array(
            np.zeros((), helper.tensor_dtype_to_np_dtype(target)), f"torq_mlir/zero/{target}"
        )
        self._become("QuantizeLinear", real, self._scalar(1.0, np.float32), self._rewriting.add_constant(zero))

    def _quantize(self, target: int) -> None:
        node = self._node
        if target in minifloats.FORMATS:
            quotient = self._compute(
                "Div", [self._real(node.input[0]), self._parameter(node.input[1])], TensorProto.FLOAT
            )
            if len(node.input) > 2 and node.input[2]:
                zero_point = self._parameter(node.input[2], target)
                quotient = self._compute("Add", [quotient, zero_point], TensorProto.FLOAT)
            saturate = bool(self._attributes.get("saturate", 1))
            self._become("Identity", minifloats.encode(self._rewriting, node, quotient, target, saturate=saturate))
            return
        # The bytes are a quantization to eight bits, whose values are bounded once more.
        storage, least, greatest = _INTEGERS[target]
        self._rewriting.drop(node, "output_dtype")
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if len(node.input) < 3 or not node.input[2]:
            attributes["output_dtype"] = storage
        wide = self._compute("QuantizeLinear", list(node.input), storage, **attributes)
        dtype = helper.tensor_dtype_to_np_dtype(storage)
        self._become("Clip", wide, self._scalar(least, dtype), self._scalar(greatest, dtype))

    def _dequantize(self, source: int) -> None:
        node = self._node
        result = self._rewriting.type(node.output[0])
        value = minifloats.decode(self._rewriting, node, node.input[0], source, TensorProto.FLOAT)
        if len(node.input) > 2 and node.input[2]:
            value = self._compute("Sub", [value, self._parameter(node.input[2], source)], TensorProto.FLOAT)
        product = self._compute("Mul", [value, self._parameter(node.input[1])], TensorProto.FLOAT)
        self._become("Cast", product, to=result)

    def _real(self, name: str, kind: int | None = None) -> str:
        if kind is not None:
            return minifloats.decode(self._rewriting, self._node, name, kind, TensorProto.FLOAT)
        return minifloats.cast(self._rewriting, self._node, name, TensorProto.FLOAT)

    def _parameter(self, name: str, kind: int | None = None) -> str:
        """A scale or zero point in f32, in a shape that broadcasts to the tensor."""
        shape, whole = self._rewriting.shape(name), self._rewriting.shape(self._node.input[0])
        block, axis = self._attributes.get("block_size", 0), self._attributes.get("axis", 1)
        if None in (*shape, *whole):
            raise ModelError(f"{naming.describe(self._node)}: a shape that is not known is not supported")
        value = self._real(name, self._kinds[name] if kind is not None else None)
        if block:
            return self._repeated(value, axis % len(whole), block, whole)
        if np.prod(shape) == 1:
            return self._rewriting.reshape(self._node, value, ())
        aligned = [1] * len(whole)
        aligned[axis % len(whole)] = shape[0]
        return self._rewriting.reshape(self._node, value, aligned)

    def _repeated(self, value: str, axis: int, block: int, whole: tuple[int, ...]) -> str:
        """One parameter for each element of a block."""
        rewriting, node = self._rewriting, self._node
        positions = rewriting.integers(node, [position // block for position in range(whole[axis])])
        return rewriting.compute(node, "Gather", [value, positions], whole, axis=axis)
