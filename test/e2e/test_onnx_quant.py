# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test cases of the ONNX specification are in the registry, all of them."""

from e2e import onnx_quant
from e2e.cases import registry


def test_every_operator_has_cases():
    names = onnx_quant.specification_cases().keys()
    assert len(names) >= 45
    for operator in onnx_quant.SPECIFIED:
        assert any(name.startswith(operator.lower()) for name in names)
    assert {f"onnx.quant.specification.{name}" for name in names} <= registry().keys()
