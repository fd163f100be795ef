# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models, in the forms that the runtimes take, with seeded weights and inputs."""

import dataclasses
import functools
import hashlib
import logging
import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from e2e.models.built.initialization import normalize
from e2e.models.built.transformers import Encoder
from e2e.models.cache import cached
from e2e.models.catalog import quantized_model
from e2e.models.light import LIGHT, light_model
from e2e.models.network import Network, seed_of
from e2e.models.quantization import VARIANTS, float_inputs, quantize

Feeds = dict[str, np.ndarray]

# Forms of a model: in float, quantized with ONNX Runtime as QDQ or QOperator, with int4 weights in groups. Of these,
# activations are in float, are quantized by operators, or may be by the runtime.
FLOAT, SIGNED, UNSIGNED, QOPERATOR = "float", "qdq-per-channel", "qdq-u8", "qoperator"
DYNAMIC, GROUPED, GROUPED_DYNAMIC, GROUPED_INT8 = "dynamic-u8", "int4-groups", "int4-groups-dynamic", "int4-groups-int8"
_STATIC = (SIGNED, UNSIGNED, QOPERATOR)


@dataclasses.dataclass(frozen=True)
class Workload:
    """Attributes:
    network: builds the float model, or the first form that there is.
    forms: that it has.
    built: what builds forms that are not quantized from that model.
    """

    network: Callable[[], onnx.ModelProto]
    forms: tuple[str, ...] = (FLOAT, *_STATIC)
    built: Mapping[str, Callable[[], onnx.ModelProto]] = dataclasses.field(default_factory=dict)

    def model(self, name: str, form: str) -> onnx.ModelProto:
        """In one of its forms; the quantized ones are kept on disk."""
        if form in (FLOAT, GROUPED):
            return self.network()
        if form in self.built:
            return self.built[form]()
        if name in LIGHT:
            return quantized_model(name, form)
        source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()

        @cached(f"bench-{name}.{form}", source)
        def build() -> onnx.ModelProto:
            model = self.network()
            if form == DYNAMIC:
                return _dynamic(model)
            return quantize(model, VARIANTS[form], float_inputs(model, seed_of(f"{name}.calibration"), 3))

        return build()

    def inputs(self, name: str, model: onnx.ModelProto) -> Feeds:
        """Standard normal values, the same for all forms."""
        return float_inputs(model, seed_of(f"{name}.inputs"), 1)[0]


