# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real topologies: the "light" models inside the onnx package, with weights of realistic scale.

Their large parameters are `ConstantOfShape` nodes of one value, with which every channel is the same. They get seeded
random values, the models become what an exporter produces today (current opset, normalization folded into the
convolutions, no training-time nodes), and the names of the nodes stay.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

from e2e.models.network import OPSET, seed_of

LIGHT = {
    "alexnet": "bvlc_alexnet",
    "densenet121": "densenet121",
    "inception_v1": "inception_v1",
    "inception_v2": "inception_v2",
    "resnet50": "resnet50",
    "shufflenet": "shufflenet",
    "squeezenet": "squeezenet",
    "vgg19": "vgg19",
    "zfnet512": "zfnet512",
}

# A residual network whose branches have the variance of their shortcuts doubles it with every block.
_RESIDUAL_GAIN = 0.4
# Logits of a standard deviation of one or two: a softmax of larger ones gives little but zeros.
_CLASSIFIER_GAIN = 0.3


def light_model(name: str) -> onnx.ModelProto:
    """One of `LIGHT`, for a batch of one, with seeded parameters."""
    path = Path(onnx.__file__).parent / "backend/test/data/light" / f"light_{LIGHT[name]}.onnx"
    model = version_converter.convert_version(onnx.load(path), OPSET)
    parameters = _parameters(model.graph, np.random.default_rng(seed_of(name)))
    nodes = _fold_affine(list(_simplified(model.graph, parameters)), parameters)
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        name,
        [value for value in model.graph.input if value.name not in parameters],
        list(model.graph.output),
        [numpy_helper.from_array(array, key) for key, array in parameters.items() if key in used],
    )
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(result)
    return onnx.shape_inference.infer_shapes(result, strict_mode=True, data_prop=True)


