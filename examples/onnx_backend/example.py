# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a quantized matrix product with the compiler and with the reference implementation of the onnx package.

python examples/onnx_backend/example.py
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from torq_mlir import onnx_backend


def quantized_product(rows: int, depth: int, columns: int):
    """A model of QLinearMatMul, u8 times i8, with a scale for each column of the weights."""
    rng = np.random.default_rng(0)
    constants = {
        "x_scale": np.float32(0.02),
        "x_zero_point": np.uint8(128),
        "weights": rng.integers(-127, 128, (depth, columns), np.int8),
        "weights_scale": rng.uniform(0.005, 0.02, columns).astype(np.float32),
        "weights_zero_point": np.zeros(columns, np.int8),
        "y_scale": np.float32(0.1),
        "y_zero_point": np.uint8(120),
    }
    graph = helper.make_graph(
        [helper.make_node("QLinearMatMul", ["x", *constants], ["y"], name="product")],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, (rows, depth))],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, (rows, columns))],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def main() -> None:
    model = quantized_product(4, 64, 8)
    x = np.random.default_rng(1).integers(0, 256, (4, 64), np.uint8)

    prepared = onnx_backend.prepare(model)
    (result,) = prepared.run([x])

    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    steps = np.abs(result.astype(int) - expected.astype(int))
    print(f"{result.size} elements, {np.count_nonzero(steps)} differ, by {steps.max()} at most")

    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["y"])
    values = np.linspace(-2, 2, 5, dtype=np.float32)
    (quantized,) = onnx_backend.run_node(node, [values, np.float32(0.5), np.int8(3)])
    print("quantized:", *quantized.tolist())


if __name__ == "__main__":
    main()
