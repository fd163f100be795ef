# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of a run, joined to the operators of the source model."""

import json

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import torq_mlir
from torq_mlir.backends.cpu import detect
from torq_mlir.backends.cpu.peak import peak_gmacs
from torq_mlir.errors import CompileError
from torq_mlir.executing import Execution


def two_convolutions() -> onnx.ModelProto:
    """`stem` 3x3 from 4 to 16 channels and `head` 1x1 to 8, on an image of 12 x 12, in the QDQ format."""
    rng, nodes, tensors = np.random.default_rng(0), [], []

    def constant(name: str, value: np.ndarray) -> str:
        tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def quantized(x: str, name: str) -> str:
        qparams = [constant(f"{name}_scale", np.float32(0.05)), constant(f"{name}_zp", np.int8(-3))]
        nodes.append(helper.make_node("QuantizeLinear", [x, *qparams], [f"{name}_q"], f"{name}_quantize"))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *qparams], [f"{name}_f"], f"{name}_dequantize"))
        return f"{name}_f"

    def convolution(x: str, name: str, *shape: int) -> str:
        w = constant(f"{name}_w", rng.integers(-127, 128, shape).astype(np.int8))
        nodes.append(
            helper.make_node("DequantizeLinear", [w, constant(f"{name}_s", np.float32(0.002))], [f"{name}_wf"])
        )
        padding = [shape[-1] // 2] * 4
        nodes.append(helper.make_node("Conv", [x, f"{name}_wf"], [f"{name}_out"], name, pads=padding))
        return quantized(f"{name}_out", name)

    last = convolution(convolution(quantized("x", "input"), "stem", 16, 4, 3, 3), "head", 8, 16, 1, 1)
    nodes[-1].output[0] = "y"
    assert last == "head_f"
    values = [("x", [1, 4, 12, 12]), ("y", [1, 8, 12, 12])]
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in values)
    graph = helper.make_graph(nodes, "two_convolutions", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


IMAGE = np.random.default_rng(1).standard_normal((1, 4, 12, 12), dtype=np.float32)


@pytest.fixture(scope="module")
def model():
    return torq_mlir.compile(two_convolutions(), backend=Execution(num_threads=1))


@pytest.fixture(scope="module")
def profile(model):
    return model.profile(IMAGE)


def test_steps_have_the_names_of_the_source(profile):
    products = {}
    for timing in profile.timings:
        for name in timing.step.names:
            products[name] = products.get(name, 0) + timing.step.products
    assert products["stem"] == 12 * 12 * 16 * 4 * 3 * 3
    assert products["head"] == 12 * 12 * 8 * 16


def test_sums(profile):
    assert profile.seconds == pytest.approx(sum(profile.by_kernel().values()))
    assert "convolution" in profile.by_kernel()
    assert all(timing.seconds >= 0 for timing in profile.timings)
    ends = [timing.start + timing.seconds for timing in profile.timings]
    assert ends[:-1] == pytest.approx([timing.start for timing in profile.timings[1:]])
    values = profile.to_dict()
    assert json.loads(json.dumps(values)) == json.loads(json.dumps(values))
    assert values["seconds"] == profile.seconds
    assert profile.arena_bytes >= 12 * 12 * 16
    assert profile.constant_bytes >= 16 * 3 * 3 * 3 + 8 * 16


def test_text(profile):
    lines = str(profile).splitlines()
    (stem,) = [line for line in lines if line.endswith("stem, stem_quantize") and " convolution " in line]
    assert "%" in stem
    assert any(line.endswith("us in all") for line in lines)
    assert any(line.endswith("GMAC/s at most") for line in lines)


def test_trace(profile):
    trace = json.loads(json.dumps(profile.to_trace(), allow_nan=False))
    events = trace["traceEvents"]
    assert len(events) == len(profile.timings)
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    assert {"stem", "head"} <= {name for event in events for name in event["args"]["sources"].split(", ")}


def test_a_profiled_run_computes_the_same(model):
    operands = [IMAGE]
    (expected,) = model(*operands)
    model.profile(*operands)
    np.testing.assert_array_equal(model(*operands)[0], expected)


def test_another_backend_has_no_times():
    model = torq_mlir.compile(two_convolutions(), backend="interpreter")
    with pytest.raises(CompileError, match="the backend 'interpreter' measures no times; cpu does"):
        model.profile(IMAGE)


def test_peak():
    """A core does some products in a nanosecond, and no more than four vector instructions in a cycle of 6 GHz."""
    cpu = detect()
    assert 0.5 < peak_gmacs(cpu) < 4 * 6 * 4 * cpu.lanes
    assert peak_gmacs(cpu) == peak_gmacs(cpu)
