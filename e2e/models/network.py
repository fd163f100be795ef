# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float ONNX models with seeded weights, one node at a time."""

import math
import zlib
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


def seed_of(name: str) -> int:
    """A seed that depends on the name alone (`hash` changes from run to run)."""
    return zlib.crc32(name.encode())


class Network:
    """Builds a model with input `x` and output `y`; every method that adds a node returns the name of its output.

    Weights are normal with the variance of He initialisation, so that activations keep their scale through the depth
    of the network; biases are small.
    """

    def __init__(self, name: str, *shapes: Sequence[int], opset: int = OPSET, input_type: int = TensorProto.FLOAT):
        self.name = name
        self.rng = np.random.default_rng(seed_of(name))
        self.opset = opset
        self.inputs = ["x"] if len(shapes) == 1 else [f"x{index}" for index in range(len(shapes))]
        self._graph_inputs = [
            helper.make_tensor_value_info(name, input_type, list(shape))
            for name, shape in zip(self.inputs, shapes, strict=True)
        ]
        self._channels = {name: shape[1] for name, shape in zip(self.inputs, shapes, strict=True)}
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: list[onnx.TensorProto] = []

    def node(self, op_type: str, *inputs: str, channels: int | None = None, **attributes) -> str:
        """Any node with one output. `channels` is the size of its dimension 1, that of the input if omitted."""
        name = f"{op_type.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op_type, list(inputs), [f"{name}_out"], name=name, **attributes))
        self._channels[f"{name}_out"] = channels or self._channels.get(inputs[0], 0)
        return f"{name}_out"

    def channels(self, x: str) -> int:
        """Size of dimension 1."""
        return self._channels[x]

    def constant(self, array: np.ndarray) -> str:
        """An initializer."""
        name = f"constant_{len(self._initializers)}"
        self._initializers.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape: int, fan_in: int) -> str:
        """Weights with a variance of 2 / fan_in, and a gain of its own for each index of dimension 0."""
        gain = self.rng.uniform(0.5, 1.5, size=(shape[0],) + (1,) * (len(shape) - 1))
        return self.constant((self.rng.standard_normal(shape) * gain * math.sqrt(2 / fan_in)).astype(np.float32))

    def bias(self, size: int) -> str:
        return self.constant((0.1 * self.rng.standard_normal(size)).astype(np.float32))

    def conv(
        self,
        x: str,
        out_channels: int,
        kernel: int | Sequence[int] = 3,
        *,
        group: int = 1,
        bias: bool = True,
        **attributes,
    ) -> str:
        """A convolution, padded to keep the size unless `pads` says otherwise; an integer `kernel` is square."""
        kernel = (kernel, kernel) if isinstance(kernel, int) else tuple(kernel)
        if "pads" not in attributes and "auto_pad" not in attributes:
            attributes["pads"] = [size // 2 for size in kernel] * 2
        in_channels = self._channels[x] // group
        inputs = [x, self.weights(out_channels, in_channels, *kernel, fan_in=in_channels * math.prod(kernel))]
        if bias:
            inputs.append(self.bias(out_channels))
        return self.node("Conv", *inputs, channels=out_channels, kernel_shape=kernel, group=group, **attributes)

    def gemm(self, x: str, in_features: int, out_features: int, *, bias: bool = True, transposed: bool = True) -> str:
        """A fully connected layer on a 2-d tensor; `transposed` stores the weights as `[out, in]`."""
        shape = (out_features, in_features) if transposed else (in_features, out_features)
        inputs = [x, self.weights(*shape, fan_in=in_features)]
        if bias:
            inputs.append(self.bias(out_features))
        return self.node("Gemm", *inputs, channels=out_features, transB=int(transposed))

    def relu(self, x: str) -> str:
        return self.node("Relu", x)

    def clip(self, x: str, low: float, high: float) -> str:
        return self.node("Clip", x, self.constant(np.float32(low)), self.constant(np.float32(high)))

    def reshape(self, x: str, *shape: int) -> str:
        return self.node("Reshape", x, self.constant(np.asarray(shape, dtype=np.int64)), channels=shape[1])

    def build(self, *outputs: str) -> onnx.ModelProto:
        """The checked model; its outputs are named `y`, or `y0`, `y1`, ... when there are several.

        Raises:
          onnx.checker.ValidationError: the nodes do not make a model.
        """
        names = ["y"] if len(outputs) == 1 else [f"y{index}" for index in range(len(outputs))]
        renamed = dict(zip(outputs, names, strict=True))
        for node in self._nodes:
            for names_of_node in (node.input, node.output):
                names_of_node[:] = [renamed.get(name, name) for name in names_of_node]
        graph = helper.make_graph(
            self._nodes,
            self.name,
            self._graph_inputs,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
            self._initializers,
        )
        for output in graph.output:
            output.type.tensor_type.ClearField("shape")
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        onnx.checker.check_model(model, full_check=True)
        return model
