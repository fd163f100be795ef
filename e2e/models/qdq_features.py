# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small float models of operators that have a quantized form in QDQ alone; the key of `QDQ_FEATURES` is their name."""

from collections.abc import Callable

import numpy as np
import onnx

from e2e.models.network import Network

QDQ_FEATURES: dict[str, Callable[[], onnx.ModelProto]] = {}


def _feature(function: Callable[[Network], str], *shapes: tuple[int, ...], name: str | None = None) -> None:
    """Registers the model that `function` builds from a network with inputs of some shapes."""
    name = name or function.__name__.strip("_")

    def build() -> onnx.ModelProto:
        net = Network(name, *shapes)
        return net.build(function(net))

    QDQ_FEATURES[name] = build


def feature(*shapes: tuple[int, ...]) -> Callable[[Callable[[Network], str]], Callable[[Network], str]]:
    def register(function: Callable[[Network], str]) -> Callable[[Network], str]:
        _feature(function, *shapes)
        return function

    return register


def elementwise(name: str, op_type: str, *constants: float | np.ndarray, before: str = "", **attributes) -> None:
    """Registers a function of one tensor between two convolutions; `constants` are its other operands."""

    def build(net: Network) -> str:
        x = net.conv("x", 8, 1)
        x = net.node(before, x) if before else x
        operands = [net.constant(np.asarray(value, np.float32)) for value in constants]
        return net.conv(net.node(op_type, x, *operands, **attributes), 4, 1)

    _feature(build, (1, 4, 6, 6), name=name)


elementwise("abs", "Abs")
elementwise("add_number", "Add", 0.7)
elementwise("div_channels", "Div", np.linspace(-3.0, 1.0, 8).reshape(8, 1, 1))
elementwise("div_number", "Div", 3.0)
elementwise("elu", "Elu", alpha=0.7)
elementwise("erf", "Erf")
elementwise("exp", "Exp")
elementwise("gelu", "Gelu")
elementwise("gelu_tanh", "Gelu", approximate="tanh")
elementwise("hard_sigmoid", "HardSigmoid", alpha=1 / 6, beta=0.5)
elementwise("hard_swish", "HardSwish")
elementwise("leaky_relu", "LeakyRelu", alpha=0.1)
elementwise("maximum_number", "Max", 0.2)
elementwise("mul_number", "Mul", -1.5)
elementwise("neg", "Neg")
elementwise("prelu_channels", "PRelu", np.linspace(-0.2, 0.8, 8).reshape(8, 1, 1))
elementwise("prelu_number", "PRelu", [0.25])
elementwise("prelu_steep_channels", "PRelu", np.linspace(-0.5, 1.5, 8).reshape(8, 1, 1))
elementwise("sigmoid", "Sigmoid")
elementwise("sqrt", "Sqrt", before="Relu")
elementwise("tanh", "Tanh")


@feature((1, 4, 6, 6))
def silu(net: Network) -> str:
    x = net.conv("x", 8, 1)
    return net.conv(net.node("Mul", x, net.node("Sigmoid", x)), 4, 1)


@feature((1, 8, 6, 6))
def squeeze_and_excitation(net: Network) -> str:
    x = net.conv("x", 8)
    weights = net.relu(net.conv(net.node("GlobalAveragePool", x), 4, 1))
    return net.node("Mul", x, net.node("HardSigmoid", net.conv(weights, 8, 1)))


@feature((1, 6, 5, 5))
def conv_transpose(net: Network) -> str:
    weights = net.weights(6, 4, 3, 3, fan_in=54)
    return net.node("ConvTranspose", "x", weights, net.bias(4), kernel_shape=[3, 3], pads=[1, 1, 1, 1])


@feature((1, 6, 5, 5))
def conv_transpose_stride2(net: Network) -> str:
    weights = net.weights(6, 4, 2, 2, fan_in=6)
    return net.node("ConvTranspose", "x", weights, net.bias(4), kernel_shape=[2, 2], strides=[2, 2])


@feature((1, 6, 5, 5))
def conv_transpose_groups(net: Network) -> str:
    attributes = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1], "group": 2}
    return net.node("ConvTranspose", "x", net.weights(6, 2, 3, 3, fan_in=27), kernel_shape=[3, 3], **attributes)


@feature((1, 2, 6, 8), (1, 2, 6, 8), (1, 2, 6, 8))
def attention(net: Network) -> str:
    """Both products are of run-time matrices; the softmax between them stays in float."""
    keys = net.node("Transpose", "x1", perm=[0, 1, 3, 2])
    scores = net.node("Mul", net.node("MatMul", "x0", keys), net.constant(np.float32(8**-0.5)))
    return net.node("MatMul", net.node("Softmax", scores, axis=-1), "x2")


@feature((3, 5, 8), (3, 8, 4))
def matmul_runtime(net: Network) -> str:
    return net.node("MatMul", "x0", "x1")


@feature((2, 3, 5, 8), (3, 8, 4))
def matmul_runtime_broadcast(net: Network) -> str:
    return net.node("MatMul", "x0", "x1")


@feature((2, 1, 5, 8), (1, 3, 8, 4))
def matmul_runtime_broadcast_both(net: Network) -> str:
    return net.node("MatMul", "x0", "x1")


@feature((1, 4, 6, 6), (1, 4, 6, 6))
def sub(net: Network) -> str:
    return net.node("Sub", "x0", net.conv("x1", 4, 1))


