# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small float models, one for each feature that is covered; the key of `FEATURES` is the name of the case."""

from collections.abc import Callable

import onnx

from e2e.models.network import Network

FEATURES: dict[str, Callable[[], onnx.ModelProto]] = {}


def feature(function: Callable[[], onnx.ModelProto]) -> Callable[[], onnx.ModelProto]:
    FEATURES[function.__name__] = function
    return function


def convolution(name: str, out_channels: int = 12, kernel=3, *, channels: int = 8, **attributes) -> None:
    """Registers a model of one convolution on `[1, channels, 10, 10]`."""

    def build() -> onnx.ModelProto:
        net = Network(name, (1, channels, 10, 10))
        return net.build(net.conv("x", out_channels, kernel, **attributes))

    FEATURES[name] = build


convolution("conv_3x3")
convolution("conv_1x1", kernel=1)
convolution("conv_1x1_stride2", kernel=1, strides=[2, 2])
convolution("conv_no_bias", bias=False)
convolution("conv_stride2", strides=[2, 2])
convolution("conv_stride_2x1", strides=[2, 1])
convolution("conv_dilation2", dilations=[2, 2], pads=[2, 2, 2, 2])
convolution("conv_kernel_1x7", kernel=(1, 7))
convolution("conv_valid", pads=[0, 0, 0, 0])
convolution("conv_asymmetric_pads", pads=[0, 1, 2, 1])
convolution("conv_same_upper", kernel=3, strides=[2, 2], auto_pad="SAME_UPPER")
convolution("conv_large_pads", kernel=3, pads=[3, 4, 3, 4])
convolution("conv_groups4", group=4)
convolution("conv_depthwise", out_channels=8, group=8)
convolution("conv_depthwise_stride2", out_channels=8, group=8, strides=[2, 2])
convolution("conv_depthwise_multiplier2", out_channels=16, group=8)
convolution("conv_one_channel", channels=1)
convolution("conv_wide_sum", out_channels=8, channels=96)


@feature
def conv_1d() -> onnx.ModelProto:
    net = Network("conv_1d", (1, 8, 20))
    return net.build(net.conv("x", 12, (5,), strides=[2]))


@feature
def conv_batch() -> onnx.ModelProto:
    net = Network("conv_batch", (3, 8, 6, 6))
    return net.build(net.conv("x", 12))


@feature
def conv_relu() -> onnx.ModelProto:
    net = Network("conv_relu", (1, 8, 10, 10))
    return net.build(net.relu(net.conv("x", 12)))


@feature
def conv_relu6() -> onnx.ModelProto:
    net = Network("conv_relu6", (1, 8, 10, 10))
    return net.build(net.clip(net.conv("x", 12), 0, 6))


@feature
def conv_clip() -> onnx.ModelProto:
    """Bounds that are narrower than the range the calibration gives to the values after them."""
    net = Network("conv_clip", (1, 8, 10, 10))
    return net.build(net.conv(net.clip(net.conv("x", 12), -0.37, 0.81), 4, 1))


@feature
def gemm() -> onnx.ModelProto:
    net = Network("gemm", (1, 48))
    return net.build(net.gemm("x", 48, 20))


@feature
def gemm_not_transposed() -> onnx.ModelProto:
    net = Network("gemm_not_transposed", (1, 48))
    return net.build(net.gemm("x", 48, 20, transposed=False))


@feature
def gemm_no_bias() -> onnx.ModelProto:
    net = Network("gemm_no_bias", (4, 48))
    return net.build(net.gemm("x", 48, 20, bias=False))


@feature
def gemm_relu() -> onnx.ModelProto:
    net = Network("gemm_relu", (1, 48))
    return net.build(net.gemm(net.relu(net.gemm("x", 48, 32)), 32, 10))


@feature
def matmul() -> onnx.ModelProto:
    net = Network("matmul", (4, 48))
    return net.build(net.node("MatMul", "x", net.weights(48, 20, fan_in=48)))


@feature
def matmul_3d() -> onnx.ModelProto:
    net = Network("matmul_3d", (1, 6, 48))
    return net.build(net.node("MatMul", "x", net.weights(48, 20, fan_in=48)))


