# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torq_mlir.compile` of programs of torch.export."""

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from torch import nn
from torch.export import Dim

import torq_mlir
from torq_mlir import dynamic_model
from torq_mlir.compiler import BACKENDS
from torq_mlir.tools import torq_compile

_ops = torch.ops.quantized_decomposed
_SI8 = (-128, 127, torch.int8)


class Quantized(nn.Module):
    """A linear layer between quantized tensors, with weights quantized per channel."""

    def __init__(self, outputs: int = 6):
        super().__init__()
        generator = torch.Generator().manual_seed(7)
        self.register_buffer("weight", torch.randint(-127, 128, (outputs, 8), generator=generator).to(torch.int8))
        self.register_buffer("scales", torch.rand(outputs, generator=generator) * 0.01 + 0.005)
        self.register_buffer("zeros", torch.zeros(outputs, dtype=torch.int64))
        self.bias = nn.Parameter(torch.randn(outputs, generator=generator))

    def forward(self, x):
        x = _ops.dequantize_per_tensor(_ops.quantize_per_tensor(x, 0.03, 5, *_SI8), 0.03, 5, *_SI8)
        weight = _ops.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
        y = torch.relu(nn.functional.linear(x, weight, self.bias))
        return _ops.dequantize_per_tensor(_ops.quantize_per_tensor(y, 0.1, -128, *_SI8), 0.1, -128, *_SI8)


def _inputs(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def program() -> torch.export.ExportedProgram:
    return torch.export.export(Quantized().eval(), (_inputs(4, 8),))


@pytest.fixture(scope="module")
def compiled(program) -> torq_mlir.CompiledModel:
    return torq_mlir.compile(program)


def _check(actual: np.ndarray, expected: torch.Tensor, scale: float = 0.1) -> None:
    """Within one step of the quantization."""
    np.testing.assert_allclose(actual, expected.detach().numpy(), rtol=0, atol=scale * 1.001)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_quantized_layer_is_one_operation(program, backend):
    model = torq_mlir.compile(program, backend=backend)
    x = _inputs(4, 8)
    _check(model(x.numpy())[0], program.module()(x))
    assert model.mlir().count("torq_hl.fully_connected") == 1
    assert "linalg.matmul" not in model.mlir()


def test_quantization_stays_explicit_until_linalg(compiled):
    assert compiled.mlir("fx").count("torch.quantized_decomposed") == 5
    for level in ("torch", "linalg"):
        text = compiled.mlir(level)
        assert text.count('"quantized_decomposed.') == 5
        assert "qint8" not in text
        assert "divide" not in text
    with pytest.raises(ValueError, match="no level 'onnx'; the levels are fx, torch, linalg, torq-hl"):
        compiled.mlir("onnx")


def test_the_report_has_the_nodes_of_the_program(compiled):
    rows = {row.name: row for row in compiled.report().listed}
    assert list(rows) == ["quantize_per_tensor", "linear", "relu", "dequantize_per_tensor_1"]
    assert rows["relu"].note == "in torq_hl.fully_connected of linear"
    assert (rows["linear"].op_type, rows["linear"].executor) == ("aten.linear", "nss")
    assert (rows["relu"].operations, rows["relu"].executor) == (("torq_hl.fully_connected",), "nss")
    assert rows["quantize_per_tensor"].reason == "quantizes a float input of the model"
    assert rows["dequantize_per_tensor_1"].reason == "gives a float output of the model"


def dynamic_program(module: nn.Module, *inputs: torch.Tensor, **dynamic_shapes) -> torch.export.ExportedProgram:
    return torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes)


def test_dynamic_batch():
    module = Quantized().eval()
    program = dynamic_program(module, _inputs(4, 8), x={0: Dim("batch", max=64)})
    model = torq_mlir.compile(program)
    assert isinstance(model, torq_mlir.DynamicModel)
    assert [info.shape for info in model.inputs] == [(-1, 8)]
    assert model.example.inputs[0].shape == (4, 8)
    assert "torq_hl.fully_connected" in model.mlir()
    assert model.report().rows == model.example.report().rows
    for batch in (1, 4, 5, 64):
        x = _inputs(batch, 8)
        _check(model(x.numpy())[0], module(x))
        _check(model.run(["output"], {"x": x.numpy()})[0], module(x))
    assert model.specialized({"x": (4, 8)}) is model.example
    assert model.specialized({"x": (5, 8)}).inputs[0].shape == (5, 8)
    with pytest.raises(torq_mlir.InputError, match=r"^input 'x' has shape \?x8, but the array has 8$"):
        model(np.zeros(8, np.float32))
    with pytest.raises(
        torq_mlir.ModelError, match=r"^input 'x': dimension 0 .* exported for sizes of \d to 64, not 65$"
    ):
        model(np.zeros((65, 8), np.float32))


