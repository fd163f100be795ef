# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds modules of one function from numpy arrays."""

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, func

from torq_mlir import dialects
from torq_mlir.dialects import elements

CONTEXT = ir.Context()
dialects.register(CONTEXT)


def module_of(
    inputs: Sequence[np.ndarray], body: Callable[..., ir.Value | Sequence[ir.Value]], dynamic: bool = False
) -> ir.Module:
    """A module with a function `main` of arguments like `inputs`; `body` builds its results.

    With `dynamic` no argument has a static dimension.
    """
    with CONTEXT, ir.Location.unknown():
        module = ir.Module.create()
        types = [tensor_type(array, dynamic) for array in inputs]
        with ir.InsertionPoint(module.body):
            func.FuncOp.from_py_func(*types, name="main")(body)
        assert module.operation.verify()
    return module


def parse(text: str) -> ir.Module:
    return ir.Module.parse(text, CONTEXT)


def tensor_type(array: np.ndarray, dynamic: bool = False) -> ir.RankedTensorType:
    shape = [ir.ShapedType.get_dynamic_size()] * array.ndim if dynamic else array.shape
    return ir.RankedTensorType.get(shape, elements.element_type(array.dtype))


def constant(array: np.ndarray) -> ir.Value:
    return arith.constant(None, elements.from_numpy(np.asarray(array)))


def bits(array: np.ndarray) -> np.ndarray:
    """The array as integers, so that a comparison sees the sign of zero and every NaN is the same."""
    if array.dtype.kind not in "fV" and array.dtype != ml_dtypes.bfloat16:
        return array
    array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.view(f"u{array.dtype.itemsize}")


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(bits(actual), bits(expected))