@feature
def matmul_bias() -> onnx.ModelProto:
    net = Network("matmul_bias", (4, 48))
    return net.build(net.node("Add", net.node("MatMul", "x", net.weights(48, 20, fan_in=48)), net.bias(20)))


@feature
def add() -> onnx.ModelProto:
    """Inputs of different scales: one of the addends went through a convolution."""
    net = Network("add", (1, 8, 10, 10), (1, 8, 10, 10))
    return net.build(net.node("Add", "x0", net.conv("x1", 8, 1)))


@feature
def add_inputs() -> onnx.ModelProto:
    net = Network("add_inputs", (1, 8, 10, 10), (1, 8, 10, 10))
    return net.build(net.node("Add", "x0", "x1"))


@feature
def add_relu() -> onnx.ModelProto:
    net = Network("add_relu", (1, 8, 10, 10), (1, 8, 10, 10))
    return net.build(net.relu(net.node("Add", "x0", "x1")))


@feature
def add_broadcast() -> onnx.ModelProto:
    net = Network("add_broadcast", (1, 8, 10, 10), (1, 8, 1, 1))
    return net.build(net.node("Add", "x0", "x1"))


@feature
def add_itself() -> onnx.ModelProto:
    net = Network("add_itself", (1, 8, 10, 10))
    return net.build(net.node("Add", "x", "x"))


@feature
def mul() -> onnx.ModelProto:
    net = Network("mul", (1, 8, 10, 10), (1, 8, 10, 10))
    return net.build(net.node("Mul", "x0", "x1"))


@feature
def concat() -> onnx.ModelProto:
    net = Network("concat", (1, 8, 10, 10))
    narrow = net.relu(net.conv("x", 4, 1))
    wide = net.conv("x", 6)
    return net.build(net.node("Concat", "x", narrow, wide, axis=1, channels=18))


@feature
def concat_last_axis() -> onnx.ModelProto:
    net = Network("concat_last_axis", (1, 8, 10, 10), (1, 8, 10, 4))
    return net.build(net.node("Concat", "x0", net.conv("x1", 8, 1), axis=-1))


def pooling(name: str, op_type: str, *, size: int = 11, **attributes) -> None:
    """Registers a pooling between two convolutions, so that its input and output are quantized tensors."""

    def build() -> onnx.ModelProto:
        net = Network(name, (1, 4, size, size))
        return net.build(net.conv(net.node(op_type, net.conv("x", 8, 1), **attributes), 4, 1))

    FEATURES[name] = build


