# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats of 4 and 8 bits and integers of 2 bits, against ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

import torq_mlir
from torq_mlir.errors import ModelError

DTYPES = {
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
}


def _cast(source, target, shape, **attributes):
    node = helper.make_node("Cast", ["x"], ["y"], to=target, name="cast", **attributes)
    values = [helper.make_tensor_value_info(name, kind, shape) for name, kind in (("x", source), ("y", target))]
    graph = helper.make_graph([node], "cast", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    return torq_mlir.compile(model, backend="interpreter")


def _values(dtype):
    """Of every size, with ties between neighbours, what is beyond, infinities and what is not a number."""
    codes = np.arange(256 if dtype != ml_dtypes.float4_e2m1fn else 16, dtype=np.uint8).view(dtype)
    exact = np.unique(codes.astype(np.float32)[np.isfinite(codes.astype(np.float32))])
    ties = (exact[:-1].astype(np.float64) + exact[1:]) / 2
    near = np.nextafter(ties.astype(np.float32), np.float32([[np.inf], [-np.inf]])).ravel()
    rng = np.random.default_rng(0)
    random = (rng.normal(size=200) * 2.0 ** rng.integers(-30, 30, 200)).astype(np.float32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e38, -1e38, 1e-40])
    return np.concatenate([exact, ties.astype(np.float32), near, random, special])


@pytest.mark.parametrize("name", DTYPES)
def test_rounding(name):
    values = _values(DTYPES[name])
    saturate = {} if name == "FLOAT4E2M1" else {"saturate": 0}
    (result,) = _cast(TensorProto.FLOAT, getattr(TensorProto, name), values.shape, **saturate)(values)
    expected = values.astype(DTYPES[name])
    assert result.dtype == expected.dtype
    same = (result.view(np.uint8) == expected.view(np.uint8)) | (np.isnan(values) & np.isnan(result.astype(np.float32)))
    if name == "FLOAT4E2M1":
        same |= np.isnan(values)  # which it has no code for
    assert values[~same].tolist() == []


@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ"])
def test_saturation(name):
    values = np.float32([1e9, -1e9, np.inf, -np.inf, 3.0])
    largest = float(ml_dtypes.finfo(DTYPES[name]).max)
    (result,) = _cast(TensorProto.FLOAT, getattr(TensorProto, name), values.shape)(values)
    np.testing.assert_array_equal(result.astype(np.float32), [largest, -largest, largest, -largest, 3.0])


@pytest.mark.parametrize("name", DTYPES)
def test_values_of_all_codes(name):
    codes = np.arange(16 if name == "FLOAT4E2M1" else 256, dtype=np.uint8).view(DTYPES[name])
    (result,) = _cast(getattr(TensorProto, name), TensorProto.FLOAT, codes.shape)(codes)
    np.testing.assert_array_equal(result, codes.astype(np.float32))


def test_integers_of_two_bits_wrap_around():
    values = np.arange(-9, 9, dtype=np.int32)
    (signed,) = _cast(TensorProto.INT32, TensorProto.INT2, values.shape)(values)
    (unsigned,) = _cast(TensorProto.INT32, TensorProto.UINT2, values.shape)(values)
    np.testing.assert_array_equal(signed.astype(np.int32), (values + 2) % 4 - 2)
    np.testing.assert_array_equal(unsigned.astype(np.int32), values % 4)


@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT4E2M1"])
def test_operators_that_compute_are_refused(name):
    kind = getattr(TensorProto, name)
    nodes = [
        helper.make_node("Cast", ["x"], ["narrow"], to=kind),
        helper.make_node("Pad", ["narrow", "pads"], ["padded"], name="pad"),
        helper.make_node("Cast", ["padded"], ["y"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2,))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("pads", TensorProto.INT64, (2,), [0, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    with pytest.raises(ModelError, match=rf"^pad \(Pad\): element type {name.lower()} is not supported$"):
        torq_mlir.compile(model)
