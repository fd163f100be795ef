# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model that cannot be compiled gives one line that names what is wrong, from Python and on the command line."""

import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_models import quantized_conv, quantized_node

import torq_mlir
from torq_mlir.backends import jit
from torq_mlir.tools import torq_compile

INT8, STATIC = TensorProto.INT8, (1, 3, 6, 6)
WEIGHTS, BIAS = np.ones((2, 2, 3, 3), np.int8), np.ones(2, np.float32)


def not_onnx():
    return b"This is a text, and no model.\n" * 20


def empty():
    return b""


def truncated():
    data = quantized_conv(shape=STATIC).SerializeToString()
    return data[: len(data) // 2]


def unsupported_operator():
    node = helper.make_node("Attention", ["relu"], ["attention"], "my_attention", domain="com.example")
    model = quantized_conv(shape=STATIC, extra_nodes=[node])
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    return model


def operator_that_does_not_exist():
    return quantized_conv(shape=STATIC, extra_nodes=[helper.make_node("Convolve", ["relu"], ["c"], "my_convolve")])


def operator_without_lowering():
    node = helper.make_node("LpPool", ["relu"], ["pooled"], "my_pool", kernel_shape=[1, 1])
    return quantized_conv(shape=STATIC, extra_nodes=[node])


def dynamic_shape():
    return quantized_conv(shape=("N", 3, 6, 6))


def zero_point_of_another_type():
    return quantized_conv(shape=STATIC, full_integer=True, x_zero_point=np.uint8(7))


def zero_point_that_is_a_float():
    return quantized_conv(shape=STATIC, y_zero_point=np.float32(7))


def scale_that_is_infinite():
    return quantized_node("MatMul", (2, 3), np.ones((3, 2), np.int8), x_scales=[np.inf])


def scale_of_a_channel_that_is_nan():
    scales = np.full(8, 0.01, np.float32)
    scales[5] = np.nan
    return quantized_conv(shape=STATIC, w_scale=scales)


def scale_of_a_qlinear_matmul_that_is_infinite():
    names = ["a", "one", "zero", "b", "one", "zero", "infinity", "zero"]
    node = helper.make_node("QLinearMatMul", names, ["y"], "product")
    constants = {
        "one": np.float32(1),
        "infinity": np.float32(np.inf),
        "zero": np.int8(0),
        "b": np.ones((3, 2), np.int8),
    }
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    a, y = (helper.make_tensor_value_info(*each) for each in (("a", INT8, (2, 3)), ("y", INT8, (2, 2))))
    graph = helper.make_graph([node], "qlinear", [a], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def scale_that_is_not_constant():
    model = quantized_conv(shape=STATIC, y_scale=None)
    model.graph.input.append(helper.make_tensor_value_info("y_scale", TensorProto.FLOAT, []))
    return model


def opset_of_the_future():
    return quantized_conv(shape=STATIC, opset=9999)


def bias_that_does_not_fit():
    bias = np.linspace(0, 1e9, 8, dtype=np.float32)
    model = quantized_conv(shape=STATIC, b=None, b_scale=None, b_float=bias)
    kept = [node for node in model.graph.node if node.name != "b_dequantize"]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


CASES = [
    (not_onnx, ["not an ONNX model"]),
    (empty, ["not an ONNX model"]),
    (truncated, ["truncated"]),
    (unsupported_operator, ["my_attention (com.example.Attention)", "not supported"]),
    (operator_that_does_not_exist, ["my_convolve (Convolve)", "not an operator of ONNX opset 17"]),
    (operator_without_lowering, ["my_pool (LpPool)", "no lowering"]),
    (dynamic_shape, ["input 'x'", "dimension 0 ('N') is dynamic", "batch=1"]),
    (zero_point_of_another_type, ["x_dequantize (DequantizeLinear)", "x_zero_point", "uint8"]),
    (zero_point_that_is_a_float, ["y_quantize"]),
    (scale_that_is_infinite, ["x0_dequantize", "the scale is inf, not a finite number"]),
    (scale_of_a_channel_that_is_nan, ["w_dequantize", "scale 5 is nan, not a finite number"]),
    (scale_of_a_qlinear_matmul_that_is_infinite, ["product", "the scale is inf, not a finite number"]),
    (opset_of_the_future, ["opset 9999"]),
    (bias_that_does_not_fit, ["conv", "bias"]),
]


@pytest.fixture(params=CASES, ids=lambda case: case[0].__name__)
def case(request, tmp_path):
    """The path of a model, and what its error has to say."""
    build, expected = request.param
    model = build()
    path = tmp_path / "model.onnx"
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path, expected


def test_scale_that_is_not_constant_is_computed_with():
    model = scale_that_is_not_constant()
    compiled = torq_mlir.compile(model)
    rng = np.random.default_rng(0)
    feed = {"y_scale": np.array(0.25, np.float32)}
    for info in compiled.inputs:
        if info.name != "y_scale":
            values = rng.standard_normal(info.shape) if info.dtype.kind == "f" else rng.integers(-128, 128, info.shape)
            feed[info.name] = values.astype(info.dtype)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    (result,) = compiled(**feed)
    assert np.abs(result.astype(np.int32) - expected.astype(np.int32)).max() <= 1


@pytest.mark.parametrize("scale", [0.0, -0.05, 3e38])
@pytest.mark.parametrize("node", [("Conv", (1, 2, 4, 4), WEIGHTS, BIAS), ("Mul", (2,), (2,)), ("ReduceMax", (1, 2))])
def test_scales_that_no_multiplier_has(node, scale):
    """Valid IR, in float where nothing else is possible."""
    for scales in ({"x_scales": (scale, 0.05)}, {"y_scale": scale}):
        compiled = torq_mlir.compile(quantized_node(*node, **scales))
        assert compiled.module.operation.verify()


def test_sum_that_overflows_is_not_on_the_npu():
    weights = np.full((1, 132_200), 127, np.int8)
    report = torq_mlir.compile(quantized_node("Gemm", (1, 132_200), weights, transB=1)).report()
    (row,) = (row for row in report.rows if row.name == "node")
    assert row.executor == "host"
    assert re.search(r"the i32 accumulator of linalg\.matmul could reach \d{10}", row.reason)


@pytest.mark.parametrize("node", [("ReduceSum",), ("ReduceMax",), ("GlobalAveragePool",), ("Relu",)])
@pytest.mark.parametrize("shape", [(0, 2, 4, 4), (1, 0, 4, 4)])
def test_empty_tensors(node, shape):
    compiled = torq_mlir.compile(quantized_node(*node, shape))
    assert compiled.module.operation.verify()
    (info,) = compiled.inputs
    compiled(np.zeros(info.shape, info.dtype))


def _ones(*shape):
    return np.ones(shape, np.int8)


EMPTY_PADS = np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)


@pytest.mark.parametrize(
    ("node", "attributes", "result"),
    [
        (("Conv", (1, 0, 4, 4), _ones(2, 0, 3, 3), BIAS), {"pads": [1, 1, 1, 1]}, (1, 2, 4, 4)),
        (("Conv", (1, 2, 0, 4), _ones(2, 2, 1, 1)), {}, (1, 2, 0, 4)),
        (("ConvTranspose", (1, 2, 0, 4), _ones(2, 3, 2, 2)), {"strides": [2, 2]}, (1, 3, 0, 8)),
        (("GlobalMaxPool", (1, 2, 0, 4)), {}, (1, 2, 1, 1)),
        (("DepthToSpace", (0, 8, 4, 4)), {"blocksize": 2}, (0, 2, 8, 8)),
        (("Concat", (1, 0, 4), (1, 0, 4)), {"axis": 0}, (2, 0, 4)),
        (("Pad", (1, 0, 4, 4), EMPTY_PADS), {}, (1, 0, 6, 6)),
        (("MatMul", (3, 0), _ones(0, 2)), {}, (3, 2)),
    ],
)
def test_empty_operands(node, attributes, result):
    """Sums of nothing are zero, and zero is 3; there is no maximum of nothing."""
    compiled = torq_mlir.compile(quantized_node(*node, **attributes), backend="interpreter")
    assert compiled.module.operation.verify()
    inputs = [np.zeros(info.shape, info.dtype) for info in compiled.inputs]
    for (y,) in (compiled(*inputs), jit.compile(compiled.module)(inputs)):
        assert y.shape == result
        if node[0] != "GlobalMaxPool":
            np.testing.assert_array_equal(y, 23 if node[-1] is BIAS else 3)


def test_error_in_python(case, capfd):
    path, expected = case
    with pytest.raises(torq_mlir.TorqError) as error:
        torq_mlir.compile(path)
    check_line(str(error.value), expected)
    assert capfd.readouterr() == ("", "")


def test_error_on_the_command_line(case, capfd):
    path, expected = case
    output = path.with_name("output.mlir")
    assert torq_compile.main([str(path), "-o", str(output)]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("torq-compile: error: ")
    assert err.endswith("\n")
    check_line(err[:-1], expected)
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]


def check_line(message, expected):
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_output_file_of_before_is_kept(tmp_path):
    (tmp_path / "model.onnx").write_bytes(truncated())
    (tmp_path / "model.mlir").write_text("of before")
    assert torq_compile.main([str(tmp_path / "model.onnx"), "-o", str(tmp_path / "model.mlir")]) == 1
    assert (tmp_path / "model.mlir").read_text() == "of before"


def test_process_ends_without_traceback(tmp_path):
    (tmp_path / "model.onnx").write_bytes(not_onnx())
    command = [sys.executable, "-m", "torq_mlir.tools.torq_compile", tmp_path / "model.onnx"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 1
    assert process.stdout == ""
    assert process.stderr == f"torq-compile: error: {tmp_path}/model.onnx: not an ONNX model, or a truncated one\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.onnx"], "missing.onnx: No such file or directory"),
        (["."], ".: Is a directory"),
        (["missing.mlir"], "missing.mlir: No such file or directory"),
        (["model.onnx", "-o", "missing/model.mlir"], "missing/model.mlir: No such file or directory"),
        (["model.onnx", "--run", "missing.npz"], "missing.npz: No such file or directory"),
        (["model.onnx", "--run", "model.onnx"], "model.onnx: not a .npz file of arrays"),
        (["model.onnx", "--run", "wrong.npz"], "the model has no input 'image'; its inputs are 'x'"),
        (
            ["model.onnx", "--input-shape", "z:1,2"],
            "the model has no input 'z' to give a shape to; its inputs are ['x']",
        ),
        (["model.onnx", "--input-shape", "x:1,3,7,6"], "input 'x': dimension 2 is 6, not 7"),
    ],
)
def test_wrong_arguments(tmp_path, monkeypatch, capfd, arguments, message):
    monkeypatch.chdir(tmp_path)
    onnx.save(quantized_conv(shape=STATIC), "model.onnx")
    np.savez("wrong.npz", image=np.zeros(STATIC, np.float32))
    assert torq_compile.main(arguments) == 1
    assert capfd.readouterr() == ("", f"torq-compile: error: {message}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["model.onnx", "--emit=llvm"],
        ["model.onnx", "--batch", "0"],
        ["model.onnx", "--input-shape", "x:1,b"],
        ["model.onnx", "--output", "results.npz"],
    ],
)
def test_wrong_command_line(arguments, capfd):
    with pytest.raises(SystemExit) as stop:
        torq_compile.main(arguments)
    assert stop.value.code == 2
    assert "usage: torq-compile" in capfd.readouterr().err
