# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result types of ONNX operators that an importer left `!torch.none`.

Importers infer types with the onnx package, which does not know the operators of the com.microsoft domain, nor what
follows them.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types

from .forms import QOPERATORS, QOperator
from .nodes import ONNX_TYPES, Node, TorchTensor, is_none
from .packed import packed_matmul_type

_MLIR_TYPES = {onnx_type: name for name, onnx_type in ONNX_TYPES.items()}

# Values of operands longer than this are no shapes, axes or pads.
_LARGEST_VALUE = 256


def infer_result_types(node: Node, opset: int) -> None:
    """Set the types of the results of `node` that have none, from its operands and attributes.

    Raises:
      PassFailure: they do not follow from the operands; the error has been emitted.
    """
    form = QOPERATORS.get(node.op_type)
    results = node.operation.results
    if node.op_type == "MatMulNBits":
        types = [packed_matmul_type(node)]
    elif form is None:
        operands = list(node.operation.operands)
        types = _infer(node, node.op_type, operands, opset)
    else:
        sources = [
            source if isinstance(source, int) else source.tensor for source in form.float_inputs(node.input_count)
        ]
        operands = [node.operation.operands[source] for source in sources]
        quantized = {i for i, source in enumerate(form.float_inputs(node.input_count)) if not isinstance(source, int)}
        types = _infer(node, form.float_op, operands, opset, quantized)
        element_type = _element_type(node, form)
        types = [TorchTensor(shape, element_type) for shape, _ in types]
    for result, tensor in zip(results, types, strict=True):
        if is_none(result.type):
            result.set_type(tensor_types.torch_tensor(*tensor))


def _element_type(node: Node, form: QOperator) -> ir.Type:
    """That of the zero point, if there is one; a node without output scale gives real values."""
    if form.scale is None:
        scale = next(form.quantized_inputs(node.input_count)).scale
        return node.tensor(node.operation.operands[scale], "the scale").element_type
    if node.input(form.scale) is None:
        return ir.F32Type.get()
    position = form.zero_point
    if node.input(position) is None:
        position = next(form.quantized_inputs(node.input_count)).tensor
    return node.tensor(node.operation.operands[position], f"input {position}").element_type


def _infer(
    node: Node, op_type: str, operands: list[ir.Value], opset: int, as_float: frozenset[int] | set[int] = frozenset()
) -> list[TorchTensor]:
    """ONNX's own inference on one node; the operands at the positions `as_float` count as floats."""
    if not onnx.defs.has(op_type, opset, ""):
        raise node.failure("the type of the result is unknown, and the operator is not one of ONNX")
    schema = onnx.defs.get_schema(op_type, opset, "")
    names, types, data = [], {}, {}
    for index, operand in enumerate(operands):
        names.append("" if is_none(operand.type) else f"input_{index}")
        if not names[-1]:
            continue
        tensor = node.tensor(operand, f"input {index}")
        element = onnx.TensorProto.FLOAT if index in as_float else _onnx_type(node, tensor.element_type)
        types[names[-1]] = helper.make_tensor_type_proto(element, tensor.shape)
        constant = elements.constant_value(operand)
        if constant is not None and constant.size <= _LARGEST_VALUE:
            data[names[-1]] = numpy_helper.from_array(np.ascontiguousarray(constant))
    outputs = [f"output_{index}" for index in range(len(node.operation.results))]
    proto = helper.make_node(op_type, names, outputs, **_attributes(node, schema))
    imports = [helper.make_opsetid("", opset)]
    try:
        inferred = shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=imports)
    except shape_inference.InferenceError as error:
        raise node.failure(" ".join(str(error).split())) from error
    if any(not inferred.get(name, onnx.TypeProto()).tensor_type.HasField("shape") for name in outputs):
        raise node.failure("the type of the result cannot be inferred")
    return [_torch_tensor(inferred[name].tensor_type) for name in outputs]


def _attributes(node: Node, schema: onnx.defs.OpSchema) -> dict[str, object]:
    values = {}
    for name, attribute in node.attributes().items():
        name = name.removeprefix("torch.onnx.")
        if name not in schema.attributes:
            continue
        if isinstance(attribute, ir.ArrayAttr):
            values[name] = [element.value for element in attribute]
        elif isinstance(attribute, ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
            values[name] = attribute.value
        else:
            values[name] = numpy_helper.from_array(np.ascontiguousarray(elements.to_numpy(attribute)))
    return values


def _onnx_type(node: Node, element_type: ir.Type) -> int:
    if str(element_type) not in ONNX_TYPES:
        raise node.failure(f"element type {element_type} is not supported")
    return ONNX_TYPES[str(element_type)]


def _torch_tensor(tensor: onnx.TypeProto.Tensor) -> TorchTensor:
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim)
    return TorchTensor(shape, ir.Type.parse(_MLIR_TYPES[tensor.elem_type]))
