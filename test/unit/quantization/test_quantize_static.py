# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models compute what the float model does, up to the steps of the quantization."""

import warnings
from collections import Counter

import numpy as np
import onnx
import pytest
from float_models import cnn, make_model, residual, softmax_at_the_end, two_inputs
from onnx import helper, numpy_helper

import torq_mlir
from torq_mlir import quantization
from torq_mlir.errors import InputError, ModelError
from torq_mlir.quantization import sessions
from torq_mlir.quantization.full_integer import io_qparams

FORMATS = ("qdq", "qoperator", "hybrid")


def feeds(model, count=4, seed=0):
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    rng = np.random.default_rng(seed)
    return [{name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()} for _ in range(count)]


def run(model, feed):
    return sessions.session(model).run(None, feed)[0]


@pytest.mark.parametrize("full_integer", [False, True])
@pytest.mark.parametrize("quant_format", FORMATS)
def test_formats(quant_format, full_integer):
    model = cnn()
    data = feeds(model)
    quantized = quantization.quantize_static(
        model, None, data, quant_format=quant_format, per_channel=True, full_integer=full_integer
    )
    expected = run(model, data[0])
    if full_integer:
        qparams = io_qparams(quantized)
        assert set(qparams) == {"x", "y"}
        x, y = qparams["x"], qparams["y"]
        steps = np.clip(np.rint(data[0]["x"] / np.float32(x["scale"])) + x["zero_point"], -128, 127).astype(np.int8)
        (actual,) = sessions.session(quantized).run(None, {"x": steps})
        assert actual.dtype == np.int8
        actual = (actual.astype(np.float32) - y["zero_point"]) * np.float32(y["scale"])
    else:
        assert io_qparams(quantized) == {}
        actual = run(quantized, data[0])
    assert np.abs(actual - expected).max() < 0.05 * np.abs(expected).max()
    kinds = Counter(node.op_type for node in quantized.graph.node)
    integers = {"qdq": (0, 0), "qoperator": (2, 1), "hybrid": (2, 0)}[quant_format]
    assert (kinds["QLinearConv"], kinds["QGemm"]) == integers
    assert all(row.executor in ("nss", "-") for row in torq_mlir.compile(quantized).report().rows) or not full_integer


def test_per_channel_weights_have_a_scale_for_each_output_channel():
    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()), per_channel=True)
    scales = {t.name: list(t.dims) for t in quantized.graph.initializer if t.name.endswith("_scale")}
    assert scales["w1_scale"] == [8]
    assert scales["w2_scale"] == [16]


def test_what_is_excluded_stays_in_float():
    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()), nodes_to_exclude=["conv2"])
    weights = {tensor.name for tensor in quantized.graph.initializer}
    assert "w2" in weights
    assert "w1" not in weights
    with pytest.raises(ModelError, match="no node 'conv9'"):
        quantization.quantize_static(cnn(), None, feeds(cnn()), nodes_to_exclude=["conv9"])


def test_without_data_there_is_a_warning_and_the_same_model_each_time():
    with pytest.warns(quantization.SyntheticDataWarning, match="accuracy figures of this model are meaningless"):
        first = quantization.quantize_static(cnn())
    with pytest.warns(quantization.SyntheticDataWarning):
        second = quantization.quantize_static(cnn())
    with pytest.warns(quantization.SyntheticDataWarning):
        other = quantization.quantize_static(cnn(), seed=1)
    texts = [model.SerializeToString(deterministic=True) for model in (first, second, other)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("method", ["minmax", "entropy", "percentile", "Percentile"])
def test_calibration_methods(method, capsys):
    data = feeds(cnn())
    data[0]["x"][0, 0, 0, 0] = 50.0  # an outlier, which only the extremes follow
    quantized = quantization.quantize_static(
        cnn(), None, data, full_integer=True, calibrate_method=method, percentile=99.0
    )
    scale = io_qparams(quantized)["x"]["scale"]
    assert scale < 1 if method.lower() == "percentile" else scale == pytest.approx(50 / 256, rel=0.1)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quant_format": "qlinear"}, "quant_format 'qlinear' is not supported; supported: qdq, qoperator, hybrid"),
        ({"quant_dtype": "a16w8"}, "quant_dtype 'a16w8' is not supported; supported: A8W8"),
        ({"calibrate_method": "mean"}, "no calibration method 'mean'; the methods are minmax, entropy, percentile"),
    ],
)
def test_unsupported_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        quantization.quantize_static(cnn(), None, feeds(cnn()), **arguments)