def products(model: onnx.ModelProto) -> int:
    """Multiplications with a weight, or of two values in a matrix product, in a float model."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    total = 0
    for node in inferred.node:
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        if node.op_type == "Conv":
            total += math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])
        elif node.op_type == "Gemm":
            total += math.prod(shapes[node.output[0]]) * shapes[node.input[1]][1 if attributes.get("transB") else 0]
        elif node.op_type == "MatMul":
            total += math.prod(shapes[node.output[0]]) * shapes[node.input[1]][-2]
        elif node.op_type == "MatMulNBits":
            total += attributes["N"] * attributes["K"]
    return total


def _dynamic(model: onnx.ModelProto) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "dynamic.onnx"
        onnx.save(model, source)
        logging.disable(logging.WARNING)  # it advises a pre-processing that changes nothing here
        try:
            quantize_dynamic(source, target, weight_type=QuantType.QInt8)
        finally:
            logging.disable(logging.NOTSET)
        return onnx.load(target)


def mobilenet_v2() -> onnx.ModelProto:
    """The network of the paper, for images of 224 x 224."""
    net = Network("mobilenet_v2_224", (1, 3, 224, 224))

    def conv(x: str, channels: int, kernel: int, **attributes) -> str:
        return net.clip(net.conv(x, channels, kernel, **attributes), 0, 6)

    x = conv("x", 32, 3, strides=[2, 2])
    for expansion, channels, blocks, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for index in range(blocks):
            step, expanded = stride if index == 0 else 1, net.channels(x) * expansion
            y = conv(x, expanded, 1) if expansion > 1 else x
            y = net.conv(conv(y, expanded, 3, group=expanded, strides=[step, step]), channels, 1)
            x = net.node("Add", x, y) if step == 1 and net.channels(x) == channels else y
    x = net.node("Flatten", net.node("GlobalAveragePool", conv(x, 1280, 1)))
    return _normalized(net.build(net.gemm(x, 1280, 1000)))


def bert_base_layer() -> onnx.ModelProto:
    """An encoder layer of BERT-base on 128 tokens."""
    net = Network("bert_base_layer", (1, 128, 768))
    encoder = Encoder(net, tokens=128, width=768, heads=12)
    x = encoder.normalization(net.node("Add", "x", encoder.attention("x")))
    x = encoder.normalization(net.node("Add", x, encoder.feed_forward(x, lambda y: net.node("Gelu", y))))
    return _normalized(net.build(x))


def _normalized(model: onnx.ModelProto) -> onnx.ModelProto:
    normalize(model, float_inputs(model, seed_of(f"{model.graph.name}.initialization"), 1))
    return model


def decode_step(
    form: str = GROUPED, layers: int = 2, width: int = 2048, hidden: int = 5632, group: int = 32
) -> onnx.ModelProto:
    """The linear layers of a small language model for one token: int4 weights in groups of 32, as MatMulNBits.

    Attention to former tokens is left out: it has no weights.
    """
    quantized: dict[str, str] = {}
    rng, nodes, tensors = np.random.default_rng(seed_of("decode_step")), [], []

    def node(kind: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        name = f"{kind.lower()}_{len(nodes)}"
        results = [f"{name}_out", *(f"{name}_out_{number}" for number in range(1, outputs))]
        nodes.append(helper.make_node(kind, inputs, results, name, **attributes))
        return nodes[-1].output[0]

    def activations(x: str) -> str:
        if form != GROUPED_DYNAMIC:
            return x
        if x not in quantized:
            node("DynamicQuantizeLinear", x, outputs=3)
            quantized[x] = node("DequantizeLinear", *nodes[-1].output)
        return quantized[x]

    def linear(x: str, rows: int, columns: int) -> str:
        packed = rng.integers(0, 256, (columns, rows // group, group // 2), np.uint8)
        scales = rng.uniform(0.5, 1.5, columns * rows // group).astype(np.float32) / np.float32(4.6 * math.sqrt(rows))
        names = [f"weights_{len(tensors)}", f"scales_{len(tensors)}"]
        tensors.extend(map(numpy_helper.from_array, (packed, scales), names))
        attributes = {"K": rows, "N": columns, "bits": 4, "block_size": group}
        attributes |= {"accuracy_level": 4} if form == GROUPED_INT8 else {}
        return node("MatMulNBits", activations(x), *names, domain="com.microsoft", **attributes)

    x = "x"
    for _ in range(layers):
        queries, keys, values = (linear(x, width, width) for _ in range(3))
        mixed = node("Add", node("Add", queries, keys), values)
        x = node("Add", x, linear(mixed, width, width))
        gate, up = linear(x, width, hidden), linear(x, width, hidden)
        gated = node("Mul", node("Mul", gate, node("Sigmoid", gate)), up)
        x = node("Add", x, linear(gated, hidden, width))
    node("Identity", x)
    nodes[-1].output[0] = "y"
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width]) for name in "xy")
    graph = helper.make_graph(nodes, "decode_step", [x], [y], tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def tiny() -> onnx.ModelProto:
    """A few layers, to try the harness."""
    net = Network("tiny", (1, 3, 16, 16))
    x = net.relu(net.conv("x", 16))
    x = net.node("Add", x, net.relu(net.conv(x, 16)))
    x = net.node("Flatten", net.node("GlobalAveragePool", net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])))
    return net.build(net.gemm(x, 16, 10))


def _light(name: str) -> Callable[[], onnx.ModelProto]:
    return lambda: light_model(name)


WORKLOADS: Mapping[str, Workload] = {
    "resnet50": Workload(_light("resnet50")),
    "squeezenet": Workload(_light("squeezenet")),
    "mobilenet_v2": Workload(mobilenet_v2),
    "vgg19": Workload(_light("vgg19")),
    "bert_base_layer": Workload(bert_base_layer, (FLOAT, *_STATIC, DYNAMIC)),
    "decode_step": Workload(
        decode_step,
        (GROUPED, GROUPED_DYNAMIC, GROUPED_INT8),
        {form: functools.partial(decode_step, form) for form in (GROUPED_DYNAMIC, GROUPED_INT8)},
    ),
    "tiny": Workload(tiny),
}
