# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/supported-ops.md says what the compiler does."""

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto
from small_models import quantized_node

import torq_mlir
from torq_mlir.passes.raise_onnx_quantization.forms import QOPERATORS

ROOT = Path(__file__).parents[3]
X = (1, 8, 6, 6)
NO_ROI = np.zeros(0, np.float32)


def weights(*shape):
    return np.random.default_rng(0).integers(-127, 128, shape).astype(np.int8)


def bias(channels):
    return np.arange(channels, dtype=np.int32)


def integers(*values):
    return np.array(values, np.int64)


def floats(*values):
    return [np.array(value, np.float32) for value in values]


CHANNELS = np.linspace(-0.2, 1.0, 8, dtype=np.float32).reshape(8, 1, 1)
ROWS = np.linspace(0.5, 2.0, 6, dtype=np.float32)


def comparisons(op_type):
    condition = {"y_type": TensorProto.BOOL}
    return [
        (op_type, X, X, condition),
        (op_type, X, *floats(0.3), condition),
        (op_type, X, X, condition | {"x_scales": (0.05, 0.03)}),
    ]


# What each operator is tried with.
CASES = {
    "Abs": [("Abs", X)],
    "Add": [("Add", X, X), ("Add", X, (8, 1, 1)), ("Add", X, *floats(0.3)), ("Add", X, CHANNELS), ("Add", X, ROWS)],
    "ArgMax": [("ArgMax", X, {"axis": 1, "y_type": TensorProto.INT64})],
    "ArgMin": [("ArgMin", X, {"axis": -1, "keepdims": 0, "y_type": TensorProto.INT64})],
    "AveragePool": [
        ("AveragePool", X, {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("AveragePool", X, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
        ("AveragePool", X, {"kernel_shape": [6, 6]}),
        ("AveragePool", (1, 8, 6), {"kernel_shape": [2]}),
    ],
    "Clip": [("Clip", X, *floats(0.0, 6.0))],
    "Concat": [("Concat", X, X, {"axis": 1}), ("Concat", X, X, {"axis": 3, "y_scale": 0.06})],
    "Conv": [
        ("Conv", X, weights(4, 8, 3, 3), bias(4), {"pads": [0, 1, 2, 1], "strides": [2, 1], "dilations": [1, 2]}),
        ("Conv", X, weights(4, 4, 3, 3), {"group": 2}),
        ("Conv", X, weights(8, 1, 3, 3), {"group": 8}),
        ("Conv", X, weights(16, 1, 3, 3), {"group": 8}),
        ("Conv", (1, 8, 6), weights(4, 8, 3)),
        ("Conv", (1, 8, 6), weights(4, 4, 3), bias(4), {"group": 2, "pads": [1, 1]}),
        ("Conv", (1, 8, 6), weights(8, 1, 3), {"group": 8}),
    ],
    "ConvTranspose": [("ConvTranspose", X, weights(8, 4, 2, 2), {"strides": [2, 2]})],
    "DepthToSpace": [("DepthToSpace", X, {"blocksize": 2})],
    "Elu": [("Elu", X)],
    "Erf": [("Erf", X)],
    "Exp": [("Exp", X)],
    "Expand": [("Expand", (1, 8, 1, 6), integers(2, 8, 6, 6))],
    "Flatten": [("Flatten", X)],
    "Gemm": [
        ("Gemm", (2, 8), weights(4, 8), bias(4), {"transB": 1}),
        ("Gemm", (2, 8), weights(8, 4)),
        ("Gemm", (2, 8), (8, 4)),
    ],
    "GlobalAveragePool": [("GlobalAveragePool", X)],
    "GlobalMaxPool": [("GlobalMaxPool", X)],
    "HardSigmoid": [("HardSigmoid", X)],
    "HardSwish": [("HardSwish", X)],
    "LayerNormalization": [("LayerNormalization", (2, 8), np.ones(8, np.float32), {"axis": -1})],
    "LeakyRelu": [("LeakyRelu", X)],
    "MatMul": [
        ("MatMul", (2, 8), weights(8, 4)),
        ("MatMul", (1, 5, 8), weights(8, 4)),
        ("MatMul", (1, 2, 5, 8), (1, 2, 8, 5)),
    ],
    "MaxPool": [
        ("MaxPool", X, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("MaxPool", (1, 8, 6), {"kernel_shape": [2], "strides": [2]}),
    ],
    "Mul": [("Mul", X, X), ("Mul", X, *floats(0.3)), ("Mul", X, CHANNELS)],
    "Neg": [("Neg", X)],
    "PRelu": [("PRelu", X, *floats(0.25)), ("PRelu", X, CHANNELS), ("PRelu", X, 1.5 * CHANNELS)],
    "ReduceMean": [
        ("ReduceMean", X, {"axes": [2, 3]}),
        ("ReduceMean", (2, 5, 8), {"axes": [-1]}),
        ("ReduceMean", X, {"axes": [1]}),
    ],
    "Relu": [("Relu", X)],
    "Reshape": [("Reshape", X, integers(1, 4, 72))],
    "Sigmoid": [("Sigmoid", X)],
    "Sqrt": [("Sqrt", X)],
    "Squeeze": [("Squeeze", X, integers(0))],
    "Sub": [("Sub", X, X), ("Sub", CHANNELS, X), ("Sub", X, *floats(0.3))],
    "Tanh": [("Tanh", X)],
    "Transpose": [("Transpose", X, {"perm": [0, 2, 3, 1]})],
    "Unsqueeze": [("Unsqueeze", X, integers(0))],
    "Div": [("Div", X, CHANNELS), ("Div", X, ROWS), ("Div", X, *floats(0.3))],
    **{name: comparisons(name) for name in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal")},
    "Gather": [("Gather", X, integers(1, 5, 2), {"axis": 1}), ("Gather", X, integers(-1, 0, 3), {"axis": 2})],
    "Max": [("Max", X, X), ("Max", X, X, {"y_scale": 0.06})],
    "Min": [("Min", X, X), ("Min", X, X, {"y_scale": 0.06})],
    "Pad": [
        ("Pad", X, integers(0, 0, 1, 1, 0, 0, 1, 1)),
        ("Pad", X, integers(0, 0, 1, 1, 0, 0, 1, 1), {"mode": "reflect"}),
        ("Pad", X, integers(0, 0, 1, 1, 0, 0, 1, 1), {"mode": "edge"}),
    ],
    "ReduceMax": [("ReduceMax", X, {"axes": [2, 3]}), ("ReduceMax", X, {"axes": [0, 1], "keepdims": 0})],
    "ReduceMin": [("ReduceMin", X, {"axes": [1]})],
    "ReduceSum": [("ReduceSum", X, integers(2, 3)), ("ReduceSum", X, integers(1, 3), {"keepdims": 0})],
    "Resize": [
        ("Resize", X, NO_ROI, *floats((1, 1, 2, 2)), {"mode": "nearest"}),
        ("Resize", X, NO_ROI, *floats((1, 1, 1.5, 1.5)), {"mode": "nearest"}),
        ("Resize", X, NO_ROI, *floats((1, 1, 2, 2)), {"mode": "linear"}),
        ("Resize", X, NO_ROI, *floats((1, 1, 1.5, 1.5)), {"mode": "linear"}),
    ],
    "Slice": [
        ("Slice", X, integers(1), integers(4), integers(2)),
        ("Slice", X, integers(-1), integers(-9), integers(2), integers(-1)),
    ],
    "SpaceToDepth": [("SpaceToDepth", X, {"blocksize": 2})],
    "Tile": [("Tile", X, integers(1, 2, 1, 3))],
    "Softmax": [("Softmax", (2, 8))],
    "Where": [("Where", np.arange(6) > 2, X, X), ("Where", np.arange(6) > 2, X, *floats(0.3), {"y_scale": 0.06})],
}

MOVES_DATA_ON_HOST = frozenset({"ArgMax", "ArgMin", "Concat", "ConvTranspose", "Pad", "Resize", "Slice"})


def documented():
    """Rows of the tables: operator, QOperator forms, operations."""
    text = (ROOT / "docs" / "supported-ops.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|(.*?)\|(.*?)\|.*\|$", text, re.MULTILINE)
    return {name: (re.findall(r"`(\w+)`", forms), set(re.findall(r"`([\w.]+)`", made))) for name, forms, made in rows}


def compiled_operations(case):
    *inputs, attributes = case if isinstance(case[-1], dict) else (*case, {})
    report = torq_mlir.compile(quantized_node(*inputs, **attributes)).report()
    (row,) = (row for row in report.rows if row.name == "node")
    return row


def test_every_operator_is_tried():
    assert sorted(documented()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_operations(name):
    rows = [compiled_operations(case) for case in CASES[name]]
    operations = {operation for row in rows for operation in row.operations}
    _, expected = documented()[name]
    on_npu = {operation.removeprefix("torq_hl.") for operation in operations if operation.startswith("torq_hl.")}
    assert on_npu | (operations & {"tensor.concat"}) == expected
    if not expected:
        assert {row.executor for row in rows} <= {"host", "-"}
    elif name not in MOVES_DATA_ON_HOST:
        assert {row.executor for row in rows} == {"nss"}


def test_qoperator_forms():
    forms = {}
    for name, form in QOPERATORS.items():
        forms.setdefault(form.float_op, []).append(name)
    for name, (expected, _) in documented().items():
        assert forms.get(name, []) == expected


def test_table_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Supported operators")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", section, re.MULTILINE)[2:]
    assert rows
    for operators, operations in rows:
        listed = set(re.findall(r"`([\w.]+)`", operations))
        made = set().union(*(documented()[name][1] for name in re.findall(r"`(\w+)`", operators)))
        assert listed == made, operators
