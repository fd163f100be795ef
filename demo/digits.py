# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handwritten digits, and a network that learns to read them in seconds."""

from typing import NamedTuple

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional

_CHANNELS = 32
_FEATURES = 64
_CLASSES = 10
_EPOCHS = 15
_BATCH = 64
_LEARNING_RATE = 1e-2
_SEED = 0


class Digits(NamedTuple):
    """Images, f32 of shape (N, 1, 8, 8) in 0..1, and the digits they show, i64 of shape (N,)."""

    images: np.ndarray
    labels: np.ndarray


def load() -> tuple[Digits, Digits]:
    """The digits that scikit-learn ships: 1257 to train with and 540 to test with."""
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, np.newaxis]
    labels = data.target.astype(np.int64)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=0.3, random_state=_SEED, stratify=labels
    )
    return Digits(train_images, train_labels), Digits(test_images, test_labels)


class Network(nn.Module):
    """Two convolutions with a residual connection, pooling, a depthwise and a 3x3 convolution, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, _CHANNELS, 3, padding=1)
        self.residual = nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1)
        self.depthwise = nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1, groups=_CHANNELS)
        self.last = nn.Conv2d(_CHANNELS, _FEATURES, 3, padding=1)
        self.classifier = nn.Linear(_FEATURES, _CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.first(x))
        x = functional.relu(x + self.residual(x))
        x = functional.max_pool2d(x, 2)
        x = functional.relu(self.depthwise(x))
        x = functional.relu(self.last(x))
        return self.classifier(x.mean((2, 3)))


def train(digits: Digits) -> Network:
    """A network trained on `digits`; the same one each time on the same machine."""
    torch.set_num_threads(1)  # for tensors this small, more threads only wait for each other
    torch.manual_seed(_SEED)
    network = Network()
    images, labels = torch.from_numpy(digits.images), torch.from_numpy(digits.labels)
    steps = _EPOCHS * -(-len(labels) // _BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), _LEARNING_RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _LEARNING_RATE, total_steps=steps)
    for _ in range(_EPOCHS):
        for batch in torch.randperm(len(labels)).split(_BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(network(images[batch]), labels[batch]).backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def to_onnx(network: Network) -> onnx.ModelProto:
    """The network in ONNX: input "image", f32 of shape (1, 1, 8, 8), and output "logits", f32 of shape (1, 10)."""
    make = helper.make_node
    nodes = [
        make("Conv", ["image", "first.weight", "first.bias"], ["a"], "first", pads=[1, 1, 1, 1]),
        make("Relu", ["a"], ["b"], "first_relu"),
        make("Conv", ["b", "residual.weight", "residual.bias"], ["c"], "residual", pads=[1, 1, 1, 1]),
        make("Add", ["b", "c"], ["d"], "add"),
        make("Relu", ["d"], ["e"], "add_relu"),
        make("MaxPool", ["e"], ["f"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        make("Conv", ["f", "depthwise.weight", "depthwise.bias"], ["g"], "depthwise", pads=[1] * 4, group=_CHANNELS),
        make("Relu", ["g"], ["h"], "depthwise_relu"),
        make("Conv", ["h", "last.weight", "last.bias"], ["i"], "last", pads=[1, 1, 1, 1]),
        make("Relu", ["i"], ["j"], "last_relu"),
        make("GlobalAveragePool", ["j"], ["k"], "mean"),
        make("Flatten", ["k"], ["l"], "flatten"),
        make("Gemm", ["l", "classifier.weight", "classifier.bias"], ["logits"], "classifier", transB=1),
    ]
    weights = [numpy_helper.from_array(value.numpy(), name) for name, value in network.state_dict().items()]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, _CLASSES])
    graph = helper.make_graph(nodes, "digits", [image], [logits], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
