# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with weights in groups compute with the dequantized values, and never have them in a tensor."""

import numpy as np
import pytest
from contraction_modules import fused, group_dequantized, largest_tensor, matmul, repeated, run, storage, transposed
from modules_under_test import constant
from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir import pipelines
from torq_mlir.dialects import quantized_decomposed as qd
from torq_mlir.numerics.groups import dequantize_per_channel_group
from torq_mlir.rewriting.grouped_weights import pack
from torq_mlir.rewriting.structured import build_elementwise

BUFFERIZE = (
    "builtin.module(convert-quantized-decomposed-to-linalg,canonicalize,cse,"
    "one-shot-bufferize{bufferize-function-boundaries=true})"
)


class Weights:
    """Random weights [columns, rows] in groups along the rows, as PyTorch and ONNX Runtime store them."""

    def __init__(self, rng, columns, rows, size, dtype=np.int8, bits=4, zero_points="none"):
        low = 0 if np.dtype(dtype).kind == "u" else -(1 << bits - 1)
        self.size, self.bits = size, bits
        self.values = rng.integers(low, low + (1 << bits), (columns, rows)).astype(dtype)
        shape = columns, -(-rows // size)
        self.scales = rng.uniform(0.001, 0.1, shape).astype(np.float32)
        self.zero_points = None
        if zero_points == "integers":
            self.zero_points = rng.integers(low, low + (1 << bits), shape).astype(dtype)
        elif zero_points == "floats":
            self.zero_points = rng.uniform(low, low + (1 << bits), shape).astype(np.float32)

    def build(self, bits: int = 8) -> ir.Value:
        """[rows, columns], dequantized."""
        return transposed(group_dequantized(self.values, self.scales, self.zero_points, self.size, 1, bits))

    def dequantized(self) -> np.ndarray:
        return dequantize_per_channel_group(self.values, self.scales, self.zero_points, group_size=self.size).T

    def centered(self) -> np.ndarray:
        zero_points = 0 if self.zero_points is None else np.repeat(self.zero_points.astype(np.int64), self.size, axis=1)
        return (self.values.astype(np.int64) - zero_points).T


KINDS = {
    "int4": {},
    "int4 with zero points": {"zero_points": "integers"},
    "uint4 with zero points": {"dtype": np.uint8, "zero_points": "integers"},
    "uint4 with float zero points": {"dtype": np.uint8, "zero_points": "floats"},
    "int8": {"bits": 8},
    "int8 with zero points": {"bits": 8, "zero_points": "integers"},
    "uint8 with zero points": {"bits": 8, "dtype": np.uint8, "zero_points": "integers"},
    "odd groups": {"size": 7, "rows": 21},
}


def made(kind: str, columns: int = 6, rows: int = 48, size: int = 16) -> Weights:
    options = {"columns": columns, "rows": rows, "size": size} | KINDS[kind]
    return Weights(np.random.default_rng(len(kind)), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_activations_in_float_see_the_dequantized_values(kind):
    """A row of the identity picks one of them, to the bit."""
    weights = made(kind)
    rows = weights.values.shape[1]
    identity = np.eye(rows, dtype=np.float32)
    module = fused([identity], lambda x: matmul(x, weights.build()))
    np.testing.assert_array_equal(run(module, [identity]), weights.dequantized())


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "symbolic"])
def test_activations_in_float(dynamic):
    rng, weights = np.random.default_rng(1), made("uint4 with zero points")
    x = rng.standard_normal((3, weights.values.shape[1])).astype(np.float32)
    module = fused([x], lambda x: matmul(x, weights.build()), dynamic)
    expected = x.astype(np.float64) @ weights.dequantized().astype(np.float64)
    np.testing.assert_allclose(run(module, [x]), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


SYMBOLIC = [("int4 with zero points", each, True) for each in ("unsigned tensor", "token")]


@pytest.mark.parametrize(
    ("kind", "granularity", "dynamic"),
    [
        *((kind, "token", False) for kind in KINDS if "float" not in kind),
        *(("int4 with zero points", each, False) for each in ("tensor", "unsigned tensor", "symmetric token")),
        *SYMBOLIC,
    ],
)
def test_quantized_activations(kind, granularity, dynamic):
    """Sums over a group are exact; they are scaled and added up in f32, group after group."""
    rng, weights = np.random.default_rng(2), made(kind)
    dtype = np.uint8 if "unsigned" in granularity else np.int8
    limits, rows = np.iinfo(dtype), weights.values.shape[1]
    x = rng.integers(limits.min, limits.max, (3, rows), endpoint=True).astype(dtype)
    shape = (3, 1) if "token" in granularity else (1,)
    scales = rng.uniform(0.01, 0.1, shape)
    zero_points = rng.integers(limits.min, limits.max, shape) * ("symmetric" not in granularity)

    def body(q, s, *z):
        dequantize = qd.dequantize_per_token if "token" in granularity else qd.dequantize_per_tensor
        return matmul(dequantize(q, s, *z, **storage(dtype)), weights.build())

    inputs = [x, scales, *([] if "symmetric" in granularity else [zero_points])]
    module = fused([x.view(np.int8), *inputs[1:]], body, dynamic)
    centered, total = x.astype(np.int64) - zero_points, np.zeros((3, 6), np.float32)
    for start in range(0, rows, weights.size):
        sums = centered[:, start : start + weights.size] @ weights.centered()[start : start + weights.size]
        total += sums.astype(np.float32) * weights.scales[:, start // weights.size]
    np.testing.assert_array_equal(run(module, inputs), (total.astype(np.float64) * scales).astype(np.float32))


@pytest.mark.parametrize("bits", [4, 8], ids=["i4", "i4 in bytes"])
@pytest.mark.parametrize("quantized", [False, True])
def test_weights_stay_packed(quantized, bits):
    """Neither the module nor the compiled function has a tensor of as many bytes as there are weights."""
    weights = made("int4", columns=64, rows=128, size=32)
    x = np.ones((1, 128), np.int8 if quantized else np.float32)

    def body(x, *scale):
        if quantized:
            x = qd.dequantize_per_tensor(x, *scale, constant(np.zeros(1, np.int64)), **storage(np.int8))
        return matmul(x, weights.build(bits))

    inputs = [x, *([np.ones(1)] if quantized else [])]
    module = fused(inputs, body)
    assert largest_tensor(module) == weights.values.size // 2
    grouped = weights.values.T.reshape(4, 16, 2, 64)
    assert any(np.array_equal(each, pack(grouped)) for each in byte_constants(module))
    pipelines.run(module, BUFFERIZE)
    sizes = [int(np.prod(each.results[0].type.shape)) for each in operations(module, "memref.alloc")]
    assert max(sizes) <= 128


def operations(module: ir.Module, name: str) -> list[ir.Operation]:
    found = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == name:
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def byte_constants(module: ir.Module) -> list[np.ndarray]:
    values = [each.attributes["value"] for each in operations(module, "arith.constant")]
    return [np.asarray(each) for each in values if str(each.type).startswith("tensor") and "xi8>" in str(each.type)]


@pytest.mark.parametrize("name", ["rows", "transposed rows", "batch", "bias"])
def test_forms(name):
    """Weights [rows, columns] in groups along the first axis, batches that share them, and a product that adds up."""
    rng, weights = np.random.default_rng(3), made("int4 with zero points")
    x = rng.standard_normal((2, 3, 48) if name == "batch" else (3, 48)).astype(np.float32)
    init = rng.standard_normal((3, 6)).astype(np.float32)

    def body(x, *init):
        if name == "rows":
            turned = (np.ascontiguousarray(each.T) for each in (weights.values, weights.scales, weights.zero_points))
            return matmul(x, group_dequantized(*turned, weights.size, 0))
        if name == "batch":
            return matmul(x, repeated(weights.build(), x))
        return matmul(x, weights.build(), *init)

    inputs = [x, *([init] if name == "bias" else [])]
    expected = x.astype(np.float64) @ weights.dequantized() + (init if name == "bias" else 0)
    found = run(fused(inputs, body), inputs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_weights_per_channel_are_one_group():
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((3, 20)).astype(np.float32), rng.integers(-128, 128, (20, 5)).astype(np.int8)
    scales, zero_points = rng.uniform(0.001, 0.1, 5).astype(np.float32), rng.integers(-128, 128, 5)

    def body(x):
        return matmul(
            x, qd.dequantize_per_channel(*map(constant, (w, scales, zero_points)), axis=1, **storage(np.int8))
        )

    expected = x.astype(np.float64) @ ((w - zero_points) * scales.astype(np.float64))
    module = fused([x], body)
    assert largest_tensor(module) == max(w.size, 4 * x.size)
    np.testing.assert_allclose(run(module, [x]), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("quantized", [False, True], ids=["float activations", "quantized activations"])
@pytest.mark.parametrize("kind", ["int4", "int4 with zero points", "uint8 with zero points", "odd groups"])
def test_run_time_scales_of_groups(kind, quantized):
    rng, weights = np.random.default_rng(6), made(kind)
    x = rng.integers(-128, 128, (3, weights.values.shape[1])).astype(np.int8)

    def body(q, s):
        values = constant(weights.values.view(np.int8))
        zero_points = [] if weights.zero_points is None else [constant(weights.zero_points.view(np.int8))]
        form = storage(weights.values.dtype) | {"group_size": weights.size, "axis": 1}
        dequantized = qd.dequantize_per_channel_group(values, s, *zero_points, **form)
        if quantized:
            q = qd.dequantize_per_tensor(q, constant(np.ones(1)), constant(np.zeros(1, np.int64)), **storage(np.int8))
        return matmul(q, transposed(dequantized))

    inputs = [x if quantized else x.astype(np.float32), weights.scales]
    module = fused(inputs, body)
    assert largest_tensor(module) < 4 * weights.values.size
    expected = x.astype(np.float64) @ weights.dequantized().astype(np.float64)
    np.testing.assert_allclose(run(module, inputs), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("axis", [0, 1], ids=["rows", "columns"])
@pytest.mark.parametrize("constant_scales", [True, False], ids=["constant scales", "run-time scales"])
def test_weights_per_channel_of_quantized_activations(axis, constant_scales):
    """Where scales along the sum, or those of run time, leave no form on integers."""
    rng = np.random.default_rng(7)
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((3, 20), (20, 5)))
    scales = rng.uniform(0.001, 0.1, w.shape[axis]).astype(np.float32)
    zero_points = rng.integers(-128, 128, w.shape[axis])

    def body(q, *s):
        x = qd.dequantize_per_tensor(q, constant(np.full(1, 0.5)), constant(np.full(1, 3)), **storage(np.int8))
        parameters = [*(s or [constant(scales)]), constant(zero_points)]
        return matmul(x, qd.dequantize_per_channel(constant(w), *parameters, axis=axis, **storage(np.int8)))

    along = [(each[:, None] if axis == 0 else each).astype(np.float64) for each in (scales, zero_points)]
    expected = ((x.astype(np.float64) - 3) * 0.5) @ ((w - along[1]) * along[0])
    inputs = [x, *([] if constant_scales else [scales])]
    module = fused(inputs, body)
    assert largest_tensor(module) < 4 * w.size
    np.testing.assert_allclose(run(module, inputs), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_weights_that_are_converted_are_read_as_they_are_stored():
    """What torchao does: the product of the integers as floats is scaled."""
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((3, 20)).astype(np.float32), rng.integers(-128, 128, (20, 5)).astype(np.int8)

    def body(x):
        f32 = ir.F32Type.get()
        empty = tensor.empty(list(w.shape), f32)
        return matmul(x, build_elementwise([constant(w)], empty, lambda value: arith.sitofp(f32, value)))

    module = fused([x], body)
    assert largest_tensor(module) == max(w.size, 4 * x.size)
    expected = x.astype(np.float64) @ w
    np.testing.assert_allclose(run(module, [x]), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_groups_along_the_columns_stay_in_float():
    weights = made("int4")

    def body(x):
        return matmul(x, group_dequantized(weights.values, weights.scales, None, weights.size, 1))

    module = fused([np.ones((2, 6), np.float32)], body)
    assert "the groups of the weights of linalg.matmul are not along the summed dimension" in str(module)


def test_the_first_of_a_pair_is_in_the_low_half():
    packed = pack(np.array([[1, 2, -8], [-1, 3, 7]], np.int8))
    np.testing.assert_array_equal(packed.view(np.uint8), [0xF1, 0x32, 0x78])
