# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/support-matrix.md says what the conversions do."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from contractions import lower
from lowering import convert, integer_type
from modules_under_test import constant, module_of
from quantized_contractions import CONTRACTIONS
from torch_mlir import ir

from torq_mlir import pipelines
from torq_mlir.dialects import quantized_decomposed

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch.ao.quantization.fx._decomposed

PAGE = Path(__file__).parents[3] / "docs" / "support-matrix.md"
BACKENDS = ("linalg", "tosa", "stablehlo")
VALIDATE = (
    "builtin.module(tosa-attach-target{profiles=pro_int,pro_fp extensions=int16,int4,bf16},"
    "tosa-validate{strict-op-spec-alignment=true})"
)

X = np.zeros((4, 8), np.float32)
Q = np.zeros((4, 8), np.int8)
SI8 = {"quant_min": -128, "quant_max": 127, "dtype": np.int8}
ONE, MANY, ROWS, GROUPS = (np.ones(shape, np.float32) for shape in ((1,), (8,), (4, 1), (4, 2)))


def zeros(like: np.ndarray, dtype=np.int32) -> np.ndarray:
    return np.zeros(like.shape, dtype)


# Inputs, names of constant operands, and attributes of each overload, in the types that PyTorch gives it.
OPERATORS = {
    "quantize_per_tensor.default": ([X], [np.float64(0.1), np.int64(3)], SI8),
    "quantize_per_tensor.tensor": ([X, ONE, zeros(ONE)], [], SI8),
    "quantize_per_tensor.tensor2": ([X, ONE, zeros(ONE), zeros(ONE), zeros(ONE)], [], {"dtype": np.int8}),
    "dequantize_per_tensor.default": ([Q], [np.float64(0.1), np.int64(3)], SI8),
    "dequantize_per_tensor.tensor": ([Q, ONE, zeros(ONE)], [], SI8),
    "dequantize_per_tensor.tensor2": ([Q, ONE, zeros(ONE), zeros(ONE), zeros(ONE)], [], {"dtype": np.int8}),
    "quantize_per_channel.default": ([X], [MANY, zeros(MANY, np.int64)], SI8 | {"axis": 1}),
    "dequantize_per_channel.default": ([Q], [MANY, zeros(MANY, np.int64)], SI8 | {"axis": 1}),
    "fake_quant_per_channel.default": ([X, MANY, zeros(MANY)], [], {"axis": 1, "quant_min": -128, "quant_max": 127}),
    "quantize_per_token.default": ([X, ROWS, zeros(ROWS)], [], SI8),
    "dequantize_per_token.default": ([Q, ROWS, zeros(ROWS)], [], SI8),
    "quantize_per_channel_group.default": ([X, GROUPS, zeros(GROUPS)], [], SI8 | {"group_size": 4}),
    "dequantize_per_channel_group.default": ([Q, GROUPS, zeros(GROUPS)], [], SI8 | {"group_size": 4}),
    "choose_qparams.tensor": ([X], [], SI8 | {"eps": 1e-7}),
    "choose_qparams_symmetric.tensor": ([X], [], SI8 | {"eps": 1e-7}),
    "choose_qparams_per_token.default": ([X], [], {"dtype": np.int8}),
    "choose_qparams_per_token_asymmetric.default": ([X], [], {"dtype": np.int8}),
    "_choose_qparams_per_token_asymmetric_impl.default": ([X], [], {"dtype": np.int8}),
    "convert_element_type.no_fuse": ([Q], [], {"input_dtype": np.uint8, "dtype": np.int16}),
}


def table(heading: str) -> dict[str, dict[str, str]]:
    """The cells under a heading of the page, by row and backend."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    header, _, *body = rows
    assert [cell.lower() for cell in header[1:]] == list(BACKENDS)
    return {row[0]: dict(zip(BACKENDS, row[1:], strict=True)) for row in body}


def operator_module(name: str) -> ir.Module:
    inputs, operands, attributes = OPERATORS[name]

    def body(*values):
        forms = {key: integer_type(value) if "dtype" in key else value for key, value in attributes.items()}
        values = [*values, *map(constant, operands)]
        build = getattr(quantized_decomposed, name.partition(".")[0])
        if name.endswith("tensor2"):
            return build(*values[:3], range=values[3:], **forms)
        return build(*values, **forms)

    return module_of(inputs, body)


def is_in_the_specification(module: ir.Module) -> bool:
    """Whether a module of TOSA is within its specification."""
    try:
        pipelines.run(module, VALIDATE)
    except pipelines.PipelineFailure:
        return False
    return True


def test_the_operators_are_those_of_pytorch():
    schemas = [each for each in torch._C._jit_get_all_schemas() if each.name.startswith("quantized_decomposed::")]
    names = {f"{each.name.partition('::')[2]}.{each.overload_name or 'default'}" for each in schemas}
    assert len(schemas) == 19
    assert names == set(OPERATORS) == set(table("Operators in float"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name, backend):
    module = operator_module(name)
    assert "quantized_decomposed." in str(module)
    if backend == "linalg":
        pipelines.run(module, "builtin.module(convert-quantized-decomposed-to-linalg,canonicalize,cse)")
    else:
        convert(module, backend)
    assert "quantized_decomposed." not in str(module)
    found = "yes" if backend != "tosa" or is_in_the_specification(module) else "f64"
    assert table("Operators in float")[name][backend] == found


def test_the_contractions_are_those_of_the_page():
    assert list(table("Contractions on integers")) == list(CONTRACTIONS)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contraction(name, backend):
    function = CONTRACTIONS[name]()
    module = lower(function.module(*function.results), backend)
    found = "float" if float_contractions(module) else "in registers" if reads_stored_weights(module) else "yes"
    assert table("Contractions on integers")[name][backend] == found


@pytest.mark.parametrize("granularity", ["per tensor", "per token"])
def test_integer_form_of_dynamic_quantization_in_tosa(granularity):
    """Per tensor it is within the specification: the scale is f32 in effect."""
    function = CONTRACTIONS[f"activations {granularity}, parameters chosen at run time"]()
    module = convert(lower(function.module(*function.results), "tosa"), "tosa")
    assert is_in_the_specification(module) == (granularity == "per tensor")


def reads_stored_weights(module: ir.Module) -> bool:
    """Whether a linalg.generic sums floats up, and takes integers of 8 bits."""
    found = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal found
        types = [str(value.type) for value in operation.operands]
        if operation.name == "linalg.generic" and "reduction" in str(operation.attributes["iterator_types"]):
            found = found or (types[-1].endswith("xf32>") and any(each.endswith("xi8>") for each in types))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def float_contractions(module: ir.Module) -> list[str]:
    """Names of convolutions and matrix products with a result of floats."""
    found = []

    def collect(operation: ir.Operation) -> ir.WalkResult:
        is_contraction = re.search(r"conv(?!ert)|matmul|dot_general|vecmat|matvec", operation.name)
        if is_contraction and str(operation.results[0].type).endswith("f32>"):
            found.append(operation.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    return found
