# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of quantized_decomposed are those that PyTorch registers, with the arguments that they have there."""

import warnings

import pytest

from torq_mlir.dialects import quantized_decomposed

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch.ao.quantization.fx._decomposed

SCHEMAS = [each for each in torch._C._jit_get_all_schemas() if each.name.startswith("quantized_decomposed::")]

# The result type says it.
IN_THE_RESULT = {"out_dtype", "output_dtype"}

# What ONNX needs besides, and the signedness of what is converted.
OURS = {"axis", "divide", "input_dtype", "round_first"}


def operation(schema):
    """Overloads are one operation, which the types of operands tell apart."""
    return quantized_decomposed.OPERATIONS[schema.name.replace("::", ".")]


def test_all_operators_are_operations():
    assert len(SCHEMAS) == 19
    names = {schema.name.replace("::", ".") for schema in SCHEMAS}
    assert names == set(quantized_decomposed.OPERATIONS)
    assert len(names) == 15


@pytest.mark.parametrize(
    "schema", SCHEMAS, ids=lambda schema: f"{schema.name.partition('::')[2]}.{schema.overload_name}"
)
def test_arguments(schema):
    definition = operation(schema)
    operands = {each.name: each for each in definition.operands}
    attributes = {each.name: each for each in definition.attributes}
    arguments = [argument.name for argument in schema.arguments if argument.name not in IN_THE_RESULT]
    run_time = schema.overload_name == "tensor2"
    for argument in arguments:
        if run_time and argument in ("quant_min", "quant_max"):
            assert operands["range"].variadicity == "variadic"
        else:
            assert (argument in operands) != (argument in attributes)
    assert set(operands) - {"range"} <= set(arguments)
    assert set(attributes) - OURS <= set(arguments)
    required = {each.name for each in attributes.values() if each.required}
    assert required - {"input_dtype"} <= set(arguments)
    assert len(definition.results) == len(schema.returns)


def test_every_operation_has_a_builder_of_its_name():
    for name in quantized_decomposed.OPERATIONS:
        assert callable(getattr(quantized_decomposed, name.partition(".")[2]))
    classes = {each.OPERATION_NAME for each in quantized_decomposed.OP_CLASSES}
    assert classes == set(quantized_decomposed.OPERATIONS)


@pytest.mark.parametrize("name", quantized_decomposed.OPERATIONS)
def test_every_operation_is_pure_and_summarized(name):
    definition = quantized_decomposed.OPERATIONS[name]
    assert definition.pure
    assert definition.summary
