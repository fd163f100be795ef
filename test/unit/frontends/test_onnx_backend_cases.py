# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantization test cases that come with the ONNX specification, with parameters that are inputs of the model."""

import importlib

import ml_dtypes
import numpy as np
import onnx
import pytest
import torq_mlir
from onnx import numpy_helper
from onnx.backend.test.case import node as onnx_cases
from torq_mlir.errors import ModelError

_OPERATORS = (
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
)
_UNSUPPORTED = ("e4m3fn", "e5m2", "e2m1", "int2")


def _collect():
    """The cases of these operators; `collect_testcases` would compute those of all of them first."""
    for name in _OPERATORS:
        importlib.import_module(f"{onnx_cases.__name__}.{name.lower()}")
    nodes = ((case, {node.op_type for node in case.model.graph.node}) for case in onnx_cases._NodeTestCases)
    return {case.name.removeprefix("test_"): case for case, types in nodes if types & set(_OPERATORS)}


_CASES = _collect()
_FAILING = [name for name in _CASES if any(part in name for part in _UNSUPPORTED)]
_PASSING = [name for name in _CASES if name not in _FAILING]


def _array(value) -> np.ndarray:
    """An array of a case, some of which are protos and some of which have int4 elements as Python objects."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value


def test_every_operator_has_cases():
    assert len(_PASSING) >= 33
    for operator in _OPERATORS:
        assert any(name.startswith(operator.lower()) for name in _PASSING)


@pytest.mark.parametrize("name", _PASSING)
def test_values(name):
    case = _CASES[name]
    inputs, expected = ([_array(value) for value in values] for values in case.data_sets[0])
    results = torq_mlir.compile(case.model)(*inputs)
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(_comparable(result), _comparable(wanted))


def _comparable(array: np.ndarray) -> np.ndarray:
    four_bits = array.dtype in (ml_dtypes.int4, ml_dtypes.uint4)
    return array.astype(np.int8) if four_bits else array


@pytest.mark.parametrize("name", _FAILING)
def test_element_type_is_refused(name):
    with pytest.raises(ModelError, match=r"element type (float8|float4|u?int2)\w* is not supported"):
        torq_mlir.compile(_CASES[name].model)
