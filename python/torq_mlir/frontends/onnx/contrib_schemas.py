# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type and shape inference for the quantized operators of the com.microsoft domain, unknown to the onnx package.

Their shapes are those of the float operators they stand for, so ONNX's own inference computes them.
"""

import contextlib
import re
import threading
from collections.abc import Callable, Iterator

import onnx
from onnx import defs, shape_inference
from onnx.defs import OpSchema

from torq_mlir.passes.raise_onnx_quantization.forms import QOPERATORS, QOperator

DOMAIN = "com.microsoft"

# ONNX Runtime had 16-bit types in its own QuantizeLinear and DequantizeLinear before ONNX had.
SUPPORTED = frozenset(QOPERATORS) | {"QuantizeLinear", "DequantizeLinear", "MatMulNBits"}

_TYPES = [
    f"tensor({name})"
    for name in ("float", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "bool", "int64")
]
_registry_lock = threading.Lock()


@contextlib.contextmanager
def registered(opset: int) -> Iterator[None]:
    """Make the operators known to `onnx.shape_inference`, with the shapes of ONNX operators of version `opset`.

    The registry belongs to the process: an operator that somebody else has registered is left alone, and ours are gone
    on exit.
    """
    with _registry_lock:
        names = sorted(name for name in SUPPORTED if not defs.has(name, DOMAIN))
        for name in names:
            defs.register_schema(_schema(name, opset))
        try:
            yield
        finally:
            for name in names:
                defs.deregister_schema(name, 1, DOMAIN)


def _schema(name: str, opset: int) -> OpSchema:
    any_inputs = OpSchema.FormalParameter(
        "inputs", "T", param_option=OpSchema.FormalParameterOption.Variadic, is_homogeneous=False, min_arity=1
    )
    schema = OpSchema(
        name,
        DOMAIN,
        1,
        inputs=[any_inputs],
        outputs=[OpSchema.FormalParameter("output", "TOutput")],
        type_constraints=[("T", _TYPES, ""), ("TOutput", _TYPES, "")],
    )
    form = QOPERATORS.get(name)
    if name == "MatMulNBits":
        infer = _infer_packed_matmul
    else:
        infer = _infer_linear(name, opset) if form is None else _infer_qoperator(form, opset)
    return schema.set_type_and_shape_inference_function(infer)


def _infer_linear(name: str, opset: int) -> Callable:
    def infer(context) -> None:
        inputs = [context.get_input_type(index) for index in range(context.get_num_inputs())]
        context.set_output_type(0, _infer_onnx(name, inputs, context, opset))

    return infer


def _infer_packed_matmul(context) -> None:
    source, columns = context.get_input_type(0), context.get_attribute("N")
    if not source.HasField("tensor_type") or not source.tensor_type.HasField("shape") or columns is None:
        return
    result = onnx.TypeProto()
    result.CopyFrom(source)
    result.tensor_type.shape.dim[-1].dim_value = columns.i
    context.set_output_type(0, result)


def _infer_qoperator(form: QOperator, opset: int) -> Callable:
    def infer(context) -> None:
        count = context.get_num_inputs()
        tensors = [context.get_input_type(index) for index in range(count)]
        sources = [source if isinstance(source, int) else source.tensor for source in form.float_inputs(count)]
        if not all(_is_tensor(tensors, source) for source in sources):
            return
        inputs = [
            tensors[position]
            if isinstance(source, int)
            else _with_element_type(tensors[position], onnx.TensorProto.FLOAT)
            for source, position in zip(form.float_inputs(count), sources, strict=True)
        ]
        result = _infer_onnx(form.float_op, inputs, context, opset)
        context.set_output_type(0, _with_element_type(result, _result_element_type(form, tensors)))

    return infer


def _infer_onnx(op_type: str, inputs: list[onnx.TypeProto], context, opset: int) -> onnx.TypeProto:
    schema = defs.get_schema(op_type, opset)
    names = [f"input_{index}" for index in range(len(inputs))]
    attributes = (context.get_attribute(name) for name in schema.attributes)
    node = onnx.helper.make_node(op_type, names, ["output"])
    node.attribute.extend(attribute for attribute in attributes if attribute is not None)
    imports = [onnx.helper.make_opsetid("", opset)]
    types = dict(zip(names, inputs, strict=True))
    try:
        return shape_inference.infer_node_outputs(schema, node, types, opset_imports=imports)["output"]
    except shape_inference.InferenceError as error:
        # onnx names the node of an error, except of one from here.
        name = re.search(r"\((.*)\)$", context.get_display_name())
        raise shape_inference.InferenceError(
            f"(op_type:{op_type}, node name: {name[1] if name else ''}): {error}"
        ) from error


def _result_element_type(form: QOperator, tensors: list[onnx.TypeProto | None]) -> int:
    """That of the zero point, if there is one; what is not quantized has the type of the scale, or is f32."""
    if form.scale is None:
        scale = next(form.quantized_inputs(len(tensors))).scale
        return tensors[scale].tensor_type.elem_type if _is_tensor(tensors, scale) else onnx.TensorProto.FLOAT
    if not _is_tensor(tensors, form.scale):
        return onnx.TensorProto.FLOAT
    if _is_tensor(tensors, form.zero_point):
        return tensors[form.zero_point].tensor_type.elem_type
    first = next(form.quantized_inputs(len(tensors)))
    return tensors[first.tensor].tensor_type.elem_type


def _is_tensor(types: list[onnx.TypeProto | None], position: int) -> bool:
    """Whether the input is there and its type known."""
    return position < len(types) and types[position] is not None and types[position].HasField("tensor_type")


def _with_element_type(tensor: onnx.TypeProto, element_type: int) -> onnx.TypeProto:
    result = onnx.TypeProto()
    result.CopyFrom(tensor)
    result.tensor_type.elem_type = element_type
    return result
