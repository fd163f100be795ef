# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bits of the interpreter in IREE, and what it refuses."""

import sys

import ml_dtypes
import numpy as np
import pytest
from joining import arrays, compiled_models, joined
from modules_under_test import bits, module_of, parse
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, math, tensor

from e2e.models.features import FEATURES
from e2e.models.qdq_features import QDQ_FEATURES
from torq_mlir import extras
from torq_mlir.backends import interpreter, iree, jit
from torq_mlir.errors import CompileError, InputError, MissingPackageError, TorqError
from torq_mlir.rewriting.structured import build_elementwise, empty_like, scalar_constant

MODELS = (
    "conv_groups4",
    "conv_depthwise_stride2",
    "matmul_3d",
    "gelu",
    "concat_scales",
    "maxpool_pads",
    "cnn_softmax",
)
ALL_MODELS = sorted({*FEATURES, *QDQ_FEATURES} - {*MODELS, "expand"})


def same_bits(actual, expected):
    for a, b in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.array_equal(bits(a), bits(b))


def check_together(names):
    models = compiled_models(names, ir.Context())
    module = joined([model.module for model in models.values()])
    inputs = [array for name, model in models.items() for array in arrays(name, model)]
    executable = iree.compile(module, num_threads=1)
    same_bits(executable(inputs), interpreter.run(module, inputs))


def test_models():
    check_together(MODELS)


@pytest.mark.slow
def test_a_crash_with_tiles_is_compiled_without():
    check_together(["expand"])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(ALL_MODELS), 16))
def test_all_models(first):
    check_together(ALL_MODELS[first : first + 16])


def elementwise(function, *operands):
    return build_elementwise(operands, empty_like(operands[0], operands[0].type.element_type), function)


def matmul(x, w):
    """A product of float matrices, which only the name of the operation says."""
    single = ir.F32Type.get()
    empty = tensor.empty([x.type.shape[0], w.type.shape[1]], single)
    return linalg.matmul(x, w, outs=[linalg.fill(scalar_constant(single, 0), outs=[empty])])


def test_floats_keep_their_bits():
    """Nothing is contracted, reassociated or approximated, and f64 stays f64; by the JIT, which does none of it.

    Without denormal numbers, for which the runtime of IREE has 0.
    """
    rng = np.random.default_rng(0)
    specials = np.array([0, -0.0, np.inf, -np.inf, np.nan, 88.7, 88.8, -87.3, -104.1, -1e30, 1e30, 1e-37], np.float32)
    x = np.concatenate([rng.normal(0, 20, 20000), -rng.exponential(5, 20000)]).astype(np.float32)
    x = np.concatenate([x, specials])
    y, z = (np.concatenate([rng.normal(size=40000).astype(np.float32), specials[::-1]]) for _ in range(2))
    matrix, weights = (rng.normal(size=shape).astype(np.float32) for shape in ((9, 300), (300, 17)))
    wide = y.astype(np.float64) / 3

    def body(x, y, z, matrix, weights, wide):
        product = elementwise(arith.mulf, y, z)
        return [
            elementwise(math.exp, x),
            elementwise(lambda a, b, c: arith.addf(arith.mulf(a, b), c), x, y, z),
            elementwise(arith.addf, product, x),
            elementwise(lambda a, b, c: arith.subf(c, arith.mulf(a, b)), x, y, z),
            elementwise(lambda a: arith.addf(arith.mulf(a, a), a), wide),
            elementwise(math.erf, x),
            elementwise(math.tanh, y),
            matmul(matrix, weights),
        ]

    inputs = [x, y, z, matrix, weights, wide]
    module = module_of(inputs, body)
    same_bits(iree.compile(module, num_threads=1)(inputs), jit.compile(module)(inputs))