def _parameters(graph: onnx.GraphProto, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Values of all initializers, constants and ConstantOfShape nodes; seeded random ones for what a layer learns."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    shapes = {name: value.shape for name, value in values.items()}
    for node in graph.node:
        if node.op_type == "Constant":
            values[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        elif node.op_type == "ConstantOfShape":
            shapes[node.output[0]] = tuple(values[node.input[0]])
    residual, classifiers = _residual_branch_ends(graph), _classifiers(graph)
    for node in graph.node:
        known = [name if name in shapes else None for name in node.input]
        if node.op_type in ("Conv", "Gemm"):
            weights, *bias = known[1:]
            if weights:
                shape = shapes[weights]
                gain = _CLASSIFIER_GAIN if node.output[0] in classifiers else 1.0
                values[weights] = _normal(rng, shape, gain * math.sqrt(2 / math.prod(shape[1:])))
            for name in bias:
                values[name] = _normal(rng, shapes[name], 0.05)
        elif node.op_type == "BatchNormalization":
            scale, bias, mean, variance = known[1:]
            gain = _RESIDUAL_GAIN if node.output[0] in residual else 1.0
            values[scale] = (gain * rng.uniform(0.8, 1.2, shapes[scale])).astype(np.float32)
            values[bias] = _normal(rng, shapes[bias], 0.1)
            values[mean] = _normal(rng, shapes[mean], 0.1)
            values[variance] = rng.uniform(0.8, 1.25, shapes[variance]).astype(np.float32)
    _randomize_scales_and_weights_behind_reshapes(graph, values, shapes, rng)
    return values


def _randomize_scales_and_weights_behind_reshapes(graph, values, shapes, rng) -> None:
    """Parameters that reach their layer through an Unsqueeze (scale layers) or a Reshape (classifier weights)."""
    consumers = {name: node for node in graph.node for name in node.input}
    for node in graph.node:
        name = node.input[0] if node.input else ""
        if name not in shapes or node.op_type not in ("Unsqueeze", "Reshape"):
            continue
        consumer = consumers[node.output[0]].op_type
        if consumer == "Mul":
            values[name] = rng.uniform(0.8, 1.2, shapes[name]).astype(np.float32)
        elif consumer == "Add":
            values[name] = _normal(rng, shapes[name], 0.1)
        else:
            values[name] = _normal(rng, shapes[name], _CLASSIFIER_GAIN * math.sqrt(2 / shapes[name][-1]))


def _normal(rng: np.random.Generator, shape: tuple[int, ...], deviation: float) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32) * np.float32(deviation)


def _residual_branch_ends(graph: onnx.GraphProto) -> set[str]:
    """First operands of the sums: the normalizations that end a residual branch."""
    return {node.input[0] for node in graph.node if node.op_type == "Sum"}


def _classifiers(graph: onnx.GraphProto) -> set[str]:
    """Inputs of a softmax."""
    return {node.input[0] for node in graph.node if node.op_type == "Softmax"}


def _simplified(graph: onnx.GraphProto, values: dict[str, np.ndarray]) -> Iterator[onnx.NodeProto]:
    """The nodes that compute something at inference; what is constant moves to `values`."""
    types = {value.name: value.type.tensor_type for value in _inferred_values(graph, values)}
    renamed: dict[str, str] = {}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        inputs = [values.get(name) for name in node.input]
        match node.op_type:
            case "Constant" | "ConstantOfShape":
                pass
            case "Dropout":
                renamed[node.output[0]] = node.input[0]
            case "Shape":
                sizes = [dim.dim_value for dim in types[node.input[0]].shape.dim]
                values[node.output[0]] = np.asarray(sizes, dtype=np.int64)
            case "Unsqueeze" if inputs[0] is not None:
                values[node.output[0]] = np.expand_dims(inputs[0], tuple(inputs[1]))
            case "Reshape" if inputs[0] is not None:
                values[node.output[0]] = inputs[0].reshape(inputs[1])
            case _:
                if node.op_type == "Sum":
                    node.op_type = "Add"
                node.name = node.name or f"{node.op_type}_{node.output[0]}"
                yield node


def _inferred_values(graph: onnx.GraphProto, values: dict[str, np.ndarray]) -> list[onnx.ValueInfoProto]:
    """Types of the intermediate tensors, from a model in which the parameters are typed inputs."""
    nodes = [node for node in graph.node if node.op_type not in ("Constant", "ConstantOfShape")]
    inputs = [value for value in graph.input if value.name not in values]
    inputs += [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in values.items()
        if value.dtype == np.float32
    ]
    integers = [numpy_helper.from_array(value, name) for name, value in values.items() if value.dtype != np.float32]
    skeleton = helper.make_graph(nodes, graph.name, inputs, list(graph.output), integers)
    model = helper.make_model(skeleton, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    return list(onnx.shape_inference.infer_shapes(model, data_prop=True).graph.value_info)


def _affine(node: onnx.NodeProto, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """`(a, b)` if the node computes `a * x + b` for each channel."""
    inputs = [values.get(name) for name in node.input]
    if node.op_type == "BatchNormalization":
        epsilon = next((attribute.f for attribute in node.attribute if attribute.name == "epsilon"), 1e-5)
        scale, bias, mean, variance = inputs[1:]
        a = scale / np.sqrt(variance + epsilon)
        return a, bias - a * mean
    if node.op_type in ("Mul", "Add") and inputs[1] is not None and inputs[1].size == max(inputs[1].shape):
        vector = inputs[1].reshape(-1)
        return (vector, np.zeros_like(vector)) if node.op_type == "Mul" else (np.ones_like(vector), vector)
    return None


def _fold_affine(nodes: list[onnx.NodeProto], values: dict[str, np.ndarray]) -> list[onnx.NodeProto]:
    """Folds BatchNormalization and scale layers into the convolution before them.

    One whose input is no convolution (the pre-activation blocks of DenseNet) becomes a depthwise 1x1 convolution.
    """
    uses: dict[str, int] = {}
    for name in (name for node in nodes for name in node.input):
        uses[name] = uses.get(name, 0) + 1
    result: list[onnx.NodeProto] = []
    convolutions: dict[str, onnx.NodeProto] = {}
    for node in nodes:
        affine = _affine(node, values)
        if affine is None:
            result.append(node)
            conv = node if node.op_type == "Conv" else None
        else:
            a, b = affine
            conv = convolutions.get(node.input[0]) if uses[node.input[0]] == 1 else None
            if conv is None:
                conv = helper.make_node("Conv", [node.input[0], f"{node.name}_w"], [""], name=node.name, group=a.size)
                values[f"{node.name}_w"] = np.ones((a.size, 1, 1, 1), dtype=np.float32)
                result.append(conv)
            _scale_convolution(conv, a, b, values)
            conv.output[0] = node.output[0]
        if conv is not None:
            convolutions[conv.output[0]] = conv
    return result


def _scale_convolution(conv: onnx.NodeProto, a: np.ndarray, b: np.ndarray, values: dict[str, np.ndarray]) -> None:
    weights, bias = conv.input[1], conv.input[2] if len(conv.input) > 2 else f"{conv.input[1]}_bias"
    values[weights] = (values[weights] * a.reshape(-1, 1, 1, 1)).astype(np.float32)
    values[bias] = (values.get(bias, np.float32(0)) * a + b).astype(np.float32)
    conv.input[:] = [conv.input[0], weights, bias]
