# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test cases of the ONNX specification: all are in the registry but those of types that are refused."""

import pytest

import torq_mlir
from e2e import onnx_quant
from torq_mlir.errors import ModelError

_REFUSED = sorted(onnx_quant.specification_cases().keys() - set(onnx_quant.supported_cases()))


def test_every_operator_has_cases():
    supported = onnx_quant.supported_cases()
    assert len(supported) >= 33
    for operator in onnx_quant.SPECIFIED:
        assert any(name.startswith(operator.lower()) for name in supported)


@pytest.mark.parametrize("name", _REFUSED)
def test_element_types_are_refused(name):
    with pytest.raises(ModelError, match=r"element type (float8|float4|u?int2)\w* is not supported"):
        torq_mlir.compile(onnx_quant.specification_cases()[name].model)