def test_types_and_shapes():
    """Booleans, 16 bits, no dimensions, two threads, and dimensions that are known at run time."""
    inputs = [
        np.array([[True, False, True]]),
        np.array([[1.5, -2, 3]], ml_dtypes.bfloat16),
        np.array([[0.1, 2, -3]], np.float16),
        np.array(7, np.int64),
    ]
    module = module_of(inputs, lambda *values: [elementwise(lambda a: a, value) for value in values])
    same_bits(iree.compile(module, num_threads=2)(inputs), inputs)
    scalar = parse("func.func @f(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}")
    same_bits(iree.compile(scalar, num_threads=1)([np.array(3, np.int32)]), [np.array(6, np.int32)])
    with pytest.raises(CompileError, match="less than a byte"):
        iree.compile(parse("func.func @f(%x: tensor<2xi4>) -> tensor<2xi4> {\n  return %x : tensor<2xi4>\n}"))
    rows = np.arange(6, dtype=np.int32).reshape(2, 3)
    dynamic = module_of([rows], lambda value: elementwise(lambda a: arith.addi(a, a), value), dynamic=True)
    executable = iree.compile(dynamic, num_threads=1)
    for array in (rows, rows[:1], rows.T):
        same_bits(executable([array]), [array + array])
    with pytest.raises(InputError, match="float64, expected int32"):
        executable([rows / 2])
    with pytest.raises(InputError, match="expected 1 inputs, got 0"):
        executable([])


def test_regions_of_an_executor_are_functions():
    """What a plugin does not take over, IREE compiles; together they compute what the model does."""
    model = compiled_models(["cnn_softmax"], ir.Context())["cnn_softmax"]
    prepared = iree.iree_input(model.module, outline=iree.OUTLINED)
    text = prepared.operation.get_asm(large_elements_limit=16)
    assert "func.func private @main_nss_0(" in text
    assert text.count("call @main_nss_") == 1
    assert '"torq-executor" = "host"' in text
    assert ' = "torq_hl.' not in text
    inputs = arrays("cnn_softmax", model)
    compiled = iree.compile(ir.Module.parse(prepared.operation.get_asm(), model.module.context), num_threads=1)
    same_bits(compiled(inputs), interpreter.run(model.module, inputs))


def test_the_installed_version_is_tested():
    declared = {each.name: each.specifier for each in extras.requirements("iree")}
    assert declared.keys() == {"iree-base-compiler", "iree-base-runtime"}
    for name, versions in declared.items():
        assert versions.contains(extras.installed_version(name))
        assert any(each.operator == "<" for each in versions)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "iree.compiler", None)
    module = module_of([np.zeros(2, np.int8)], lambda value: value)
    with pytest.raises(MissingPackageError, match=r"pip install 'torq-mlir\[iree\]'"):
        iree.compile(module)


def test_what_iree_approximates_is_named():
    module = module_of([np.zeros(2, np.float32)], lambda value: elementwise(math.log, value))
    with pytest.warns(iree.InexactWarning, match=r"math\.log in its own way"):
        iree.iree_input(module)


def test_operations_that_iree_does_not_know():
    module = parse(
        """
        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = "tosa.abs"(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }"""
    )
    with pytest.raises(CompileError, match=r"IREE does not know 'tosa\.abs'"):
        iree.iree_input(module)


def test_errors_of_the_compiler_are_one_line():
    module = module_of([np.zeros(2, np.int8)], lambda value: value)
    with pytest.raises(CompileError, match=r"^IREE: .*no-such-flag"):
        iree.build(module, flags=["--no-such-flag"])


def test_a_compiler_that_is_killed(tmp_path, monkeypatch):
    """As it is for want of memory: it says nothing itself."""
    tool = tmp_path / "iree-compile"
    tool.write_text("#!/bin/sh\nkill -9 $$\n")
    tool.chmod(0o755)
    monkeypatch.setenv("IREE_TOOL_PATH", str(tmp_path))
    module = module_of([np.zeros(2, np.int8)], lambda value: value)
    with pytest.raises(CompileError, match=r"^IREE: Error invoking IREE compiler tool iree-compile Error code: -9$"):
        iree.build(module)


def test_what_the_runtime_cannot_load_is_an_error():
    module = module_of([np.zeros(2, np.int8)], lambda value: value)
    binary = iree.build(module)
    for contents, name, message in (
        (b"", "main", "IREE: .*FlatBuffer data is not present"),
        (binary[: len(binary) // 2], "main", "IREE: .*INVALID_ARGUMENT"),
        (binary, "other", "^IREE: the module has no function 'other'$"),
    ):
        with pytest.raises(TorqError, match=message):
            iree.Executable(contents, name, (), (), num_threads=1)


def test_the_module_is_not_modified():
    model = compiled_models(["conv_1x1"], ir.Context())["conv_1x1"]
    before = str(model.module)
    iree.iree_input(model.module)
    assert str(model.module) == before
