# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level 0 of exported programs: constants, locations, arguments."""

import ml_dtypes
import numpy as np
import pytest
import torch
from fx_programs import export
from torch import nn
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import ModelError
from torq_mlir.frontends import fx


def imported(program) -> ir.Module:
    return fx.import_program(program, ir.Context())


def body(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations[0].regions[0].blocks[0].operations]


def literals(module: ir.Module) -> list[np.ndarray]:
    return [elements.to_numpy(op.attributes["value"]) for op in body(module) if op.name == "torch.vtensor.literal"]


@pytest.mark.parametrize(
    "value",
    [
        torch.randn(3, 4),
        torch.randn(4, 3).t(),
        torch.randn(5, 4)[1:4],
        torch.zeros(3, 4),
        torch.randint(-100, 100, (3, 4), dtype=torch.int8),
        torch.randint(0, 255, (3, 4), dtype=torch.uint8),
        torch.randint(-9, 9, (3, 4)),
        torch.randn(3, 4, dtype=torch.float16),
        torch.randn(3, 4, dtype=torch.float64),
        torch.tensor(2.5),
        torch.empty(0, 4),
    ],
    ids=lambda value: f"{value.dtype}{list(value.shape)}{'' if value.is_contiguous() else 'strided'}",
)
def test_buffers_are_dense_elements(value):
    module = imported(export(lambda self, x: x + self.b.sum(), torch.randn(2), buffers={"b": value}))
    (literal,) = literals(module)
    assert "dense_resource" not in str(module)
    np.testing.assert_array_equal(literal, value.numpy())
    assert literal.shape == tuple(value.shape)
    assert literal.dtype == value.numpy().dtype


def test_bfloat16_buffers():
    value = torch.randn(3, 4, dtype=torch.bfloat16)
    module = imported(export(lambda self, x: x + self.b, torch.randn(3, 4), buffers={"b": value}))
    (literal,) = literals(module)
    assert literal.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(literal.astype(np.float32), value.float().numpy())


def test_boolean_buffers():
    value = torch.tensor([True, False, True])
    module = imported(export(lambda self, x: torch.where(self.b, x, -x), torch.randn(3), buffers={"b": value}))
    (literal,) = literals(module)
    np.testing.assert_array_equal(literal, value.numpy())


def test_non_persistent_buffers_and_tensor_constants():
    def function(self, x):
        return x + self.b + torch.tensor([1.0, 2.0, 3.0])

    program = export(function, torch.randn(3), buffers={"b": torch.tensor([4.0, 5.0, 6.0])}, persistent=False)
    found = literals(imported(program))
    assert sorted(array.tolist() for array in found) == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


class _Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


def test_tied_weights_are_one_constant():
    model = _Tied()
    found = literals(imported(torch.export.export(model, (torch.randn(2, 4),))))
    weights = [array for array in found if array.ndim == 2]
    assert len(weights) == 1
    np.testing.assert_array_equal(weights[0], model.first.weight.detach().numpy())


def test_views_of_one_tensor_are_constants_of_their_own():
    base = torch.arange(6.0)
    buffers = {"a": base[:3], "b": base[3:]}
    found = literals(imported(export(lambda self, x: (x + self.a) * self.b, torch.randn(3), buffers=buffers)))
    assert sorted(array.tolist() for array in found) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_locations_are_the_nodes_of_the_program():
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2))
    program = torch.export.export(model.eval(), (torch.randn(3, 4),))
    names = {
        name for op in body(imported(program)) if op.name.startswith("torch.aten") for name in source_names(op.location)
    }
    calls = {node.name for node in program.graph.nodes if node.op == "call_function"}
    assert names == calls == {"linear", "layer_norm", "linear_1"}


def test_locations_of_arguments_are_their_names():
    module = imported(export(lambda self, image, scale: image * scale, torch.randn(3), torch.randn(1)))
    arguments = module.body.operations[0].regions[0].blocks[0].arguments
    assert [source_names(argument.location) for argument in arguments] == [["image"], ["scale"]]


def test_the_program_is_not_modified():
    program = torch.export.export(_Tied(), (torch.randn(2, 4),))
    before, targets = str(program.graph), [spec.target for spec in program.graph_signature.input_specs]
    imported(program)
    assert str(program.graph) == before
    assert [spec.target for spec in program.graph_signature.input_specs] == targets


def test_two_imports_into_one_context():
    context = ir.Context()
    program = export(lambda self, x: x + 1, torch.randn(3))
    first, second = fx.import_program(program, context), fx.import_program(program, context)
    assert str(first) == str(second)


def test_one_function_with_what_is_updated_last():
    def function(self, x, cache):
        self.count.add_(1)
        cache.mul_(2)
        return x + self.count

    loaded = fx.load(export(function, torch.randn(3), torch.randn(2), buffers={"count": torch.zeros(1)}))
    module = imported(loaded)
    function_type = ir.FunctionType(ir.TypeAttr(module.body.operations[0].attributes["function_type"]).value)
    assert [str(each) for each in function_type.inputs] == [
        "!torch.vtensor<[3],f32>",
        "!torch.vtensor<[2],f32>",
        "!torch.vtensor<[1],f32>",
    ]
    assert [info.name for info in loaded.inputs] == ["x", "cache", "count"]
    assert [info.name for info in loaded.outputs] == ["output", "count", "cache"]
    assert loaded.updates == (None, "count", "cache")
    np.testing.assert_array_equal(loaded.state["count"], [0.0])


def test_an_argument_that_the_dialect_has_no_form_for_names_the_node(monkeypatch):
    program = fx.load(export(lambda self, x: torch.relu(x), torch.randn(3)))
    (node,) = (node for node in program.program.graph.nodes if node.op == "call_function")
    node.args = (object(),)
    with pytest.raises(ModelError, match=r"^relu \(aten.relu\): .*object"):
        imported(program)


def test_views_by_strides_of_an_input_that_is_not_contiguous():
    program = export(lambda self, x: x.as_strided((2, 3), (1, 2)) + 0, torch.randn(3, 4).t()[::2])
    with pytest.raises(ModelError, match=r"^aten\.as_strided\.default storage offsets cannot be mapped"):
        imported(program)