def test_dtype_and_format_may_be_upper_or_lower_case():
    options = quantization.QuantizationOptions("QDQ", quant_dtype="a8w8")
    assert (options.quant_format, options.quant_dtype) == ("qdq", "A8W8")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "yields nothing"),
        ([{"z": np.zeros((1, 3, 8, 8), np.float32)}], "sample 0 of the calibration data has 'z', but the inputs of"),
        ([{"x": np.zeros((1, 3, 9, 9), np.float32)}], r"'x' has shape \(1, 3, 9, 9\), the input \(1, 3, 8, 8\)"),
        ([{"x": np.zeros((1, 3, 8, 8))}], "'x' is float64, the input float32"),
        ([{"x": np.full((1, 3, 8, 8), np.nan, np.float32)}], "'x' has NaN or infinite values"),
        ([3], "sample 0 of the calibration data is a int"),
    ],
)
def test_readers_that_do_not_fit(data, message):
    if data == [3]:

        class Numbers(quantization.FeedReader):
            def get_next(self):
                return 3

        data = Numbers([])
    with pytest.raises(InputError, match=message):
        quantization.quantize_static(cnn(), None, data)


@pytest.mark.parametrize("quant_format", FORMATS)
def test_tensors_that_are_not_finite_are_named(quant_format):
    nodes = [helper.make_node("Log", ["x"], ["l"], "log"), helper.make_node("MatMul", ["l", "w"], ["y"], "matmul")]
    model = make_model(nodes, {"w": np.eye(4, dtype=np.float32)}, {"x": [1, 4]}, {"y": [1, 4]})
    with pytest.raises(ModelError, match=r"cannot quantize the model: .*; not finite on the calibration data: l"):
        quantization.quantize_static(model, None, [{"x": np.zeros((1, 4), np.float32)}], quant_format=quant_format)


def test_open_batch_is_fixed_and_said():
    prepared = quantization.prepare(cnn(batch="N"))
    assert prepared.notes == ("the batch size is open; fixed to 1 for x",)
    assert prepared.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    assert quantization.prepare(cnn(batch="N"), batch=2).notes == ("the batch size is open; fixed to 2 for x",)
    assert quantization.prepare(cnn()).notes == ()


def test_constants_that_are_inputs_as_well():
    model = cnn()
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    quantized = quantization.quantize_static(model, None, feeds(cnn()))
    assert [value.name for value in quantized.graph.input] == ["x"]


def test_old_opset_and_nodes_without_names():
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    parameters = {name: np.ones(4, np.float32) for name in "sbmv"}
    weights = {"w": np.full((4, 3, 1, 1), 0.25, np.float32), **parameters}
    model = make_model(nodes, weights, {"x": [1, 3, 4, 4]}, {"y": [1, 4, 4, 4]}, opset=9)
    data = feeds(model)
    quantized = quantization.quantize_static(model, None, data)
    assert all(node.name for node in quantized.graph.node)
    assert not any(node.op_type == "BatchNormalization" for node in quantized.graph.node)
    assert np.abs(run(quantized, data[0]) - run(model, data[0])).max() < 0.05


def test_a_quantized_model_is_not_quantized_again():
    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()))
    with pytest.raises(ModelError, match="quantized already"):
        quantization.quantize_static(quantized, None, feeds(cnn()))


