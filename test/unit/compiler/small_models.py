# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of a few nodes, built by hand, and ONNX Runtime to run them."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ORACLE = Path(__file__).parents[2] / "data" / "oracle"

X_SCALE, X_ZERO_POINT = 0.03, {"int8": -3, "uint8": 125}
Y_SCALE, Y_ZERO_POINT = 0.05, {"int8": 7, "uint8": 135}


def quantized_conv(dtype="int8", shape=("N", 3, 6, 6), full_integer=False, extra_nodes=(), opset=17, **replaced):
    """`x -> Conv (8 channels, 3x3, pad 1) -> Relu -> y` in the QDQ format, with quantized input and output.

    Args:
      dtype: of the activations, "int8" or "uint8".
      full_integer: input and output are quantized; else the model quantizes and dequantizes them.
      extra_nodes: further nodes after "relu"; the output of the last one is quantized in its place.
      replaced: initializers by name, to replace those of the model; None removes one.
    """
    rng = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    initializers = {
        "x_scale": np.float32(X_SCALE),
        "x_zero_point": dtype.type(X_ZERO_POINT[dtype.name]),
        "w": rng.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8),
        "w_scale": rng.uniform(0.001, 0.004, 8).astype(np.float32),
        "w_zero_point": np.zeros(8, np.int8),
        "b": rng.integers(-2000, 2000, 8).astype(np.int32),
        "y_scale": np.float32(Y_SCALE),
        "y_zero_point": dtype.type(Y_ZERO_POINT[dtype.name]),
    }
    initializers["b_scale"] = initializers["w_scale"] * np.float32(X_SCALE)
    initializers = {name: value for name, value in (initializers | replaced).items() if value is not None}
    make, last = helper.make_node, extra_nodes[-1].output[0] if extra_nodes else "relu"
    nodes = [
        make("DequantizeLinear", ["x_quantized", "x_scale", "x_zero_point"], ["x_float"], "x_dequantize"),
        make("DequantizeLinear", ["w", "w_scale", "w_zero_point"], ["w_float"], "w_dequantize", axis=0),
        make("DequantizeLinear", ["b", "b_scale"], ["b_float"], "b_dequantize", axis=0),
        make("Conv", ["x_float", "w_float", "b_float"], ["conv"], "conv", pads=[1, 1, 1, 1]),
        make("Relu", ["conv"], ["relu"], "relu"),
        *extra_nodes,
        make("QuantizeLinear", [last, "y_scale", "y_zero_point"], ["y_quantized"], "y_quantize"),
    ]
    names, element = ("x_quantized", "y_quantized"), helper.np_dtype_to_tensor_dtype(dtype)
    if not full_integer:
        nodes.insert(0, make("QuantizeLinear", ["x", "x_scale", "x_zero_point"], ["x_quantized"], "x_quantize"))
        nodes.append(make("DequantizeLinear", ["y_quantized", "y_scale", "y_zero_point"], ["y"], "y_dequantize"))
        names, element = ("x", "y"), TensorProto.FLOAT
    x = helper.make_tensor_value_info(names[0], element, shape)
    y = helper.make_tensor_value_info(names[1], element, [shape[0], 8, 6, 6])
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in initializers.items()]
    graph = helper.make_graph(nodes, "quantized_conv", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def reference(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of ONNX Runtime without graph optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def quantized_node(op_type, *inputs, x_scales=None, y_scale=0.05, y_type=None, **attributes):
    """A node between DequantizeLinear and QuantizeLinear, with i8 inputs `x0`, `x1`, ... and the i8 output `y`.

    Args:
      inputs: a shape for a quantized input of the model, an i8 array for quantized weights, an i32 array for a
        quantized bias, or an array of another dtype, which the node gets as it is.
      x_scales: scales of the quantized inputs of the model; 0.05 each when omitted.
      y_scale: scale of the output.
      y_type: element type of an output that is not quantized.
    """
    make, scales = helper.make_node, {"x": 0.05, "w": 0.01, "b": 0.05 * 0.01, "y": y_scale}
    nodes, constants, values, names = [], {"zero_point": np.int8(3)}, [], []
    constants |= {f"{kind}_scale": np.float32(scale) for kind, scale in scales.items()}
    for index, given in enumerate(inputs):
        array = given if isinstance(given, np.ndarray) else None
        kind = "x" if array is None else {"int8": "w", "int32": "b"}.get(array.dtype.name, "c")
        name = f"{kind}{index}"
        if array is None:
            values.append(helper.make_tensor_value_info(name, TensorProto.INT8, given))
        else:
            constants[name] = array
        if kind != "c":
            scale = f"{kind}_scale"
            if kind == "x" and x_scales is not None:
                scale = f"{name}_scale"
                constants[scale] = np.float32(x_scales[len(values) - 1])
            parameters = [scale, "zero_point"][: 2 if kind == "x" else 1]
            nodes.append(make("DequantizeLinear", [name, *parameters], [f"{name}_float"], f"{name}_dequantize"))
        names.append(name if kind == "c" else f"{name}_float")
    nodes.append(make(op_type, names, ["y_float" if y_type is None else "y"], "node", **attributes))
    if y_type is None:
        nodes.append(make("QuantizeLinear", ["y_float", "y_scale", "zero_point"], ["y"], "y_quantize"))
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    y = helper.make_tensor_value_info("y", TensorProto.INT8 if y_type is None else y_type, None)
    graph = helper.make_graph(nodes, "quantized_node", values, [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