@feature((1, 4, 6, 6), (1, 4, 6, 6))
def minimum(net: Network) -> str:
    return net.node("Min", "x0", net.conv("x1", 4, 1))


@feature((1, 4, 6, 6), (1, 4, 1, 1))
def maximum_broadcast(net: Network) -> str:
    return net.node("Max", "x0", "x1")


@feature((1, 4, 8, 6))
def slice_(net: Network) -> str:
    bounds = [net.constant(np.array(values, np.int64)) for values in ([1, 0], [-1, 6], [2, 3], [2, 1])]
    return net.conv(net.node("Slice", net.conv("x", 8, 1), *bounds), 4, 1)


@feature((1, 4, 1, 6))
def expand(net: Network) -> str:
    shape = net.constant(np.array([2, 4, 5, 6], np.int64))
    return net.conv(net.node("Expand", net.relu(net.conv("x", 4, 1)), shape), 4, 1)


@feature((2, 4, 6, 5))
def reduce_mean(net: Network) -> str:
    return net.node("ReduceMean", net.conv("x", 8), net.constant(np.array([2, 3], np.int64)), keepdims=0)


@feature((2, 4, 6, 5))
def reduce_sum(net: Network) -> str:
    return net.node("ReduceSum", net.conv("x", 8), net.constant(np.array([2, 3], np.int64)), keepdims=1)


@feature((2, 4, 6, 5))
def reduce_sum_apart(net: Network) -> str:
    return net.node("ReduceSum", net.conv("x", 8), net.constant(np.array([0, 2], np.int64)), keepdims=0)


@feature((2, 4, 6, 5))
def reduce_max(net: Network) -> str:
    return net.node("ReduceMax", net.conv("x", 8), net.constant(np.array([1, 3], np.int64)), keepdims=1)


@feature((2, 4, 6, 5))
def reduce_min(net: Network) -> str:
    return net.node("ReduceMin", net.conv("x", 8), net.constant(np.array([1], np.int64)), keepdims=0)


@feature((2, 4, 6, 5))
def arg_max(net: Network) -> str:
    """The channel that is the greatest, halved: a number that is quantized like others."""
    position = net.node("ArgMax", net.conv("x", 8), axis=1)
    return net.node("Mul", net.node("Cast", position, to=onnx.TensorProto.FLOAT), net.constant(np.float32(0.5)))


@feature((1, 4, 6, 6), (1, 4, 6, 6), (1, 4, 1, 1))
def minimum_of_three(net: Network) -> str:
    return net.node("Min", "x0", net.conv("x1", 4, 1), "x2")


def _pooling(name: str, op_type: str, shape: tuple[int, ...], **attributes) -> None:
    def build(net: Network) -> str:
        return net.node(op_type, net.conv("x", shape[1], (1,) * (len(shape) - 2)), **attributes)

    _feature(build, shape, name=name)


_pooling(
    "maxpool_dilated", "MaxPool", (1, 4, 9, 8), kernel_shape=[3, 2], dilations=[2, 3], strides=[2, 1], pads=[2, 0, 2, 1]
)
_pooling("maxpool_3d", "MaxPool", (1, 4, 5, 6, 6), kernel_shape=[2, 3, 2], strides=[2, 1, 2], pads=[1, 1, 0, 0, 1, 0])
_pooling("maxpool_3d_dilated", "MaxPool", (1, 4, 5, 6, 6), kernel_shape=[2, 2, 2], dilations=[2, 1, 2])
_pooling("averagepool_dilated", "AveragePool", (1, 4, 9, 8), kernel_shape=[3, 2], dilations=[2, 3], pads=[2, 1, 2, 1])
_pooling("averagepool_ceil", "AveragePool", (1, 4, 8, 8), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
_pooling("averagepool_3d", "AveragePool", (1, 4, 5, 6, 6), kernel_shape=[2, 3, 2], strides=[2, 1, 2])
_pooling("averagepool_3d_pads", "AveragePool", (1, 4, 4, 5, 6), kernel_shape=[2, 3, 2], pads=[1, 1, 0, 0, 1, 1])
_pooling("global_averagepool_3d", "GlobalAveragePool", (2, 4, 3, 5, 6))


@feature((1, 4, 5, 6, 6))
def conv_3d(net: Network) -> str:
    return net.relu(net.conv("x", 6, (2, 3, 3), pads=[1, 1, 1, 0, 1, 1], strides=[2, 1, 2], dilations=[2, 1, 1]))


@feature((2, 4, 4, 5, 6))
def conv_3d_groups(net: Network) -> str:
    return net.relu(net.conv("x", 6, (2, 3, 3), group=2, pads=[1, 0, 1, 0, 1, 1], strides=[2, 1, 1]))


@feature((1, 4, 4, 5, 6))
def conv_3d_depthwise(net: Network) -> str:
    return net.conv("x", 8, (2, 3, 2), group=4, dilations=[2, 1, 1])


@feature((2, 4, 5, 6, 6))
def conv_3d_1x1(net: Network) -> str:
    return net.conv("x", 6, (1, 1, 1))


@feature((1, 4, 6, 6), (1, 4, 6, 6))
def where(net: Network) -> str:
    """Of two tensors in different scales, where the first is the greater one."""
    x, y = net.conv("x0", 4, 1), net.relu(net.conv("x1", 4, 1))
    return net.node("Where", net.node("Greater", x, y), x, y)