def test_fixed_batch():
    module = Quantized().eval()
    program = dynamic_program(module, _inputs(4, 8), x={0: Dim("batch")})
    for batch in (1, 5):
        x = _inputs(batch, 8)
        model = torq_mlir.compile(program, batch=batch)
        assert model.inputs[0].shape == (batch, 8)
        _check(model(x.numpy())[0], module(x))
    with pytest.raises(
        torq_mlir.ModelError, match=r"^input 'x': dimension 0 \('s\d+'\) is dynamic; fix it with batch=1"
    ):
        torq_mlir.compile(program, input_shapes={})


class Averaging(nn.Module):
    """A running sum of inputs of any batch, and an image of any width."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x, image):
        self.total += x.sum(0)
        return self.total * 2, image + 1


def test_state_of_all_shapes():
    example = (_inputs(4, 3), _inputs(2, 5))
    program = dynamic_program(Averaging(), *example, x={0: Dim("batch")}, image={1: Dim("width")})
    model, eager = torq_mlir.compile(program), Averaging()
    for batch, width in ((4, 5), (1, 2), (4, 5), (6, 5)):
        x, image = _inputs(batch, 3), _inputs(2, width)
        for actual, expected in zip(model(x.numpy(), image.numpy()), eager(x, image), strict=True):
            np.testing.assert_allclose(actual, expected.numpy(), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.state["total"], eager.total.numpy(), rtol=1e-6, atol=1e-6)


def test_the_least_recently_used_shapes_are_forgotten(monkeypatch):
    monkeypatch.setattr(dynamic_model, "_MOST_KEPT", 2)
    model = torq_mlir.compile(dynamic_program(Quantized().eval(), _inputs(4, 8), x={0: Dim("batch")}))
    two, three = model.specialized({"x": (2, 8)}), model.specialized({"x": (3, 8)})
    assert model.specialized({"x": (2, 8)}) is two
    model.specialized({"x": (5, 8)})
    assert model.specialized({"x": (2, 8)}) is two
    assert model.specialized({"x": (3, 8)}) is not three


def test_files_of_programs(tmp_path, program):
    path = tmp_path / "model.pt2"
    torch.export.save(program, path)
    x = _inputs(4, 8)
    np.testing.assert_array_equal(torq_mlir.compile(path)(x.numpy())[0], torq_mlir.compile(program)(x.numpy())[0])
    path.write_bytes(b"not a program")
    with pytest.raises(torq_mlir.ModelError, match=r"model\.pt2: not a program of torch\.export"):
        torq_mlir.compile(path)


class Tied(nn.Module):
    """Two layers with one weight, which is a parameter of one of them and of a table besides."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.table, self.first, self.second = nn.Embedding(6, 6), nn.Linear(6, 6), nn.Linear(6, 6, bias=False)
        self.second.weight = self.table.weight = self.first.weight

    def forward(self, tokens):
        return self.second(self.first(self.table(tokens)))


def test_tied_weights():
    model, tokens = Tied().eval(), torch.tensor([[0, 5, 2]])
    compiled = torq_mlir.compile(torch.export.export(model, (tokens,)))
    np.testing.assert_allclose(compiled(tokens.numpy())[0], model(tokens).detach().numpy(), rtol=1e-4, atol=1e-6)


class Structured(nn.Module):
    """Several inputs, one by keyword, and outputs in a dict and a tuple."""

    def forward(self, x, state, *, scale=None):
        y = x * scale + state["h"]
        return {"y": y, "state": (y.sum(), None, state["h"] > 0)}


def test_inputs_and_outputs_in_structures():
    x, h, scale = _inputs(2, 3), _inputs(2, 3) * 2, torch.tensor([2.0])
    model = torq_mlir.compile(torch.export.export(Structured(), (x, {"h": h}), {"scale": scale}))
    assert [info.name for info in model.inputs] == ["x", "state_h", "scale"]
    assert [(info.name, info.dtype.name) for info in model.outputs] == [
        ("y", "float32"),
        ("state.0", "float32"),
        ("state.2", "bool"),
    ]
    expected = Structured()(x, {"h": h}, scale=scale)
    y, total, positive = model(x.numpy(), scale=scale.numpy(), state_h=h.numpy())
    np.testing.assert_allclose(y, expected["y"].numpy(), rtol=1e-6)
    np.testing.assert_allclose(total, expected["state"][0].numpy(), rtol=1e-5)
    np.testing.assert_array_equal(positive, expected["state"][2].numpy())
    (only,) = model.run(["state.0"], {"x": x.numpy(), "state_h": h.numpy(), "scale": scale.numpy()})
    np.testing.assert_array_equal(only, total)


