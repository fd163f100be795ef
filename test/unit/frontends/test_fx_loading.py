# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs before the import: shapes, inputs and outputs, what is refused."""

import re

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from fx_programs import export
from torch.export import Dim

from torq_mlir.errors import ModelError
from torq_mlir.frontends import fx
from torq_mlir.frontends.tensor_info import TensorInfo

F32 = np.dtype(np.float32)


def dynamic():
    """Two inputs of one dynamic batch, and one whose length is dynamic."""

    def function(self, x, y, z):
        return x @ y.transpose(0, 1), z + 1

    batch, length = Dim("batch", min=2, max=64), Dim("length")
    return export(
        function,
        torch.randn(4, 8),
        torch.randn(4, 8),
        torch.randn(3, 5),
        dynamic_shapes={"x": {0: batch}, "y": {0: batch}, "z": {1: length}},
    )


def shapes(loaded: fx.LoadedProgram) -> list[tuple[int, ...]]:
    return [info.shape for info in loaded.inputs]


def test_batch_and_shapes_fix_dynamic_dimensions():
    loaded = fx.load(dynamic(), batch=7, input_shapes={"z": (3, 9)})
    assert shapes(loaded) == [(7, 8), (7, 8), (3, 9)]
    assert [info.shape for info in loaded.outputs] == [(7, 7), (3, 9)]


def test_a_shape_fixes_the_dimensions_of_the_same_size():
    loaded = fx.load(dynamic(), input_shapes={"x": (5, 8), "z": (3, 2)})
    assert shapes(loaded) == [(5, 8), (5, 8), (3, 2)]


def test_a_static_program_stays_as_it_is():
    program = export(lambda self, x: x + 1, torch.randn(4, 8))
    assert fx.load(program, batch=4).source is program


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            r"input 'x': dimension 0 \('s\d+'\) is dynamic; fix it with batch=1 or "
            r"input_shapes={'x': \(\?, 8\)}",
        ),
        (
            {"batch": 4},
            r"input 'z': dimension 1 \('s\d+'\) is dynamic; fix it with input_shapes={'z': \(3, \?\)}",
        ),
        ({"batch": 0}, r"the batch has to be positive, not 0"),
        (
            {"batch": 65, "input_shapes": {"z": (3, 4)}},
            r"input 'x': dimension 0 \('s\d+'\) was exported for sizes of 2 to 64, not 65",
        ),
        ({"input_shapes": {"x": (4, 9)}}, r"input 'x': dimension 1 is 8, not 9"),
        (
            {"input_shapes": {"x": (4, 8), "y": (5, 8)}},
            r"input 'y': dimension 0 is 4, not 5",
        ),
        (
            {"input_shapes": {"x": (4,)}},
            r"input 'x': has 2 dimensions; the shape \(4,\) does not fit",
        ),
        ({"input_shapes": {"x": (-4, 8)}}, r"input 'x': the shape \(-4, 8\) has a negative size"),
        (
            {"input_shapes": {"image": (4, 8)}},
            r"the model has no input 'image' to give a shape to; its inputs are \['x', ",
        ),
    ],
)
def test_shapes_that_do_not_fit(options, message):
    with pytest.raises(ModelError, match=f"^{message}"):
        fx.load(dynamic(), **options)


def test_a_dimension_that_depends_on_another():
    batch = Dim("batch")
    program = export(lambda self, x: x[::2] + 1, torch.randn(8), dynamic_shapes={"x": {0: 2 * batch}})
    assert shapes(fx.load(program, batch=6)) == [(6,)]
    with pytest.raises(ModelError, match=r"^input 'x': dimension 0 is 2\*s\d+, which cannot be 7$"):
        fx.load(program, batch=7)


@pytest.mark.parametrize(
    ("returned", "names"),
    [
        (lambda x: x + 1, ["output"]),
        (lambda x: (x + 1, x), ["output_0", "output_1"]),
        (lambda x: {"logits": x + 1, "cache": (x, x * 2)}, ["logits", "cache.0", "cache.1"]),
        (lambda x: [x + 1, {"a": x - 1}], ["output_0", "output_1.a"]),
        (lambda x: (None, x + 1, None), ["output_1"]),
    ],
)
def test_names_of_outputs(returned, names):
    loaded = fx.load(export(lambda self, x: returned(x), torch.randn(3)))
    assert [info.name for info in loaded.outputs] == names


def test_names_of_inputs():
    def function(self, x, state, *, scale):
        return x * scale + state["h"][0]

    inputs = (torch.randn(3), {"h": (torch.randn(3),)})
    loaded = fx.load(export(function, *inputs, kwargs={"scale": torch.randn(1)}))
    assert [info.name for info in loaded.inputs] == ["x", "state_h_0", "scale"]


def test_constant_arguments_are_no_inputs():
    loaded = fx.load(export(lambda self, x, n, flag: x * n if flag else x, torch.randn(3), 4, True))
    assert [info.name for info in loaded.inputs] == ["x"]


_ops = torch.ops.quantized_decomposed


def test_quantization_of_integer_inputs_and_outputs():
    def function(self, x, y):
        real = _ops.dequantize_per_tensor(x, 0.5, 3, -128, 127, torch.int8)
        return _ops.quantize_per_tensor(real * y, 0.25, 130, 0, 255, torch.uint8), y.to(torch.int32)

    loaded = fx.load(export(function, torch.ones(4, dtype=torch.int8), torch.randn(4)))
    assert loaded.inputs == (
        TensorInfo("x", (4,), np.dtype(np.int8), 0.5, 3),
        TensorInfo("y", (4,), F32),
    )
    assert loaded.outputs == (
        TensorInfo("output_0", (4,), np.dtype(np.uint8), 0.25, 130),
        TensorInfo("output_1", (4,), np.dtype(np.int32)),
    )


def test_an_input_that_is_read_in_two_ways_is_not_quantized():
    def function(self, x):
        return _ops.dequantize_per_tensor(x, 0.5, 3, -128, 127, torch.int8), x.to(torch.int32)

    (info,) = fx.load(export(function, torch.ones(4, dtype=torch.int8))).inputs
    assert info.scale is None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda self, x: torch.fft.fft(x).real, "fft_fft (aten.fft_fft): dtype complex64 is not supported"),
        (lambda self, x: x.to(torch.float8_e4m3fn).float(), "to (aten.to.dtype): dtype float8_e4m3fn is not supported"),
        (
            lambda self, x: _ops.choose_qparams.tensor(x, 0, 65535, 1e-6, torch.uint16),
            "choose_qparams (quantized_decomposed.choose_qparams.tensor): dtype uint16 is not supported",
        ),
        (lambda self, x: x + torch.rand(3), "rand (aten.rand): random numbers are not supported"),
        (
            lambda self, x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)),
            "cond (cond): control flow and other operators with subgraphs are not supported",
        ),
        (lambda self, x: (x, 5), "output 'output_1': is the constant 5; only tensors are supported"),
    ],
)
def test_what_is_refused_names_the_node(function, message):
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        fx.load(export(function, torch.randn(3)))


def test_complex_inputs_are_refused():
    program = export(lambda self, x: x.abs(), torch.randn(3, dtype=torch.complex64))
    with pytest.raises(ModelError, match=r"^input 'x': dtype complex64 is not supported$"):
        fx.load(program)


def test_symbolic_numbers_are_refused():
    program = export(lambda self, x, n: x * n, torch.randn(3), 4, dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    with pytest.raises(ModelError, match=r"^input 'n': only tensors and constants are supported"):
        fx.load(program)
