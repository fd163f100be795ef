# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torq_mlir.torch_module`: compiled models that take and return tensors."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.export import Dim

import torq_mlir
from torq_mlir.frontends.fx import numpy_view, torch_view


class Stateful(nn.Module):
    """Nested arguments and results, a number, and a buffer that is updated."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Module()
        self.layer.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x, state, times, *, scale=None):
        self.layer.count += 1
        y = x * scale * times + state["h"]
        return {"y": y, "rest": (y.sum(), None, state["h"] > 0), "count": self.layer.count * 1}


X, H, SCALE = torch.tensor([[1.0, -2.0, 3.0]]), torch.tensor([[0.5, -0.5, 0.0]]), torch.tensor([2.0])
QUICKLY = {"backend": torq_mlir.Execution("jit", opt_level=0)}


@pytest.fixture(scope="module")
def compiled() -> torq_mlir.CompiledModel:
    program = torch.export.export(Stateful(), (X, {"h": H}, 3), {"scale": SCALE})
    return torq_mlir.compile(program, **QUICKLY)


@pytest.fixture
def module(compiled) -> torch.nn.Module:
    return torq_mlir.torch_module(compiled)


def test_nested_arguments_and_state(module):
    eager = Stateful()
    for _ in range(2):
        actual, expected = (each(X, {"h": H}, 3, scale=SCALE) for each in (module, eager))
        torch.testing.assert_close(actual, expected)
        assert actual["rest"][1] is None
        torch.testing.assert_close(module.state_dict(), eager.state_dict())
    module.load_state_dict({"layer.count": torch.tensor(7)})
    assert module(X, {"h": H}, 3, scale=SCALE)["count"] == 8


def test_copies_have_buffers_of_their_own(module, compiled, tmp_path):
    compiled.save(tmp_path / "model.mlirbc")
    loaded = torq_mlir.torch_module(torq_mlir.CompiledModel.load(tmp_path / "model.mlirbc", **QUICKLY))
    module(X, {"h": H}, 3, scale=SCALE)
    copies = [copy.deepcopy(module), pickle.loads(pickle.dumps(module)), loaded]
    assert copies[0].compiled is compiled
    for start, each in zip((1, 1, 0), copies, strict=True):
        assert each.state_dict()["layer.count"] == start
        assert each(X, {"h": H}, 3, scale=SCALE)["count"] == start + 1
    assert module.state_dict()["layer.count"] == 1
    assert compiled.state["layer.count"] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m(X, {"h": H}, 4, scale=SCALE), "the program was exported for the argument 3, not 4"),
        (
            lambda m: m(X, {"g": H}, 3, scale=SCALE),
            r"expected the arguments \(x, {'h': state_h}, 3\), {'scale': scale}",
        ),
        (lambda m: m(X, scale=SCALE), r"expected the arguments \(x, {'h': state_h}, 3\), {'scale': scale}"),
        (lambda m: m(X.numpy(), {"h": H}, 3, scale=SCALE), "input 'x' is a ndarray, not a tensor"),
        (lambda m: m(X.to("meta"), {"h": H}, 3, scale=SCALE), "input 'x' is on meta; a compiled model takes dense"),
        (lambda m: m(X.double(), {"h": H}, 3, scale=SCALE), "input 'x' has dtype float32, but the array has float64"),
        (lambda m: m(X, {"h": H[:, :2]}, 3, scale=SCALE), "input 'state_h' has shape 1x3, but the array has 1x2"),
    ],
)
def test_wrong_arguments(call, message, module):
    with pytest.raises(torq_mlir.InputError, match=message):
        call(module)


def test_gradients(module):
    x = X.clone().requires_grad_()
    with torch.enable_grad(), pytest.raises(torq_mlir.InputError, match="input 'x' has a gradient, but a compiled mod"):
        module(x, {"h": H}, 3, scale=SCALE)
    assert module(x, {"h": H}, 3, scale=SCALE)["y"].requires_grad is False


@pytest.mark.parametrize("parent", [lambda m: m, nn.Sequential], ids=["itself", "inside another"])
def test_devices_dtypes_and_modes(parent, module):
    outer = parent(module)
    with pytest.raises(torq_mlir.TorqError, match="a compiled model runs on the CPU and cannot move to meta"):
        outer.to("meta")
    with pytest.raises(torq_mlir.TorqError, match=r"a compiled model cannot be converted to torch\.float16"):
        outer.half()
    assert outer.to("cpu").train() is outer
    assert not module.training
    if outer is module:
        for move in (module.cuda, lambda: module.to("cuda:1")):
            with pytest.raises(torq_mlir.TorqError, match="runs on the CPU and cannot move to cuda"):
                move()


def test_nothing_is_copied():
    for tensor in (torch.randn(2, 3), torch.randn(2, 3).bfloat16(), torch.randn(4, 6)[::2, 1::2], torch.tensor(3)):
        array = numpy_view(tensor)
        assert array.ctypes.data == torch_view(array).data_ptr() == tensor.data_ptr()
        assert torch_view(array).stride() == tensor.stride()
    negated = torch.tensor([1 + 2j, 3 - 1j]).conj().imag  # a view that negates
    np.testing.assert_array_equal(numpy_view(negated), [-2, 1])


class Updating(nn.Module):
    def forward(self, x, cache):
        cache.add_(x)
        return cache * 2


def test_inputs_that_a_call_updates():
    program = torch.export.export(Updating(), (torch.zeros(3), torch.zeros(3)))
    module = torq_mlir.torch_module(torq_mlir.compile(program, **QUICKLY))
    cache = torch.zeros(3, 2)[:, 0]
    version = cache._version
    for _ in range(2):
        result = module(torch.ones(3), cache)
    torch.testing.assert_close(cache, torch.full((3,), 2.0))
    torch.testing.assert_close(result, torch.full((3,), 4.0))
    assert cache._version > version


@pytest.mark.slow
def test_dynamic_shapes():
    layer = nn.Linear(3, 2)
    program = torch.export.export(layer, (torch.randn(4, 3),), dynamic_shapes=({0: Dim("batch")},))
    module = torq_mlir.torch_module(torq_mlir.compile(program, **QUICKLY))
    for batch in (4, 1):
        x = torch.randn(3, batch).t()
        torch.testing.assert_close(module(x), layer(x))
    with pytest.raises(TypeError, match="a DynamicModel cannot be pickled; save its program"):
        pickle.dumps(module)


def test_models_from_onnx():
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Relu", ["sum"], ["positive"])]
    a, b, total, positive = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a", "b", "sum", "positive")
    )
    a, b = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "ab")
    for outputs in ([positive], [total, positive]):
        model = helper.make_model(helper.make_graph(nodes, "g", [a, b], outputs))
        onnx.checker.check_model(model)
        module = torq_mlir.torch_module(torq_mlir.compile(model, **QUICKLY))
        results = module(torch.tensor([1.0, -5.0]), b=torch.tensor([1.0, 2.0]))
        expected = (torch.tensor([2.0, -3.0]), torch.tensor([2.0, 0.0]))
        torch.testing.assert_close(results, expected if len(outputs) == 2 else expected[1])
    with pytest.raises(torq_mlir.InputError, match="no array was passed for input 'b'"):
        module(torch.zeros(2))


def test_without_pytorch():
    """`import torq_mlir` does not need it, and says what does."""
    script = (
        "import sys; sys.modules['torch'] = None; import torq_mlir; torq_mlir.CompiledModel; torq_mlir.torch_module"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 1
    assert "MissingPackageError" in result.stderr.splitlines()[-1]
    assert result.stderr.endswith("pip install 'torq-mlir[torch]'\n")


@pytest.mark.slow
def test_inside_a_compiled_model():
    """TorchDynamo calls it between two graphs."""
    module = torq_mlir.torch_module(torq_mlir.compile(torch.export.export(nn.ReLU(), (torch.zeros(3),)), **QUICKLY))
    compiled = torch.compile(lambda x: module(x * 2) + 1, backend="eager")
    torch.testing.assert_close(compiled(torch.tensor([1.0, -1.0, 2.0])), torch.tensor([3.0, 1.0, 5.0]))