pooling("maxpool", "MaxPool", kernel_shape=[2, 2], strides=[2, 2])
pooling("maxpool_pads", "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
pooling("maxpool_asymmetric_pads", "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])
pooling("maxpool_ceil", "MaxPool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
pooling("averagepool", "AveragePool", kernel_shape=[2, 2], strides=[2, 2])
pooling("averagepool_3x3", "AveragePool", kernel_shape=[3, 3], strides=[1, 1])
pooling("averagepool_pads", "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
pooling("averagepool_include_pad", "AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
pooling("averagepool_whole", "AveragePool", size=7, kernel_shape=[7, 7])
pooling("global_averagepool", "GlobalAveragePool")


@feature
def global_averagepool_flatten_gemm() -> onnx.ModelProto:
    net = Network("global_averagepool_flatten_gemm", (1, 4, 7, 7))
    pooled = net.node("GlobalAveragePool", net.relu(net.conv("x", 16)))
    return net.build(net.gemm(net.node("Flatten", pooled), 16, 10))


@feature
def relu() -> onnx.ModelProto:
    """The input of the activation has another user, so that it is a quantized tensor too."""
    net = Network("relu", (1, 8, 10, 10))
    x = net.conv("x", 8, 1)
    return net.build(net.node("Add", net.relu(x), x))


@feature
def clip() -> onnx.ModelProto:
    net = Network("clip", (1, 8, 10, 10))
    x = net.conv("x", 8, 1)
    return net.build(net.node("Add", net.clip(x, -0.9, 1.3), x))


@feature
def flatten() -> onnx.ModelProto:
    net = Network("flatten", (1, 4, 6, 6))
    return net.build(net.gemm(net.node("Flatten", net.conv("x", 4)), 4 * 36, 10))


@feature
def reshape() -> onnx.ModelProto:
    net = Network("reshape", (1, 8, 6, 6))
    return net.build(net.conv(net.reshape(net.conv("x", 8, 1), 1, 4, 12, 6), 6))


@feature
def transpose() -> onnx.ModelProto:
    net = Network("transpose", (1, 8, 6, 6))
    transposed = net.node("Transpose", net.conv("x", 8, 1), perm=[0, 2, 3, 1], channels=6)
    return net.build(net.conv(transposed, 4, 1))


@feature
def channel_shuffle() -> onnx.ModelProto:
    net = Network("channel_shuffle", (1, 8, 6, 6))
    groups = net.reshape(net.relu(net.conv("x", 8, 1, group=2)), 1, 2, 4, 6, 6)
    shuffled = net.node("Transpose", groups, perm=[0, 2, 1, 3, 4])
    return net.build(net.conv(net.reshape(shuffled, 1, 8, 6, 6), 8, 3, group=8))


@feature
def two_outputs() -> onnx.ModelProto:
    net = Network("two_outputs", (1, 4, 8, 8))
    trunk = net.relu(net.conv("x", 8))
    return net.build(net.conv(trunk, 4, 1), net.node("GlobalAveragePool", trunk))


@feature
def residual_block() -> onnx.ModelProto:
    net = Network("residual_block", (1, 8, 10, 10))
    trunk = net.relu(net.conv("x", 16))
    branch = net.conv(net.relu(net.conv(trunk, 16)), 16)
    return net.build(net.relu(net.node("Add", branch, trunk)))


@feature
def bottleneck_block() -> onnx.ModelProto:
    """The projection shortcut of a ResNet."""
    net = Network("bottleneck_block", (1, 8, 10, 10))
    branch = net.relu(net.conv("x", 4, 1))
    branch = net.conv(net.relu(net.conv(branch, 4, 3, strides=[2, 2])), 16, 1)
    shortcut = net.conv("x", 16, 1, strides=[2, 2])
    return net.build(net.relu(net.node("Add", branch, shortcut)))


@feature
def depthwise_separable_block() -> onnx.ModelProto:
    net = Network("depthwise_separable_block", (1, 8, 12, 12))
    expanded = net.clip(net.conv("x", 24, 1), 0, 6)
    filtered = net.clip(net.conv(expanded, 24, 3, group=24), 0, 6)
    return net.build(net.node("Add", net.conv(filtered, 8, 1), "x"))


@feature
def fire_module() -> onnx.ModelProto:
    net = Network("fire_module", (1, 8, 9, 9))
    squeezed = net.relu(net.conv("x", 4, 1))
    branches = net.relu(net.conv(squeezed, 8, 1)), net.relu(net.conv(squeezed, 8, 3))
    return net.build(net.node("Concat", *branches, axis=1, channels=16))


@feature
def cnn_small() -> onnx.ModelProto:
    net = Network("cnn_small", (1, 3, 16, 16))
    x = net.node("MaxPool", net.relu(net.conv("x", 16, strides=[2, 2])), kernel_shape=[2, 2], strides=[2, 2])
    x = net.relu(net.node("Add", net.conv(net.relu(net.conv(x, 16)), 16), x))
    x = net.clip(net.conv(x, 16, group=16), 0, 6)
    x = net.node("GlobalAveragePool", net.relu(net.conv(x, 32, 1)))
    return net.build(net.gemm(net.node("Flatten", x), 32, 10))


@feature
def cnn_softmax() -> onnx.ModelProto:
    net = Network("cnn_softmax", (1, 3, 16, 16))
    x = net.node("AveragePool", net.relu(net.conv("x", 16)), kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", net.relu(net.conv(x, 4, strides=[2, 2])))
    return net.build(net.node("Softmax", net.gemm(x, 64, 10), axis=-1))


@feature
def cnn_opset13() -> onnx.ModelProto:
    net = Network("cnn_opset13", (1, 3, 12, 12), opset=13)
    x = net.node("GlobalAveragePool", net.relu(net.conv(net.relu(net.conv("x", 8)), 16)))
    return net.build(net.gemm(net.node("Flatten", x), 16, 10))