def test_boundary_that_cannot_be_an_integer():
    nodes = [helper.make_node("Sin", ["x"], ["h"], "sin"), helper.make_node("Gemm", ["h", "w"], ["y"], "gemm")]
    model = make_model(nodes, {"w": np.ones((4, 4), np.float32)}, {"x": [1, 4]}, {"y": [1, 4]})
    data = feeds(model)
    quantized = quantization.quantize_static(model, None, data, full_integer=True)
    assert io_qparams(quantized)["x"]["dtype"] == "int8"  # Sin computes in float between dequantized and quantized
    with pytest.raises(ModelError, match=r"output 'y' cannot be an integer: it comes from gemm \(Gemm\), which is not"):
        quantization.quantize_static(model, None, data, full_integer=True, nodes_to_exclude=["gemm"])


def test_output_that_is_read_inside_too():
    nodes = [helper.make_node("Relu", ["x"], ["y"], "relu"), helper.make_node("Add", ["y", "y"], ["z"], "add")]
    model = make_model(nodes, {}, {"x": [1, 4]}, {"y": [1, 4], "z": [1, 4]})
    quantized = quantization.quantize_static(model, None, feeds(model), full_integer=True)
    outputs = sessions.session(quantized).run(None, {"x": np.array([[-100, 0, 50, 127]], np.int8)})
    assert [output.dtype for output in outputs] == [np.int8, np.int8]


def test_model_with_several_inputs():
    model = two_inputs()
    data = feeds(model)
    quantized = quantization.quantize_static(model, None, iter(data))
    assert np.abs(run(quantized, data[0]) - run(model, data[0])).max() < 0.05


def test_external_data(tmp_path, monkeypatch):
    """The way of models over 2 GiB, with a smaller limit."""
    monkeypatch.setattr(sessions, "EXTERNAL_DATA_FROM", 1000)
    source, target = tmp_path / "model.onnx", tmp_path / "quantized.onnx"
    model = residual(blocks=1, channels=16)
    data = feeds(model)
    expected = quantization.quantize_static(model, None, data)
    onnx.save(model, source, save_as_external_data=True, location="model.data", size_threshold=0)
    for _ in range(2):  # the second time, in the place of the first files
        quantized = quantization.quantize_static(source, target, data)
    written = onnx.load(target)
    assert (tmp_path / "quantized.onnx.data").stat().st_size == 16 * 16 * 9
    for one in (quantized, written):
        assert np.array_equal(run(one, data[0]), run(expected, data[0]))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("model.data", "model.onnx", "quantized.onnx", "quantized.onnx.data")
    ]
    # What is saved is a copy.
    assert not any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in quantized.graph.initializer)


def test_qparams_of_the_boundary_are_those_of_the_nodes_that_were_there():
    data = feeds(softmax_at_the_end())
    plain = quantization.quantize_static(softmax_at_the_end(), None, data)
    stripped = quantization.quantize_static(softmax_at_the_end(), None, data, full_integer=True)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in plain.graph.initializer}
    first = next(node for node in plain.graph.node if node.input[0] == "x")
    assert io_qparams(stripped)["x"]["scale"] == float(constants[first.input[1]])
    assert io_qparams(stripped)["x"]["zero_point"] == int(constants[first.input[2]])


def test_missing_file(tmp_path):
    with pytest.raises(ModelError, match=r"nothing\.onnx: No such file or directory"):
        quantization.quantize_static(tmp_path / "nothing.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08\x07garbage")
    with warnings.catch_warnings(), pytest.raises(ModelError, match="not an ONNX model"):
        quantization.quantize_static(broken)


@pytest.mark.parametrize("quant_format", FORMATS)
def test_stripping_the_boundary_changes_no_value(quant_format):
    data = feeds(cnn(), count=8)
    plain, stripped = (
        quantization.quantize_static(cnn(), None, data, quant_format=quant_format, full_integer=value)
        for value in (False, True)
    )
    x, y = (io_qparams(stripped)[name] for name in "xy")
    for feed in data:
        integers = np.clip(np.rint(feed["x"] / np.float32(x["scale"])) + x["zero_point"], -128, 127).astype(np.int8)
        result = run(stripped, {"x": integers})
        real = (result.astype(np.float32) - y["zero_point"]) * np.float32(y["scale"])
        assert np.array_equal(real, run(plain, feed))
