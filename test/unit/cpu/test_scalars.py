# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalars that are elements of tensors, or computed from such, are computed by kernels."""

import numpy as np
from generic_modules import product
from kernel_modules import Cases
from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from torq_mlir.backends import cpu, interpreter
from torq_mlir.rewriting.structured import PARALLEL, build_elementwise, build_generic, empty_like, index_constant


def doubled(x: ir.Value) -> ir.Value:
    """Twice the first element of a matrix."""
    element = tensor.extract(x, [index_constant(0)] * 2)
    return arith.addf(element, element)


def of_one_element(x: ir.Value) -> ir.Value:
    filled = tensor.from_elements(ir.RankedTensorType.get([1, 1], ir.F32Type.get()), [doubled(x)])
    return build_elementwise([filled], empty_like(filled, ir.F32Type.get()), lambda value: arith.addf(value, value))


def in_a_loop(x: ir.Value) -> ir.Value:
    scalar = doubled(x)
    loop = scf.ForOp(index_constant(0), index_constant(3), index_constant(1), [x])
    with ir.InsertionPoint(loop.body):
        (total,) = loop.inner_iter_args
        identity = ir.AffineMap.get_identity(2)
        scf.yield_([build_generic([], total, [identity], [PARALLEL] * 2, lambda value: arith.mulf(value, scalar))])
    return loop.results[0]


def test_scalars():
    cases = Cases()
    for build in (of_one_element, in_a_loop):
        cases.add([np.float32([[1.5]])], build)
    module = cases.module()
    compiled = cpu.compile(module, num_threads=1, opt_level=0)
    found = compiled(cases.inputs)
    for actual, expected, value in zip(found, interpreter.run(module, cases.inputs), (6, 40.5), strict=True):
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(actual, [[value]])
    kernels = [step.kernel for step in compiled.program.steps]
    assert kernels.count("linalg") == 1  # the loop, and not what computes its scalar


def test_products_of_vectors():
    def multiply(x: ir.Value, w: ir.Value, total: ir.Value) -> ir.Value:
        return arith.addf(total, arith.mulf(x, w))

    cases = Cases()
    cases.add(
        [np.arange(7, dtype=np.float32), np.arange(1, 8, dtype=np.float32)],
        lambda x, w: product(x, w, ("k", "k", ""), multiply, np.float32),
    )
    (found,) = cpu.compile(cases.module(), num_threads=1, opt_level=0)(cases.inputs)
    np.testing.assert_array_equal(found, np.float32(112))