class Stateful(nn.Module):
    """A counter and a cache that is not persistent."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("bytes", torch.full((2,), 250, dtype=torch.uint8))
        self.register_buffer("cache", torch.zeros(2, 3), persistent=False)

    def forward(self, x):
        self.count += 1
        self.bytes += 3
        self.cache[1:] = self.cache[:1].clone()
        self.cache[0] = x
        return self.cache.sum(0) + self.count


@pytest.mark.parametrize("backend", BACKENDS)
def test_buffers_that_a_call_updates(backend):
    program = torch.export.export(Stateful(), (torch.zeros(3),))
    model, eager = torq_mlir.compile(program, backend=backend), Stateful()
    assert [info.name for info in model.inputs] == ["x"]
    assert [info.name for info in model.outputs] == ["output"]
    for x in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]):
        expected = eager(torch.tensor(x))
        np.testing.assert_array_equal(model(np.array(x, np.float32))[0], expected.numpy())
        for name, value in model.state.items():
            np.testing.assert_array_equal(value, getattr(eager, name).numpy())
            assert value.dtype == getattr(eager, name).numpy().dtype
    assert set(model.state) == {"count", "bytes", "cache"}


def test_state_starts_again():
    model = torq_mlir.compile(torch.export.export(Stateful(), (torch.zeros(3),)))
    start = dict(model.state)
    first = model(np.ones(3, np.float32))[0]
    assert model(np.ones(3, np.float32))[0].sum() > first.sum()
    model.state.update(start)
    np.testing.assert_array_equal(model(np.ones(3, np.float32))[0], first)


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_a_saved_model_starts_with_the_first_values(tmp_path, suffix):
    model = torq_mlir.compile(torch.export.export(Stateful(), (torch.zeros(3),)))
    start = dict(model.state)
    results = [model(np.ones(3, np.float32))[0] for _ in range(2)]
    model.save(tmp_path / f"model.{suffix}")
    loaded = torq_mlir.CompiledModel.load(tmp_path / f"model.{suffix}")
    assert loaded.inputs == model.inputs
    assert loaded.outputs == model.outputs
    for name, value in loaded.state.items():
        np.testing.assert_array_equal(value, start[name])
        assert value.dtype == start[name].dtype
    for expected in results:
        np.testing.assert_array_equal(loaded(np.ones(3, np.float32))[0], expected)


class Updating(nn.Module):
    def forward(self, x, cache):
        cache.add_(x)
        return cache * 2


def test_inputs_that_a_call_updates():
    model = torq_mlir.compile(torch.export.export(Updating(), (torch.zeros(3), torch.zeros(3))))
    x, cache = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    (output,) = model(x, cache)
    np.testing.assert_array_equal(cache, [11, 22, 33])
    np.testing.assert_array_equal(output, [22, 44, 66])
    np.testing.assert_array_equal(x, [1, 2, 3])
    strided = np.zeros((3, 2), np.float32)[:, 0]
    model(x, strided)
    np.testing.assert_array_equal(strided, [1, 2, 3])
    cache.flags.writeable = False
    with pytest.raises(torq_mlir.InputError, match="input 'cache' is updated by the call; pass an array that can be"):
        model(x, cache)
    with pytest.raises(torq_mlir.InputError, match="input 'cache' is updated by the call"):
        model(x, [1.0, 2.0, 3.0])


@torch.library.custom_op("torq_mlir_test::twice", mutates_args=())
def _twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


_twice.register_fake(torch.empty_like)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: _twice(x) + 1,
            r"twice \(torq_mlir_test\.twice\): there is no lowering of this form of the operator",
        ),
        (
            lambda x: torch.linalg.svd(x)[1],
            r"linalg_svd \(aten\.linalg_svd\): there is no lowering of this form of the operator",
        ),
        (
            lambda x: _ops.dequantize_per_channel(x.char(), x[0, :3], None, 0, *_SI8),
            r"^dequantize_per_channel: 'quantized_decomposed.dequantize_per_channel' op operand 'scales' must be",
        ),
    ],
)
def test_what_cannot_be_lowered_names_the_node(function, message):
    class Module(nn.Module):
        def forward(self, x):
            return function(x)

    with pytest.raises(torq_mlir.CompileError, match=message):
        torq_mlir.compile(torch.export.export(Module(), (torch.randn(4, 4),)))


def test_torq_compile_reads_programs(tmp_path, program, capsys):
    path = tmp_path / "model.pt2"
    torch.export.save(program, path)
    assert torq_compile.main([str(path), "--emit", "fx", "--elide"]) == 0
    assert "torch.quantized_decomposed.quantize_per_tensor" in capsys.readouterr().out
    assert torq_compile.main([str(path), "--emit", "onnx"]) == 1
    message = "torq-compile: error: there is no level 'onnx'; the levels are fx, torch, linalg, torq-hl\n"
    assert capsys.readouterr().err.endswith(message)
