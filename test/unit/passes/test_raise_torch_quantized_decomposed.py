# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""raise-torch-quantized-decomposed knows the operators that PyTorch and torchao register, and their parameters."""

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.passes.raise_torch_quantized_decomposed import OPERATORS
from torq_mlir.passes.raise_torch_quantized_decomposed.affine import divide


def _registered(namespace: str) -> dict[str, tuple[str, ...]]:
    """Parameters of each operator, by the name that it has in the IR without its dialect."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith(f"{namespace}::"):
            overload = f".{schema.overload_name}" if schema.overload_name else ""
            name = schema.name.replace("::", ".") + overload
            found[name] = tuple(argument.name for argument in schema.arguments)
    return found


def test_all_operators_of_quantized_decomposed():
    known = {name: operator.parameters for name, operator in OPERATORS.items() if name.startswith("quantized_")}
    assert known == _registered("quantized_decomposed")
    assert len(known) == 19


def test_affine_operators_of_torchao():
    pytest.importorskip("torchao.quantization.quant_primitives")  # its import registers the operators
    known = {name: operator.parameters for name, operator in OPERATORS.items() if name.startswith("torchao")}
    registered = _registered("torchao")
    assert known == {name: registered[name] for name in known}
    assert set(known) == {f"torchao.{name}_affine" for name in ("quantize", "dequantize", "choose_qparams")}


@pytest.mark.parametrize(
    ("shape", "block", "prefer_tokens", "expected"),
    [
        ((4, 6), (4, 6), False, ("tensor", None, 0, ())),
        ((4, 6), (1, 6), False, ("channel", 0, 0, (4,))),
        ((4, 6), (1, 6), True, ("token", None, 0, (4, 1))),
        ((4, 6), (4, 1), False, ("channel", 1, 0, (6,))),
        ((4, 6), (1, 3), False, ("channel_group", 1, 3, (4, 2))),
        ((4, 6), (2, 1), False, ("channel_group", 0, 2, (2, 6))),
        ((2, 4, 6), (1, 1, 6), False, ("token", None, 0, (2, 4, 1))),
        ((2, 4, 6), (1, 4, 6), True, ("channel", 0, 0, (2,))),
        ((1, 4, 6), (1, 1, 6), False, ("token", None, 0, (1, 4, 1))),
        ((4, 6), (2, 3), False, None),
        ((4, 6), (1, 1), False, None),
        ((4, 6), (4, 3), False, None),
        ((4, 6), (1, 4), False, None),
        ((4, 6), (6,), False, None),
    ],
)
def test_granularity_of_a_block_size(shape, block, prefer_tokens, expected):
    found = divide(shape, block, prefer_tokens)
    assert (None if found is None else tuple(found)) == expected


@given(st.data(), st.booleans())
def test_parameters_of_a_granularity_are_those_of_the_blocks(data, prefer_tokens):
    """Parameters numbered block by block come to the same elements by either description."""
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    block = tuple(data.draw(st.sampled_from([b for b in range(1, size + 1) if size % b == 0])) for size in shape)
    found = divide(shape, block, prefer_tokens)
    if found is None:
        return
    counts = tuple(size // b for size, b in zip(shape, block, strict=True))
    numbers = np.arange(np.prod(counts)).reshape(counts)
    expected = numbers
    for axis, b in enumerate(block):
        expected = expected.repeat(b, axis)
    parameters = numbers.reshape(found.shape)
    if found.granularity == "channel":
        parameters = np.expand_dims(parameters, [axis for axis in range(len(shape)) if axis != found.axis])
    elif found.granularity == "channel_group":
        parameters = parameters.repeat(found.size, found.axis)
    np.testing.assert_array_equal(np.broadcast_to(parameters, shape), expected)
